"""A space in which rows lie close that a graph of nearest neighbours connects, and the way of new rows into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

from newfound.clustering.graphs import fuzzy_graph, fuzzy_weights, leading_eigenpairs, nearest

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_ALONE = 0.05  # weight of the graph of the unlabelled rows alone, which keeps rows amid known ones connected


@dataclass(frozen=True, eq=False)
class SpectralSpace:
    """Eigenvectors of a graph that joins only rows that may share a class.

    Neighbours are sought among all rows. Edges between a labelled and an unlabelled row, or between two known classes,
    are cut: the known classes fall apart into pieces of their own, and what lies between two groups of unlabelled rows
    no longer joins them. The leading eigenvectors of such a graph are one for each known class, which only says whether
    a row belongs to it, and those of the unlabelled rows, which are computed.

    A new row lies at the weighted mean of its neighbours.

    Attributes
    ----------
    anchors : ndarray of shape (m, d)
        The different rows from which the space was learned.
    codes : ndarray of shape (m,), int64
        Known class of each anchor, -1 where unlabelled.
    coordinates : ndarray of shape (m_unlabelled, n_components)
        Eigenvectors at the unlabelled anchors, divided by the root of the anchor's degree.
    weak : ndarray of shape (n_components,)
        What the weak edges to all rows add to the sum over a row's neighbours.
    n_known, n_neighbors : int
        Number of known classes, and of the neighbours of a row.
    """

    anchors: Floats
    codes: Codes
    coordinates: Floats
    weak: Floats
    n_known: int
    n_neighbors: int

    @classmethod
    def learn(
        cls,
        rows: Floats,
        codes: Codes,
        n_known: int,
        n_components: int,
        n_neighbors: int,
        regularisation: float,
        rng: np.random.RandomState,
    ) -> SpectralSpace:
        """Learn the space of some rows (n, d) with codes (n,) of the `n_known` known classes, -1 where unlabelled.

        `n_components` eigenvectors are taken, or as many as there are different unlabelled rows; `regularisation` is
        that of `leading_eigenpairs`.
        """
        # Equal rows would be neighbours of one another only.
        first = np.unique(np.column_stack([codes, rows]), axis=0, return_index=True)[1]
        anchors, codes = rows[first], codes[first]
        unlabelled = np.flatnonzero(codes < 0)
        if not len(unlabelled):
            return cls(anchors, codes, np.empty((0, 0)), np.empty(0), n_known, n_neighbors)
        together = fuzzy_graph(*nearest(anchors, n_neighbors))[unlabelled][:, unlabelled]
        alone = fuzzy_graph(*nearest(anchors[unlabelled], n_neighbors))
        n_components = min(n_components, len(unlabelled))
        pairs = leading_eigenpairs(csr_array(together + _ALONE * alone), n_components, regularisation, rng)
        coordinates = pairs.vectors * pairs.scales[:, None]
        return cls(anchors, codes, coordinates, pairs.tau * coordinates.mean(axis=0), n_known, n_neighbors)

    def place(self, rows: Floats) -> tuple[Floats, Floats]:
        """Find the place of rows in the space.

        Parameters
        ----------
        rows : ndarray of shape (n, d)

        Returns
        -------
        shares : ndarray of shape (n, n_known + 1)
            Share of each known class, and then of the unlabelled rows, in the weights of a row's neighbours.
        directions : ndarray of shape (n, n_components)
            Place among the unlabelled rows, of length 1.
        """
        unlabelled = np.flatnonzero(self.codes < 0)
        weights = _edges(rows, self.anchors, self.n_neighbors)
        kinds = np.where(self.codes < 0, self.n_known, self.codes)
        belongs = csr_array((np.ones(len(kinds)), (np.arange(len(kinds)), kinds)), (len(kinds), self.n_known + 1))
        votes = (weights @ belongs).toarray()
        shares: Floats = votes / votes.sum(axis=1, keepdims=True)
        if not len(unlabelled):
            return shares, np.empty((len(rows), 0))
        alone = _edges(rows, self.anchors[unlabelled], self.n_neighbors)
        sums = (weights[:, unlabelled] + _ALONE * alone) @ self.coordinates + self.weak
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return shares, sums / np.maximum(lengths, np.finfo(float).tiny)


def _edges(rows: Floats, anchors: Floats, n_neighbors: int) -> Any:
    """Weights of the edges from rows (n, d) to their nearest anchors (m, d); csr_array of shape (n, m)."""
    k = min(n_neighbors, len(anchors))
    indices = NearestNeighbors(n_neighbors=k).fit(anchors).kneighbors(rows, return_distance=False)
    distances = np.empty(indices.shape)
    for j in range(k):  # a column at a time, so that no (n, k, d) array is held; exact, unlike those of the search
        distances[:, j] = np.sqrt(np.square(rows - anchors[indices[:, j]]).sum(axis=1))
    weights = fuzzy_weights(distances)
    return csr_array((weights.ravel(), indices.ravel(), np.arange(len(rows) + 1) * k), (len(rows), len(anchors)))
