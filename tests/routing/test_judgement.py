"""Evidence becomes probabilities whose mean is the share of known rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from newfound.routing.evidence import Evidence
from newfound.routing.judgement import Judgement, judge, kappa, levels, places_of_spies, self_consistent, separation
from newfound.routing.share import KnownShare


def made(unlike: np.ndarray, codes: np.ndarray, *, none: float = 0.0) -> Evidence:
    """Evidence of two forests alone that agree, with sure known classes; log ratios of rows that are no spies."""
    known = np.eye(int(codes.max()) + 1)[np.maximum(codes, 0)]
    n_novel = np.full(41, (1 - none) / 40)
    n_novel[0] = none
    spy_in = np.where(codes < 0, -1, np.arange(len(codes)) % 2)
    return Evidence(np.tile(unlike, (2, 1)), spy_in, known, np.zeros(len(codes)), n_novel)


@given(st.floats(0.01, 0.99), st.integers(0, 1000))
def test_the_mean_novelty_agrees_with_the_share(share: float, seed: int) -> None:
    log_odds = np.random.default_rng(seed).normal(0, 3, 50)
    novelty = Judgement(log_odds, KnownShare(share, (0, 1)), False, False).novelty()
    np.testing.assert_allclose(novelty.mean(), 1 - share, atol=1e-6)
    assert (np.diff(novelty[np.argsort(log_odds)]) >= 0).all()


def test_the_share_of_rows_that_look_labelled() -> None:
    """Half of the unlabelled rows look like the labelled ones, the others like nothing labelled."""
    codes = np.repeat([0, 1, -1, -1], 200)
    unlike = np.repeat([-4.0, -4.0, -4.0, 5.0], 200)
    found = judge(made(unlike, codes), codes)
    assert abs(found.known_share - 0.5) < 0.05
    assert found.known_share.interval[0] < 0.5 < found.known_share.interval[1]
    assert not found.is_pure
    assert not found.nothing_novel
    assert ((found.novelty() > 0.5) == np.repeat([False, True], 200)).all()


def test_a_pure_table() -> None:
    codes = np.repeat([0, 1, -1], 100)
    found = judge(made(np.repeat([-5.0, -5.0, 5.0], 100), codes), codes)
    assert found.is_pure
    assert found.known_share < 0.05


@pytest.mark.parametrize(("none", "expected"), [(0.5, True), (0.0, False)])
def test_nothing_novel_needs_both_witnesses(none: float, expected: bool) -> None:
    codes = np.repeat([0, 1, -1], 100)
    unlike = np.random.default_rng(0).normal(0, 0.3, 300)
    found = judge(made(unlike, codes, none=none), codes)
    assert found.nothing_novel == expected
    assert (found.known_share == 1) == expected


@pytest.mark.parametrize(("unlike", "pure"), [(-5.0, False), (-0.5, True)])
def test_few_known_rows_count_where_they_are_sure(unlike: float, pure: bool) -> None:
    """An eighth of the unlabelled rows look as labelled as the labelled ones: surely, or hardly more than others."""
    codes = np.repeat([0, 1, -1, -1], [100, 100, 50, 350])
    scores = np.random.default_rng(0).normal(np.repeat([unlike, unlike, unlike, 3.0], [100, 100, 50, 350]), 0.1)
    found = judge(made(scores, codes), codes)
    assert 0.05 < found.known_share < 0.2
    assert found.is_pure == pure


@pytest.mark.parametrize(("unlike", "pure"), [(0.6, True), (-0.1, False)])
def test_rows_that_nobody_tells_apart_are_what_most_of_them_seem_to_be(unlike: float, pure: bool) -> None:
    """With few labelled rows nothing is significant; that is no sign that nothing is novel."""
    codes = np.repeat([0, 1, -1], [4, 4, 60])
    found = judge(made(np.random.default_rng(0).normal(unlike, 0.3, 68), codes, none=0.05), codes)
    assert not found.nothing_novel
    assert found.known_share.interval[0] == 0
    assert (found.known_share < 0.5) == pure
    assert found.is_pure == pure


@given(st.integers(0, 1000))
def test_separation_is_the_area_under_the_curve_in_standard_errors(seed: int) -> None:
    """Of one forest, for which all labelled rows are spies."""
    rng = np.random.default_rng(seed)
    free = np.arange(30) < rng.integers(1, 29)
    unlike = rng.integers(0, 5, 30).astype(float)
    n, m = free.sum(), (~free).sum()
    expected = (roc_auc_score(free, unlike) - 0.5) / np.sqrt((n + m + 1) / (12 * n * m))
    places = places_of_spies(unlike[None], np.where(free, -1, 0))
    np.testing.assert_allclose(separation(places, int(n)), expected, atol=1e-9)


def test_spies_are_placed_in_their_own_forest() -> None:
    unlike = np.array([[1.0, 2, 3, 4, 2.5, 0], [10, 20, 30, 40, 0, 99]])
    places = places_of_spies(unlike, np.array([-1, -1, -1, -1, 0, 1]))
    np.testing.assert_allclose(places, [0.5, 1.0])
    evidence = Evidence(unlike, np.array([-1, -1, -1, -1, 0, 1]), np.ones((6, 1)), np.zeros(6), np.ones(41) / 41)
    np.testing.assert_allclose(evidence.ratio, [5.5, 11, 16.5, 22, 2.5, 99])


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
    before = np.array([-2.8, 1.6, 5.2])[truth]
    after = before - levels(before, known, codes, 1.0)
    assert before[truth == 1][0] > before[truth == 0][0] + 4
    assert after[truth == 1][0] == pytest.approx(after[truth == 0][0], abs=0.2)
    assert (after[truth == 2] > after[truth == 1][0] + 2).all()
    assert (levels(before, known, codes, 0.0) == 0).all()


def test_one_class_and_classes_without_labelled_rows_keep_their_ratios() -> None:
    ratio = np.random.default_rng(0).normal(size=50)
    codes = np.where(np.arange(50) < 20, 0, -1)
    np.testing.assert_allclose(levels(ratio, np.ones((50, 1)), codes, 1.0), 0, atol=1e-12)
    np.testing.assert_allclose(levels(ratio, np.eye(2)[np.arange(50) % 2], codes, 1.0)[codes < 0], 0, atol=1e-12)
