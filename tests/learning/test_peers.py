"""Peers keep equal weights, and the mean of their gradients is what they step by."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from newfound.learning.optimisers import adamw
from newfound.learning.peers import Exchange, Peer, PeerGroup
from newfound.learning.stages import Learner
from newfound.nn import MemberStreams

ROWS = torch.randn(4, 5, 3, generator=torch.Generator().manual_seed(0))  # of each of four peers


class Threads:
    """The exchange of processes that are threads."""

    def __init__(self, n: int) -> None:
        self.barrier, self.brought = threading.Barrier(n), [None] * n

    def of(self, rank: int) -> Exchange:
        return _OfThread(self, rank)


class _OfThread:
    def __init__(self, threads: Threads, rank: int) -> None:
        self.threads, self.rank = threads, rank

    def _all(self, item: Any) -> list[Any]:
        self.threads.brought[self.rank] = item
        self.threads.barrier.wait()
        found = list(self.threads.brought)
        self.threads.barrier.wait()
        return found

    def sum(self, numbers: Tensor) -> None:
        numbers.copy_(torch.stack(self._all(numbers.clone())).sum(dim=0))

    def gather(self, item: Any) -> list[Any] | None:
        found = self._all(item)
        return found if self.rank == 0 else None

    def from_first(self, item: Any) -> Any:
        return self._all(item)[0]


def train(peer: Peer) -> tuple[list[Tensor], list[Any] | None, str]:
    """A few steps on the rows of a peer."""
    model = linear(seed=peer.place)
    optimiser = adamw(model.parameters(), 0.1)
    Learner({"model": model}, [optimiser], MemberStreams([0])).join(peer)
    for _ in range(5):
        optimiser.zero_grad()
        model(ROWS[peer.place]).square().mean().backward()
        optimiser.step()
    return list(model.parameters()), peer.gather(peer.place), peer.from_first(f"of {peer.place}")


def linear(seed: int) -> nn.Module:
    model = nn.Linear(3, 2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed)))
    return model


@pytest.mark.parametrize("places", [[[0, 1, 2, 3]], [[0, 2], [1, 3]], [[0, 3], [1], [2]]])
def test_any_number_of_processes_steps_by_the_mean_of_all_gradients(places: list[list[int]]) -> None:
    expected = linear(seed=0)  # of the first peer
    optimiser = torch.optim.AdamW(expected.parameters(), lr=0.1)
    for _ in range(5):
        optimiser.zero_grad()
        expected(ROWS.flatten(0, 1)).square().mean().backward()
        optimiser.step()

    threads, found = Threads(len(places)), {}

    def process(rank: int) -> None:
        found[rank] = PeerGroup(places[rank], 4, threads.of(rank)).run(train)

    processes = [threading.Thread(target=process, args=(rank,)) for rank in range(len(places))]
    for one in processes:
        one.start()
    for one in processes:
        one.join(timeout=60)
    of_peers = [result for rank in range(len(places)) for result in found[rank]]
    assert len(of_peers) == 4
    for weights, _, said in of_peers:
        assert all(torch.equal(one, other) for one, other in zip(weights, of_peers[0][0], strict=True))
        assert said == "of 0"
    for one, other in zip(of_peers[0][0], expected.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
    assert [gathered for _, gathered, _ in of_peers] == [[0, 1, 2, 3], None, None, None]


def test_the_error_of_one_peer_ends_all() -> None:
    def fail(peer: Peer) -> None:
        if peer.place == 1:
            raise MemoryError
        peer.average([torch.ones(2)])

    with pytest.raises(MemoryError):
        PeerGroup([0, 1, 2], 3).run(fail)
