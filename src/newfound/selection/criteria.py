"""Criteria that say how many classes rows without any label hold: curves over the number of classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist

from newfound.clustering.graphs import nearest
from newfound.clustering.partitions import edge_shares

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Curves = dict[str, Floats]

SCALED = 20  # a curve's unit is its spread over up to so many classes, whatever the largest number that is asked for

_NEIGHBOURS = 15
_LLOYD_ROUNDS = 12
_CLEAR = 0.6  # mean silhouette that every class of a clear partition exceeds
_CLEAR_TWO = 0.9  # the same for two classes: one far group of rows gives a gap, however many classes there are
_TINY = 1e-12


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
        "modularity"; "linked": how many times more edges than by chance the two most joined classes have.
    """
    joint = edge_shares(labels, neighbours, int(labels.max()) + 1)
    share = joint.sum(axis=1)
    apart = joint - np.diag(np.diag(joint))
    return {
        "modularity": float(np.trace(joint) - np.square(share).sum()),
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


# ---- curves


def criteria_curves(rows: Floats, n_classes: Codes) -> Curves:
    """Measure what speaks for each number of classes.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Rows whose classes are to be counted.
    n_classes : ndarray of shape (K,), int64
        1, 2, ..., each less than the number of different rows.

    Returns
    -------
    dict of str to ndarray of shape (K,)
        By criterion; the higher, the more speaks for a number of classes. 0 where a criterion says nothing.
    """
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
