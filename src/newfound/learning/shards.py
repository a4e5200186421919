"""Encoded rows on disk, in shards that fit into memory and are each like the whole table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from newfound.folders import writing_for_a_while
from newfound.tables.layout import Layout

SHARD_ROWS = 1 << 17
"""Most rows of a shard."""

_SHARD_NUMBERS = 1 << 24  # numbers of a shard at most: 64 MiB


class TensorTask(NamedTuple):
    """A `DiscoveryTask` on the device where it is trained: rows (n, d) float32, codes (n,) int64, and the layout."""

    rows: Tensor
    codes: Tensor
    layout: Layout


T = TypeVar("T")


class LazyList(Sequence[T]):
    """Items that are made each time they are asked for, so that none is kept."""

    def __init__(self, n: int, make: Callable[[int], T]) -> None:
        self._n, self._make = n, make

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        """Make an item."""
        return [self._make(i) for i in range(len(self))[place]] if isinstance(place, slice) else self._make(place)


class Shards(LazyList[TensorTask]):
    """A table in shards, to which each row was assigned at random, so that every shard is a sample of the table.

    A table that is sorted by class or by time is thereby shuffled, once and on disk, and what is near a row in its
    shard is near it in the table. A shard without rows, as there may be where few were added, is none.

    Parameters
    ----------
    folder : Path
        Exists, and is empty.
    layout : Layout
        Of the rows.
    n_rows : int
        Rows of all shards together, at most.
    device : torch.device
        Where shards are loaded to.
    """

    def __init__(self, folder: Path, layout: Layout, n_rows: int, device: torch.device) -> None:
        self._folder, self._layout, self._device = folder, layout, device
        most = max(1, min(SHARD_ROWS, _SHARD_NUMBERS // layout.n_columns))
        self._sizes = np.zeros(max(1, -(-n_rows // most)), dtype=np.int64)
        super().__init__(0, self.load)  # how many have rows is known later
        self._generator = np.random.default_rng(1)  # not the user's seed: shards are a part of reading the table

    def add(self, rows: NDArray[np.floating[Any]], codes: NDArray[np.int64]) -> None:
        """Distribute rows (n, d) and their codes (n,) over the shards."""
        single, n_shards = rows.astype(np.float32, copy=False), len(self._sizes)
        places = self._generator.integers(n_shards, size=len(rows))
        order = np.argsort(places, kind="stable")
        bounds = np.searchsorted(places[order], np.arange(n_shards + 1))
        self._sizes += np.diff(bounds)
        for shard in range(n_shards):
            own = order[bounds[shard] : bounds[shard + 1]]
            for path, array in ((self._rows(shard), single), (self._codes(shard), codes)):
                with writing_for_a_while("The encoded rows", self._folder), path.open("ab") as file:
                    file.write(np.ascontiguousarray(array[own]).data)

    def __len__(self) -> int:
        return int((self._sizes > 0).sum())

    def load(self, place: int) -> TensorTask:
        """Load a shard."""
        shard = int(np.flatnonzero(self._sizes)[place])
        rows = self._read(self._rows(shard), np.float32).view(-1, self._layout.n_columns)
        return TensorTask(rows, self._read(self._codes(shard), np.int64), self._layout)

    def _read(self, path: Path, dtype: Any) -> Tensor:
        """Read an array to the device; to a GPU it is copied while the GPU still computes."""
        array = torch.from_numpy(np.fromfile(path, dtype=dtype))
        return array.pin_memory().to(self._device, non_blocking=True) if self._device.type == "cuda" else array

    def kept_neighbours(self, place: int, search: Callable[[], Tensor]) -> Tensor:
        """Return the neighbours (n, k) of the rows of a shard, searched for the first time and kept on disk."""
        path = self._folder / f"{place}.neighbours.npy"
        if path.exists():
            return torch.from_numpy(np.load(path)).to(self._device, torch.int64)
        found = search()
        with writing_for_a_while("The neighbours of rows", self._folder):
            np.save(path, found.to("cpu", torch.int32).numpy())
        return found

    def _rows(self, shard: int) -> Path:
        return self._folder / f"{shard}.rows"

    def _codes(self, shard: int) -> Path:
        return self._folder / f"{shard}.codes"


def parts_of(tasks: Sequence[TensorTask], make: Callable[[int, TensorTask], T]) -> Sequence[T]:
    """Make something of each part of a table: at once where they are in memory, and of shards each time it is used."""
    if isinstance(tasks, Shards):
        return LazyList(len(tasks), lambda place: make(place, tasks[place]))
    return [make(place, task) for place, task in enumerate(tasks)]
