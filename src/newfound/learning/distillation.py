"""Distillation: packed networks learn a partition of the unlabelled rows, then sharpen it by mutual information."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor
from torch.nn.functional import embedding  # picks rows several times as fast as an index

from newfound.deadline import NEVER, Deadline
from newfound.learning.batches import MixedBatches, Passes
from newfound.learning.corruption import corrupt
from newfound.learning.losses import classification_loss, mutual_information_loss
from newfound.learning.machine import prepared_for
from newfound.learning.optimisers import adamw
from newfound.learning.progress import Progress
from newfound.learning.stages import Learner, steps
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedLinear

STEPS_IN_EPOCH = 50
"""Steps that make an epoch of the history."""

_FIRST_STEPS = 100  # of the imitation, however little time there is: without any, networks say nothing at all


@dataclass(frozen=True)
class DistillationSettings:
    """Settings of the distillation.

    Parameters
    ----------
    imitation_steps, refinement_steps : int
        Steps in which the networks imitate the partition, and in which they sharpen it.
    batch_size : int
        Largest number of rows in a step, before rare ones are repeated and neighbours are added.
    learning_rate : float
        The largest; it rises and falls in each stage.
    smoothing : float
        Share of a label that is spread over all classes.
    swapped : float
        Share of the values that are swapped for those of other rows while the partition is imitated. While it is
        sharpened none are: where few columns tell classes apart, a swapped value is another class.
    balance : float
        Weight of evenly filled classes in the mutual information, 1 for the plain one.
    levelled : bool
        Whether a row counts by the root of one over the size of its class in the partition while that is imitated, so
        that small classes are learned too.
    deadline : Deadline
        At which the training ends wherever it stands, but for a few first steps. Each stage has its share of the time,
        and the learning rate falls with the time as it does with the steps.
    is_stopped : callable
        Asked after every step whether to end there.
    """

    imitation_steps: int = 300
    refinement_steps: int = 500
    batch_size: int = 256
    learning_rate: float = 2e-3
    smoothing: float = 0.05
    swapped: float = 0.2
    balance: float = 0.9
    levelled: bool = False
    deadline: Deadline = NEVER
    is_stopped: Callable[[], bool] = lambda: False


def distil(
    network: DiscoveryNetwork,
    rows: Tensor,
    neighbours: Tensor,
    codes: Tensor,
    partition: Tensor,
    settings: DistillationSettings,
    streams: MemberStreams,
    progress: Progress,
) -> None:
    """Teach a network the known classes and a partition of the unlabelled rows, in place.

    Parameters
    ----------
    network : DiscoveryNetwork
    rows : Tensor of shape (n, d)
    neighbours : Tensor of shape (n, k), int64
        Neighbours of each row, of the same kind: labelled rows have labelled neighbours of their class.
    codes : Tensor of shape (n,), int64
        Known class of each row, -1 where unlabelled.
    partition : Tensor of shape (n,), int64
        Novel class of each unlabelled row; -1 for labelled rows.
    settings : DistillationSettings
    streams : MemberStreams
    progress : Progress
    """
    # By the head and not by the codes, of which a sample of the rows may lack the last.
    bucket = network.classification.bias.shape[-1] - 1
    targets = torch.where(codes < 0, bucket, codes)
    batches = MixedBatches((codes >= 0).nonzero()[:, 0], (codes < 0).nonzero()[:, 0], settings.batch_size)
    decoder = PackedLinear(streams.n_members, network.n_latent, rows.shape[1], streams).to(rows.device)
    views = _NearViews(rows, neighbours, streams)
    parameters = [*network.parameters(), *decoder.parameters()]
    class_weights = torch.bincount(partition[partition >= 0]).clamp(min=1).rsqrt() if settings.levelled else None
    network.train()

    def imitate(index: Tensor) -> dict[str, Tensor]:
        view = corrupt(views.of(index), rows, None, settings.swapped, streams)[0]
        latent = network.encoder(view)
        values = decoder(latent)
        losses = {
            "classification": _loss(network.classification, latent, targets, index, settings.smoothing),
            "reconstruction": F.mse_loss(values, embedding(index, rows), reduction="none").mean(dim=(1, 2)),
        }
        if network.clustering is not None:
            unlabelled = index[:, batches.n_labelled :]
            of_unlabelled = latent[:, batches.n_labelled :]
            classes = _picked(partition, unlabelled)
            of_rows = None if class_weights is None else class_weights[classes]
            logits = network.clustering(of_unlabelled)
            losses["imitation"] = classification_loss(logits, classes, settings.smoothing, of_rows)
        return losses

    def refine(index: Tensor) -> dict[str, Tensor]:
        near = views.neighbour(index[:, batches.n_labelled :])
        # In one pass: batch norm would else remember two kinds of batches, and predict well for neither.
        latent = network.encoder(views.of(torch.cat([index, near], dim=1)))
        taught, b = latent[:, : index.shape[1]], near.shape[1]
        losses = {"classification": _loss(network.classification, taught, targets, index, settings.smoothing)}
        if network.clustering is not None:
            here, there = network.clustering(latent[:, -2 * b :]).softmax(dim=-1).split(b, dim=1)
            losses["information"] = mutual_information_loss(here, there, settings.balance)
        return losses

    stages = (("imitation", settings.imitation_steps, imitate), ("refinement", settings.refinement_steps, refine))
    with prepared_for(streams.n_members * settings.batch_size * network.widest_product, rows.device):
        for stage, n_steps, losses_of in stages:
            optimiser = adamw(parameters, settings.learning_rate)
            clock = _StageClock.of(settings, stage)
            passes = Passes(lambda: batches.epoch(streams), streams, n_steps=n_steps, in_epoch=STEPS_IN_EPOCH)
            learner = Learner({"network": network, "decoder": decoder}, [optimiser], streams)
            for epoch, index in steps(progress, stage, -(-n_steps // STEPS_IN_EPOCH), passes, learner):
                done = passes.step - 1
                share = max(done / n_steps, min(clock.share, done / _FIRST_STEPS))
                optimiser.lr = _learning_rate(settings.learning_rate, share)
                losses = losses_of(index)
                optimiser.zero_grad()
                torch.stack(list(losses.values())).sum().backward()
                optimiser.step()
                epoch.add(**losses)
                if settings.is_stopped():
                    return
                if clock.deadline.passed and (stage != "imitation" or passes.step >= _FIRST_STEPS):
                    break


@dataclass(frozen=True)
class _StageClock:
    """The time of a stage: from when to when."""

    seconds: float
    deadline: Deadline

    @classmethod
    def of(cls, settings: DistillationSettings, stage: str) -> _StageClock:
        """Give a stage its share of the time that is left; the last has all of it."""
        steps = settings.imitation_steps + settings.refinement_steps
        share = settings.imitation_steps / max(1, steps) if stage == "imitation" else 1.0
        deadline = settings.deadline.part(share)
        return cls(deadline.left, deadline)

    @property
    def share(self) -> float:
        """Share of the time that is over; 0 without a limit."""
        if not self.deadline.is_set:
            return 0.0
        return 1.0 - self.deadline.left / self.seconds if self.seconds > 0 else 1.0


def _loss(head: PackedLinear, latent: Tensor, classes: Tensor, index: Tensor, smoothing: float) -> Tensor:
    """Cross entropy of a head with the classes (n,) of the rows in ``index``; (n_members,)."""
    return classification_loss(head(latent), _picked(classes, index), smoothing)


def _picked(classes: Tensor, index: Tensor) -> Tensor:
    """Classes (n,) of the rows in ``index``."""
    return embedding(index, classes[:, None])[..., 0]


class _NearViews:
    """Rows moved towards a random neighbour."""

    def __init__(self, rows: Tensor, neighbours: Tensor, streams: MemberStreams) -> None:
        self._rows, self._neighbours, self._streams = rows, neighbours, streams

    def neighbour(self, index: Tensor) -> Tensor:
        """Draw a neighbour of each row; (n_members, b)."""
        k = self._neighbours.shape[1]
        return torch.take(self._neighbours, index * k + self._streams.integers(k, index.shape[1]))

    def of(self, index: Tensor) -> Tensor:
        """Make views of rows, moved at most half the way; (n_members, b) to (n_members, b, d)."""
        towards = embedding(self.neighbour(index), self._rows)
        return embedding(index, self._rows).lerp(towards, self._streams.uniform(index.shape[1], 1) / 2)


def _learning_rate(highest: float, share: float) -> float:
    """Rise over the first tenth of the steps, then fall along a cosine."""
    factor = share / 0.1 if share < 0.1 else 0.5 * (1 + math.cos(math.pi * (share - 0.1) / 0.9))
    return highest * max(factor, 0.01)
