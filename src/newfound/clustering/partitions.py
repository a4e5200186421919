"""Cuts of rows into a given number of classes, and how much a graph's edges tell about a cut."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from newfound.clustering.graphs import fuzzy_graph, nearest, regularised_eigenvectors

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.int64]

SPECTRAL = tuple((regularisation, more) for regularisation in (0.03, 0.1, 0.3, 1.0) for more in range(3))
"""Cuts of a graph: its regularisation, and how many eigenvectors they use beyond one for each class."""

N_NEIGHBOURS = 15
_N_INIT = 5


def neighbour_graph(rows: Floats, device: torch.device | str = "cpu") -> tuple[Indices, Floats]:
    """Nearest neighbours of each row, (n, 15) and their distances; see `nearest`."""
    return nearest(rows, N_NEIGHBOURS, device)


def spectral_cuts(
    neighbours: tuple[Indices, Floats], n_classes: int, rng: np.random.RandomState
) -> Iterator[tuple[str, Codes]]:
    """Cut rows along the graph of their nearest neighbours in every way of `SPECTRAL`.

    Parameters
    ----------
    neighbours : indices and distances, ndarrays of shape (n, k)
        As `neighbour_graph` returns them.
    n_classes : int
        From 2 to n - 1.
    rng : RandomState

    Yields
    ------
    name : str
        Such as "spectral 0.1, one more".
    partition : ndarray of shape (n,), int64
        Class of each row, 0..n_classes-1.
    """
    graph, n = fuzzy_graph(*neighbours), len(neighbours[0])
    vectors: dict[float, Floats] = {}
    for regularisation, more in SPECTRAL:
        if regularisation not in vectors:
            n_vectors = min(n_classes + max(extra for _, extra in SPECTRAL), n)
            vectors[regularisation] = regularised_eigenvectors(graph, n_vectors, regularisation, rng)
        leading = vectors[regularisation][:, : n_classes + more]
        lengths = np.linalg.norm(leading, axis=1, keepdims=True)
        name = f"spectral {regularisation:g}{('', ', one more', ', two more')[more]}"
        yield name, kmeans(leading / np.maximum(lengths, np.finfo(float).tiny), n_classes, rng)


def kmeans(rows: Floats, n_classes: int, rng: np.random.RandomState) -> Codes:
    """Group rows (n, m) into 2 to n - 1 classes by k-means; (n,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal rows; such a partition is scored like any other
        found = KMeans(n_classes, n_init=_N_INIT, random_state=int(rng.randint(2**31 - 1))).fit(rows)
    labels: Codes = found.labels_.astype(np.int64)
    return labels


def edge_shares(partition: Codes, neighbours: Indices, n_classes: int) -> Floats:
    """Share of the edges that join each two classes, either end first; (n_classes, n_classes), sums to 1."""
    pairs = partition[:, None] * n_classes + partition[neighbours]
    joint = np.bincount(pairs.ravel(), minlength=n_classes**2).reshape(n_classes, n_classes).astype(np.float64)
    joint += joint.T
    joint /= joint.sum()
    return joint


def edge_information(partition: Codes, neighbours: Indices, n_classes: int) -> tuple[float, float]:
    """Measure what one end of an edge tells about the class of its other end.

    Parameters
    ----------
    partition : ndarray of shape (n,), int64
    neighbours : ndarray of shape (n, k), int64
    n_classes : int

    Returns
    -------
    information : float
        Mutual information of the classes at both ends.
    within : float
        Share of the edges whose ends are of one class.
    """
    joint = edge_shares(partition, neighbours, n_classes)
    marginal = joint.sum(axis=0)
    found = joint > 0
    independent = np.outer(marginal, marginal)
    information = float((joint[found] * np.log(joint[found] / independent[found])).sum())
    return information, float(np.trace(joint))


def entropy(partition: Codes) -> float:
    """Entropy of the classes' shares, in nats."""
    return float(stats.entropy(np.bincount(partition)))
