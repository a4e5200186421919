"""What discoverers share whose members are packed networks, trained at once and voting together."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from typing import Any, Self

from numpy.typing import NDArray

from newfound.discoverers.base import BaseDiscoverer
from newfound.discoverers.fitted import Arrays
from newfound.discoverers.parameters import check_integer, check_layers, check_real, pick_device
from newfound.errors import InputError
from newfound.learning.checkpoints import Checkpoints
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

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        calibrate: bool = True,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        resume: bool = True,
        checkpoint_every: float = 60.0,
    ) -> Self:
        """Find the novel classes of a partly labelled table.

        Parameters
        ----------
        X : pandas, polars or pyarrow table, or numpy array, of shape (n, n_columns)
            The table. It may also be larger than memory: the path of a Parquet file, a folder of them, a pattern such
            as ``"2026-*.parquet"``, or an iterator of pyarrow batches. All but `AutoDiscoverer`, which learns from a
            sample, then train on all rows; ``labels_`` are those of the sample, whose places ``sampled_rows_`` has.
        y : labels of shape (n,), or str
            Known classes as integers, strings, booleans or categories; -1, None or NaN where a row is unlabelled. For a
            table that is read from files or batches, the name of the column of the labels.
        calibrate : bool, default=True
            Whether a tenth of the known rows, where there are enough, is held out of the training, so that
            probabilities can be compared with what happens and corrected. False learns from all rows. Where known and
            novel rows are mixed, nothing has to be held out, and it makes no difference.
        checkpoint_dir : str or path, optional
            Folder in which the training is kept while it goes on. When the process was killed, the same call goes on
            from there and, on the same machine's CPU, ends with the same weights to the bit. What comes before the
            training is done again. The folder can be deleted afterwards.
        resume : bool, default=True
            Whether to go on from a checkpoint in that folder. False starts anew and replaces it.
        checkpoint_every : float, default=60.0
            Seconds from one checkpoint to the next.

        Returns
        -------
        self
            An earlier fit leaves no trace; `keep_names` carries its names over. On an error the discoverer is left as
            it was.

        Raises
        ------
        InputError
            For a table, labels or parameters that cannot be used, and for a checkpoint of another table or of other
            settings.
        """
        if not isinstance(resume, bool):
            raise InputError.of("resume", resume, "True or False")
        every = check_real("checkpoint_every", checkpoint_every, low=0)
        if checkpoint_dir is None:
            return self._fit(X, y, calibrate)
        if not isinstance(checkpoint_dir, (str, os.PathLike)):
            raise InputError.of("checkpoint_dir", checkpoint_dir, "None or the path of a folder")
        if getattr(self, "time_limit", None) is not None:
            problem = "but with a time limit a training cannot be repeated, and so not be continued"
            raise InputError.of("checkpoint_dir", str(checkpoint_dir), problem=problem, cure="leave one of the two out")
        return self._fit(X, y, calibrate, Checkpoints(checkpoint_dir, every, resume))

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
