"""Criteria that say how many classes a set of rows holds: curves over the number of classes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from newfound.clustering.graphs import nearest
from newfound.clustering.partitions import edge_shares
from newfound.clustering.whitening import whitening_map, within_class_covariance

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Curves = dict[str, Floats]

SCALED = 20  # a curve's unit is its spread over up to so many classes, whatever the largest number that is asked for

_NEIGHBOURS = 15
_LLOYD_ROUNDS = 12
_PAIRS = 3_000
_PAIR_COLUMNS = 20
_HALVED = 8  # known classes that are cut in halves
_HALVES = 2 * _NEIGHBOURS  # rows that such a class exceeds
_MOST = 4.0  # units; what lies further from a reference says no more
_CLEAR = 0.6  # mean silhouette that every class of a clear partition exceeds
_CLEAR_TWO = 0.9  # the same for two classes: one far group of rows gives a gap, however many classes there are
_TINY = 1e-12
_SPACES = 2  # learned from known classes; one that cannot be learned counts as saying nothing


@dataclass(frozen=True)
class CountingTask:
    """Rows whose classes are to be counted, and rows of known classes to learn from.

    Parameters
    ----------
    unlabelled : ndarray of shape (n, d)
        Rows whose classes are to be counted.
    known : ndarray of shape (m, d)
        Labelled rows; m may be 0.
    codes : ndarray of shape (m,), int64
        Known classes 0, 1, ... of the labelled rows, each with a row.
    """

    unlabelled: Floats
    known: Floats
    codes: Codes

    @property
    def n_known(self) -> int:
        """Number of known classes."""
        return int(self.codes.max(initial=-1)) + 1


@dataclass(frozen=True)
class CountingSpace:
    """A representation of a task's rows: unlabelled (n, d) and known (m, d)."""

    unlabelled: Floats
    known: Floats


# ---- spaces


def whitened_space(task: CountingTask, ridge: float) -> CountingSpace:
    """CountingSpace of rows that are whitened by the known classes."""
    mapped = whitening_map(within_class_covariance(task.known, task.codes), ridge)
    return CountingSpace(task.unlabelled @ mapped, task.known @ mapped)


def latent_space(space: CountingSpace, codes: Codes, rng: np.random.RandomState) -> CountingSpace:
    """Hidden layer of a network that was trained to tell the known classes apart, normalised."""
    scale = max(float(space.known.std()), _TINY)
    network = MLPClassifier((64,), alpha=1e-3, batch_size=min(100, len(codes)), max_iter=15, random_state=rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few epochs are meant
        network.fit(space.known / scale, codes)

    def hidden(rows: Floats) -> Floats:
        layer = np.maximum(rows / scale @ network.coefs_[0] + network.intercepts_[0], 0.0)
        units: Floats = layer / np.maximum(np.linalg.norm(layer, axis=1, keepdims=True), _TINY)
        return units

    return CountingSpace(hidden(space.unlabelled), hidden(space.known))


# ---- partitions


def partitions(rows: Floats, n_classes: Codes) -> list[Codes]:
    """Partition rows into each number of classes: Ward's tree, then rounds of k-means.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    n_classes : ndarray of shape (K,), int64
        Each at most n.

    Returns
    -------
    list of ndarray of shape (n,), int64
        Classes 0, 1, ..., each with a row; fewer than asked for where rows are equal.
    """
    tree = linkage(rows, "ward")
    cuts = (fcluster(tree, k, "maxclust").astype(np.int64) - 1 for k in n_classes)
    return [_lloyd(rows, labels) for labels in cuts]


def _lloyd(rows: Floats, labels: Codes) -> Codes:
    for _ in range(_LLOYD_ROUNDS):
        onehot = _onehot(labels)
        centroids = onehot.T @ rows / onehot.sum(axis=0)[:, None]
        closest = (np.square(centroids).sum(axis=1) - 2.0 * rows @ centroids.T).argmin(axis=1)
        _, fresh = np.unique(closest, return_inverse=True)
        if np.array_equal(fresh, labels):
            break
        labels = fresh.astype(np.int64)
    return labels


def _onehot(labels: Codes) -> Floats:
    onehot: Floats = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
    return onehot


# ---- statistics of one partition


def log_within(rows: Floats, labels: Codes) -> float:
    """Logarithm of the mean squared distance of rows (n, d) to the mean of their class (n,)."""
    onehot = _onehot(labels)
    means = onehot.T @ rows / onehot.sum(axis=0)[:, None]
    return float(np.log(max(np.square(rows - means[labels]).sum() / len(rows), _TINY)))


def edge_statistics(neighbours: Codes, labels: Codes) -> dict[str, float]:
    """Measure how the classes of rows and of their nearest neighbours go together.

    Parameters
    ----------
    neighbours : ndarray of shape (n, q), int64
        Nearest other rows of each row.
    labels : ndarray of shape (n,), int64
        Classes 0, 1, ..., each with a row.

    Returns
    -------
    dict of str to float
        "modularity"; "leaving": share of a class's edges that lead to other classes, mean over classes; "crossing":
        edges from a class to the one it is most joined with, as a share of the smaller class's edges, mean over
        classes; "linked": how many times more edges than by chance the two most joined classes have.
    """
    joint = edge_shares(labels, neighbours, int(labels.max()) + 1)
    share = joint.sum(axis=1)
    apart = joint - np.diag(np.diag(joint))
    return {
        "modularity": float(np.trace(joint) - np.square(share).sum()),
        "leaving": float((1.0 - np.diag(joint) / share).mean()),
        "crossing": float((apart / np.minimum(share[:, None], share)).max(axis=1).mean()),
        "linked": float((apart / (share[:, None] * share)).max()),
    }


def silhouettes(distances: Floats, labels: Codes) -> tuple[float, float]:
    """Mean silhouette of all rows, and that of the worst class; NaN for one class.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
    labels : ndarray of shape (n,), int64
        Classes 0, 1, ..., each with a row.
    """
    onehot = _onehot(labels)
    (n, k), counts = onehot.shape, onehot.sum(axis=0)
    if k < 2:
        return np.nan, np.nan
    sums = distances @ onehot
    own = np.arange(n), labels
    inner = sums[own] / np.maximum(counts[labels] - 1, 1)
    others = sums / counts
    others[own] = np.inf
    outer = others.min(axis=1)
    width = (outer - inner) / np.maximum(np.maximum(outer, inner), _TINY)
    width[counts[labels] < 2] = 0.0
    return float(width.mean()), float((onehot.T @ width / counts).min())


# ---- what known classes look like


@dataclass(frozen=True)
class References:
    """Statistics of the known classes, and of the halves that k-means would cut known classes into.

    Parameters
    ----------
    known, halves : mapping of str to float
        By statistic; empty where there are too few known rows.
    """

    known: Mapping[str, float]
    halves: Mapping[str, float]

    @classmethod
    def of(cls, rows: Floats, codes: Codes, rng: np.random.RandomState) -> References:
        """Measure known rows (m, d) of classes (m,)."""
        if len(codes) <= _NEIGHBOURS + 1:
            return cls({}, {})
        large = [some for some in (rows[codes == code] for code in range(int(codes.max()) + 1)) if len(some) > _HALVES]
        cut = [large[i] for i in rng.permutation(len(large))[:_HALVED]]
        halves = [_compared(some, partitions(some, np.array([2]))[0]) for some in cut]
        names = halves[0] if halves else ()
        return cls(_compared(rows, codes), {name: float(np.mean([half[name] for half in halves])) for name in names})


def _compared(rows: Floats, labels: Codes) -> dict[str, float]:
    """Statistics that are compared between unlabelled and known rows."""
    return edge_statistics(nearest(rows, _NEIGHBOURS)[0], labels) | {"within": log_within(rows, labels)}


class PairOdds:
    """Log odds that two unlabelled rows are of one class, learned from pairs of known rows.

    Parameters
    ----------
    spaces : tuple of CountingSpace
        The task's rows as they are, and whitened with a large and a small ridge.
    codes : ndarray of shape (m,), int64
        Known classes, two or more.
    rng : RandomState
    """

    def __init__(
        self, spaces: tuple[CountingSpace, CountingSpace, CountingSpace], codes: Codes, rng: np.random.RandomState
    ) -> None:
        self._spaces = spaces
        self._columns = np.argsort(-spaces[1].known.var(axis=0))[:_PAIR_COLUMNS]
        same, different = _drawn_pairs(codes, rng)
        features = np.concatenate([self._features(same, "known"), self._features(different, "known")])
        mean, scale = features.mean(axis=0), np.maximum(features.std(axis=0), _TINY)
        truth = np.repeat([1, 0], [len(same), len(different)])
        model = LogisticRegression(max_iter=200).fit((features - mean) / scale, truth)
        pairs = rng.randint(len(spaces[0].unlabelled), size=(2 * _PAIRS, 2))
        self._pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        self._odds: Floats = model.decision_function((self._features(self._pairs, "unlabelled") - mean) / scale)

    def of(self, labels: Codes) -> float:
        """Log odds of the pairs within a class of the partition (n,), summed, over the number of all pairs."""
        same = labels[self._pairs[:, 0]] == labels[self._pairs[:, 1]]
        return float((self._odds * same).mean())

    def _features(self, pairs: Codes, which: str) -> Floats:
        columns = []
        for i, space in enumerate(self._spaces):
            rows: Floats = getattr(space, which)
            squares = np.square(rows[pairs[:, 0]] - rows[pairs[:, 1]])
            columns.append(np.log(squares.sum(axis=1) + _TINY**0.5)[:, None])
            if i == 1:
                columns.append(np.sqrt(squares[:, self._columns]))
        return np.concatenate(columns, axis=1)


def _drawn_pairs(codes: Codes, rng: np.random.RandomState) -> tuple[Codes, Codes]:
    """Draw pairs of rows of one known class and of two, every class alike often; shapes (p, 2)."""
    n_known = int(codes.max()) + 1
    rows_of = [np.flatnonzero(codes == code) for code in range(n_known)]
    drawn = np.stack([rows[rng.randint(len(rows), size=_PAIRS)] for rows in rows_of])
    first = rng.randint(n_known, size=_PAIRS)
    second = (first + rng.randint(1, n_known, size=_PAIRS)) % n_known
    at = np.arange(_PAIRS)
    same = np.stack([drawn[first, at], drawn[first, rng.permutation(_PAIRS)]], axis=1)
    return same[same[:, 0] != same[:, 1]], np.stack([drawn[first, at], drawn[second, rng.permutation(_PAIRS)]], axis=1)


# ---- curves


def criteria_curves(task: CountingTask, n_classes: Codes, rng: np.random.RandomState) -> Curves:
    """Measure what speaks for each number of classes.

    Parameters
    ----------
    task : CountingTask
    n_classes : ndarray of shape (K,), int64
        1, 2, ..., each less than the number of different unlabelled rows.
    rng : RandomState

    Returns
    -------
    dict of str to ndarray of shape (K,)
        By criterion; the higher, the more speaks for a number of classes. 0 where a criterion says nothing.
    """
    if task.n_known == 0:
        return _blind_curves(task.unlabelled, n_classes)
    as_given = CountingSpace(task.unlabelled, task.known)
    whitened = whitened_space(task, 1.0)
    spaces, pairs = [whitened], None
    if task.n_known > 1:
        spaces.append(latent_space(whitened, task.codes, rng))
        if len(task.codes) > task.n_known:  # some class has two rows to make a pair of
            pairs = PairOdds((as_given, whitened, whitened_space(task, 0.1)), task.codes, rng)
    found = [_guided_curves(space, task.codes, n_classes, pairs, rng) for space in spaces]
    curves = {name: np.sum([curves[name] for curves in found], axis=0) / _SPACES for name in found[0]}
    return curves | {"unanimous": _unanimous(found), "clear gaps": found[0]["clear gaps"]}


def _guided_curves(
    space: CountingSpace, codes: Codes, n_classes: Codes, pairs: PairOdds | None, rng: np.random.RandomState
) -> Curves:
    """Curves in a space, compared with what known classes look like there."""
    cuts = partitions(space.unlabelled, n_classes)
    raw = _raw_curves(space.unlabelled, cuts)
    raw["within"] = np.array([log_within(space.unlabelled, labels) for labels in cuts])
    references = References.of(space.known, codes, rng)
    silent = np.zeros(len(n_classes))
    return {
        "spread": -np.abs(_beyond(raw, "within", references.known)),
        "halves": np.minimum(_beyond(raw, "within", references.halves), 0.0),
        "linked": -_beyond(raw, "linked", references.known),
        "crossing": -np.minimum(_beyond(raw, "crossing", references.halves), 0.0),
        "leaving": np.minimum(_beyond(raw, "leaving", references.halves), 0.0),
        "modularity": _nearness_to_the_best(raw["modularity"]),
        "silhouette": _standardised(raw["silhouette"]),
        "pair odds": silent if pairs is None else _nearness_to_the_best(np.array([pairs.of(cut) for cut in cuts])),
        "clear gaps": _clear(raw["worst silhouette"]),
    }


def _blind_curves(rows: Floats, n_classes: Codes) -> Curves:
    """Curves without any known class."""
    raw = _raw_curves(rows, partitions(rows, n_classes))
    return {
        "linked": -_standardised(raw["linked"]),
        "modularity": _nearness_to_the_best(raw["modularity"]),
        "silhouette": _nearness_to_the_best(raw["silhouette"]),
        "clear gaps": _clear(raw["worst silhouette"]),
    }


def _raw_curves(rows: Floats, cuts: list[Codes]) -> Curves:
    neighbours, distances = nearest(rows, _NEIGHBOURS)[0], cdist(rows, rows)
    edges = [edge_statistics(neighbours, labels) for labels in cuts]
    curves = {name: np.array([edge[name] for edge in edges]) for name in edges[0]}
    widths = np.array([silhouettes(distances, labels) for labels in cuts])
    return curves | {"silhouette": widths[:, 0], "worst silhouette": widths[:, 1]}


def _spread_of(curve: Floats) -> float:
    """Return a curve's unit; 0 where it has too few points, or is flat."""
    seen = curve[:SCALED][np.isfinite(curve[:SCALED])]
    spread = float(seen.std()) if len(seen) > 2 else 0.0
    return spread if spread > 1e-9 else 0.0


def _standardised(curve: Floats) -> Floats:
    unit = _spread_of(curve)
    return np.nan_to_num((curve - np.nanmean(curve[:SCALED])) / unit) if unit else np.zeros(len(curve))


def _beyond(raw: Curves, name: str, references: Mapping[str, float]) -> Floats:
    """How far a curve lies above a reference, in its unit."""
    unit = _spread_of(raw[name])
    if not unit or name not in references:
        return np.zeros(len(raw[name]))
    return np.clip((raw[name] - references[name]) / unit, -_MOST, _MOST)


def _nearness_to_the_best(curve: Floats) -> Floats:
    """Minus the logarithm of the factor by which each number of classes differs from that of the curve's maximum."""
    if not _spread_of(curve):
        return np.zeros(len(curve))
    k = np.arange(1, len(curve) + 1)
    nearness: Floats = -np.abs(np.log(k / k[np.nanargmax(curve)]))
    return nearness


def _clear(worst: Floats) -> Floats:
    """How much clearer than usual the gaps around all classes are."""
    clear = np.nan_to_num(np.maximum(worst - _CLEAR, 0.0))
    clear[1:2] *= worst[1:2] > _CLEAR_TWO
    return clear


def _unanimous(found: list[Curves]) -> Floats:
    """Return 1 where both spaces and all criteria that have a best number of classes agree on it."""
    best = [int(curves[name].argmax()) for curves in found for name in ("modularity", "silhouette", "pair odds")]
    agreed = np.zeros(len(found[0]["modularity"]))
    if len(found) == _SPACES and best[0] > 0 and len(set(best)) == 1:
        agreed[best[0]] = 1.0
    return agreed
