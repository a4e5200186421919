"""What discoverers share whose members are packed networks, trained at once and voting together."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

from numpy.typing import NDArray

from newfound.discoverers.base import BaseDiscoverer
from newfound.discoverers.fitted import Arrays
from newfound.discoverers.parameters import check_integer, check_layers, pick_device
from newfound.errors import InputError
from newfound.learning.fitted import FittedNetworks
from newfound.learning.members import MemberSettings
from newfound.learning.trainer import PackedTrainer
from newfound.nn import DiscoveryNetwork


class NetworkDiscoverer(BaseDiscoverer):
    """Base of discoverers that predict by packed networks.

    A subclass implements `_trainer`, which knows how its networks are built and trained.
    """

    n_members: int
    device: Any
    verbose: int

    member_labels_: NDArray[Any]

    _state: FittedNetworks
    _class_labels = ("labels_", "member_labels_")

    @property
    def network_(self) -> DiscoveryNetwork:
        """The members' networks."""
        self._check_is_fitted()
        return self._state.network

    def member(self, index: int) -> Self:
        """One member as a fitted discoverer of its own.

        Parameters
        ----------
        index : int
            From 0 to ``n_members - 1``.

        Returns
        -------
        discoverer of the same class, with ``n_members=1``
            Its classes have the names that the consensus gave them.
        """
        self._check_is_fitted()
        n_members = len(self.member_labels_)
        if check_integer("index", index, low=0) >= n_members:
            raise InputError.of("index", index, problem=f"but there are {n_members} members, numbered from 0")
        alone = copy.copy(self)
        alone.n_members = 1
        alone.labels_ = self.member_labels_[index]
        alone.member_labels_ = self.member_labels_[index : index + 1]
        n_latent = self.network_.n_latent
        alone.curation_ = self.curation_.within(slice(index * n_latent, (index + 1) * n_latent))
        alone._state = self._state.member(index)
        return alone

    def _trainer(self, settings: MemberSettings) -> PackedTrainer:
        """Return what trains and restores networks with these settings."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        check_integer("n_members", self.n_members, low=1)
        if not isinstance(self.verbose, bool):  # True is a common way to ask for a progress bar
            check_integer("verbose", self.verbose, low=0)
        pick_device(self.device)

    def _settings(self) -> dict[str, Any]:
        """Return the parameters as the trainer reads them."""
        parameters: dict[str, Any] = {"hidden_layers": None, "self_training": 0} | self.get_params(deep=False)
        parameters["hidden_layers"] = check_layers("hidden_layers", parameters["hidden_layers"])
        return parameters

    def _member_settings(self) -> MemberSettings:
        return MemberSettings.same(self._settings(), self.n_members)

    def _restore_state(self, arrays: Mapping[str, NDArray[Any]]) -> FittedNetworks:
        trainer = self._trainer(self._member_settings())
        return trainer.restore(arrays, len(self.known_classes_), self._n_found, self.encoder_.layout_.n_columns)

    def _fitted_arrays(self) -> Arrays:
        return super()._fitted_arrays() | {"member_codes": self._codes_of(self.member_labels_)}

    def _restore_fitted(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        shape = (self.n_members, len(self.labels_))
        member_codes = self._codes_from(arrays, "member_codes", shape, len(self.classes_))
        super()._restore_fitted(arrays)
        self.member_labels_ = self.classes_[member_codes]
