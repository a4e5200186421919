"""What discoverers share whose classes are centroids of one space: rows go to the nearest one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.clustering.centroids import centroid_proba, fit_centroids
from newfound.discoverers.base import Arrays, BaseDiscoverer, Codes, Floats
from newfound.discoverers.parameters import check_integer
from newfound.tables.state import finite_floats


class CentroidDiscoverer(BaseDiscoverer):
    """Base of discoverers that find novel classes by k-means, on what `_latent` makes of the encoded rows."""

    n_init: int

    centroids_: Floats
    variance_: float

    def _check_parameters(self) -> None:
        check_integer("n_init", self.n_init, low=1)

    def _discover(self, rows: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState) -> Codes:
        self.centroids_, self.variance_ = self._find_centroids(self._latent(rows), codes, n_novel, rng)
        if not n_novel:
            return np.empty(0, dtype=np.int64)
        found: Codes = self._novel_proba(rows[codes < 0]).argmax(axis=1)
        return found

    def _find_centroids(
        self, latent: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState
    ) -> tuple[Floats, float]:
        """Centroids of the known, then of the novel classes, and the rows' variance around them."""
        return fit_centroids(latent, codes, n_novel, self.n_init, rng)

    def _proba(self, rows: Floats) -> Floats:
        return centroid_proba(self._latent(rows), self.centroids_, self.variance_)

    def _novel_proba(self, rows: Floats) -> Floats:
        return centroid_proba(self._latent(rows), self.centroids_[len(self.known_classes_) :], self.variance_)

    def _latent(self, rows: Floats) -> Floats:
        return rows

    def _fitted_state(self) -> Arrays:
        return {"centroids": self.centroids_, "variance": np.array([self.variance_])}

    def _restore_fitted(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        shape = (len(self.known_classes_) + self._n_found, self.encoder_.layout_.n_columns)
        self.centroids_ = finite_floats(arrays, "centroids", shape)
        self.variance_ = float(finite_floats(arrays, "variance", (1,), positive=True)[0])
