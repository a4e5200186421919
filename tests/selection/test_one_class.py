"""One novel class as an estimate carries doubt."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import newfound as nf
from newfound.selection import one_class
from newfound.selection.one_class import doubts_of_one, most_for_one, with_caution
from newfound.selection.parting import Parting

FOUR = Parting("mark", 4)


def test_a_column_that_parts_the_rows_leaves_less_for_one() -> None:
    assert 0 < most_for_one(FOUR) < most_for_one(None) < 1


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=20), st.floats(0.05, 0.95), st.sampled_from([None, FOUR]))
def test_caution_keeps_a_probability(weights: list[float], most: float, parting: Parting | None) -> None:
    before = np.array(weights) / np.sum(weights)
    after = with_caution(before, parting, most)
    assert after.sum() == pytest.approx(1)
    assert after[0] == pytest.approx(min(before[0], most))
    if parting is None:
        np.testing.assert_allclose(after[1:] / after[1:].sum(), before[1:] / before[1:].sum())


def test_the_groups_of_a_column_draw_the_rest() -> None:
    even = np.array([0.9, *[0.1 / 9] * 9])
    assert with_caution(even, FOUR, 0.3)[1:].argmax() + 2 == 4
    sure = np.zeros(5)
    sure[0] = 1.0  # nothing is left for others
    assert with_caution(sure, FOUR, 0.3)[1:].argmax() + 2 == 4
    assert with_caution(sure, FOUR, 0.3).sum() == pytest.approx(1)


def test_what_is_said() -> None:
    said = doubts_of_one(1, (1, 2), np.array([0.7, 0.3]), None)
    assert said == [
        "there may be more than one novel class, 1 to 2 are plausible; the probability that it is only one is 70 %"
    ]
    (said_of_a_column,) = doubts_of_one(3, (1, 4), np.array([0.3, 0.3, 0.4]), FOUR)
    assert "column 'mark' alone divides them into 4 groups" in said_of_a_column


def one_mark(n: int = 80, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Two wide known classes, and four novel ones that look like one but for a number that marks them all."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(6), n)
    rows = rng.normal(size=(len(truth), 8)) + 6 * rng.normal(size=8)
    for code in range(2):
        parts = 6 * rng.normal(size=8) + rng.normal(size=(4, 8))
        rows[truth == code] = parts[rng.integers(4, size=n)] + rng.normal(size=(n, 8))
    X = pd.DataFrame(rows, columns=[f"x{i}" for i in range(8)])
    novel = truth >= 2
    X["mark"] = np.where(novel, 2.0 * truth + 0.1 * rng.normal(size=len(truth)), 5 * rng.normal(size=len(truth)))
    return X, np.where(novel, -1, truth)


def test_one_column_that_marks_the_classes_is_told() -> None:
    X, y = one_mark()
    estimate = nf.estimate_n_novel_classes(X, y, random_state=0)
    assert estimate.n_classes > 1
    assert estimate.curve[0]["combined"] <= one_class._RIGHT_IF_PARTED + 1e-9
    assert "'mark' alone divides them into 4 groups" in estimate.doubts[0]
    assert "'mark'" in repr(estimate)
    without = nf.estimate_n_novel_classes(X.drop(columns="mark"), y, random_state=0)
    assert without.n_classes == 1
    assert without.curve[0]["combined"] <= one_class._RIGHT + 1e-9
    assert without.doubts[0].startswith("there may be more than one novel class")


def test_discoverers_pass_the_doubt_on() -> None:
    X, y = one_mark()
    with pytest.warns(UserWarning, match="'mark' alone divides them into 4 groups"):
        model = nf.KMeansDiscoverer("auto", random_state=0).fit(X, y)
    assert any("'mark' alone divides them" in reason for reason in model.weaknesses_)
    assert model.n_classes_estimate_ == nf.estimate_n_novel_classes(X, y, random_state=0)


def test_an_estimate_of_one_is_not_certain() -> None:
    X, y = one_mark()
    with pytest.warns(UserWarning, match="more than one novel class"):
        model = nf.AutoDiscoverer(random_state=0).fit(X.drop(columns="mark"), y)
    assert model.n_novel_classes_ == 1
    assert model.n_classes_estimate_.curve[0]["combined"] < 0.95
    assert any("more than one novel class" in doubt for doubt in model.weaknesses_)
    assert 0 <= model.confidence_ < 1
