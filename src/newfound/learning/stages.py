"""Stages of a training: epochs of steps, which checkpoints can end and go on with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from torch import Tensor, nn

from newfound.learning.batches import Passes
from newfound.learning.checkpoints import Snapshot, named, within
from newfound.learning.optimisers import AdamW
from newfound.learning.progress import EpochLosses, Progress
from newfound.nn import MemberStreams

T = TypeVar("T")


@dataclass(frozen=True)
class Learner:
    """All that the steps of a stage change.

    Attributes
    ----------
    modules : dict of str to Module
        Everything with weights that are trained.
    optimisers : sequence of AdamW
    streams : MemberStreams
        Where all random draws of the stage come from.
    """

    modules: Mapping[str, nn.Module]
    optimisers: Sequence[AdamW]
    streams: MemberStreams

    def result(self) -> Snapshot:
        """Return what later stages follow from: weights and streams."""
        tensors, facts = self.streams.state()
        tensors = named("streams", tensors)
        for name, module in self.modules.items():
            tensors |= named(f"modules/{name}", module.state_dict())
        return Snapshot(tensors, {"streams": facts})

    def restore_result(self, result: Snapshot) -> None:
        """Become what `result` was taken from."""
        for name, module in self.modules.items():
            module.load_state_dict(within(result.tensors, f"modules/{name}"))
        self.streams.restore(within(result.tensors, "streams"), result.facts["streams"])

    def state(self) -> Snapshot:
        """Return what the next steps of the stage follow from: weights, optimisers and streams."""
        tensors, facts = self.result()
        for place, optimiser in enumerate(self.optimisers):
            for index, moments in optimiser.state().items():
                tensors |= named(f"optimisers/{place}/{index}", moments)
        return Snapshot(tensors, facts)

    def restore(self, state: Snapshot) -> None:
        """Become what `state` was taken from."""
        self.restore_result(state)
        for place, optimiser in enumerate(self.optimisers):
            moments: dict[int, dict[str, Tensor]] = {}
            for key, tensor in within(state.tensors, f"optimisers/{place}").items():
                index, _, name = key.partition("/")
                moments.setdefault(int(index), {})[name] = tensor
            optimiser.restore(moments)


def steps(
    progress: Progress, stage: str, n_epochs: int, passes: Passes[T], learner: Learner
) -> Iterator[tuple[EpochLosses, T]]:
    """Go through the steps of a stage, each of which trains on one batch.

    Where there are checkpoints, they are written between steps. A stage that is finished in one has no steps, and its
    result is restored; one that was under way goes on where it was.

    Parameters
    ----------
    progress : Progress
    stage : str
        Name in the history.
    n_epochs : int
    passes : Passes
    learner : Learner

    Yields
    ------
    losses : EpochLosses
        To which the losses of the step are to be added.
    batch : object
        What the passes are made of.
    """
    checkpoints = progress.checkpoints
    first, begun = 0, None
    if checkpoints is not None:
        kept, is_finished = checkpoints.enter()
        if kept is not None and is_finished:
            learner.restore_result(kept)
            return
        if kept is not None:
            first, begun = _go_on(kept, passes, learner)
    for epoch, losses in enumerate(progress.epochs(stage, n_epochs, first, begun), first):
        for batch in passes.epoch(epoch):
            yield losses, batch
            if checkpoints is not None and checkpoints.is_due:
                checkpoints.save(_under_way(epoch, losses, passes, learner), progress.state())
    if checkpoints is not None:
        checkpoints.finish(learner.result(), progress.state())


def _under_way(epoch: int, losses: EpochLosses, passes: Passes[T], learner: Learner) -> Snapshot:
    tensors, facts = learner.state()
    sums, n_steps = losses.state()
    tensors |= named("losses", sums)
    return Snapshot(tensors, {**facts, "epoch": epoch, "passes": passes.state(), "losses": n_steps})


def _go_on(kept: Snapshot, passes: Passes[T], learner: Learner) -> tuple[int, EpochLosses]:
    """Restore what `_under_way` took; returns the epoch and its losses so far."""
    passes.restore(kept.facts["passes"])
    learner.restore(kept)  # after the passes, which draw from the streams to find their place
    sums = {name: total.to(learner.streams.device) for name, total in within(kept.tensors, "losses").items()}
    return kept.facts["epoch"], EpochLosses.of(sums, kept.facts["losses"])
