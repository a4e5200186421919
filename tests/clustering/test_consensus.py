from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from newfound.clustering.consensus import align_members
from tests.oracles import consensus as oracle

Labels = NDArray[np.int64]


@st.composite
def members(draw: st.DrawFn, max_members: int = 4) -> tuple[Labels, int]:
    """(n_members, n) labels and the number of classes; classes may be empty."""
    n_classes, n_members = draw(st.integers(1, 4)), draw(st.integers(1, max_members))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n = draw(st.integers(1, 25))
    if draw(st.booleans()):
        return rng.integers(0, n_classes, (n_members, n)), n_classes
    truth, noise = rng.integers(0, n_classes, n), draw(st.floats(0, 0.5))
    renamed = np.stack([rng.permutation(n_classes)[truth] for _ in range(n_members)])
    return np.where(rng.random(renamed.shape) < noise, rng.integers(0, n_classes, renamed.shape), renamed), n_classes


def aligned(labels: Labels, n_classes: int) -> list[list[int]]:
    order = align_members(labels, n_classes)
    return [oracle.renamed(own.tolist(), new.tolist()) for own, new in zip(labels, order, strict=True)]


@given(members())
@settings(max_examples=100)
def test_each_members_order_is_a_renaming(case: tuple[Labels, int]) -> None:
    labels, n_classes = case
    order = align_members(labels, n_classes)
    assert order.shape == (len(labels), n_classes)
    assert order.dtype == np.int64
    assert (np.sort(order, axis=1) == np.arange(n_classes)).all()


@given(members(max_members=2))
@settings(max_examples=100)
def test_two_members_agree_as_much_as_under_the_best_of_all_renamings(case: tuple[Labels, int]) -> None:
    labels, n_classes = case
    found = aligned(labels, n_classes)
    best = oracle.best_agreement(labels[-1].tolist(), labels[0].tolist(), n_classes)
    assert oracle.agreement(found[0], found[-1]) == best


def votes_won(renamed: list[list[int]], n_classes: int) -> int:
    vote = oracle.vote(renamed, n_classes)
    return sum(oracle.agreement(own, vote) for own in renamed)


@given(members())
@settings(max_examples=100)
def test_the_vote_wins_no_fewer_rows_than_a_match_to_the_most_agreeing_member(case: tuple[Labels, int]) -> None:
    labels, n_classes = case
    assert votes_won(aligned(labels, n_classes), n_classes) >= best_start(labels, n_classes)


def best_start(labels: Labels, n_classes: int) -> int:
    """Rows on which members agree with the best single member, each under the best of all renamings."""
    every = labels.tolist()
    return max(sum(oracle.best_agreement(own, common, n_classes) for own in every) for common in every)


@pytest.mark.parametrize("seed", range(5))
def test_noisy_copies_reach_the_best_vote_over_all_renamings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 30)
    labels = np.stack([rng.permutation(3)[truth] for _ in range(3)])
    labels = np.where(rng.random(labels.shape) < 0.15, rng.integers(0, 3, labels.shape), labels)
    everything = [list(oracle.renamings(own.tolist(), 3)) for own in labels[1:]]
    best = max(votes_won([labels[0].tolist(), *others], 3) for others in product(*everything))
    assert votes_won(aligned(labels, 3), 3) == best


@given(members(max_members=1), st.integers(1, 6), st.integers(0, 2**31))
@settings(max_examples=50)
def test_renamed_copies_become_equal(case: tuple[Labels, int], n_members: int, seed: int) -> None:
    (labels,), n_classes = case
    rng = np.random.default_rng(seed)
    copies = np.stack([rng.permutation(n_classes)[labels] for _ in range(n_members)])
    found = aligned(copies, n_classes)
    assert all(own == found[0] for own in found)
    counts = [found[0].count(c) for c in range(n_classes)]
    assert counts == sorted(counts, reverse=True), "classes come out ordered by size"


def test_an_outlier_is_not_the_reference() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 60)
    labels = np.stack([rng.integers(0, 3, 60), truth, (truth + 1) % 3, (truth + 2) % 3])
    found = aligned(labels, 3)
    assert found[1] == found[2] == found[3]
    assert oracle.vote(found, 3) == found[1]
