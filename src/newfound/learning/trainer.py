"""Trainers: rows, codes and settings come in, frozen networks that have learned come out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from newfound.errors import TABLE, InputError, Message, ModelFileError, TrainingInterrupted, warn_user
from newfound.learning.checkpoints import Checkpoints
from newfound.learning.fitted import (
    Codes,
    FittedNetworks,
    consensus,
    encoder_widths,
    load_network,
    parameters_in,
    parameters_of,
)
from newfound.learning.members import MemberSettings
from newfound.learning.peers import Peer
from newfound.learning.progress import Progress
from newfound.learning.residence import table_for
from newfound.learning.self_training import SelfTrainingSettings, confident_classes, train_classifier
from newfound.learning.shards import Shards, TensorTask
from newfound.nn import DiscoveryNetwork, MemberStreams
from newfound.tables.cells import shown
from newfound.tables.task import DiscoveryTask

_MAX_WIDTH = 1024  # of layers whose widths follow the number of columns
_CHECKED = 65_536  # rows that are checked at a time: it takes copies of them


@dataclass(frozen=True, eq=False)
class Trained:
    """What a trainer returns.

    Attributes
    ----------
    state : FittedNetworks
    found : ndarray of shape (n_unlabelled,), int64
        Novel class of each unlabelled row: the members' common vote.
    member_found : ndarray of shape (n_members, n_unlabelled), int64
        Each member's own vote.
    history : list of dict
        Losses of each epoch.
    """

    state: FittedNetworks
    found: Codes
    member_found: Codes
    history: list[dict[str, Any]]


class PackedTrainer(ABC):
    """Trains the members of a pack at once, and brings them to one answer.

    A subclass says how wide its networks are (`default_layers`), what they are made of (`build`), how long they train
    (`n_epochs`) and how (`teach`); and, where novel classes are found only after the training, how (`find`).

    Parameters
    ----------
    settings : MemberSettings
        Parameters of the discoverers that are trained: ``hidden_layers``, ``verbose``, ``self_training`` and what the
        subclass reads.
    device : torch.device
    """

    tells_of_interruption = True
    """Whether Ctrl-C during a training ends in a warning; of several trainings side by side, one is enough."""

    def __init__(self, settings: MemberSettings, device: torch.device) -> None:
        self.settings = settings
        self.device = device

    # ---- what subclasses implement

    @abstractmethod
    def default_layers(self, n_features: int) -> list[int]:
        """Widths of the encoder's layers where ``hidden_layers`` is None."""

    @abstractmethod
    def build(self, widths: list[int], n_known: int, n_novel: int, streams: MemberStreams | None) -> DiscoveryNetwork:
        """Build a network with an encoder of these widths, input first; without streams its parameters stay unset."""

    @property
    @abstractmethod
    def n_epochs(self) -> int:
        """Number of epochs over all stages of the training, but for self-training."""

    @abstractmethod
    def teach(
        self, network: DiscoveryNetwork, tasks: Sequence[TensorTask], streams: MemberStreams, progress: Progress
    ) -> None:
        """Train the network in place.

        Parameters
        ----------
        network : DiscoveryNetwork
        tasks : sequence of TensorTask
            The table: as a whole, or in shards where it does not fit into memory.
        streams : MemberStreams
        progress : Progress
        """

    def find(self, networks: FittedNetworks, task: DiscoveryTask, rng: np.random.RandomState) -> FittedNetworks:
        """Find the novel classes, where the training itself does not."""
        return networks

    # ---- training

    def train(
        self,
        task: DiscoveryTask,
        rng: np.random.RandomState,
        checkpoints: Checkpoints | None = None,
        shards: Shards | None = None,
    ) -> Trained:
        """Train the members, on shards where there are any, and bring them to one answer for a task."""
        seeds = rng.randint(2**31 - 1, size=self.settings.n_members).tolist()
        parameters, progress = self.train_members(task, seeds, checkpoints, shards)
        return self.settle(parameters, task, rng, progress)

    def train_members(
        self,
        task: DiscoveryTask,
        seeds: list[int],
        checkpoints: Checkpoints | None = None,
        shards: Shards | None = None,
        peer: Peer | None = None,
    ) -> tuple[dict[str, Tensor], Progress]:
        """Train a member for each seed; returns the parameters of all of them, (n_members, ...) each.

        Where there are peers, each trains on shards of its own, with draws that follow from the seeds and its place.
        """
        own_seeds = seeds if peer is None or peer.is_first else [_seed_of(seed, peer.place) for seed in seeds]
        streams = MemberStreams(own_seeds, device=self.device)
        network = self._new_network(task.rows.shape[1], task.n_known, task.n_novel, streams)
        n_epochs = self.n_epochs + (self._n_self_training_epochs() if task.n_novel else 0)
        progress = Progress(n_epochs, self.settings["verbose"], checkpoints, peer)
        progress.offer(lambda: self.freeze(parameters_of(network), task.n_known, task.n_novel))
        with progress, keeping_what_was_learned(progress.history, tell=self.tells_of_interruption):
            self.teach(network, [self._on_device(task)] if shards is None else shards, streams, progress)
        return parameters_of(network), progress

    def settle(
        self, parameters: Mapping[str, Tensor], task: DiscoveryTask, rng: np.random.RandomState, progress: Progress
    ) -> Trained:
        """Bring trained members to one answer for the unlabelled rows, with self-training where it is asked for."""
        networks = self.freeze(parameters, task.n_known, task.n_novel)
        state, found, member_found = consensus(self.find(networks, task, rng), task.unlabelled_rows)
        interrupted = len(progress.history) < self.n_epochs
        if task.n_novel and self.settings["self_training"] and not interrupted:
            taught = self._self_train(state, task, rng, progress)
            if taught is not None:
                state, found, member_found = consensus(taught, task.unlabelled_rows)
        return Trained(state, found, member_found, progress.history)

    def freeze(
        self, parameters: Mapping[str, Tensor], n_known: int, n_novel: int, n_inputs: int | None = None
    ) -> FittedNetworks:
        """Networks for prediction; ModelFileError where the parameters are not those of such networks."""
        layers = self.settings["hidden_layers"]
        given = encoder_widths(parameters)[1:]
        if layers is not None and list(layers) != given:
            raise ModelFileError(
                f"the network's arrays have the shapes of layers {given}, but hidden_layers is {shown(layers)}."
            )
        network = load_network(parameters, self._build_unset, n_known, n_novel, n_inputs=n_inputs)
        return FittedNetworks(network, n_known, n_novel, self.device)

    def restore(self, arrays: Mapping[str, Any], n_known: int, n_novel: int, n_inputs: int) -> FittedNetworks:
        """Read the arrays of a model file."""
        return self.freeze(parameters_in(arrays), n_known, n_novel, n_inputs)

    # ---- inside

    def _build_unset(self, widths: list[int], n_known: int, n_novel: int) -> DiscoveryNetwork:
        return self.build(widths, n_known, n_novel, None)

    def _new_network(self, n_features: int, n_known: int, n_novel: int, streams: MemberStreams) -> DiscoveryNetwork:
        layers = self.settings["hidden_layers"]
        if layers is None:
            layers = [min(width, _MAX_WIDTH) for width in self.default_layers(n_features)]
        return self.build([n_features, *layers], n_known, n_novel, streams).to(self.device)

    def _on_device(self, task: DiscoveryTask) -> TensorTask:
        return TensorTask(self._tensor(task), torch.as_tensor(task.codes, device=self.device), task.layout)

    def _tensor(self, task: DiscoveryTask) -> Tensor:
        x = table_for(task.rows, self.device)
        if not all(bool(part.isfinite().all()) for part in x.split(_CHECKED)):
            cure = "use another numeric_scaling than 'none', e.g. encoder=TableEncoder(numeric_scaling='signed_log')"
            problem = " has values too large for 32-bit floating point numbers; "
            raise InputError(Message(TABLE, problem, cure, "."), cure=cure)
        return x

    def _n_self_training_epochs(self) -> int:
        # Members that are separate discoverers train themselves one after the other.
        n_times = self.settings.n_members if self.settings["n_members"] == 1 else 1
        return int(self.settings["self_training"]) * SelfTrainingSettings().epochs * n_times

    def _self_train(
        self, state: FittedNetworks, task: DiscoveryTask, rng: np.random.RandomState, progress: Progress
    ) -> FittedNetworks | None:
        """Go on with the encoders, under one head for all classes that learns from the rows that members agree on.

        Only whole rounds count: in the middle of the first one the new head knows little. None if there was none.
        """
        settings, taught_state = SelfTrainingSettings(), None
        streams = MemberStreams(rng.randint(2**31 - 1, size=state.n_members).tolist(), device=self.device)
        x = self._tensor(task)
        network = self._new_network(task.rows.shape[1], task.n_known + task.n_novel, 0, streams)
        network.encoder.load_state_dict(state.network.encoder.state_dict())
        unlabelled = task.codes < 0
        with progress, keeping_what_was_learned(progress.history):
            for _ in range(self.settings["self_training"]):
                novel = confident_classes((taught_state or state).novel_proba(task.unlabelled_rows), settings.share)
                taught = task.codes.copy()
                taught[unlabelled] = np.where(novel < 0, -1, task.n_known + novel)
                train_classifier(network, x, torch.as_tensor(taught, device=self.device), settings, streams, progress)
                taught_state = self.freeze(parameters_of(network), task.n_known, task.n_novel)
        return taught_state


def _seed_of(seed: int, place: int) -> int:
    return int(np.random.SeedSequence([seed, place]).generate_state(1)[0])


@contextmanager
def keeping_what_was_learned(history: list[dict[str, Any]], *, tell: bool = True) -> Iterator[None]:
    """Turn a Ctrl-C during training into a warning: what was learned until then is kept."""
    try:
        yield
    except KeyboardInterrupt:
        if not tell:
            return
        stage = history[-1]["stage"] if history else "none"
        last = f"{stage} {history[-1]['epoch']}" if history else "none"
        state = "untrained" if stage in ("none", "pretraining") else "less reliable than after a full training"
        warn_user(
            f"Training was interrupted; the last completed epoch is: {last}. The model keeps what it had learned and "
            f"can be used, but its novel classes are {state}.",
            TrainingInterrupted,
        )
