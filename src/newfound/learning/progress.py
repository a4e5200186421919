"""What training reports: a history that is a table, and a progress bar on request."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from torch import Tensor

from newfound.progress import ProgressBar


class Progress:
    """Collects the history of a training and shows a progress bar where asked to.

    Parameters
    ----------
    total_epochs : int
        Number of epochs over all stages, for the time left.
    verbose : int
        0 is silent, 1 shows a bar with stage, epoch, losses and time left.

    Attributes
    ----------
    history : list of dict
        One dict an epoch with ``stage``, ``epoch``, ``seconds`` since the start, and the mean of each loss over the
        epoch's steps and the members. ``pandas.DataFrame(history)`` makes a table of it.
    """

    def __init__(self, total_epochs: int, verbose: int = 0) -> None:
        self.history: list[dict[str, Any]] = []
        self._member_losses: list[dict[str, Tensor]] = []
        self._start = time.perf_counter()
        self._bar = ProgressBar(total_epochs, shown=bool(verbose))

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.__exit__(kind, error, trace)

    def epochs(self, stage: str, n_epochs: int) -> Iterator[EpochLosses]:
        """Go through the epochs of a stage, each with a fresh record for its losses; a stage that returns counts on."""
        done = sum(epoch["stage"] == stage for epoch in self.history)
        for epoch in range(done + 1, done + n_epochs + 1):
            self.announce(f"{stage} {epoch}/{done + n_epochs}")
            losses = EpochLosses()
            yield losses
            of_members = losses.means()
            means = {name: float(values.mean()) for name, values in of_members.items()}
            seconds = time.perf_counter() - self._start
            self.history.append({"stage": stage, "epoch": epoch, "seconds": seconds, **means})
            self._member_losses.append(of_members)
            self._bar.show(detail="  ".join(f"{name} {value:.3f}" for name, value in means.items()))
            self._bar.advance()

    def member_history(self, member: int) -> list[dict[str, Any]]:
        """History of one member: as ``history``, with its own losses."""
        return [
            epoch | {name: float(values[member]) for name, values in losses.items()}
            for epoch, losses in zip(self.history, self._member_losses, strict=False)  # Ctrl-C may part the two
        ]

    def of_member(self, member: int) -> Progress:
        """Go on with one member alone, on the same clock and bar: its history is that of the member."""
        alone = copy.copy(self)
        alone.history, alone._member_losses = self.member_history(member), []
        return alone

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

    def means(self) -> dict[str, Tensor]:
        """Mean of each loss over the steps, (n_members,) each."""
        return {name: total.cpu() / self._steps[name] for name, total in self._sums.items()}
