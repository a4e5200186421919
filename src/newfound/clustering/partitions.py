"""Ways to cut rows into a given number of classes, and how much a graph's edges tell about a cut."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from scipy.cluster.hierarchy import ClusterWarning
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from newfound.clustering.graphs import fuzzy_graph, nearest, regularised_eigenvectors

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.int64]

_LINKAGES = {"average linkage": "average", "Ward linkage": "ward"}
_SPECTRAL = {
    regularisation: {
        f"spectral {regularisation:g}{suffix}": more for more, suffix in enumerate(("", ", one more", ", two more"))
    }
    for regularisation in (0.03, 0.1, 0.3, 1.0)
}
SPECTRAL = tuple(method for variants in _SPECTRAL.values() for method in variants)
"""Named by their regularisation, and by the eigenvectors that they use beyond one for each class."""

METHODS = ("k-means", "Gaussian mixture", *_LINKAGES, "spectral 0.1", "spectral 1", "spectral 1, one more")

FEW_KNOWN = ("k-means", "Gaussian mixture", "spectral 1")
"""Methods that do well on most tables."""

NEED_EVIDENCE = ("spectral 1, one more",)
"""Methods that are far better on some tables and far worse on others."""

N_NEIGHBOURS = 15
_N_INIT = 5
_PIECES = 12  # small pieces that linkage joins, for each class
_PIECE_ROWS = 5
_RIDGE = 1e-3  # of the mixture's covariance, as a share of the mean variance


def neighbour_graph(rows: Floats, device: torch.device | str = "cpu") -> tuple[Indices, Floats]:
    """Nearest neighbours of each row, (n, 15) and their distances; see `nearest`."""
    return nearest(rows, N_NEIGHBOURS, device)


def partitions(
    rows: Floats,
    neighbours: tuple[Indices, Floats] | None,
    n_classes: int,
    rng: np.random.RandomState,
    methods: frozenset[str] | None = None,
) -> Iterator[tuple[str, Codes]]:
    """Cut rows into classes by each method.

    Parameters
    ----------
    rows : ndarray of shape (n, m)
    neighbours : indices and distances, ndarrays of shape (n, k), or None
        As `neighbour_graph` returns them; spectral methods alone need them.
    n_classes : int
        From 2 to n - 1.
    rng : RandomState
    methods : frozenset of str or None
        Some of `METHODS` and `SPECTRAL`; None for `METHODS`.

    Yields
    ------
    method : str
    partition : ndarray of shape (n,), int64
        Class of each row, 0..n_classes-1.
    """
    asked = METHODS if methods is None else methods
    if "k-means" in asked or "Gaussian mixture" in asked:
        kmeans = _kmeans(rows, n_classes, rng, _N_INIT)
        if "k-means" in asked:
            yield "k-means", kmeans.labels_.astype(np.int64)
        if "Gaussian mixture" in asked:
            yield "Gaussian mixture", _mixture(rows, kmeans.cluster_centers_)
    n_pieces = min(len(rows) // _PIECE_ROWS, _PIECES * n_classes)
    linkages = {method: linkage for method, linkage in _LINKAGES.items() if method in asked}
    if n_pieces > n_classes and linkages:
        pieces = _kmeans(rows, n_pieces, rng, 1)
        for method, linkage in linkages.items():
            yield method, _joined(pieces.cluster_centers_, n_classes, linkage)[pieces.labels_]
    graph = None
    for regularisation, variants in _SPECTRAL.items():
        wanted = {method: more for method, more in variants.items() if method in asked}
        if not wanted:
            continue
        assert neighbours is not None
        graph = fuzzy_graph(*neighbours) if graph is None else graph
        n_vectors = min(n_classes + max(wanted.values()), len(rows))
        vectors = regularised_eigenvectors(graph, n_vectors, regularisation, rng)
        for method, more in wanted.items():
            leading = vectors[:, : n_classes + more]
            lengths = np.linalg.norm(leading, axis=1, keepdims=True)
            found = _kmeans(leading / np.maximum(lengths, np.finfo(float).tiny), n_classes, rng, _N_INIT)
            yield method, found.labels_.astype(np.int64)


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


def _kmeans(rows: Floats, n_classes: int, rng: np.random.RandomState, n_init: int) -> KMeans:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal rows; such a partition is scored like any other
        return KMeans(n_classes, n_init=n_init, random_state=int(rng.randint(2**31 - 1))).fit(rows)


def _joined(pieces: Floats, n_classes: int, linkage: str) -> Codes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterWarning)  # equal pieces, as many as columns, look like distances
        found: Codes = AgglomerativeClustering(n_classes, linkage=linkage).fit(pieces).labels_.astype(np.int64)
    return found


def _mixture(rows: Floats, means: Floats) -> Codes:
    """Most probable component of a mixture with one covariance and free weights, started at the means; (n,)."""
    centre = rows.mean(axis=0)
    spread = float((rows - centre).std())
    if spread <= np.finfo(float).eps * float(np.abs(rows).max()):  # equal rows but for rounding
        return np.zeros(len(rows), dtype=np.int64)
    # scikit-learn takes the squares of means from means of squares, which far from 0 leaves nothing but rounding.
    scaled = (rows - centre) / spread
    mixture = GaussianMixture(
        len(means),
        covariance_type="tied",
        means_init=(means - centre) / spread,
        reg_covar=_RIDGE,
        max_iter=50,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found: Codes = mixture.fit(scaled).predict(scaled).astype(np.int64)
    return found
