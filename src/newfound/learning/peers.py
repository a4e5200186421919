"""Peers: several trainings of one network on different rows, which take every step together.

Each peer has rows and random draws of its own. Before a step their gradients are averaged, so their weights stay equal.
The peers of a process are threads; processes talk to each other through an `Exchange`. The result depends on the number
of peers alone, but for rounding, and not on how they are spread over processes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


class Exchange(Protocol):
    """How the processes talk to each other; all of them call the same methods in the same order."""

    def sum(self, numbers: Tensor) -> None:
        """Replace numbers by their sum over the processes."""

    def gather(self, item: Any) -> list[Any] | None:
        """Return what each process has, in their order, to the first one, and None to the others."""

    def from_first(self, item: T) -> T:
        """Return what the first process has."""


class OneProcess:
    """The exchange of a process with itself."""

    def sum(self, numbers: Tensor) -> None:
        """Leave the numbers as they are."""

    def gather(self, item: Any) -> list[Any] | None:
        """Return a list of the only item."""
        return [item]

    def from_first(self, item: T) -> T:
        """Return the item."""
        return item


class Peer:
    """One of several trainings that take every step together.

    Parameters
    ----------
    group : PeerGroup
    place : int
        Its number among all peers; the first reads and writes checkpoints.
    """

    def __init__(self, group: PeerGroup, place: int) -> None:
        self._group, self.place = group, place

    @property
    def is_first(self) -> bool:
        """Whether this is the first of all peers."""
        return self.place == 0

    def average(self, tensors: Iterable[Tensor]) -> None:
        """Replace tensors by their mean over all peers, who call this with the same shapes."""
        own = list(tensors)
        self._put(own, self._group.meet(self.place, _flat(own), self._group.mean))

    def take_from_first(self, tensors: Iterable[Tensor]) -> None:
        """Replace tensors by those of the first peer."""
        own = list(tensors)
        # In zeros all others are lost, and nothing of the first is rounded.
        given = _flat(own) if self.is_first else torch.zeros_like(_flat(own))
        self._put(own, self._group.meet(self.place, given, self._group.total))

    def gather(self, item: Any) -> list[Any] | None:
        """Return what each peer has, in their order, to the first one, and None to the others."""
        found: list[Any] | None = self._group.meet(self.place, item, self._group.gather)
        return found if self.is_first else None

    def from_first(self, item: T) -> T:
        """Return what the first peer has."""
        found: T = self._group.meet(self.place, item, self._group.from_first)
        return found

    @staticmethod
    @torch.no_grad()
    def _put(tensors: Sequence[Tensor], flat: Tensor) -> None:
        parts = flat.split([tensor.numel() for tensor in tensors]) if tensors else ()
        for tensor, part in zip(tensors, parts, strict=True):
            tensor.copy_(part.view_as(tensor))


class PeerGroup:
    """The peers of this process.

    Parameters
    ----------
    places : sequence of int
        Numbers of this process's peers among all of them. Where there are several processes, process r of n has the
        peers r, r + n, r + 2n and so on.
    n_peers : int
        Of all processes.
    exchange : Exchange
    """

    def __init__(self, places: Sequence[int], n_peers: int, exchange: Exchange | None = None) -> None:
        self._places, self.n_peers, self._exchange = list(places), n_peers, exchange or OneProcess()
        self._given: dict[int, Any] = {}
        self._combine: Callable[[list[Any]], Any] = list
        self._combined: Any = None
        self._barrier = threading.Barrier(len(self._places), self._act)

    def run(self, train: Callable[[Peer], T]) -> list[T]:
        """Train all peers of this process, each in a thread; the error of one ends them all."""

        def guarded(peer: Peer) -> T:
            try:
                return train(peer)
            except BaseException:
                self._barrier.abort()  # or the others would wait for it without end
                raise

        peers = [Peer(self, place) for place in self._places]
        if len(peers) == 1:
            return [guarded(peers[0])]
        with ThreadPoolExecutor(len(peers)) as pool:
            futures = [pool.submit(guarded, peer) for peer in peers]
            errors = [error for future in futures if (error := future.exception()) is not None]
        for error in errors:
            if not isinstance(error, threading.BrokenBarrierError):
                raise error
        return [future.result() for future in futures]

    # ---- where peers meet

    def meet(self, place: int, item: Any, combine: Callable[[list[Any]], Any]) -> Any:
        """Wait for all peers of the process; one of them then combines what they brought."""
        self._given[place], self._combine = item, combine
        self._barrier.wait()
        # It stays until the next meeting, which cannot be held before this peer has come to it.
        return self._combined

    def _act(self) -> None:
        self._combined = self._combine([self._given[place] for place in self._places])
        self._given.clear()

    def total(self, flat: list[Tensor]) -> Tensor:
        """Add up vectors of equal length over all peers of all processes."""
        total = torch.stack(flat).sum(dim=0) if len(flat) > 1 else flat[0].clone()
        if total.numel():
            self._exchange.sum(total)
        return total

    def mean(self, flat: list[Tensor]) -> Tensor:
        """Average vectors of equal length over all peers of all processes."""
        return self.total(flat) / self.n_peers

    def gather(self, items: list[Any]) -> list[Any] | None:
        """Bring the items of all peers to the first process, in the order of the peers."""
        of_processes = self._exchange.gather(dict(zip(self._places, items, strict=True)))
        if of_processes is None:
            return None
        of_all = {place: item for of_process in of_processes for place, item in of_process.items()}
        return [of_all[place] for place in sorted(of_all)]

    def from_first(self, items: list[Any]) -> Any:
        """Hand the first peer's item to all."""
        return self._exchange.from_first(items[0])


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors]) if tensors else torch.zeros(0)
