from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from newfound.learning.neighbours import nearest_neighbours, neighbours_within
from tests.oracles import neighbours as oracle

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")),
]


@st.composite
def tables(draw: st.DrawFn) -> Tensor:
    """(n, d) in double precision; often of few whole numbers, so that rows are equal and distances tie."""
    shape = draw(st.tuples(st.integers(2, 25), st.integers(1, 4)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    if draw(st.booleans()):
        return torch.randint(0, 3, shape, generator=generator).double()
    offset = draw(st.sampled_from([0.0, 1e4]))
    return torch.randn(*shape, generator=generator, dtype=torch.float64) + offset


def assert_nearest(rows: Tensor, found: Tensor, i: int, among: list[int], k: int) -> None:
    """Row i has k different neighbours, at the k smallest distances, nearest first."""
    chosen = found[i, :k].tolist()
    assert len(set(chosen)) == k
    assert i not in chosen
    assert set(chosen) <= set(among)
    table = rows.tolist()
    distances = [oracle.distance(table[i], table[j]) for j in chosen]
    assert distances == pytest.approx(oracle.sorted_distances(table, i, among)[:k], abs=1e-6)


@given(tables(), st.data())
@settings(max_examples=80)
def test_nearest_neighbours_equal_brute_force_whatever_the_chunk(rows: Tensor, data: st.DataObject) -> None:
    n = rows.shape[0]
    k, chunk_bytes = data.draw(st.integers(1, n - 1)), data.draw(st.integers(1, 3 * n * n * 8))
    found = nearest_neighbours(rows, k, chunk_bytes=chunk_bytes)
    assert found.shape == (n, k)
    assert found.dtype == torch.int64
    for i in range(n):
        assert_nearest(rows, found, i, list(range(n)), k)


def test_the_chunk_does_not_change_the_neighbours() -> None:
    rows = torch.randn(300, 5, generator=torch.Generator().manual_seed(0))
    whole = nearest_neighbours(rows, 7)
    for chunk_bytes in (1, 300 * 4, 300 * 4 * 7, 10**9):
        assert torch.equal(nearest_neighbours(rows, 7, chunk_bytes=chunk_bytes), whole)


@pytest.mark.parametrize("device", DEVICES)
def test_single_precision_is_exact_far_from_the_origin(device: str) -> None:
    rows = torch.randn(400, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 1_000
    single = nearest_neighbours(rows.float().to(device), 3).cpu()
    distances = torch.cdist(rows, rows).fill_diagonal_(torch.inf)
    chosen, best = distances.gather(1, single), distances.topk(3, largest=False).values
    torch.testing.assert_close(chosen, best, atol=1e-3, rtol=1e-3)


def test_equal_rows_are_neighbours_but_no_row_is_its_own() -> None:
    found = nearest_neighbours(torch.ones(6, 2), 5)
    for i, near in enumerate(found.tolist()):
        assert sorted([i, *near]) == [0, 1, 2, 3, 4, 5]


class LargestTensor(TorchDispatchMode):
    """Notes the size of the largest tensor that any operation returns."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.n_bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        results = func(*args, **(kwargs or {}))
        for result in results if isinstance(results, tuple | list) else [results]:
            if isinstance(result, Tensor):
                self.n_bytes = max(self.n_bytes, result.nbytes)
        return results


@pytest.mark.parametrize("chunk_bytes", [1 << 15, 1 << 17, 1 << 20])
def test_memory_is_bounded_by_the_chunk(chunk_bytes: int) -> None:
    rows = torch.randn(2_000, 3, generator=torch.Generator().manual_seed(0))
    with LargestTensor() as largest:
        nearest_neighbours(rows, 4, chunk_bytes=chunk_bytes)
    tables_own = 2_000 * 4 * 8  # the result, whatever the chunk
    assert largest.n_bytes <= max(chunk_bytes, tables_own)
    assert largest.n_bytes >= min(chunk_bytes // 2, 2_000 * 2_000 * 4)


@given(tables(), st.integers(1, 6), st.data())
@settings(max_examples=80)
def test_neighbours_within_stay_among_rows_of_the_same_code(rows: Tensor, k: int, data: st.DataObject) -> None:
    n = rows.shape[0]
    codes = data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    found = neighbours_within(rows, torch.tensor(codes), k)
    assert found.shape == (n, k)
    for i in range(n):
        among = [j for j in range(n) if codes[j] == codes[i]]
        reachable = min(k, len(among) - 1)
        if reachable == 0:
            assert found[i].tolist() == [i] * k
        else:
            assert_nearest(rows, found, i, among, reachable)
            assert found[i].tolist() == [found[i, j % reachable].item() for j in range(k)]


@pytest.mark.parametrize("max_pool", [2, 7, 20, 50])
def test_large_groups_are_searched_in_pools(max_pool: int) -> None:
    """Every pool is searched exactly: rows that choose each other form groups of at most the pool's size."""
    n, k = 60, 30
    rows = torch.randn(n, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    codes = torch.tensor([-1] * 50 + [0] * 10)
    found = neighbours_within(rows, codes, k, max_pool=max_pool)
    pools = {frozenset([i, *found[i].tolist()]) for i in range(n)} if max_pool <= k else set()
    for pool in pools:
        assert len(pool) <= max_pool
        assert len({int(codes[i]) for i in pool}) == 1
    assert sum(len(pool) for pool in pools) in (0, n), "pools cut the rows into parts"
    for i in range(n):
        same = [j for j in range(n) if codes[j] == codes[i]]
        among = same if len(same) <= max_pool else sorted({i, *found[i].tolist()})
        assert_nearest(rows, found, i, among, min(k, len(among) - 1))
    assert torch.equal(found, neighbours_within(rows, codes, k, max_pool=max_pool)), "the cut is the same every time"


def test_pools_lie_together() -> None:
    """Of rows along a line in any order, nearly all find their nearest, though a pool has a tenth of them."""
    place = torch.randperm(1_000, generator=torch.Generator().manual_seed(0))
    found = neighbours_within(place[:, None].double(), torch.full((1_000,), -1), 2, max_pool=100)
    gaps = (place[found] - place[:, None]).abs()
    assert (gaps[:, 0] == 1).all()
    assert (gaps[:, 1] == 1).double().mean() > 0.95


def test_equal_rows_are_cut_at_random() -> None:
    found = neighbours_within(torch.ones(1_000, 2), torch.zeros(1_000, dtype=torch.int64), 1, max_pool=100)
    gaps = (found[:, 0] - torch.arange(1_000)).abs().double()
    assert gaps.mean() > 100


@pytest.mark.parametrize("n", [641, 1_024, 1_500])
def test_many_rows_are_searched_in_runs(n: int) -> None:
    """From many rows on, only the smallest distance of each run of columns is looked at first."""
    for rows in (torch.randn(n, 3), torch.randint(0, 3, (n, 4)).float()):
        found, distances = nearest_neighbours(rows.double(), 10), torch.cdist(rows.double(), rows.double())
        distances.fill_diagonal_(torch.inf)
        assert all(len(near.unique()) == 10 for near in found)
        torch.testing.assert_close(distances.gather(1, found), distances.topk(10, largest=False).values)
