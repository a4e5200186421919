"""A column that parts the unlabelled rows into groups."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.selection import parting
from newfound.selection.parting import Parting, clumps, diversity, parting_column, squares_left
from newfound.selection.source_columns import SourceColumns
from newfound.tables import TableEncoder


def found(X: pd.DataFrame, codes: np.ndarray) -> Parting | None:
    encoder = TableEncoder().fit(X)
    return parting_column(SourceColumns.of(encoder), encoder.transform(X), codes, np.random.RandomState(0))


def marked(kind: str, n: int = 50, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Three known classes, and four novel ones that only one column tells apart."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(7), n)
    centres = np.vstack([4 * rng.normal(size=(3, 3)), np.zeros((4, 3))])
    X = pd.DataFrame(centres[truth] + rng.normal(size=(len(truth), 3)), columns=list("abc"))
    novel = truth >= 3
    if kind == "numbers":
        X["mark"] = np.where(novel, 3.0 * truth, 10.0) + np.where(novel, 0.2, 4.0) * rng.normal(size=len(truth))
    elif kind == "categories":
        X["mark"] = np.where(novel, np.array(list("opqrstu"))[truth], "none")
    else:
        X["mark"] = rng.choice(list("opqr"), len(truth))
    return X, np.where(novel, -1, truth)


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_the_column_and_its_groups_are_found(kind: str) -> None:
    assert found(*marked(kind)) == Parting("mark", 4)


def test_a_column_that_parts_every_class_alike_says_nothing() -> None:
    assert found(*marked("noise")) is None


def test_one_class_has_no_such_column() -> None:
    X, codes = marked("numbers")
    some = codes >= 0
    assert found(X[some], np.where(codes[some] == 2, -1, codes[some])) is None


@pytest.mark.parametrize("n", [5, 19])
def test_few_rows_say_nothing(n: int) -> None:
    X, codes = marked("categories")
    few = np.concatenate([np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)[:: 200 // n][:n]])
    assert found(X.iloc[few], codes[few]) is None


def test_without_known_classes_there_is_nothing_to_compare_with() -> None:
    X, codes = marked("categories")
    assert found(X, np.full(len(codes), -1)) is None


def test_gaps_are_left_out() -> None:
    X, codes = marked("numbers")
    X.loc[::3, "mark"] = np.nan
    assert found(X, codes) == Parting("mark", 4)


def test_evenly_spread_and_normal_numbers_have_no_clumps() -> None:
    assert clumps(np.linspace(0, 1, 400))[0] < 0.1
    assert clumps(np.random.default_rng(0).normal(size=400))[0] < 0.1
    assert clumps(np.full(400, 3.0)) == (0.0, 1)
    assert clumps(np.array([0.0, 1.0])) == (0.0, 1)


@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_clumps_are_counted(n_groups: int) -> None:
    rng = np.random.default_rng(0)
    clearness, counted = clumps(rng.normal(10.0 * np.repeat(np.arange(n_groups), 60), 0.5))
    assert counted == n_groups
    assert clearness > 1


def test_diversity_is_the_entropy() -> None:
    assert diversity(np.repeat([0, 1, 2, 3], 25)) == (pytest.approx(np.log(4)), 4)
    assert diversity(np.zeros(9, dtype=np.int64)) == (0.0, 1)
    assert diversity(np.repeat([0, 1], [99, 1]))[1] == 1  # one row in a hundred is no group


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=7), st.integers(1, 4))
def test_the_best_cut_is_that_of_trying_all(numbers: list[float], most: int) -> None:
    ordered = np.sort(np.array(numbers))
    n = len(ordered)
    for g, left in enumerate(squares_left(ordered, most), start=1):
        cuts = [(0, *inner, n) for inner in combinations(range(1, n), g - 1)]
        sums = [sum(ordered[a:b].var() * (b - a) for a, b in pairwise(cut)) for cut in cuts]
        assert left == pytest.approx(min(sums, default=np.inf), abs=1e-9)


def test_groups_of_very_few_rows_are_none() -> None:
    ordered = np.concatenate([np.zeros(99), [1e6]])
    assert np.isfinite(squares_left(ordered, 2)[1])
    assert squares_left(ordered, 2)[1] > 0.5 * squares_left(ordered, 1)[0]  # the far row cannot be a group of its own
    assert parting._SMALL * 100 > 1
