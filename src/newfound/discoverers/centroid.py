"""What discoverers share whose classes are centroids of one space: rows go to the nearest one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from newfound.clustering.centroids import centroid_proba, fit_centroids
from newfound.discoverers.base import BaseDiscoverer
from newfound.discoverers.fitted import Arrays, Codes, Discovery, Floats
from newfound.discoverers.parameters import check_integer
from newfound.tables.state import finite_floats
from newfound.tables.task import DiscoveryTask


class Space(Protocol):
    """Where distances are measured."""

    def place(self, rows: Floats) -> Floats:
        """Map encoded rows; (n, d) to (n, n_latent)."""

    def arrays(self) -> Arrays:
        """Everything in it, for the model file."""


class EncodedSpace:
    """The encoded rows as they are."""

    def place(self, rows: Floats) -> Floats:
        """Return the rows."""
        return rows

    def arrays(self) -> Arrays:
        """Return nothing: there is nothing to know."""
        return {}


@dataclass(frozen=True, eq=False)
class CentroidState:
    """Classes that are centroids of one space.

    Attributes
    ----------
    space : Space
    centroids : ndarray of shape (n_classes, n_latent)
        Of the known, then the novel classes.
    variance : float
        Of the rows around their centroids.
    n_known : int
    """

    space: Space
    centroids: Floats
    variance: float
    n_known: int

    def proba(self, rows: Floats) -> Floats:
        """Probabilities of the known, then the novel classes; (n, d) to (n, n_classes)."""
        return centroid_proba(self.space.place(rows), self.centroids, self.variance)

    def novel_proba(self, rows: Floats) -> Floats:
        """Probabilities of the novel classes alone; (n, d) to (n, n_novel)."""
        return centroid_proba(self.space.place(rows), self.centroids[self.n_known :], self.variance)

    def latent(self, rows: Floats) -> Floats:
        """Rows in the space; (n, d) to (n, n_latent)."""
        return self.space.place(rows)

    def arrays(self) -> Arrays:
        """Arrays for the model file."""
        return {"centroids": self.centroids, "variance": np.array([self.variance])} | self.space.arrays()


class CentroidDiscoverer(BaseDiscoverer):
    """Base of discoverers that find novel classes by k-means, on the encoded rows unless `_space` says otherwise."""

    n_init: int
    _state: CentroidState

    @property
    def centroids_(self) -> Floats:
        """Centroid of each class; shape (n_classes, n_latent)."""
        self._check_is_fitted()
        return self._state.centroids

    def _check_parameters(self) -> None:
        check_integer("n_init", self.n_init, low=1)

    def _space(self, task: DiscoveryTask) -> Space:
        """Make the space in which distances are measured."""
        return EncodedSpace()

    def _restore_space(self, arrays: Mapping[str, NDArray[Any]]) -> Space:
        """Read it back from a model file."""
        return EncodedSpace()

    def _find_centroids(
        self, latent: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState
    ) -> tuple[Floats, float]:
        """Centroids of the known, then of the novel classes, and the rows' variance around them."""
        return fit_centroids(latent, codes, n_novel, self.n_init, rng)

    def _learn(self, task: DiscoveryTask, rng: np.random.RandomState) -> Discovery:
        space = self._space(task)
        centroids, variance = self._find_centroids(space.place(task.rows), task.codes, task.n_novel, rng)
        state = CentroidState(space, centroids, variance, task.n_known)
        if not task.n_novel:
            return Discovery(state, np.empty(0, dtype=np.int64))
        return Discovery(state, state.novel_proba(task.unlabelled_rows).argmax(axis=1))

    def _restore_state(self, arrays: Mapping[str, NDArray[Any]]) -> CentroidState:
        n_known = len(self.known_classes_)
        shape = (n_known + self._n_found, self.encoder_.layout_.n_columns)
        centroids = finite_floats(arrays, "centroids", shape)
        variance = float(finite_floats(arrays, "variance", (1,), positive=True)[0])
        return CentroidState(self._restore_space(arrays), centroids, variance, n_known)
