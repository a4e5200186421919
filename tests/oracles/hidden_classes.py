"""A slow, obvious twin of the F1 of hidden classes: try every pairing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import permutations


def matched_f1(
    y_true: Sequence[Hashable], y_pred: Sequence[Hashable], others: Sequence[Hashable], weight: float
) -> float:
    true_classes = sorted(set(y_true), key=str)
    found = sorted({*y_pred, *others}, key=str)
    found += [None] * len(true_classes)  # a true class may go without a partner
    return max(
        sum(
            f1(true, partner, y_true, y_pred, others, weight)
            for true, partner in zip(true_classes, chosen, strict=True)
        )
        for chosen in permutations(found, len(true_classes))
    ) / len(true_classes)


def f1(
    true: Hashable,
    partner: Hashable,
    y_true: Sequence[Hashable],
    y_pred: Sequence[Hashable],
    others: Sequence[Hashable],
    weight: float,
) -> float:
    if partner is None:
        return 0.0
    shared = sum(t == true and p == partner for t, p in zip(y_true, y_pred, strict=True))
    size = sum(p == partner for p in y_pred) + weight * sum(p == partner for p in others)
    recall = shared / sum(t == true for t in y_true)
    precision = shared / size if size else 0.0
    return 2 * precision * recall / (precision + recall) if shared else 0.0
