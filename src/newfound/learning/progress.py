"""What training reports: a history that is a table, and a progress bar on request."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor

from newfound.learning.checkpoints import Checkpoints
from newfound.learning.peers import Peer
from newfound.progress import ProgressBar


class Progress:
    """Collects the history of a training and shows a progress bar where asked to.

    Parameters
    ----------
    total_epochs : int
        Number of epochs over all stages, for the time left.
    verbose : int
        0 is silent, 1 shows a bar with stage, epoch, losses and time left.
    checkpoints : Checkpoints or None
        Where the training is kept while it goes on; it begins with the history that is found there.
    peer : Peer or None
        Who this is among several trainings that take every step together.

    Attributes
    ----------
    history : list of dict
        One dict an epoch with ``stage``, ``epoch``, ``seconds`` since the start, and the mean of each loss over the
        epoch's steps and the members. ``pandas.DataFrame(history)`` makes a table of it.
    """

    def __init__(
        self,
        total_epochs: int,
        verbose: int = 0,
        checkpoints: Checkpoints | None = None,
        peer: Peer | None = None,
    ) -> None:
        self.history: list[dict[str, Any]] = []
        self.checkpoints, self.peer = checkpoints, peer
        self._member_losses: list[dict[str, Tensor]] = []
        self._start = time.perf_counter()
        self._bar = ProgressBar(total_epochs, shown=bool(verbose))
        if checkpoints is not None:
            self.restore(checkpoints.progress)

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.__exit__(kind, error, trace)

    def epochs(
        self, stage: str, n_epochs: int, n_done: int = 0, begun: EpochLosses | None = None
    ) -> Iterator[EpochLosses]:
        """Go through the epochs of a stage, each with a fresh record for its losses; a stage that returns counts on.

        Parameters
        ----------
        stage : str
        n_epochs : int
        n_done : int
            Epochs of this stage that a checkpoint has done already.
        begun : EpochLosses, optional
            Record of the epoch after these, where a checkpoint has begun it.
        """
        before = sum(epoch["stage"] == stage for epoch in self.history) - n_done
        for epoch in range(before + n_done + 1, before + n_epochs + 1):
            self.announce(f"{stage} {epoch}/{before + n_epochs}")
            losses, begun = begun or EpochLosses(), None
            yield losses
            of_members = losses.means()
            means = {name: float(values.mean()) for name, values in of_members.items()}
            seconds = time.perf_counter() - self._start
            self.history.append({"stage": stage, "epoch": epoch, "seconds": seconds, **means})
            self._member_losses.append(of_members)
            self._bar.record(self.history[-1])
            self._bar.show(detail="  ".join(f"{name} {value:.3f}" for name, value in means.items()))
            self._bar.advance()

    def member_history(self, member: int) -> list[dict[str, Any]]:
        """History of one member: as ``history``, with its own losses."""
        return [
            epoch | {name: float(values[member]) for name, values in losses.items()}
            for epoch, losses in zip(self.history, self._member_losses, strict=False)  # Ctrl-C may part the two
        ]

    def beside(self, others: Sequence[Progress]) -> Self:
        """Join packs that were trained side by side: the history is that of one pack with the members of all."""
        joined = copy.copy(self)
        packs: list[Progress] = [self, *others]
        joined._member_losses = [
            {name: torch.cat([losses[name] for losses in epoch]) for name in epoch[0]}
            for epoch in zip(*(pack._member_losses for pack in packs), strict=False)  # one may have been stopped sooner
        ]
        joined.history = [
            epoch | {name: float(values.mean()) for name, values in losses.items()}
            for epoch, losses in zip(self.history, joined._member_losses, strict=False)
        ]
        return joined

    def of_member(self, member: int) -> Progress:
        """Go on with one member alone, on the same clock and bar: its history is that of the member."""
        alone = copy.copy(self)
        alone.history, alone._member_losses = self.member_history(member), []
        return alone

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps of it, JSON-able."""
        return {
            "history": self.history,
            "member_losses": [
                {name: values.tolist() for name, values in losses.items()} for losses in self._member_losses
            ],
            "seconds": time.perf_counter() - self._start,
        }

    def restore(self, state: Mapping[str, Any] | None) -> None:
        """Go on from what `state` returned."""
        if state is None:
            return
        self.history = [dict(epoch) for epoch in state["history"]]
        self._member_losses = [
            {name: torch.tensor(values) for name, values in losses.items()} for losses in state["member_losses"]
        ]
        self._start -= state["seconds"]
        self._bar.advance(len(self.history))

    def offer(self, networks: Callable[[], Any]) -> None:
        """Let who watches have a copy of the networks as they are now."""
        self._bar.offer(networks)

    def advance(self, n_epochs: int = 1) -> None:
        """Show that something was done that has no losses."""
        self._bar.advance(n_epochs)

    def announce(self, text: str) -> None:
        """Show what is going on."""
        self._bar.show(text)


class EpochLosses:
    """Sums of the losses of one epoch, kept on the device until the epoch ends."""

    def __init__(self) -> None:
        self._sums: dict[str, Tensor] = {}
        self._steps: dict[str, int] = {}

    def add(self, **losses: Tensor) -> None:
        """Add the losses of one step, each of shape (n_members,)."""
        for name, loss in losses.items():
            value = loss.detach()
            self._steps[name] = self._steps.get(name, 0) + 1
            self._sums[name] = self._sums[name] + value if name in self._sums else value

    def state(self) -> tuple[dict[str, Tensor], dict[str, int]]:
        """Return the sums of the losses, (n_members,) each, and how many steps each has."""
        return self._sums, self._steps

    @classmethod
    def of(cls, sums: Mapping[str, Tensor], steps: Mapping[str, int]) -> EpochLosses:
        """Go on from what `state` returned."""
        losses = cls()
        losses._sums, losses._steps = dict(sums), dict(steps)
        return losses

    def means(self) -> dict[str, Tensor]:
        """Mean of each loss over the steps, (n_members,) each."""
        return {name: total.cpu() / self._steps[name] for name, total in self._sums.items()}
