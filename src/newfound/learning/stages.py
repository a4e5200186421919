"""Stages of a training: epochs of steps, which checkpoints can end and go on with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from torch import Tensor, nn

from newfound.learning.batches import Passes
from newfound.learning.checkpoints import Checkpoints, Snapshot, named, within
from newfound.learning.optimisers import AdamW
from newfound.learning.peers import Peer
from newfound.learning.progress import EpochLosses, Progress
from newfound.nn import MemberStreams

T = TypeVar("T")

_PEERS = "peers"
_STEPS_BETWEEN_QUESTIONS = 50  # after which peers ask the first whether a checkpoint is due


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

    def weights(self) -> dict[str, Tensor]:
        """Return the weights of all modules."""
        return _joined(named(name, module.state_dict()) for name, module in self.modules.items())

    def restore_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Go back to what `weights` returned."""
        for name, module in self.modules.items():
            module.load_state_dict(within(weights, name))

    def moments(self) -> dict[str, Tensor]:
        """Return the state of all optimisers."""
        return _joined(
            named(f"{place}/{index}", moments)
            for place, optimiser in enumerate(self.optimisers)
            for index, moments in optimiser.state().items()
        )

    def restore_moments(self, tensors: Mapping[str, Tensor]) -> None:
        """Go back to what `moments` returned."""
        for place, optimiser in enumerate(self.optimisers):
            moments: dict[int, dict[str, Tensor]] = {}
            for key, tensor in within(tensors, str(place)).items():
                index, _, name = key.partition("/")
                moments.setdefault(int(index), {})[name] = tensor
            optimiser.restore(moments)

    def join(self, peer: Peer) -> None:
        """Begin with the weights of the first peer, and average the gradients of all before every step."""
        for module in self.modules.values():
            peer.take_from_first(module.state_dict().values())
        for optimiser in self.optimisers:
            optimiser.before_step = peer.average


def steps(
    progress: Progress, stage: str, n_epochs: int, passes: Passes[T], learner: Learner
) -> Iterator[tuple[EpochLosses, T]]:
    """Go through the steps of a stage, each of which trains on one batch.

    Where there are checkpoints, they are written between steps. A stage that is finished in one has no steps, and its
    result is restored; one that was under way goes on where it was. Where there are peers, all take these steps with
    the mean of their gradients.

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
    checkpoints, peer = progress.checkpoints, progress.peer
    first, begun = 0, None
    if checkpoints is not None:
        kept, is_finished = checkpoints.enter()
        if kept is not None and is_finished:
            _restore_result(kept, learner, peer)
            return
        if kept is not None:
            first, begun = _go_on(kept, passes, learner, peer)
    if peer is not None:
        learner.join(peer)
    for epoch, losses in enumerate(progress.epochs(stage, n_epochs, first, begun), first):
        for batch in passes.epoch(epoch):
            yield losses, batch
            if checkpoints is not None and _is_due(checkpoints, passes.step, peer):
                under_way = _under_way(epoch, losses, passes, learner, peer)
                if under_way is not None:
                    checkpoints.save(under_way, progress.state())
        if peer is not None:
            peer.average(total for _, total in sorted(losses.state()[0].items()))
    if checkpoints is not None:
        result = _result(learner, peer)
        if result is not None:
            checkpoints.finish(result, progress.state())


def _is_due(checkpoints: Checkpoints, step: int, peer: Peer | None) -> bool:
    """Whether it is time for a checkpoint; peers go by the clock of the first."""
    if peer is None or checkpoints.after_every_step:
        return checkpoints.is_due
    return step % _STEPS_BETWEEN_QUESTIONS == 0 and peer.from_first(checkpoints.is_due)


def _result(learner: Learner, peer: Peer | None) -> Snapshot | None:
    """Take what later stages follow from: weights and streams."""
    tensors, facts = learner.streams.state()
    own = Snapshot(named("streams", tensors), {"streams": facts})
    return _of_all(named("modules", learner.weights()), {}, own, peer)


def _restore_result(kept: Snapshot, learner: Learner, peer: Peer | None) -> None:
    """Restore what `_result` took."""
    tensors, facts = _own(kept, peer)
    learner.restore_weights(within(kept.tensors, "modules"))
    learner.streams.restore(within(tensors, "streams"), facts["streams"])


def _under_way(
    epoch: int, losses: EpochLosses, passes: Passes[T], learner: Learner, peer: Peer | None
) -> Snapshot | None:
    """Take what the next steps of the stage follow from."""
    tensors, facts = learner.streams.state()
    sums, n_steps = losses.state()
    own = Snapshot(
        named("streams", tensors) | named("losses", sums),
        {"streams": facts, "passes": passes.state(), "losses": n_steps},
    )
    shared = named("modules", learner.weights()) | named("optimisers", learner.moments())
    return _of_all(shared, {"epoch": epoch}, own, peer)


def _go_on(kept: Snapshot, passes: Passes[T], learner: Learner, peer: Peer | None) -> tuple[int, EpochLosses]:
    """Restore what `_under_way` took; returns the epoch and its losses so far."""
    tensors, facts = _own(kept, peer)
    passes.restore(facts["passes"])
    _restore_result(kept, learner, peer)  # after the passes, which draw from the streams to find their place
    learner.restore_moments(within(kept.tensors, "optimisers"))
    sums = {name: total.to(learner.streams.device) for name, total in within(tensors, "losses").items()}
    return kept.facts["epoch"], EpochLosses.of(sums, facts["losses"])


def _of_all(shared: dict[str, Tensor], facts: dict[str, Any], own: Snapshot, peer: Peer | None) -> Snapshot | None:
    """Put together what all peers share and what each has of its own; None for all peers but the first."""
    if peer is None:
        of_peers: list[Snapshot] | None = [own]
    else:
        copies = {name: tensor.detach().to("cpu", copy=True) for name, tensor in own.tensors.items()}
        of_peers = peer.gather(Snapshot(copies, own.facts))
    if of_peers is None:
        return None
    tensors = _joined(named(f"{_PEERS}/{place}", snapshot.tensors) for place, snapshot in enumerate(of_peers))
    return Snapshot({**shared, **tensors}, {**facts, _PEERS: [snapshot.facts for snapshot in of_peers]})


def _own(kept: Snapshot, peer: Peer | None) -> Snapshot:
    """Return what a peer has of its own."""
    place = 0 if peer is None else peer.place
    return Snapshot(within(kept.tensors, f"{_PEERS}/{place}"), kept.facts[_PEERS][place])


def _joined(several: Iterable[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    return {name: tensor for part in several for name, tensor in part.items()}
