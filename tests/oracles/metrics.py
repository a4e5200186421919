"""Slow, obvious twins of newfound.metrics: try every pairing, count every pair of rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, permutations
from math import log

Pairing = dict[Hashable, Hashable]


def pairings(y_true: Sequence[Hashable], y_pred: Sequence[Hashable]) -> Iterator[Pairing]:
    """Every one-to-one pairing (true class -> found class) of min(n_true, n_pred) pairs."""
    true_classes, pred_classes = sorted(set(y_true), key=str), sorted(set(y_pred), key=str)
    if len(true_classes) <= len(pred_classes):
        for chosen in permutations(pred_classes, len(true_classes)):
            yield dict(zip(true_classes, chosen, strict=True))
    else:
        for chosen in permutations(true_classes, len(pred_classes)):
            yield dict(zip(chosen, pred_classes, strict=True))


def hits(pairing: Pairing, y_true: Sequence[Hashable], y_pred: Sequence[Hashable]) -> int:
    return sum(t in pairing and pairing[t] == p for t, p in zip(y_true, y_pred, strict=True))


def best_pairings(y_true: Sequence[Hashable], y_pred: Sequence[Hashable]) -> list[Pairing]:
    """All pairings that share the most rows; more than one where there is a tie."""
    every = list(pairings(y_true, y_pred))
    most = max(hits(pairing, y_true, y_pred) for pairing in every)
    return [pairing for pairing in every if hits(pairing, y_true, y_pred) == most]


def accuracy(y_true: Sequence[Hashable], y_pred: Sequence[Hashable]) -> float:
    return max(hits(pairing, y_true, y_pred) for pairing in pairings(y_true, y_pred)) / len(y_true)


def balanced_accuracy(pairing: Pairing, y_true: Sequence[Hashable], y_pred: Sequence[Hashable]) -> float:
    recalls = []
    for true_class in sorted(set(y_true), key=str):
        found = [p for t, p in zip(y_true, y_pred, strict=True) if t == true_class]
        recalls.append(sum(true_class in pairing and p == pairing[true_class] for p in found) / len(found))
    return sum(recalls) / len(recalls)


def adjusted_rand(y_true: Sequence[Hashable], y_pred: Sequence[Hashable]) -> float:
    """From the definition over pairs of rows: agreement above chance over the most there could be."""
    pairs = list(combinations(range(len(y_true)), 2))
    same_true = [y_true[i] == y_true[j] for i, j in pairs]
    same_pred = [y_pred[i] == y_pred[j] for i, j in pairs]
    both = sum(t and p for t, p in zip(same_true, same_pred, strict=True))
    expected = sum(same_true) * sum(same_pred) / len(pairs) if pairs else 0.0
    most = (sum(same_true) + sum(same_pred)) / 2
    # equal only when both partitions are one class, or both are all singletons: then they agree
    return 1.0 if most == expected else (both - expected) / (most - expected)


def normalised_mutual_information(y_true: Sequence[Hashable], y_pred: Sequence[Hashable]) -> float:
    """Mutual information over the mean of both entropies."""
    n = len(y_true)
    joint = list(zip(y_true, y_pred, strict=True))

    def share(items: Sequence[Hashable], item: Hashable) -> float:
        return items.count(item) / n

    def entropy(items: Sequence[Hashable]) -> float:
        return -sum(share(items, item) * log(share(items, item)) for item in set(items))

    if len(set(y_true)) == len(set(y_pred)) == 1:
        return 1.0
    information = sum(
        share(joint, (t, p)) * log(share(joint, (t, p)) / (share(y_true, t) * share(y_pred, p))) for t, p in set(joint)
    )
    return information / ((entropy(y_true) + entropy(y_pred)) / 2)


def open_world_rights(
    y_true: Sequence[Hashable], y_pred: Sequence[Hashable], known: Sequence[Hashable]
) -> list[list[bool]]:
    """Which rows are right, under every best pairing of the novel classes; one list a pairing."""
    novel = [(t, p) for t, p in zip(y_true, y_pred, strict=True) if t not in known and p not in known]
    best = best_pairings(*zip(*novel, strict=True)) if novel else [{}]
    return [
        [
            t == p if t in known else p not in known and pairing.get(t, known) == p
            for t, p in zip(y_true, y_pred, strict=True)
        ]
        for pairing in best
    ]


def calibration_error(confidence: Sequence[float], right: Sequence[bool], n_bins: int) -> float:
    """Bin by bin: share of the rows, times how far their mean probability is from the share that is right."""
    error = 0.0
    for i in range(n_bins):
        inside = [
            (c, r)
            for c, r in zip(confidence, right, strict=True)
            if i / n_bins < c <= (i + 1) / n_bins or (i == 0 and c == 0)
        ]
        if inside:
            expected = sum(c for c, _ in inside) / len(inside)
            share = sum(r for _, r in inside) / len(inside)
            error += len(inside) / len(confidence) * abs(expected - share)
    return error


def mean_recall(y_true: Sequence[Hashable], right: Sequence[bool]) -> float:
    """Mean over the true classes of the share of their rows that are right."""
    of_class = [[r for t, r in zip(y_true, right, strict=True) if t == class_] for class_ in set(y_true)]
    return sum(sum(rows) / len(rows) for rows in of_class) / len(of_class)


def open_world_accuracy(truth: Sequence[str], found: Sequence[str], known: Sequence[str]) -> float:
    """Known classes by name, novel ones by the best of all one-to-one matchings of true and found novel classes."""
    true_novel = sorted({class_ for class_ in truth if class_ not in known})
    found_novel = sorted({class_ for class_ in found if class_ not in known})
    padded = [*found_novel, *([None] * len(true_novel))]
    best = 0
    for partners in permutations(padded, len(true_novel)):
        partner = dict(zip(true_novel, partners, strict=True))
        right = [f == t if t in known else f == partner[t] for t, f in zip(truth, found, strict=True)]
        best = max(best, sum(right))
    return best / len(truth)
