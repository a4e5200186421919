"""Steps that a GPU replays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor

from newfound.learning.optimisers import adamw
from newfound.learning.replay import Replayed
from newfound.nn import MemberStreams, PackedMLP

on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def _train(device: str, *, enabled: bool, n_steps: int = 12) -> tuple[PackedMLP, list[Tensor]]:
    """Train two small networks with dropout to return their input; returns them and their losses."""
    streams = MemberStreams([1, 2], device=device)
    network = PackedMLP(2, [4, 8, 4], dropout=[0.1, 0.3], streams=streams).to(device).train()
    optimiser = adamw(network.parameters(), 1e-2)

    def update(batch: Tensor) -> dict[str, Tensor]:
        loss = (network(batch) - batch).square().mean(dim=(1, 2))
        optimiser.zero_grad()
        loss.sum().backward()
        optimiser.step()
        return {"restored": loss}

    step = Replayed(update, streams, enabled=enabled)
    generator = torch.Generator().manual_seed(0)
    batches = [torch.randn(2, 5 + number % 2, 4, generator=generator).to(device) for number in range(n_steps)]
    return network, [step(batch)["restored"] for batch in batches]


def test_on_a_cpu_the_update_is_called_as_it_is() -> None:
    (network, losses), (twin, same) = _train("cpu", enabled=True), _train("cpu", enabled=False)
    assert all(torch.equal(a, b) for a, b in zip(losses, same, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), twin.parameters(), strict=True))


@on_a_gpu
def test_replayed_steps_are_the_steps_taken_kernel_by_kernel() -> None:
    (network, losses), (twin, same) = _train("cuda", enabled=True), _train("cuda", enabled=False)
    torch.testing.assert_close(torch.stack(losses), torch.stack(same))
    for parameter, other in zip(network.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(parameter, other)


@on_a_gpu
def test_threads_record_and_replay_side_by_side() -> None:
    network, losses = _train("cuda", enabled=True, n_steps=40)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: _train("cuda", enabled=True, n_steps=40), range(8)))
    for twin, same in found:
        assert torch.equal(torch.stack(losses), torch.stack(same))
        assert all(torch.equal(a, b) for a, b in zip(network.parameters(), twin.parameters(), strict=True))


@on_a_gpu
def test_a_training_leaves_no_memory_behind() -> None:
    held = []
    for _ in range(4):
        _train("cuda", enabled=True)
        held.append(torch.cuda.memory_allocated())
    assert held[-1] == held[0]


def test_fixed_draws_stay_in_place_and_follow_the_stream() -> None:
    streams, twin = MemberStreams([1, 2]), MemberStreams([1, 2])
    assert torch.equal(streams.uniform(5), twin.uniform(5))
    draws = streams.fixed(6, 0)
    with draws:
        handed = streams.uniform(2), streams.uniform(4)
    for _ in range(2):
        draws.renew()
        assert torch.equal(torch.cat(handed, dim=1), twin.uniform(6)), "what was handed out is where the new draws are"
    assert torch.equal(streams.uniform(3), twin.uniform(3)), "outside, the streams go on"
