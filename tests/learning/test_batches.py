from __future__ import annotations

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from newfound.learning.batches import MixedBatches, rows_in_batch, shuffled_batches
from newfound.nn import MemberStreams


@pytest.mark.parametrize(
    ("n_rows", "batch_size", "expected"),
    [
        (10_000, 512, 512),
        (10_000, 2_000, 1_250),  # eight steps an epoch
        (600, 512, 75),
        (300, 512, 64),  # not fewer than 64 rows for the sake of more steps
        (300, 32, 32),  # but what was asked for counts
        (20, 512, 20),
        (1, 512, 1),
    ],
)
def test_rows_in_a_batch(n_rows: int, batch_size: int, expected: int) -> None:
    assert rows_in_batch(n_rows, batch_size) == expected


@given(st.integers(1, 900), st.integers(1, 300), st.integers(1, 3))
@settings(max_examples=60)
def test_an_epoch_shows_every_row_at_most_once_in_batches_of_one_size(
    n_rows: int, batch_size: int, n_members: int
) -> None:
    batches = list(shuffled_batches(n_rows, batch_size, MemberStreams(range(n_members))))
    size = rows_in_batch(n_rows, batch_size)
    assert size <= batch_size
    assert [tuple(batch.shape) for batch in batches] == [(n_members, size)] * (n_rows // size)
    for seen in torch.cat(batches, dim=1):
        assert len(seen.unique()) == len(seen)
        assert seen.min() >= 0
        assert seen.max() < n_rows
        assert n_rows - len(seen) < size, "only what does not fill a batch is left for the next epoch"


def test_rows_left_over_differ_from_epoch_to_epoch() -> None:
    streams, seen = MemberStreams([0]), set()
    for _ in range(10):
        seen |= set(torch.cat(list(shuffled_batches(130, 64, streams)), dim=1)[0].tolist())
    assert seen == set(range(130))


@st.composite
def mixtures(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Labelled and unlabelled row numbers, at least one row in all."""
    n_labelled = draw(st.integers(0, 900))
    n_unlabelled = draw(st.integers(0 if n_labelled else 1, 900))
    order = torch.randperm(n_labelled + n_unlabelled, generator=torch.Generator().manual_seed(n_labelled)).tolist()
    return order[:n_labelled], order[n_labelled:]


def mixed(labelled: list[int], unlabelled: list[int], batch_size: int) -> MixedBatches:
    return MixedBatches(torch.tensor(labelled).long(), torch.tensor(unlabelled).long(), batch_size)


@given(mixtures(), st.integers(64, 600), st.integers(1, 3))
@settings(max_examples=80)
def test_mixed_batches_hold_a_fixed_number_of_each_kind(
    mixture: tuple[list[int], list[int]], batch_size: int, n_members: int
) -> None:
    labelled, unlabelled = mixture
    batches = mixed(labelled, unlabelled, batch_size)
    epoch = list(batches.epoch(MemberStreams(range(n_members))))
    assert len(epoch) == batches.n_steps
    assert batches.batch_rows == rows_in_batch(len(labelled) + len(unlabelled), batch_size)
    for batch in epoch:
        assert batch.shape == (n_members, batches.n_labelled + batches.n_unlabelled)
        assert set(batch[:, : batches.n_labelled].flatten().tolist()) <= set(labelled)
        assert set(batch[:, batches.n_labelled :].flatten().tolist()) <= set(unlabelled)
    for m in range(n_members):
        rows = torch.stack(epoch)[:, m]
        assert_fair(rows[:, : batches.n_labelled], labelled, batches)
        assert_fair(rows[:, batches.n_labelled :], unlabelled, batches)


def assert_fair(shown: torch.Tensor, rows: list[int], batches: MixedBatches) -> None:
    """Rows of one kind occur equally often, at most once where the kind is not rare."""
    counts = Counter(shown.flatten().tolist())
    if not rows:
        assert not counts
        return
    times = [counts[row] for row in rows]
    assert max(times) - min(times) <= 1
    least = min(64, batches.batch_rows)
    rare = len(rows) < least * batches.n_steps
    if rare:
        assert shown.shape[1] == min(least, len(rows))
        assert min(times) >= 1, "every row of a rare kind is shown"
    else:
        assert max(times) == 1
        assert len(rows) - shown.numel() < batches.n_steps, "fewer rows are left over than there are steps"


def test_proportions_are_those_of_the_table() -> None:
    batches = mixed(list(range(6_000)), list(range(6_000, 9_000)), 300)
    assert (batches.n_steps, batches.n_labelled, batches.n_unlabelled) == (30, 200, 100)


@pytest.mark.parametrize("rare", ["labelled", "unlabelled"])
def test_a_rare_kind_is_repeated(rare: str) -> None:
    few, many = list(range(10)), list(range(10, 5_000))
    batches = mixed(few, many, 500) if rare == "labelled" else mixed(many, few, 500)
    assert (batches.n_labelled if rare == "labelled" else batches.n_unlabelled) == 10
    for batch in batches.epoch(MemberStreams([0, 1])):
        part = batch[:, :10] if rare == "labelled" else batch[:, -10:]
        assert torch.equal(part.sort(dim=1).values, torch.arange(10).expand(2, 10))


def test_each_member_has_its_own_order_whatever_the_company() -> None:
    batches = mixed(list(range(200)), list(range(200, 500)), 100)
    pack = torch.stack(list(batches.epoch(MemberStreams([1, 2, 3]))))
    alone = torch.stack(list(batches.epoch(MemberStreams([2]))))
    assert torch.equal(pack[:, 1:2], alone)
    assert not torch.equal(pack[:, 0], pack[:, 1])


def test_every_epoch_is_shuffled_anew() -> None:
    batches, streams = mixed(list(range(200)), list(range(200, 500)), 100), MemberStreams([0])
    first, second = (torch.stack(list(batches.epoch(streams))) for _ in range(2))
    assert not torch.equal(first, second)
