"""Graphs of nearest neighbours, and the eigenvectors that cut them into pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from newfound.learning.neighbours import nearest_neighbours

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_ROUNDS = 24  # halvings of the interval in which a row's scale lies
_SMALLEST_SCALE = 1e-3  # of a row's scale, as a share of its mean distance
_TOLERANCE = 1e-6  # of eigenvalues; looser ones cost several points of accuracy where eigenvalues lie close
_ROUGH_TOLERANCE = 1e-2
_SPARE_COMPONENTS = 4  # are sought beyond those asked for, since the last ones found are the least sure
_DENSE_ROWS = 300  # up to so many rows, a dense matrix is quicker
_SMALLEST_BASIS = 32


def nearest(rows: Floats, k: int, device: torch.device | str = "cpu") -> tuple[Indices, Floats]:
    """Find each row's nearest other rows.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    k : int
        Number of neighbours; where there are fewer than k other rows, all of them.
    device : torch.device or str
        Where they are sought.

    Returns
    -------
    indices : ndarray of shape (n, k), int64
        Nearest first.
    distances : ndarray of shape (n, k)
        Euclidean.
    """
    k = min(k, len(rows) - 1)
    indices = nearest_neighbours(torch.as_tensor(rows, dtype=torch.float32, device=device), k).cpu().numpy()
    distances = np.empty(indices.shape)
    for j in range(k):  # a column at a time, so that no (n, k, d) array is held
        distances[:, j] = np.sqrt(np.square(rows - rows[indices[:, j]]).sum(axis=1))
    order = distances.argsort(axis=1, kind="stable")  # they were sought in single precision
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(distances, order, axis=1)


def fuzzy_weights(distances: Floats) -> Floats:
    """Weigh the edges to the nearest neighbours so that every row has the same total, however dense its surroundings.

    The nearest neighbour that differs from the row, and all that equal it, have weight 1; the others have less, on a
    scale of the row's own for which the weights sum to log2(k).

    Parameters
    ----------
    distances : ndarray of shape (n, k)
        To the nearest neighbours, nearest first.

    Returns
    -------
    ndarray of shape (n, k)
        Weights in [0, 1].
    """
    n, k = distances.shape
    # Many equal rows would otherwise be neighbours of one another only, cut off from everything else.
    offset = np.where(distances > 0, distances, np.inf).min(axis=1, initial=np.inf)
    beyond = np.maximum(distances - np.where(np.isinf(offset), 0.0, offset)[:, None], 0.0)
    # A scale far below the distances themselves would leave no edge at all to the neighbours that differ.
    floor = np.maximum(_SMALLEST_SCALE * distances.sum(axis=1) / max(k, 1), np.finfo(float).tiny)
    target = np.log2(max(k, 2))
    low, high = np.zeros(n), np.full(n, np.inf)
    scale = np.maximum(beyond.sum(axis=1) / max(k, 1), floor)
    for _ in range(_ROUNDS):
        too_wide = np.exp(-beyond / scale[:, None]).sum(axis=1) > target
        high = np.where(too_wide, scale, high)
        low = np.where(too_wide, low, scale)
        scale = np.maximum(np.where(np.isinf(high), 2 * scale, (low + high) / 2), floor)
    weights: Floats = np.exp(-beyond / scale[:, None])
    return weights


def fuzzy_graph(indices: Indices, distances: Floats) -> Any:
    """Join each row with its nearest neighbours, by `fuzzy_weights`.

    Both directions of an edge are joined as if they were independent events: a + b - ab.

    Parameters
    ----------
    indices, distances : ndarray of shape (n, k)
        Of the nearest neighbours, as `nearest` returns them.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric, with weights in [0, 1].
    """
    n, k = indices.shape
    directed = csr_array((fuzzy_weights(distances).ravel(), indices.ravel(), np.arange(n + 1) * k), shape=(n, n))
    other = directed.T.tocsr()
    return directed + other - directed * other


class Eigenpairs(NamedTuple):
    """What `leading_eigenpairs` finds.

    Attributes
    ----------
    values : ndarray of shape (n_components,)
        The largest first.
    vectors : ndarray of shape (n, n_components)
    scales : ndarray of shape (n,)
        ``(degree + tau) ** (-1/2)`` of each row.
    tau : float
        Total weight of a row's weak edges.
    """

    values: Floats
    vectors: Floats
    scales: Floats
    tau: float


def leading_eigenpairs(graph: Any, n_components: int, regularisation: float, rng: np.random.RandomState) -> Eigenpairs:
    """Leading eigenvalues and eigenvectors of the normalised adjacency matrix with a weak edge between all rows.

    The matrix is (D + tau)^(-1/2) (A + tau/n 11') (D + tau)^(-1/2). Without the weak edges, small pieces at the rim of
    the data would take the leading eigenvectors for themselves.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric weights.
    n_components : int
        At most n.
    regularisation : float
        Total weight of a row's weak edges, as a multiple of the mean degree.
    rng : RandomState
        Start of the iteration.

    Returns
    -------
    Eigenpairs
    """
    n = graph.shape[0]
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    tau = regularisation * float(degrees.mean())
    total = degrees + tau
    scales = 1.0 / np.sqrt(np.where(total > 0, total, 1.0))  # a row without edges has nothing to scale
    scaled = csr_array(graph.multiply(scales[:, None]).multiply(scales[None, :]))

    def times(vectors: Floats) -> Floats:
        product: Floats = scaled @ vectors + np.multiply.outer(scales, tau / n * (scales @ vectors))
        return product

    if not degrees.any():  # every vector is an eigenvector
        return Eigenpairs(np.zeros(n_components), np.eye(n, n_components), scales, tau)
    values, vectors = _largest(times, n, n_components, rng)
    return Eigenpairs(values, np.ascontiguousarray(vectors), scales, tau)


def _largest(
    times: Callable[[Floats], Floats], n: int, n_components: int, rng: np.random.RandomState
) -> tuple[Floats, Floats]:
    """Largest eigenvalues (n_components,) and eigenvectors (n, n_components) of a symmetric matrix within [-1, 1]."""
    if n <= max(_DENSE_ROWS, 2 * (n_components + _SPARE_COMPONENTS)):
        values, vectors = np.linalg.eigh(times(np.eye(n)))
        return values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    values, vectors = _lanczos(times, n, n_components + _SPARE_COMPONENTS, rng)
    # The iteration may pass over one of several close eigenvalues: look again, away from what was found.
    while True:
        value, vector = _lanczos(_without(times, values, vectors), n, 1, rng)
        if value[0] <= values[n_components - 1] + _TOLERANCE:
            return values[:n_components], vectors[:, :n_components]
        place = np.searchsorted(-values, -value[0])
        values, vectors = np.insert(values, place, value[0]), np.insert(vectors, place, vector[:, 0], axis=1)


def _without(times: Callable[[Floats], Floats], values: Floats, vectors: Floats) -> Callable[[Floats], Floats]:
    """Move the eigenvalues of some eigenvectors of a matrix to -2, below all others."""
    return lambda vector: times(vector) - vectors @ ((values + 2.0) * (vectors.T @ vector))


def _lanczos(
    times: Callable[[Floats], Floats], n: int, n_components: int, rng: np.random.RandomState
) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors by implicitly restarted Lanczos iteration, the largest first."""
    operator = LinearOperator((n, n), matvec=lambda vector: times(vector.ravel()), dtype=np.float64)
    n_basis = min(n, max(2 * n_components + 1, _SMALLEST_BASIS))
    start = rng.uniform(-1, 1, n)
    try:
        values, vectors = eigsh(operator, n_components, which="LA", v0=start, tol=_TOLERANCE, ncv=n_basis)
    except ArpackNoConvergence:  # eigenvalues that lie very close; rough eigenvectors are better than none
        n_basis = min(n, 4 * n_basis)
        values, vectors = eigsh(
            operator, n_components, which="LA", v0=start, tol=_ROUGH_TOLERANCE, ncv=n_basis, maxiter=100 * n
        )
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def regularised_eigenvectors(
    graph: Any, n_components: int, regularisation: float, rng: np.random.RandomState
) -> Floats:
    """Eigenvectors alone of `leading_eigenpairs`; shape (n, n_components), the largest eigenvalue first."""
    return leading_eigenpairs(graph, n_components, regularisation, rng).vectors
