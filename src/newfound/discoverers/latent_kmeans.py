"""What discoverers share that train packed networks and then find novel classes by k-means in the latent space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import NDArray

from newfound.discoverers.fitted import Floats
from newfound.discoverers.packed import PackedDiscoverer
from newfound.discoverers.parameters import check_dropout, check_integer, check_real
from newfound.learning.fitted import CentroidNetworks, FittedNetworks
from newfound.selection.space import Real, Space, Whole


class LatentKMeans(PackedDiscoverer):
    """Base of packed discoverers whose members run k-means on what their encoders make of the rows.

    Each class, known or novel, is a centroid in the latent space of each member, until self-training replaces the
    centroids by a head for all classes.
    """

    dropout: float
    learning_rate: float
    epochs: int
    batch_size: int
    n_init: int

    _own_parameters = frozenset(["learning_rate", "dropout"])

    _search_space: ClassVar[Mapping[str, Space]] = {
        "learning_rate": Real(1e-4, 1e-2, log=True),
        "dropout": Real(0, 0.6),
        "epochs": Whole(10, 100, log=True),
    }

    @property
    def centroids_(self) -> Floats:
        """Centroid of each class for each member; shape (n_members, n_classes, n_latent)."""
        self._check_is_fitted()
        if not isinstance(self._state, CentroidNetworks):
            raise AttributeError("There are no centroids after self-training, whose networks need none.")
        return self._state.centroids

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_dropout(self.dropout)
        check_real("learning_rate", self.learning_rate, low=0, open_low=True)
        check_integer("epochs", self.epochs, low=0)
        check_integer("batch_size", self.batch_size, low=1)
        check_integer("n_init", self.n_init, low=1)

    def _restore_state(self, arrays: Mapping[str, NDArray[Any]]) -> FittedNetworks:
        networks = super()._restore_state(arrays)
        return networks if networks.has_joint_head else CentroidNetworks.restore(networks, arrays)
