"""The student of AutoDiscoverer: packed networks that learn a chosen partition beside the known classes."""

from __future__ import annotations

import copy
import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from newfound.clustering.representations import principal_axes
from newfound.clustering.whitening import whitening_map, within_class_covariance
from newfound.deadline import Deadline
from newfound.learning.checkpoints import Checkpoints
from newfound.learning.distillation import STEPS_IN_EPOCH, DistillationSettings, distil
from newfound.learning.fitted import Arrays, Codes, FittedNetworks, Floats
from newfound.learning.machine import in_parallel, threads_of_user
from newfound.learning.members import MemberSettings
from newfound.learning.neighbours import neighbours_within
from newfound.learning.peers import Peer
from newfound.learning.progress import Progress
from newfound.learning.shards import Shards, TensorTask
from newfound.learning.trainer import PackedTrainer
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedMLP
from newfound.tables.state import finite_floats
from newfound.tables.task import DiscoveryTask

_LAYERS = [256, 256, 64]
_NARROWER = (_LAYERS, [128, 128, 64], [64, 64, 32], [32, 32, 16])  # where time is short
# Seconds of one slow core, and what a step consists of: forward, backward, and the rows and neighbours of a batch.
_SECONDS_A_STEP, _SECONDS_A_PRODUCT, _SECONDS_A_PRECISE_PRODUCT = 5e-3, 5e-11, 1e-10
_PASSES, _ROWS_A_STEP, _FEWEST_STEPS = 3, 400, 100
_DROPOUT = 0.1
_HEAVY = 8.0  # standard deviations from which on a column has a heavy tail
_RIDGE = 1.0
_IMITATION = 0.375  # share of the steps
_N_NEIGHBOURS = 10


@dataclass(frozen=True)
class InputMap:
    """From encoded rows to the networks' input: heavy tails squashed, then whitened by the known classes.

    Attributes
    ----------
    heavy : ndarray of shape (d,), bool
        Columns with a heavy tail.
    centre : ndarray of shape (d,)
        Mean of each column, squashed where it is heavy.
    projection : ndarray of shape (d, m)
    """

    heavy: NDArray[np.bool_]
    centre: Floats
    projection: Floats

    @classmethod
    def fit(cls, task: DiscoveryTask) -> InputMap:
        """Fit to the rows and known codes of a task."""
        rows = task.rows
        heavy = (np.abs(rows - rows.mean(axis=0)).max(axis=0) > _HEAVY * rows.std(axis=0)) & ~task.layout.categorical
        squashed = _squashed(rows, heavy)
        centre = squashed.mean(axis=0)
        centred = squashed - centre
        axes = principal_axes(centred)
        projection = axes @ whitening_map(within_class_covariance(centred @ axes, task.codes), _RIDGE)
        spread = float((centred @ projection).std())
        return cls(heavy, centre, projection / (spread if spread > 0 else 1.0))

    def transform(self, rows: Floats) -> Floats:
        """Map rows (n, d) to (n, m)."""
        mapped: Floats = (_squashed(rows, self.heavy) - self.centre) @ self.projection
        return mapped

    def arrays(self) -> Arrays:
        """Arrays for the model file."""
        return {
            "input.heavy": self.heavy.astype(np.float64),
            "input.centre": self.centre,
            "input.projection": self.projection,
        }

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], n_columns: int) -> InputMap:
        """Read `arrays`; ModelFileError where they do not fit the columns."""
        return cls(
            finite_floats(arrays, "input.heavy", (n_columns,)) > 0,
            finite_floats(arrays, "input.centre", (n_columns,)),
            finite_floats(arrays, "input.projection", (n_columns, -1)),
        )


@dataclass(frozen=True, eq=False)
class StudentNetworks(FittedNetworks):
    """Networks that see rows through an `InputMap`.

    Attributes
    ----------
    inputs : InputMap
    """

    inputs: InputMap

    @classmethod
    def of(cls, networks: FittedNetworks, inputs: InputMap) -> StudentNetworks:
        """Let networks see rows through a map."""
        return cls(networks.network, networks.n_known, networks.n_novel, networks.device, inputs)

    def run(
        self, rows: Floats, compute: Callable[[DiscoveryNetwork, Tensor], tuple[Tensor, ...]]
    ) -> tuple[Floats, ...]:
        """Apply the network to mapped rows in chunks; results are (n_members, n, ...)."""
        return super().run(self.inputs.transform(rows), compute)

    def arrays(self) -> Arrays:
        """Arrays for the model file."""
        return super().arrays() | self.inputs.arrays()


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a student is to learn, and how long.

    Attributes
    ----------
    partition : ndarray of shape (n_unlabelled,), int64
        Novel class of each unlabelled row.
    sharpen : bool
        Whether the partition is sharpened by mutual information after it was learned, which evens out class sizes.
    deadline : Deadline
        At which the training ends wherever it stands.
    most_steps : int or None
        Steps that are enough to learn it, where so many are not needed as the discoverer's ``training_steps``.
    levelled : bool
        Whether rows of small classes count more.
    n_rows : int
        Rows that the networks are to predict afterwards, before the deadline is over as well.
    """

    partition: Codes
    sharpen: bool
    deadline: Deadline
    most_steps: int | None = None
    levelled: bool = False
    n_rows: int = 0


class StudentTrainer(PackedTrainer):
    """Trains networks that imitate a partition; settings are the parameters of `AutoDiscoverer`.

    Parameters
    ----------
    settings : MemberSettings
        With ``training_steps``.
    device : torch.device
    lesson : Lesson or None
        None for a trainer that only restores networks.
    """

    def __init__(self, settings: MemberSettings, device: torch.device, lesson: Lesson | None = None) -> None:
        super().__init__(settings, device)
        self.lesson = lesson
        self._stopped = threading.Event()

    def default_layers(self, n_features: int) -> list[int]:
        """Widths that do not depend on the table, but for the time that there is."""
        lesson = self.lesson
        if lesson is None or not lesson.deadline.is_set:
            return _LAYERS
        room = lesson.deadline.room
        return next((layers for layers in _NARROWER if self._seconds([n_features, *layers]) <= room), _NARROWER[-1])

    def _seconds(self, widths: list[int]) -> float:
        """Say how long networks take to learn and to predict, on one slow core, where they train as short as can be."""
        assert self.lesson is not None
        products = self.settings.n_members * sum(a * b for a, b in itertools.pairwise(widths))
        steps = _FEWEST_STEPS * (_SECONDS_A_STEP + _PASSES * _ROWS_A_STEP * products * _SECONDS_A_PRODUCT)
        return steps + self.lesson.n_rows * products * _SECONDS_A_PRECISE_PRODUCT

    def build(self, widths: list[int], n_known: int, n_novel: int, streams: MemberStreams | None) -> DiscoveryNetwork:
        """Build an encoder with batch normalisation, and both heads."""
        n_members = self.settings.n_members
        encoder = PackedMLP(n_members, widths, dropout=_DROPOUT, activate_last=True, batch_norm=True, streams=streams)
        return DiscoveryNetwork(encoder, n_members, widths[-1], n_known, n_novel, streams)

    @property
    def n_epochs(self) -> int:
        """Epochs of both stages."""
        settings = self._distillation_settings()
        return sum(-(-steps // STEPS_IN_EPOCH) for steps in (settings.imitation_steps, settings.refinement_steps))

    def train_members(
        self,
        task: DiscoveryTask,
        seeds: list[int],
        checkpoints: Checkpoints | None = None,
        shards: Shards | None = None,
        peer: Peer | None = None,
    ) -> tuple[dict[str, Tensor], Progress]:
        """Train a member for each seed, in as many packs as there are threads: members never wait for each other.

        A member learns the same in any pack, but for rounding. With checkpoints there is one pack.
        """
        n_packs = min(threads_of_user(), len(seeds))
        if n_packs < 2 or checkpoints is not None or self.device.type != "cpu":
            return super().train_members(task, seeds, checkpoints, shards, peer)
        # Once for all packs: where time is short, widths follow from the time that is left.
        layers = self.settings["hidden_layers"] or self.default_layers(task.rows.shape[1])
        packs, caller = {}, threading.current_thread()

        def train(part: slice) -> None:
            alone = copy.copy(self)
            own = {"hidden_layers": layers, "verbose": 0 if part.start else self.settings["verbose"]}
            alone.settings = MemberSettings(tuple({**member, **own} for member in self.settings.members[part]))
            alone.tells_of_interruption = threading.current_thread() is caller  # which Ctrl-C reaches
            parameters, progress = super(StudentTrainer, alone).train_members(task, seeds[part])
            packs[part.start] = parameters, progress

        bounds = [len(seeds) * place // n_packs for place in range(n_packs + 1)]
        in_parallel(train, [slice(*pair) for pair in itertools.pairwise(bounds)])
        parameters, progresses = zip(*(packs[start] for start in sorted(packs)), strict=True)
        joined = {name: torch.cat([pack[name] for pack in parameters]) for name in parameters[0]}
        return joined, progresses[0].beside(progresses[1:])

    def teach(
        self, network: DiscoveryNetwork, tasks: Sequence[TensorTask], streams: MemberStreams, progress: Progress
    ) -> None:
        """Train the network in place; the partition to learn is of a table in memory."""
        assert self.lesson is not None
        rows, codes, _ = tasks[0]
        progress.announce("neighbour search")
        neighbours = neighbours_within(rows, codes, _N_NEIGHBOURS)
        partition = torch.full_like(codes, -1)
        partition[codes < 0] = torch.as_tensor(self.lesson.partition, device=codes.device)
        settings = self._distillation_settings()
        n_products = sum(parameter.numel() for parameter in network.parameters())
        to_predict = self.lesson.n_rows * n_products * _SECONDS_A_PRECISE_PRODUCT
        settings = replace(settings, deadline=settings.deadline.before(to_predict))
        try:
            distil(network, rows, neighbours, codes, partition, settings, streams, progress)
        except KeyboardInterrupt:
            self._stopped.set()  # for packs in other threads, which Ctrl-C does not reach
            raise

    def _distillation_settings(self) -> DistillationSettings:
        assert self.lesson is not None
        n_steps = int(self.settings["training_steps"])
        n_steps = n_steps if self.lesson.most_steps is None else min(n_steps, self.lesson.most_steps)
        # Sharpening evens out the sizes of the classes.
        imitation = round(_IMITATION * n_steps) if self.lesson.sharpen else n_steps
        return DistillationSettings(
            imitation_steps=imitation,
            refinement_steps=n_steps - imitation,
            levelled=self.lesson.levelled,
            deadline=self.lesson.deadline,
            is_stopped=self._stopped.is_set,
        )


def _squashed(rows: Floats, heavy: NDArray[np.bool_]) -> Floats:
    if not heavy.any():
        return rows
    squashed = rows.copy()
    squashed[:, heavy] = np.arcsinh(rows[:, heavy])
    return squashed
