"""The jury: an order of candidates, and a judgement of any partition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import adjusted_rand_score

from newfound.selection.candidates import make_candidates
from newfound.selection.jury import N_BEST, Jury, rand_indices
from tests.selection.scenes import FEW, N_NOVEL, rng, scene, table


@pytest.fixture(scope="module")
def jury() -> Jury:
    return Jury.of(scene(), make_candidates(scene(), rng(), FEW))


def test_candidates_are_in_order(jury: Jury) -> None:
    assert (np.diff(jury.leads) <= 0).all()
    board = jury.leaderboard()
    assert [(line["representation"], line["method"]) for line in board] == jury.names
    assert [line["rank"] for line in board] == list(range(1, len(jury.names) + 1))


def test_the_truth_is_trusted_and_noise_is_not(jury: Jury) -> None:
    truth = table()[2][scene().free] % N_NOVEL
    noise = np.random.default_rng(0).permutation(truth)
    assert jury.confidence(truth) > 0.8 > jury.confidence(noise)
    assert (jury.class_confidence(truth) > 0.9).all()
    assert (jury.class_confidence(noise) < 0.5).all()


def test_the_names_of_classes_do_not_matter(jury: Jury) -> None:
    partition = jury.partitions[0]
    other = np.array([2, 0, 1])[partition]
    assert jury.confidence(other) == pytest.approx(jury.confidence(partition))
    np.testing.assert_allclose(jury.class_confidence(other), jury.class_confidence(partition)[[1, 2, 0]])


def test_confidence_in_a_class_is_the_overlap_with_the_best_candidates(jury: Jury) -> None:
    partition = jury.partitions[0]
    overlaps = []
    for other in jury.partitions[:N_BEST]:
        overlaps.append(
            max(
                ((partition == 1) & (other == j)).sum() / ((partition == 1) | (other == j)).sum()
                for j in range(N_NOVEL)
            )
        )
    assert jury.class_confidence(partition)[1] == pytest.approx(np.mean(overlaps))


@given(arrays(np.int64, (4, 9), elements=st.integers(0, 5)))
def test_rand_indices_are_those_of_scikit_learn(partitions: np.ndarray) -> None:
    expected = [[adjusted_rand_score(first, other) for other in partitions] for first in partitions]
    np.testing.assert_allclose(rand_indices(partitions), expected, atol=1e-12)
