"""What discoverers share that train packed networks, and fitting several of them at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from newfound.deadline import NEVER, Deadline
from newfound.discoverers.fitted import Discovery
from newfound.discoverers.network import NetworkDiscoverer
from newfound.discoverers.parameters import check_integer, check_layers, pick_device, pick_generator
from newfound.discoverers.preparation import Preparation, prepare
from newfound.discoverers.routed import left_to_discover
from newfound.errors import InputError
from newfound.folders import folder_for_a_while
from newfound.learning.checkpoints import Checkpoints
from newfound.learning.machine import threads_for_table
from newfound.learning.members import MemberSettings
from newfound.learning.shards import Shards
from newfound.learning.trainer import Trained
from newfound.routing.calibration import fit_temperature, rows_to_hold_out
from newfound.tables.streams import Summary
from newfound.tables.task import DiscoveryTask


class PackedDiscoverer(NetworkDiscoverer):
    """Base of discoverers that are trained by a `PackedTrainer`, alone or together with others."""

    hidden_layers: list[int] | None
    self_training: int

    # Parameters in which the members of `fit_together` may differ, besides random_state.
    _own_parameters: ClassVar[frozenset[str]] = frozenset()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("self_training", self.self_training, low=0)
        check_layers("hidden_layers", self.hidden_layers)

    def _fit_stream(
        self,
        summary: Summary,
        calibrate: bool,
        checkpoints: Checkpoints | None = None,
        train: StreamTraining | None = None,
        *,
        deadline: Deadline = NEVER,
    ) -> Self:
        """Fit to all rows of a table of which only a sample is in memory."""
        prepared = prepare(self, summary, None, calibrate=calibrate, checkpoints=checkpoints, deadline=deadline)
        task = prepared.task
        held_out = rows_to_hold_out(task.codes, prepared.rng) if prepared.calibrate else np.empty(0, dtype=np.intp)
        learned = replace(prepared, task=task.take(np.setdiff1d(np.arange(len(task.rows)), held_out)))
        with threads_for_table(*task.rows.shape):
            discovery = _discovery((train or _train_on_shards)(self, learned, summary.rows[held_out]))
        temperature = 1.0
        if len(held_out):
            temperature = fit_temperature(discovery.state.proba(task.rows[held_out]), task.codes[held_out])
        return self._conclude(prepared, replace(discovery, temperature=temperature))

    def _learn_from(self, task: DiscoveryTask, prepared: Preparation) -> Discovery:
        trainer = self._trainer(self._member_settings())
        return _discovery(trainer.train(task, prepared.rng, prepared.checkpoints))

    def _together_key(self) -> Hashable:
        alone = self.n_members > 1 or self.n_novel_classes == "auto" or self.unlabelled != "novel"
        return None if alone else together_key(self)

    def _fit_together(self, discoverers: Sequence[Any], X: Any, y: Any) -> list[Any]:
        return fit_together(discoverers, X, y)


D = TypeVar("D", bound=PackedDiscoverer)

StreamTraining = Callable[[PackedDiscoverer, Preparation, NDArray[np.int64]], Trained]
"""Trains a discoverer on a stream of which the task is a sample, without the rows at some places."""


def _train_on_shards(discoverer: PackedDiscoverer, prepared: Preparation, without: NDArray[np.int64]) -> Trained:
    """Train in this process, on shards in a temporary folder."""
    summary, task = prepared.stream, prepared.task
    assert summary is not None
    trainer = discoverer._trainer(discoverer._member_settings())
    with folder_for_a_while() as folder:
        shards = Shards(folder, task.layout, summary.stream.n_rows, pick_device(discoverer.device))
        encoded = summary.encoded(prepared.encoder, without)
        for rows, codes in left_to_discover(encoded, prepared.forest, task.n_novel):
            shards.add(rows, codes)
        return trainer.train(task, prepared.rng, prepared.checkpoints, shards)


def fit_together(discoverers: Sequence[D], X: Any, y: Any) -> list[D]:
    """Fit several discoverers as the members of one packed training, which is far quicker than one after the other.

    Each ends as ``fit(X, y, calibrate=False)`` would leave it, but for rounding: rows to calibrate by would have to be
    others for each. They are of one class with one member each, and may differ in ``random_state`` and, for TabularNCD,
    in `top_k`, `similarity_threshold`, `w1`, `w2`, `k_neighbors`, `dropout` and the learning rates; everything else has
    to be equal. Self-training follows one by one.

    Parameters
    ----------
    discoverers : sequence of PackedDiscoverer
        Left as they are.
    X : table of shape (n, n_columns)
    y : labels of shape (n,)

    Returns
    -------
    list of PackedDiscoverer
        Fitted copies.

    Raises
    ------
    InputError
        For discoverers that cannot be fitted together; `together_key` says which can.

    Examples
    --------
    >>> from newfound import TabularNCD
    >>> X, y = [[0.0], [0.1], [2.0], [2.1], [5.0], [5.1], [9.0], [9.1]], [0, 0, 1, 1, -1, -1, -1, -1]
    >>> few = fit_together([TabularNCD(2, w1=w1, random_state=0) for w1 in (0.2, 0.8)], X, y)
    >>> [model.w1 for model in few]
    [0.2, 0.8]
    """
    keys = {discoverer._together_key() for discoverer in discoverers}
    if None in keys or len(keys) != 1:
        raise InputError(
            "The discoverers cannot be fitted together: they must be of one class, have one member, a given number of "
            "novel classes and unlabelled='novel' each, and differ in no other parameters than those of fit_together's "
            "description."
        )
    fitted = [clone(discoverer) for discoverer in discoverers]
    for discoverer in fitted:
        discoverer._check_all_parameters()
    prepared = prepare(fitted[0], X, y, calibrate=False)
    # What each draws first when it is fitted alone.
    generators = [pick_generator(discoverer.random_state) for discoverer in fitted]
    seeds = [int(generator.randint(2**31 - 1, size=1)[0]) for generator in generators]
    settings = MemberSettings(tuple(discoverer._settings() for discoverer in fitted))
    with threads_for_table(*prepared.task.rows.shape):
        parameters, progress = fitted[0]._trainer(settings).train_members(prepared.task, seeds)
        for m, (discoverer, generator) in enumerate(zip(fitted, generators, strict=True)):
            own = {name: tensor[m : m + 1] for name, tensor in parameters.items()}
            trainer = discoverer._trainer(discoverer._member_settings())
            trained = trainer.settle(own, prepared.task, generator, progress.of_member(m))
            discoverer._conclude(prepared, _discovery(trained))
    return fitted


def together_key(discoverer: PackedDiscoverer) -> Hashable:
    """Discoverers of one key can be fitted together by `fit_together`."""
    parameters = discoverer.get_params()
    own = discoverer._own_parameters
    # The parameters of the encoder are there as well, one by one: its repr leaves some out where they are long.
    shared = {
        name: type(value).__name__ if isinstance(value, BaseEstimator) else repr(value)
        for name, value in parameters.items()
        if name not in own | {"random_state"}
    }
    # Without dropout a member draws no masks, and where a parameter is None another one takes its place.
    absent = {name: parameters[name] is None or (name == "dropout" and parameters[name] == 0) for name in own}
    return (type(discoverer), *shared.items(), *sorted(absent.items()))


def _discovery(trained: Trained) -> Discovery:
    return Discovery(trained.state, trained.found, history=trained.history, member_found=trained.member_found)
