"""What discoverers share that train packed networks and then find novel classes by k-means in the latent space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from newfound.clustering.centroids import centroid_proba, fit_centroids
from newfound.discoverers.base import Arrays, Codes, Floats
from newfound.discoverers.packed import PackedDiscoverer
from newfound.discoverers.parameters import check_dropout, check_integer, check_real
from newfound.selection.space import Real, Space, Whole
from newfound.tables.state import finite_floats


class LatentKMeans(PackedDiscoverer):
    """Base of packed discoverers whose members run k-means on what their encoders make of the rows.

    A subclass implements `_default_layers`, `_build` and `_train`. Its network knows of no novel class: each class,
    known or novel, is a centroid in the latent space of each member.
    """

    dropout: float
    learning_rate: float
    epochs: int
    batch_size: int
    n_init: int

    centroids_: Floats
    variances_: Floats

    _own_parameters = frozenset(["learning_rate", "dropout"])

    _search_space: ClassVar[Mapping[str, Space]] = {
        "learning_rate": Real(1e-4, 1e-2, log=True),
        "dropout": Real(0, 0.6),
        "epochs": Whole(10, 100, log=True),
    }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_dropout(self.dropout)
        check_real("learning_rate", self.learning_rate, low=0, open_low=True)
        check_integer("epochs", self.epochs, low=0)
        check_integer("batch_size", self.batch_size, low=1)
        check_integer("n_init", self.n_init, low=1)

    def _n_epochs(self) -> int:
        return self.epochs

    def _agree(self, rows: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState) -> Codes:
        if self._is_self_trained():
            del self.centroids_, self.variances_  # they were of the encoders before self-training
        else:
            latents = self._latents(rows)
            fitted = [fit_centroids(latent, codes, n_novel, self.n_init, rng) for latent in latents]
            self.centroids_ = np.stack([centroids for centroids, _ in fitted])
            self.variances_ = np.array([variance for _, variance in fitted])
        return super()._agree(rows, codes, n_novel, rng)

    def _latents(self, rows: Floats) -> Floats:
        """Each member's projection, (n, d) to (n_members, n, n_latent)."""
        return self._run(rows, lambda network, x: (network.encoder(x),))[0]

    def _member_proba(self, rows: Floats) -> tuple[Floats, Floats]:
        latents, n_known = self._latents(rows), len(self.known_classes_)
        members = list(zip(latents, self.centroids_, self.variances_, strict=True))
        everything = np.stack([centroid_proba(z, centroids, variance) for z, centroids, variance in members])
        if everything.shape[2] == n_known:
            return everything, everything[..., n_known:]
        novel = np.stack([centroid_proba(z, centroids[n_known:], variance) for z, centroids, variance in members])
        return everything, novel

    def _reorder_novel(self, order: NDArray[np.int64]) -> None:
        n_known = len(self.known_classes_)
        novel = np.take_along_axis(self.centroids_[:, n_known:], order[:, :, None], axis=1)
        self.centroids_ = np.concatenate([self.centroids_[:, :n_known], novel], axis=1)

    def _fitted_state(self) -> Arrays:
        own = {} if self._is_self_trained() else {"centroids": self.centroids_, "variances": self.variances_}
        return super()._fitted_state() | own

    def _restore_fitted(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._restore_fitted(arrays)
        if not self._is_self_trained():
            shape = (self.n_members, len(self.known_classes_) + self._n_found, self.network_.n_latent)
            self.centroids_ = finite_floats(arrays, "centroids", shape)
            self.variances_ = finite_floats(arrays, "variances", (self.n_members,), positive=True)
