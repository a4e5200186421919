"""Graphs of nearest neighbours, and the eigenvectors that cut them into pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from newfound.learning.neighbours import nearest_neighbours

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_ROUNDS = 24  # halvings of the interval in which a row's scale lies
_TOLERANCE = 1e-3  # of eigenvalues; k-means on the eigenvectors asks for no more


def nearest(rows: Floats, k: int) -> tuple[Indices, Floats]:
    """Find each row's nearest other rows.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    k : int
        Number of neighbours; where there are fewer than k other rows, all of them.

    Returns
    -------
    indices : ndarray of shape (n, k), int64
        Nearest first.
    distances : ndarray of shape (n, k)
        Euclidean.
    """
    k = min(k, len(rows) - 1)
    indices = nearest_neighbours(torch.as_tensor(rows, dtype=torch.float32), k).numpy()
    distances = np.empty(indices.shape)
    for j in range(k):  # a column at a time, so that no (n, k, d) array is held
        distances[:, j] = np.sqrt(np.square(rows - rows[indices[:, j]]).sum(axis=1))
    return indices, distances


def fuzzy_graph(indices: Indices, distances: Floats) -> Any:
    """Weigh the edges to the nearest neighbours so that every row has the same total, however dense its surroundings.

    A row's nearest neighbour has weight 1 and the others less, on a scale of its own for which the weights sum to
    log2(k). Both directions of an edge are joined as if they were independent events: a + b - ab.

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
    beyond = distances - distances[:, :1]
    target = np.log2(max(k, 2))
    low, high = np.zeros(n), np.full(n, np.inf)
    scale = np.maximum(beyond.mean(axis=1), 1e-12)
    for _ in range(_ROUNDS):
        total = np.exp(-beyond / scale[:, None]).sum(axis=1)
        too_wide = total > target
        high = np.where(too_wide, scale, high)
        low = np.where(too_wide, low, scale)
        scale = np.where(np.isinf(high), 2 * scale, (low + high) / 2)
        scale = np.maximum(scale, 1e-12)
    weights = np.exp(-beyond / scale[:, None])
    directed = csr_array((weights.ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    other = directed.T.tocsr()
    return directed + other - directed * other


def regularised_eigenvectors(
    graph: Any, n_components: int, regularisation: float, rng: np.random.RandomState
) -> Floats:
    """Leading eigenvectors of the normalised adjacency matrix, to which a weak edge between all rows is added.

    Without the weak edges, small pieces at the rim of the data would take the leading eigenvectors for themselves.

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
    ndarray of shape (n, n_components)
        The largest eigenvalue first.
    """
    n = graph.shape[0]
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    tau = regularisation * degrees.mean()
    root = 1.0 / np.sqrt(np.maximum(degrees + tau, np.finfo(float).tiny))
    scaled = csr_array(graph.multiply(root[:, None]).multiply(root[None, :]))

    def times(vector: Floats) -> Floats:
        vector = vector.ravel()
        product: Floats = scaled @ vector + root * (tau / n * (root @ vector))
        return product

    if n_components >= n - 1 or n < 50:
        dense = scaled.toarray() + tau / n * np.outer(root, root)
        vectors = np.linalg.eigh(dense)[1]
        return np.ascontiguousarray(vectors[:, ::-1][:, :n_components])
    operator = LinearOperator((n, n), matvec=times, dtype=np.float64)
    start = rng.uniform(-1, 1, n)
    values, vectors = eigsh(
        operator, n_components, which="LA", v0=start, tol=_TOLERANCE, ncv=max(2 * n_components + 1, 30)
    )
    return np.ascontiguousarray(vectors[:, np.argsort(-values)])
