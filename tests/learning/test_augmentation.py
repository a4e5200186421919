from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from newfound.learning.augmentation import Views, majority_categories
from newfound.learning.neighbours import neighbours_within
from newfound.nn import MemberStreams
from tests.oracles import neighbours as oracle

# Two numbers, a category of three values, a number with a missing indicator, a boolean.
GROUPS = torch.tensor([0, 1, 2, 2, 2, 3, 3, 4])
CATEGORICAL = torch.tensor([False, False, True, True, True, False, True, True])
BLOCKS = [[2, 3, 4], [6], [7]]


def make_rows(n: int, seed: int, standardised: bool, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn(n, 8, generator=generator, dtype=torch.float64)
    rows[:, 2:5] = torch.eye(4, dtype=torch.float64)[torch.randint(4, (n,), generator=generator), :3]  # or all zero
    rows[:, 6:] = torch.randint(0, 2, (n, 2), generator=generator).double()
    if standardised:
        rows[:, CATEGORICAL] -= rows[:, CATEGORICAL].mean(dim=0)
        rows[:, CATEGORICAL] /= rows[:, CATEGORICAL].std(dim=0, correction=0).clamp(min=1e-3)
    return rows.to(dtype)


@given(st.integers(2, 40), st.integers(1, 7), st.booleans(), st.integers(0, 2**31))
@settings(max_examples=60)
def test_majority_is_the_most_frequent_category_of_the_neighbours(
    n: int, k: int, standardised: bool, seed: int
) -> None:
    rows = make_rows(n, seed, standardised)
    neighbours = neighbours_within(rows, torch.zeros(n, dtype=torch.int64), k)
    majority = majority_categories(rows, neighbours, GROUPS, CATEGORICAL)
    assert majority.shape == (n, 5)
    table, columns = rows.tolist(), CATEGORICAL.nonzero()[:, 0].tolist()
    for i in range(n):
        for block in BLOCKS:
            found = tuple(majority[i, columns.index(c)].item() for c in block)
            assert found in oracle.majorities(table, neighbours[i].tolist(), block)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("n", "width"), [(7, 39), (1001, 13), (4099, 30)])
def test_a_wide_standardised_block_keeps_its_categories_apart_and_together(
    n: int, width: int, dtype: torch.dtype
) -> None:
    """Sizes at which a matrix product rounds the last rows differently from the others."""
    generator = torch.Generator().manual_seed(n)
    codes = torch.randint(width, (n,), generator=generator)
    block = torch.eye(width, dtype=torch.float64)[codes]
    block = ((block - block.mean(dim=0)) / block.std(dim=0, correction=0).clamp(min=1e-3)).to(dtype)
    neighbours = torch.randint(n, (n, 5), generator=generator)
    neighbours[:, :3] = torch.arange(n)[:, None]  # three of five agree
    neighbours[:, 1] = (codes == codes[:, None]).int().argmax(dim=1)  # the first row of the same category
    neighbours[:, 3] = neighbours[:, 4] = n - 1 - torch.arange(n)
    majority = majority_categories(block, neighbours, torch.zeros(width).long(), torch.ones(width).bool())
    assert torch.equal(majority, block)


def views_of(rows: Tensor, k: int) -> Views:
    neighbours = neighbours_within(rows, torch.zeros(len(rows), dtype=torch.int64), k)
    return Views(rows, neighbours, CATEGORICAL, majority_categories(rows, neighbours, GROUPS, CATEGORICAL))


@given(st.integers(2, 30), st.integers(1, 5), st.booleans(), st.integers(0, 2**31))
@settings(max_examples=40)
def test_views_lie_on_the_way_to_a_neighbour_and_take_the_majority(
    n: int, k: int, standardised: bool, seed: int
) -> None:
    rows = make_rows(n, seed, standardised)
    views = views_of(rows, k)
    index = torch.randint(n, (2, 12), generator=torch.Generator().manual_seed(seed))
    streams, draws = (MemberStreams([seed, seed + 1], dtype=torch.float64) for _ in range(2))
    both = views.pair(index, streams)
    choice, share = draws.integers(k, 12), draws.uniform(12, 1)
    assert both.shape == (2, 24, 8)
    assert torch.equal(both[:, :12], rows[index])
    for m in range(2):
        for i in range(12):
            row = rows[index[m, i]]
            neighbour = rows[views.neighbours[index[m, i], choice[m, i]]]
            expected = row + share[m, i] * (neighbour - row)
            torch.testing.assert_close(both[m, 12 + i, ~CATEGORICAL], expected[~CATEGORICAL])
            assert views.majority is not None
            assert torch.equal(both[m, 12 + i, CATEGORICAL], views.majority[index[m, i]])


def test_views_reach_every_neighbour_and_every_place_between() -> None:
    rows = torch.tensor([[0.0], [1.0], [-1.0], [9.0]])
    views = Views(rows, torch.tensor([[1, 2], [0, 0], [0, 0], [0, 0]]))
    both = views.pair(torch.zeros(1, 4_000, dtype=torch.int64), MemberStreams([0]))
    moved = both[0, 4_000:, 0]
    shares = torch.histc(moved, bins=4, min=-1, max=1) / 4_000
    torch.testing.assert_close(shares, torch.full((4,), 0.25), atol=0.03, rtol=0)
    assert moved.abs().max() <= 1


def test_the_table_itself_is_never_changed() -> None:
    rows = make_rows(20, 0, standardised=False)
    views, before = views_of(rows, 3), rows.clone()
    views.pair(torch.arange(20).expand(2, 20), MemberStreams([0, 1], dtype=torch.float64))
    assert torch.equal(rows, before)


def test_a_row_alone_is_its_own_view() -> None:
    rows = make_rows(3, 0, standardised=False)
    neighbours = neighbours_within(rows, torch.arange(3), 4)
    views = Views(rows, neighbours, CATEGORICAL, majority_categories(rows, neighbours, GROUPS, CATEGORICAL))
    row, view = views.pair(torch.arange(3)[None], MemberStreams([0], dtype=torch.float64)).chunk(2, dim=1)
    assert torch.equal(row, view)


def test_a_members_views_do_not_depend_on_the_others() -> None:
    views, index = views_of(make_rows(20, 0, standardised=True), 3), torch.arange(12).view(3, 4)
    pack = views.pair(index, MemberStreams([5, 6, 7], dtype=torch.float64))
    alone = views.pair(index[1:2], MemberStreams([6], dtype=torch.float64))
    assert torch.equal(pack[1:2], alone)
