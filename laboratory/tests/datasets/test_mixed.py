from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newfound.errors import InputError
from newfound_lab.datasets.mixed import CLASS_ROWS, MixedProblem, Mixture, make_problem

rng = np.random.default_rng(0)
CLASSES = np.repeat(["a", "b", "c", "d", "e", "rare"], [200, 150, 100, 90, 60, CLASS_ROWS - 1])
TABLE = pd.DataFrame({"row": np.arange(len(CLASSES)), "x": rng.normal(size=len(CLASSES)), "same": 1.0})


def problem(class_split: int = 0, **mixture: Any) -> MixedProblem:
    return make_problem("made", TABLE, pd.Series(CLASSES), class_split, Mixture(**mixture))


@settings(max_examples=40, deadline=None)
@given(
    known_share=st.one_of(st.none(), st.floats(0, 1)),
    n_labelled=st.one_of(st.none(), st.integers(1, 60)),
    shift=st.booleans(),
    class_split=st.integers(0, 5),
)
def test_every_mixture_is_a_sound_problem(
    known_share: float | None, n_labelled: int | None, shift: bool, class_split: int
) -> None:
    made = problem(class_split, known_share=known_share, n_labelled=n_labelled, shift=shift)
    rows, test = made.X_train["row"].to_numpy(), made.X_test["row"].to_numpy()
    assert len(set(rows) | set(test)) == len(rows) + len(test), "no row twice, and none to learn from and to test on"
    assert (made.train_truth == CLASSES[rows]).all()
    assert (made.y_test == CLASSES[test]).all()
    assert (made.y_train == made.train_truth)[~made.unlabelled].all()
    assert set(made.y_train[~made.unlabelled]) == set(made.known_classes), "a labelled row of each known class"
    assert not set(made.known_classes) & set(made.novel_classes)
    assert "rare" not in {*made.train_truth, *made.y_test}
    assert set(made.y_test) == {*made.known_classes, *made.novel_classes}
    if known_share is not None:
        assert made.known_share == pytest.approx(known_share, abs=1 / made.unlabelled.sum() + 0.01)
    if n_labelled is not None:
        assert max(np.unique(made.y_train[~made.unlabelled], return_counts=True)[1]) <= n_labelled


def test_half_of_each_known_class_is_labelled() -> None:
    made = problem()
    for label in made.known_classes:
        of_class = made.train_truth == label
        assert abs(2 * of_class[~made.unlabelled].sum() - of_class.sum()) <= 1
    assert set(made.train_truth[made.unlabelled]) == {*"abcde"}


def test_pure_and_nothing_novel() -> None:
    assert problem(known_share=0.0).is_novel.all()
    known = problem(known_share=1.0)
    assert not known.is_novel.any()
    assert len(known.novel_classes) == 0
    assert set(known.y_test) == set(known.known_classes)


def test_mixtures_of_one_class_split_share_test_rows_and_labelled_rows() -> None:
    first, second = problem(known_share=0.3), problem(known_share=0.8)
    assert first.X_test.equals(second.X_test)
    labelled = [
        set(drawn.X_train["row"][~drawn.unlabelled])
        for drawn in (first, second, problem(known_share=0.3, n_labelled=10))
    ]
    assert labelled[0] == labelled[1] > labelled[2]
    few, many = (problem(n_labelled=n) for n in (10, 50))
    assert set(few.X_train["row"][few.unlabelled]) == set(many.X_train["row"][many.unlabelled])
    assert set(problem(1).known_classes) != set(problem(0).known_classes)


def test_a_shift_labels_low_values() -> None:
    y = pd.Series(np.repeat([*"abcd"], 300))
    X = pd.DataFrame({"x": np.random.default_rng(1).normal(size=1200)})
    for shift, low, high in ((False, -0.2, 0.2), (True, 0.4, 1.5)):
        made = make_problem("made", X, y, 0, Mixture(shift=shift))
        known = np.isin(made.train_truth, made.known_classes)
        x = made.X_train["x"].to_numpy()
        assert low < x[known & made.unlabelled].mean() - x[~made.unlabelled].mean() < high


def test_a_shift_by_a_column_of_categories_some_of_which_are_missing() -> None:
    X = pd.DataFrame({"colour": pd.Series(["blue", None, "red"] * 200, dtype="str")})
    made = make_problem("made", X, pd.Series(np.repeat([*"abcd"], 150)), 0, Mixture(shift=True))
    known = np.isin(made.train_truth, made.known_classes)
    labelled, free = (made.X_train["colour"][rows] for rows in (~made.unlabelled, known & made.unlabelled))
    assert (labelled == "blue").mean() > (free == "blue").mean() + 0.1


def test_large_tables_are_sampled_and_small_ones_refused() -> None:
    many = pd.Series(np.arange(20_000) % 5)
    made = make_problem("made", pd.DataFrame({"x": np.arange(20_000.0)}), many, 0, Mixture(known_share=0.3))
    assert len(made.y_train) + len(made.y_test) <= 4000
    with pytest.raises(InputError, match="has 3 classes of 12 rows, but at least 4"):
        make_problem("made", TABLE[:450], pd.Series(CLASSES[:450]), 0, Mixture())
