from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from newfound.learning.corruption import corrupt
from newfound.nn import MemberStreams

# Two numbers, a category of three values, a number with a missing indicator.
GROUPS = torch.tensor([0, 1, 2, 2, 2, 3, 3])
N_GROUPS = 4


def make_rows(n: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn(n, 7, generator=generator, dtype=torch.float64)
    rows[:, 2:5] = torch.eye(3, dtype=torch.float64)[torch.randint(3, (n,), generator=generator)]
    missing = torch.randint(0, 2, (n,), generator=generator).double()
    rows[:, 5] *= 1 - missing
    rows[:, 6] = missing
    return rows


@given(st.integers(1, 30), st.integers(1, 3), st.floats(0, 1), st.integers(0, 2**31), st.booleans())
@settings(max_examples=60)
def test_whole_groups_are_swapped_for_those_of_one_donor(
    n: int, n_members: int, probability: float, seed: int, grouped: bool
) -> None:
    rows = make_rows(n, seed)
    groups = GROUPS if grouped else torch.arange(7)
    n_groups, seeds = int(groups[-1]) + 1, range(seed, seed + n_members)
    batch = rows[torch.randint(n, (n_members, 9), generator=torch.Generator().manual_seed(seed))]
    before = batch.clone()
    corrupted, mask = corrupt(
        batch, rows, GROUPS if grouped else None, probability, MemberStreams(seeds, dtype=torch.float64)
    )
    draws = MemberStreams(seeds, dtype=torch.float64)
    swap, donors = draws.coins(probability, 9, n_groups), draws.integers(n, 9, n_groups)
    assert mask.dtype == batch.dtype
    assert torch.equal(batch, before), "the batch itself is the target of the reconstruction"
    for m in range(n_members):
        for i in range(9):
            for j, group in enumerate(groups.tolist()):
                swapped = bool(swap[m, i, group])
                expected = rows[donors[m, i, group], j] if swapped else batch[m, i, j]
                assert corrupted[m, i, j] == expected
                assert mask[m, i, j] == float(swapped)


def corrupted_table(probability: float) -> tuple[Tensor, Tensor, Tensor]:
    rows = make_rows(500, 0)
    batch = rows[torch.arange(500).repeat(2, 40)]
    corrupted, mask = corrupt(batch, rows, GROUPS, probability, MemberStreams([3, 4], dtype=torch.float64))
    return rows, corrupted, mask


def test_a_corrupted_block_is_a_category_of_its_column() -> None:
    rows, corrupted, _ = corrupted_table(0.5)
    for columns in ([2, 3, 4], [5, 6]):
        real = {tuple(values) for values in rows[:, columns].tolist()}
        assert {tuple(values) for values in corrupted[..., columns].flatten(0, 1).tolist()} == real


def test_swapped_values_have_the_marginal_distribution_of_their_column() -> None:
    rows, corrupted, mask = corrupted_table(0.4)
    for m in range(2):
        for j in range(7):
            values = corrupted[m, mask[m, :, j] == 1, j]
            assert values.mean().item() == pytest.approx(rows[:, j].mean().item(), abs=0.05)
            assert values.std().item() == pytest.approx(rows[:, j].std().item(), abs=0.05)
        for j, other in ((0, 1), (0, 5), (1, 2)):  # columns of different groups come from different donors
            both = (mask[m, :, j] == 1) & (mask[m, :, other] == 1)
            pair = torch.stack([corrupted[m, both, j], corrupted[m, both, other]])
            assert torch.corrcoef(pair)[0, 1].abs().item() < 0.06


def test_the_mask_is_as_frequent_as_asked_and_one_for_each_group() -> None:
    _, _, mask = corrupted_table(0.3)
    assert torch.equal(mask[..., 2], mask[..., 3])
    assert torch.equal(mask[..., 2], mask[..., 4])
    assert torch.equal(mask[..., 5], mask[..., 6])
    assert not torch.equal(mask[..., 0], mask[..., 1])
    assert not torch.equal(mask[..., 4], mask[..., 5])
    torch.testing.assert_close(mask.mean(dim=1), torch.full((2, 7), 0.3).double(), atol=0.02, rtol=0)


@pytest.mark.parametrize(("probability", "swapped"), [(0.0, 0.0), (1.0, 1.0)])
def test_nothing_or_everything_can_be_swapped(probability: float, swapped: float) -> None:
    rows = make_rows(20, 0)
    batch = torch.full((1, 5, 7), 99.0, dtype=torch.float64)
    corrupted, mask = corrupt(batch, rows, GROUPS, probability, MemberStreams([0], dtype=torch.float64))
    assert (mask == swapped).all()
    assert ((corrupted == 99) == (swapped == 0)).all()


def test_a_members_corruption_does_not_depend_on_the_others() -> None:
    rows = make_rows(20, 0)
    batch = rows[torch.arange(18).view(3, 6)]
    pack = corrupt(batch, rows, GROUPS, 0.5, MemberStreams([5, 6, 7]))
    alone = corrupt(batch[2:], rows, GROUPS, 0.5, MemberStreams([7]))
    for together, single in zip(pack, alone, strict=True):
        assert torch.equal(together[2:], single)
