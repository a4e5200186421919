"""NCDSpectral: spectral clustering of a neighbour graph that the known classes have cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from newfound.clustering.centroids import centroid_proba, fit_centroids
from newfound.clustering.spectral_space import SpectralSpace
from newfound.discoverers.fitted import Arrays, Discovery, Floats
from newfound.discoverers.neighbour import NeighbourDiscoverer
from newfound.discoverers.parameters import check_integer, check_real
from newfound.routing.router import Mode
from newfound.selection.space import ENCODINGS, Real, Whole
from newfound.tables import TableEncoder
from newfound.tables.state import finite_floats
from newfound.tables.task import DiscoveryTask

_MAX_COMPONENTS = 100  # more novel classes than this are told apart in as many dimensions


@dataclass(frozen=True, eq=False)
class SpectralState:
    """Novel classes that are centroids among the eigenvectors of a graph; known ones by the neighbours there.

    Attributes
    ----------
    space : SpectralSpace
    centroids : ndarray of shape (n_novel, n_components)
    variance : float
        Of the rows around their centroids.
    """

    space: SpectralSpace
    centroids: Floats
    variance: float

    def classify(self, directions: Floats) -> Floats:
        """Probabilities of the novel classes, by eigenvectors; (n, n_components) to (n, n_novel)."""
        return centroid_proba(directions, self.centroids, self.variance)

    def proba(self, rows: Floats) -> Floats:
        """Probabilities of the known, then the novel classes; (n, d) to (n, n_classes)."""
        shares, directions = self.space.place(rows)
        if not len(self.centroids):
            return shares[:, :-1]
        return np.hstack([shares[:, :-1], shares[:, -1:] * self.classify(directions)])

    def novel_proba(self, rows: Floats) -> Floats:
        """Probabilities of the novel classes alone; (n, d) to (n, n_novel)."""
        return self.classify(self.space.place(rows)[1])

    def latent(self, rows: Floats) -> Floats:
        """Shares of the known classes among the neighbours, then the eigenvectors; (n, d) to (n, n_latent)."""
        shares, directions = self.space.place(rows)
        return np.hstack([shares[:, :-1], shares[:, -1:] * directions])

    def arrays(self) -> Arrays:
        """Arrays for the model file."""
        # As long as a voter is unlabelled, it does not matter which of the novel classes it is said to have.
        codes = np.where(self.space.codes < 0, self.space.n_known, self.space.codes)
        return {
            "voters": self.space.anchors,
            "voter_codes": codes.astype(np.int32),
            "coordinates": self.space.coordinates,
            "weak": self.space.weak,
            "centroids": self.centroids,
            "variance": np.array([self.variance]),
        }


class NCDSpectral(NeighbourDiscoverer):
    """Novel classes by spectral clustering of a graph that joins only rows that may share a class.

    Every row is joined with its nearest neighbours among all rows, labelled or not. Edges between rows that cannot be
    of one class are then cut: between two known classes, and between labelled and unlabelled rows. So a known class
    that lies between two novel ones keeps them apart. Novel classes are found by k-means on the leading eigenvectors of
    the graph, each row scaled to length 1; weak edges between all rows keep a few far rows from becoming a class. A new
    row is known as far as its neighbours are, and its novel class follows from the mean of their eigenvectors.

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has it estimated.
    unlabelled : {"novel", "mixed", "auto"}, default="novel"
        What the unlabelled rows are: all of novel classes, or mixed with rows of known classes, which then get their
        known class. "auto" finds out, and ``unlabelled_reason_`` says how.
    n_neighbors : int, default=30
        Neighbours of a row in the graph, and of a new row.
    n_components : int or None, default=None
        Number of eigenvectors; None is as many as there are novel classes, but at most 100.
    regularisation : float, default=0.01
        Total weight of a row's weak edges to all others, as a multiple of the mean weight of its edges in the graph.
    n_init : int, default=10
        Starts of k-means, of which the best is kept.
    max_rows : int, default=20000
        Of more unlabelled (or labelled) rows, a random sample of this size makes up the graph.
    encoder : TableEncoder or None, default=None
        How the table is prepared; None is ``TableEncoder()``.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    classes_, known_classes_, novel_classes_ : ndarray
        All classes, the known ones, then the novel ones (the largest first).
    labels_ : ndarray of shape (n,)
        Class of each training row: its known class, or the novel class found for it.
    centroids_ : ndarray of shape (n_novel, n_components)
        Centroid of each novel class among the eigenvectors.

    References
    ----------
    Troisemaine et al., "A Practical Approach to Novel Class Discovery in Tabular Data", Data Mining and Knowledge
    Discovery, 2024, has spectral clustering of known and novel rows together. Qin and Rohe, "Regularized Spectral
    Clustering under the Degree-Corrected Stochastic Blockmodel", NeurIPS 2013, has the weak edges.

    Examples
    --------
    >>> from newfound import NCDSpectral
    >>> X, y = [[0.0], [0.1], [2.0], [2.1], [5.0], [5.1], [5.2], [9.0], [9.1]], [0, 0, 1, 1, -1, -1, -1, -1, -1]
    >>> NCDSpectral(n_novel_classes=2, n_neighbors=2, random_state=0).fit(X, y).labels_.tolist()
    [0, 0, 1, 1, 2, 2, 2, 3, 3]
    """

    _search_space = ENCODINGS | {
        "n_neighbors": Whole(5, 60, log=True),
        "n_components": Whole(2, 30, log=True, or_none=True),
        "regularisation": Real(0.001, 1, log=True),
    }

    def __init__(
        self,
        n_novel_classes: int | Literal["auto"] = "auto",
        *,
        unlabelled: Mode = "novel",
        n_neighbors: int = 30,
        n_components: int | None = None,
        regularisation: float = 0.01,
        n_init: int = 10,
        max_rows: int = 20_000,
        encoder: TableEncoder | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_novel_classes = n_novel_classes
        self.unlabelled = unlabelled
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.regularisation = regularisation
        self.n_init = n_init
        self.max_rows = max_rows
        self.encoder = encoder
        self.random_state = random_state

    _state: SpectralState

    @property
    def centroids_(self) -> Floats:
        """Centroid of each novel class among the eigenvectors; shape (n_novel, n_components)."""
        self._check_is_fitted()
        return self._state.centroids

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components is not None:
            check_integer("n_components", self.n_components, low=1)
        check_real("regularisation", self.regularisation, low=0, open_low=True)
        check_integer("n_init", self.n_init, low=1)

    def _learn(self, task: DiscoveryTask, rng: np.random.RandomState) -> Discovery:
        drawn = np.concatenate(self._sample(task.codes, task.n_novel, rng))
        n_components = min(task.n_novel, _MAX_COMPONENTS) if self.n_components is None else self.n_components
        space = SpectralSpace.learn(
            task.rows[drawn],
            task.codes[drawn],
            task.n_known,
            n_components,
            self.n_neighbors,
            self.regularisation,
            rng,
        )
        if not task.n_novel:
            return Discovery(SpectralState(space, np.empty((0, 0)), 1.0), np.empty(0, dtype=np.int64))
        directions = space.place(task.unlabelled_rows)[1]
        unlabelled = np.full(len(directions), -1)
        state = SpectralState(space, *fit_centroids(directions, unlabelled, task.n_novel, self.n_init, rng))
        return Discovery(state, state.classify(directions).argmax(axis=1))

    def _restore_state(self, arrays: Mapping[str, NDArray[Any]]) -> SpectralState:
        n_known, n_novel = len(self.known_classes_), self._n_found
        voters, voter_codes = self._restore_voters(arrays)
        codes = np.where(voter_codes < n_known, voter_codes, -1)
        weak = finite_floats(arrays, "weak", (-1,) if n_novel else (0,))
        coordinates = finite_floats(arrays, "coordinates", (int((codes < 0).sum()), len(weak)))
        space = SpectralSpace(voters, codes, coordinates, weak, n_known, self.n_neighbors)
        centroids = finite_floats(arrays, "centroids", (n_novel, len(weak)))
        return SpectralState(space, centroids, float(finite_floats(arrays, "variance", (1,), positive=True)[0]))
