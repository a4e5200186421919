from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from newfound.nn import MemberStreams

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")),
]
DRAWS: dict[str, Callable[[MemberStreams, int], Tensor]] = {
    "uniform": lambda streams, size: streams.uniform(size, 2),
    "coins": lambda streams, size: streams.coins(0.4, size, 3),
    "integers": lambda streams, size: streams.integers(7, size),
    "permutation": lambda streams, size: streams.permutation(size),
}


@given(
    st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=4),
    st.lists(st.tuples(st.sampled_from(sorted(DRAWS)), st.integers(1, 30)), min_size=1, max_size=8),
    st.sampled_from([torch.float32, torch.float64]),
)
@settings(max_examples=60)
def test_a_members_draws_depend_on_its_own_seed_alone(
    seeds: list[int], requests: list[tuple[str, int]], dtype: torch.dtype
) -> None:
    pack, alone = MemberStreams(seeds, dtype=dtype), [MemberStreams([seed], dtype=dtype) for seed in seeds]
    assert pack.n_members == len(seeds)
    for kind, size in requests:
        together = DRAWS[kind](pack, size)
        for m, single in enumerate(alone):
            assert torch.equal(together[m : m + 1], DRAWS[kind](single, size))


@pytest.mark.parametrize("device", DEVICES)
def test_draws_agree_across_a_refill_of_the_pool(device: str) -> None:
    pack, alone = MemberStreams([1, 2, 3], device=device), MemberStreams([3], device=device)
    for size in (40_000, 40_000, 5_000_000, 7, 3_000_000):  # beyond the pool, and larger than it
        assert torch.equal(pack.uniform(size)[2], alone.uniform(size)[0])


def test_streams_go_with_their_pools_as_soon_as_nobody_needs_them() -> None:
    gc.disable()
    try:
        streams = MemberStreams([0])
        streams.uniform(3)
        alive = weakref.ref(streams)
        del streams
        assert alive() is None
    finally:
        gc.enable()


def test_consecutive_draws_are_new() -> None:
    streams = MemberStreams([0])
    draws = torch.cat([streams.uniform(30_000)[0] for _ in range(5)])
    assert len(draws.unique()) > 0.99 * len(draws)
    assert not torch.equal(streams.coins(0.5, 100), streams.coins(0.5, 100))
    assert not torch.equal(streams.permutation(100), streams.permutation(100))


def test_members_with_different_seeds_draw_differently_and_with_equal_seeds_alike() -> None:
    streams = MemberStreams([5, 6, 5])
    for draw in DRAWS.values():
        drawn = draw(streams, 40)
        assert torch.equal(drawn[0], drawn[2])
        assert not torch.equal(drawn[0], drawn[1])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_uniform_fills_the_unit_interval(device: str, dtype: torch.dtype) -> None:
    draws = MemberStreams([0, 1], device=device, dtype=dtype).uniform(100, 500)
    assert draws.shape == (2, 100, 500)
    assert draws.dtype == dtype
    for member in draws:
        assert (member >= 0).all()
        assert (member < 1).all()
        shares = torch.histc(member.float().cpu(), bins=10, min=0, max=1) / member.numel()
        torch.testing.assert_close(shares, torch.full((10,), 0.1), atol=0.006, rtol=0)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("probability", [0.0, 0.003, 0.3, 0.5, 0.97, 1.0])
def test_coins_show_true_as_often_as_asked(device: str, probability: float) -> None:
    coins = MemberStreams([3, 4], device=device).coins(probability, 500, 401)  # not a multiple of four
    assert coins.shape == (2, 500, 401)
    assert coins.dtype == torch.bool
    error = 5 * (probability * (1 - probability) / (500 * 401)) ** 0.5 + 1 / 65_536
    for member in coins:
        assert abs(member.double().mean().item() - probability) <= (error if 0 < probability < 1 else 0)


def test_coins_are_independent_of_their_neighbours() -> None:
    coins = MemberStreams([0]).coins(0.5, 400_000)[0]
    for lag in (1, 2, 3, 4):
        assert (coins[lag:] == coins[:-lag]).double().mean() == pytest.approx(0.5, abs=0.005)


@given(st.integers(1, 50), st.integers(0, 2**31))
@settings(max_examples=40)
def test_integers_stay_in_bounds(high: int, seed: int) -> None:
    drawn = MemberStreams([seed, seed + 1]).integers(high, 200)
    assert drawn.dtype == torch.int64
    assert drawn.min() >= 0
    assert drawn.max() < high


def test_integers_are_all_equally_likely() -> None:
    drawn = MemberStreams([0]).integers(7, 70_000)[0]
    torch.testing.assert_close(torch.bincount(drawn, minlength=7) / 70_000, torch.full((7,), 1 / 7), atol=0.007, rtol=0)


def test_integers_never_reach_high_though_a_product_may_round_up_to_it() -> None:
    streams = MemberStreams([0])
    streams.uniform = lambda *shape: torch.full((1, *shape), 1 - 2**-24)  # type: ignore[method-assign]
    assert streams.integers(2**24 + 3, 5).max() < 2**24 + 3


@pytest.mark.parametrize("device", DEVICES)
def test_permutations_hold_every_number_once_and_favour_no_place(device: str) -> None:
    streams = MemberStreams([0, 1], device=device)
    places = torch.zeros(2, 5, 5)
    for _ in range(2_000):
        order = streams.permutation(5).cpu()
        assert torch.equal(order.sort(dim=1).values, torch.arange(5).expand(2, 5))
        places += torch.nn.functional.one_hot(order, 5)
    torch.testing.assert_close(places / 2_000, torch.full((2, 5, 5), 0.2), atol=0.05, rtol=0)


@pytest.mark.parametrize("draw", DRAWS)
def test_nothing_can_be_asked_for(draw: str) -> None:
    assert DRAWS[draw](MemberStreams([0, 1]), 0).numel() == 0


@pytest.mark.parametrize("device", DEVICES)
def test_members_can_have_chances_of_their_own(device: str) -> None:
    together = MemberStreams([3, 4], device=device).coins([0.1, 0.7], 50, 400)
    for m, (seed, chance) in enumerate([(3, 0.1), (4, 0.7)]):
        alone = MemberStreams([seed], device=device).coins(chance, 50, 400)
        assert torch.equal(together[m], alone[0])


@pytest.mark.parametrize("device", DEVICES)
def test_members_can_draw_from_ranges_of_their_own(device: str) -> None:
    highs = torch.tensor([[1], [3], [90]], device=device)
    drawn = MemberStreams([0, 1, 2], device=device).integers(highs, 5000)
    for m, high in enumerate([1, 3, 90]):
        assert torch.equal(drawn[m], MemberStreams([m], device=device).integers(high, 5000)[0])
        assert drawn[m].unique().tolist() == list(range(high))


@given(
    st.lists(st.tuples(st.sampled_from(sorted(DRAWS)), st.integers(1, 30_000)), min_size=1, max_size=8),
    st.integers(0, 8),
)
@settings(max_examples=30)
def test_streams_go_back_to_where_they_were(requests: list[tuple[str, int]], place: int) -> None:
    streams, other = MemberStreams([1, 2]), MemberStreams([7, 8])
    for kind, size in requests[:place]:
        DRAWS[kind](streams, size)
    tensors, facts = streams.state()
    kept = {name: tensor.clone() for name, tensor in tensors.items()}, json.loads(json.dumps(facts))
    first = [DRAWS[kind](streams, size).clone() for kind, size in requests[place:]]
    other.uniform(3)
    other.restore(*kept)
    for (kind, size), drawn in zip(requests[place:], first, strict=True):
        again = DRAWS[kind](other, size)
        assert torch.equal(again, drawn)
    other.restore(*kept)
    other.set_generators(facts["generators"])
    assert other.generators() == facts["generators"]
