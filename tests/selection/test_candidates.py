"""Candidates: spaces, cuts, and what is made of several of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from newfound.deadline import Deadline
from newfound.metrics import clustering_accuracy
from newfound.selection import candidates
from newfound.selection.candidates import CONSENSUS, PAIRS, by_likelihood, consensus, make_candidates
from newfound.selection.selector import load_selector
from tests.selection.scenes import FEW, N_NOVEL, rng, scene, table


def test_every_candidate_of_the_plan_cuts_the_unlabelled_rows() -> None:
    made = make_candidates(scene(), rng(), load_selector().plan)
    truth = table()[2][scene().free]
    planned = {(space, method) for space, methods in load_selector().plan.items() for method in methods}
    assert set(made.names) == {*planned, PAIRS, CONSENSUS}
    assert made.partitions.shape == (len(made.names), len(truth))
    assert made.partitions.min() == 0
    assert made.partitions.max() == N_NOVEL - 1
    reached = dict(
        zip(made.names, (clustering_accuracy(truth, partition) for partition in made.partitions), strict=True)
    )
    assert min(reached[name] for name in (("whitened", "k-means"), ("network", "k-means"), PAIRS, CONSENSUS)) > 0.95
    assert np.median(list(reached.values())) > 0.9


def test_after_the_deadline_one_space_is_left() -> None:
    made = make_candidates(scene(), rng(), FEW, Deadline(-np.inf))
    assert made.names == [("columns", "k-means"), PAIRS, CONSENSUS]


def test_rows_go_where_they_belong() -> None:
    right = np.repeat([0, 1, 2], [20, 6, 3])
    logits = np.where(right[:, None] == right, 3.0, -2.0)
    start = np.where(np.arange(len(right)) % 5 == 0, (right + 1) % 3, right)
    assert_array_equal(by_likelihood(logits, start, 3), right)
    assert len(by_likelihood(-np.abs(logits), right, 3)) == len(right)  # nothing belongs together: it ends all the same


def test_the_consensus_is_what_most_say() -> None:
    right = np.repeat([0, 1, 2], 12)
    noise = np.random.default_rng(0)
    voters = [np.where(noise.random(36) < 0.2, noise.integers(0, 3, 36), (right + shift) % 3) for shift in range(7)]
    found = consensus(voters, 3)
    assert adjusted_rand_score(right, found) > max(adjusted_rand_score(right, voter) for voter in voters)


@pytest.mark.parametrize("shape", [(30, 150), (300, 150), (20, 5)])
def test_main_directions_keep_distances(shape: tuple[int, int]) -> None:
    placed = np.random.default_rng(0).normal(size=shape) @ np.diag(0.9 ** np.arange(shape[1]))
    main = candidates._main(placed)
    assert main.shape[1] <= 100
    before = np.linalg.norm(placed[:5, None] - placed, axis=2)
    assert_allclose(np.linalg.norm(main[:5, None] - main, axis=2), before, atol=1e-3)
