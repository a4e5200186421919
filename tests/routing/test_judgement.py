"""Evidence becomes probabilities whose mean is the share of known rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from newfound.routing.evidence import Evidence
from newfound.routing.judgement import Judgement, judge, kappa, levelled, log_ratio, self_consistent, separation
from newfound.routing.share import KnownShare


def made(unlike: np.ndarray, codes: np.ndarray, *, none: float = 0.0) -> Evidence:
    """Evidence of a forest alone, with sure known classes."""
    known = np.eye(int(codes.max()) + 1)[np.maximum(codes, 0)]
    n_novel = np.full(41, (1 - none) / 40)
    n_novel[0] = none
    return Evidence(unlike, known, np.zeros(len(codes)), n_novel)


@given(st.floats(0.01, 0.99), st.integers(0, 1000))
def test_the_mean_novelty_agrees_with_the_share(share: float, seed: int) -> None:
    log_odds = np.random.default_rng(seed).normal(0, 3, 50)
    novelty = Judgement(log_odds, KnownShare(share, (0, 1)), False, False).novelty()
    np.testing.assert_allclose(novelty.mean(), 1 - share, atol=1e-6)
    assert (np.diff(novelty[np.argsort(log_odds)]) >= 0).all()


def test_the_share_of_rows_that_look_labelled() -> None:
    """Half of the unlabelled rows look like the labelled ones, the others like nothing labelled."""
    codes = np.repeat([0, 1, -1, -1], 200)
    unlike = np.repeat([0.5, 0.5, 0.5, 0.99], 200)
    found = judge(made(unlike, codes), codes)
    assert abs(found.known_share - 0.5) < 0.05
    assert found.known_share.interval[0] < 0.5 < found.known_share.interval[1]
    assert not found.is_pure
    assert not found.nothing_novel
    assert ((found.novelty() > 0.5) == np.repeat([False, True], 200)).all()


def test_a_pure_table() -> None:
    codes = np.repeat([0, 1, -1], 100)
    found = judge(made(np.repeat([0.01, 0.01, 0.99], 100), codes), codes)
    assert found.is_pure
    assert found.known_share < 0.05


@pytest.mark.parametrize(("none", "expected"), [(0.5, True), (0.0, False)])
def test_nothing_novel_needs_both_witnesses(none: float, expected: bool) -> None:
    codes = np.repeat([0, 1, -1], 100)
    unlike = np.random.default_rng(0).uniform(0.2, 0.4, 300)
    found = judge(made(unlike, codes, none=none), codes)
    assert found.nothing_novel == expected
    assert (found.known_share == 1) == expected


@given(st.integers(0, 1000))
def test_separation_is_the_area_under_the_curve_in_standard_errors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    free = np.arange(30) < rng.integers(1, 29)
    ratio = rng.integers(0, 5, 30).astype(float)
    n, m = free.sum(), (~free).sum()
    expected = (roc_auc_score(free, ratio) - 0.5) / np.sqrt((n + m + 1) / (12 * n * m))
    np.testing.assert_allclose(separation(ratio, free), expected, atol=1e-9)


def test_kappa_is_that_of_classes_of_one_size() -> None:
    codes = np.repeat(np.arange(4), 25)
    predicted = np.roll(codes, 10)  # as many of each class as there are
    np.testing.assert_allclose(kappa(np.eye(4)[predicted], codes), cohen_kappa_score(codes, predicted))
    assert kappa(np.ones((5, 1)), np.zeros(5, dtype=np.int64)) == 0.5


def test_the_self_consistent_share_is_a_fixed_point() -> None:
    log_odds = np.concatenate([np.full(30, -3.0), np.full(70, 3.0)])
    assert abs(self_consistent(log_odds) - 0.3) < 0.05
    assert self_consistent(np.full(50, 9.0)) == 0.002


def test_classes_of_different_labelled_shares_become_comparable() -> None:
    """Nine tenths of one class are labelled, a tenth of the other; ratios are what a perfect forest would say."""
    truth = np.repeat([0, 1, 2], 1000)  # the last is novel
    labelled = np.concatenate([np.arange(1000) < 900, np.arange(1000) < 100, np.zeros(1000, dtype=bool)])
    codes = np.where(labelled, truth, -1)
    known = np.eye(2)[np.minimum(truth, 1)]
    before = log_ratio(np.array([0.1, 0.9, 1.0])[truth], ~labelled)
    after = levelled(before, known, codes, 1.0)
    assert before[truth == 1][0] > before[truth == 0][0] + 4
    assert after[truth == 1][0] == pytest.approx(after[truth == 0][0], abs=0.2)
    assert (after[truth == 2] > after[truth == 1][0] + 2).all()
    np.testing.assert_array_equal(levelled(before, known, codes, 0.0), before)


def test_one_class_and_classes_without_labelled_rows_keep_their_ratios() -> None:
    ratio = np.random.default_rng(0).normal(size=50)
    codes = np.where(np.arange(50) < 20, 0, -1)
    np.testing.assert_allclose(levelled(ratio, np.ones((50, 1)), codes, 1.0), ratio)
    np.testing.assert_allclose(levelled(ratio, np.eye(2)[np.arange(50) % 2], codes, 1.0)[codes < 0], ratio[codes < 0])
