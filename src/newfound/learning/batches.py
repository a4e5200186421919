"""Mini-batches for packed members: every member shuffles for itself, all batches have one size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from newfound.nn import MemberStreams

_MIN_STEPS = 8  # a small table is cut into this many batches an epoch ...
_MIN_ROWS = 64  # ... as long as each keeps this many rows


def rows_in_batch(n_rows: int, batch_size: int) -> int:
    """Rows in a batch: ``batch_size``, or fewer where a small table would give too few steps an epoch."""
    return min(n_rows, batch_size, max(_MIN_ROWS, n_rows // _MIN_STEPS))


def shuffled_batches(n_rows: int, batch_size: int, streams: MemberStreams, *, together: int = 1) -> Iterator[Tensor]:
    """One epoch of batches over all rows.

    The few rows that do not fill the last batch wait for the next epoch's shuffle.

    Yields
    ------
    Tensor of shape (n_members, b), int64
        Row numbers, the same number of rows for every member. With ``together`` > 1 up to so many batches follow each
        other in one tensor.
    """
    b = rows_in_batch(n_rows, batch_size)
    order = streams.permutation(n_rows)[:, : n_rows // b * b]
    yield from order.split(b * together, dim=1)


class MixedBatches:
    """Batches that hold labelled and unlabelled rows in the proportion of the table.

    A fixed number of each in every batch keeps the shapes of all members equal. Where one kind is so rare that a batch
    would hold too few rows of it to compare, its rows occur several times an epoch.

    Parameters
    ----------
    labelled, unlabelled : Tensor of shape (n_labelled,) and (n_unlabelled,), int64
        Row numbers.
    batch_size : int
        Largest number of rows in a batch, before rare rows are repeated.
    """

    def __init__(self, labelled: Tensor, unlabelled: Tensor, batch_size: int) -> None:
        n = labelled.shape[0] + unlabelled.shape[0]
        self._labelled, self._unlabelled = labelled, unlabelled
        self.batch_rows = rows_in_batch(n, batch_size)
        self.n_steps = -(-n // self.batch_rows)
        self.n_labelled = self._share(labelled.shape[0])
        self.n_unlabelled = self._share(unlabelled.shape[0])

    def _share(self, n_rows: int) -> int:
        """Rows of one kind in each batch."""
        return min(n_rows, max(n_rows // self.n_steps, min(_MIN_ROWS, self.batch_rows)))

    def epoch(self, streams: MemberStreams) -> Iterator[Tensor]:
        """One epoch.

        Yields
        ------
        Tensor of shape (n_members, n_labelled + n_unlabelled), int64
            Row numbers, the labelled rows first.
        """
        labelled = self._shuffled(self._labelled, self.n_labelled, streams)
        unlabelled = self._shuffled(self._unlabelled, self.n_unlabelled, streams)
        for step in range(self.n_steps):
            yield torch.cat([labelled[:, step], unlabelled[:, step]], dim=1)

    def _shuffled(self, rows: Tensor, share: int, streams: MemberStreams) -> Tensor:
        """Rows in random order, repeated as often as needed; shape (n_members, n_steps, share)."""
        needed = self.n_steps * share
        rounds = -(-needed // rows.shape[0]) if share else 0
        order = [streams.permutation(rows.shape[0]) for _ in range(rounds)]
        order = order or [rows.new_zeros(streams.n_members, 0)]
        return rows[torch.cat(order, dim=1)[:, :needed]].view(streams.n_members, self.n_steps, share)


T = TypeVar("T")
Part = TypeVar("Part")


class Passes(Generic[T]):
    """Passes over the rows, one after the other, that know where they are and can go back there.

    Parameters
    ----------
    draw : callable
        Begins a pass: returns an iterator over its batches, which draws from the streams before its first batch only.
    streams : MemberStreams
    n_steps, in_epoch : int, optional
        Number of batches in all and in an epoch of the history; by default an epoch is a pass.

    Attributes
    ----------
    step : int
        Batches that were handed out so far.
    """

    def __init__(
        self,
        draw: Callable[[], Iterator[T]],
        streams: MemberStreams,
        *,
        n_steps: int | None = None,
        in_epoch: int | None = None,
    ) -> None:
        self._draw, self._streams = draw, streams
        self._n_steps, self._in_epoch = n_steps, in_epoch
        self._batches: Iterator[T] | None = None
        self._start: list[Any] = []
        self._place = 0
        self.step = 0

    def epoch(self, number: int) -> Iterator[T]:
        """Go through the batches that are left of an epoch; epochs are numbered from 0."""
        if self._in_epoch is None or self._n_steps is None:
            while (batch := self._next()) is not None:
                yield batch
            return
        end = min(self._n_steps, (number + 1) * self._in_epoch)
        while self.step < end:
            if (batch := self._next()) is not None:
                yield batch

    def _next(self) -> T | None:
        """Return the next batch of the pass, None at its end; after that a new one begins."""
        if self._batches is None:
            self._start, self._place = self._streams.generators(), 0
            self._batches = self._draw()
        batch = next(self._batches, None)
        if batch is None:
            self._batches = None
            return None
        self._place += 1
        self.step += 1
        return batch

    # ---- checkpoints

    def state(self) -> dict[str, Any]:
        """Say where the passes are, JSON-able: shuffling again takes less room than the order of the rows."""
        begun = self._batches is not None
        return {"step": self.step, "start": self._start if begun else None, "place": self._place if begun else 0}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to what `state` returned; what the streams draw next is then to be restored as well."""
        self.step, self._place, self._batches = state["step"], state["place"], None
        if state["start"] is not None:
            self._start = state["start"]
            self._streams.set_generators(self._start)
            self._batches = self._draw()
            for _ in range(self._place):
                next(self._batches)


def passes_over(
    parts: Sequence[Part], epoch: Callable[[Part, MemberStreams], Iterator[Tensor]], streams: MemberStreams
) -> Passes[tuple[Part, Tensor]]:
    """Make passes over the parts of a table, which are loaded when asked for, in random order.

    Parameters
    ----------
    parts : sequence
        With one part, members draw as if there were no parts.
    epoch : callable
        Cuts one part into batches of row numbers.
    streams : MemberStreams
    """

    def draw() -> Iterator[tuple[Part, Tensor]]:
        if len(parts) == 1:
            part = parts[0]
            yield from ((part, batch) for batch in epoch(part, streams))
            return
        # All that follows is drawn from streams of its own, since `Passes` wants nothing drawn after the first batch.
        first, second = streams.permutation(1 << 16)[:, :2].T.tolist()
        seeds = [(high << 16) + low for high, low in zip(first, second, strict=True)]
        own = MemberStreams(seeds, device=streams.device)
        for place in np.random.default_rng(seeds).permutation(len(parts)).tolist():
            part = parts[place]
            yield from ((part, batch) for batch in epoch(part, own))
            del part  # before the next one is loaded

    return Passes(draw, streams)
