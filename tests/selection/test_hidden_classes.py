from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import newfound as nf
from newfound import HiddenClassKFold, InputError, hidden_class_score, hidden_class_scores
from newfound.selection.hidden_classes import HiddenTable, matched_f1, n_hidden_classes
from tests.oracles import hidden_classes as oracle
from tests.selection.fakes import LABELS, N_EACH, TABLE, Fake


@pytest.fixture(autouse=True)
def fits() -> list[dict[str, Any]]:
    Fake.fits.clear()
    return Fake.fits


# ---- the splitter


@st.composite
def labelled(draw: st.DrawFn) -> list[Any]:
    """Labels of 3 to 8 known classes in any order, some rows unlabelled."""
    n_known = draw(st.integers(3, 8))
    rest = draw(st.lists(st.integers(-1, n_known - 1), max_size=30))
    codes = draw(st.permutations([*range(n_known), *rest]))
    return [None if code < 0 else f"class {code}" for code in codes]


@given(y=labelled(), n_splits=st.none() | st.integers(1, 3), seed=st.integers(0, 2**32 - 1))
def test_splits_hide_whole_classes_and_nothing_else(y: list[Any], n_splits: int | None, seed: int) -> None:
    splitter = HiddenClassKFold(n_splits, random_state=seed)
    splits = list(splitter.split(np.zeros((len(y), 1)), y))
    assert len(splits) == splitter.get_n_splits(None, y)
    times = dict.fromkeys(set(y) - {None}, 0)
    for train, hidden in splits:
        assert sorted([*train, *hidden]) == list(range(len(y)))
        classes = {y[row] for row in hidden}
        assert None not in classes
        assert not classes & {y[row] for row in train}
        assert 2 <= len(classes) <= max(2, len(times) // 2)
        for class_ in classes:
            times[class_] += 1
    assert max(times.values()) - min(times.values()) <= 1
    again = list(splitter.split(None, y))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(splits, again, strict=True))


@given(n_known=st.integers(3, 9), data=st.data())
def test_splits_differ_while_there_are_others(n_known: int, data: st.DataObject) -> None:
    n_hidden = data.draw(st.integers(1, n_known - 1))
    n_splits = data.draw(st.integers(1, min(3, math.comb(n_known, n_hidden))))
    y = np.arange(n_known)
    hidden = [tuple(rows) for _, rows in HiddenClassKFold(n_splits, n_hidden=n_hidden, random_state=0).split(y, y)]
    assert len(set(hidden)) == n_splits
    assert {len(rows) for rows in hidden} == {n_hidden}


@pytest.mark.parametrize(
    ("n_known", "n_novel", "expected"),
    [
        (3, None, 2),
        (3, 1, 2),
        (3, 9, 2),
        (4, 1, 2),
        (4, 9, 2),
        (5, 5, 2),
        (6, 3, 3),
        (10, 3, 3),
        (10, 9, 5),
        (19, 7, 7),
    ],
)
def test_as_many_classes_are_hidden_as_there_are_novel_ones_but_half_stay(
    n_known: int, n_novel: int | None, expected: int
) -> None:
    assert n_hidden_classes(n_known, n_novel) == expected


@pytest.mark.parametrize(
    ("n_known", "n_hidden", "expected"), [(3, None, 3), (4, None, 3), (9, None, 3), (30, 2, 5), (2, 1, 2), (4, 2, 3)]
)
def test_every_class_is_hidden_in_few_splits(n_known: int, n_hidden: int | None, expected: int) -> None:
    y = np.arange(n_known)
    assert HiddenClassKFold(n_hidden=n_hidden).get_n_splits(y, y) == expected


def test_splits_serve_scikit_learn() -> None:
    from sklearn.model_selection import check_cv

    splitter = check_cv(HiddenClassKFold(2, random_state=0))
    assert splitter.get_n_splits() == 2
    assert repr(splitter) == "HiddenClassKFold(n_splits=2, n_hidden=None, random_state=0)"


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, [0, 1, -1], "y has 2 known classes, but at least 3 are needed.*Label rows of more classes"),
        ({}, [0, 0, -1], "y has 1 known class, but"),
        ({"n_hidden": 3}, [0, 1, 2], "n_hidden=3, but y has 3 known classes"),
        ({"n_hidden": 0}, [0, 1, 2], "n_hidden=0"),
        ({"n_splits": 4}, [0, 1, 2], "n_splits=4, but there are only 3 ways to hide 2 of 3"),
        ({"n_splits": 0}, [0, 1, 2], "n_splits=0"),
        ({"random_state": "x"}, [0, 1, 2], "random_state='x'"),
    ],
)
def test_what_cannot_be_split_is_refused(settings: dict[str, Any], y: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(HiddenClassKFold(**settings).split(y, y))


def test_the_number_of_splits_may_need_labels() -> None:
    with pytest.raises(InputError, match="pass y"):
        HiddenClassKFold().get_n_splits()


# ---- scores


def test_hidden_rows_join_the_unlabelled_ones_and_some_are_held_out(fits: list[dict[str, Any]]) -> None:
    scores = hidden_class_scores(Fake(3, quality=1.0), TABLE, LABELS, random_state=0)
    assert len(fits) == len(scores) == 3
    for fit, record in zip(fits, scores, strict=True):
        assert record["hidden"] == sorted(record["hidden"])
        assert len(record["hidden"]) == 2
        assert fit["n_novel_classes"] == record["n_sought"] == 3 + 2
        is_hidden, is_novel = np.isin(fit["classes"], record["hidden"]), fit["classes"] >= 5
        assert (fit["y"][is_hidden | is_novel] == -1).all()
        np.testing.assert_array_equal(fit["y"][~is_hidden & ~is_novel], fit["classes"][~is_hidden & ~is_novel])
        assert is_novel.sum() == 3 * N_EACH, "no novel row is missing"
        assert is_hidden.sum() == 2 * N_EACH * 3 // 4, "a quarter is held out"
        assert record["n_scored"] == 2 * N_EACH // 4
        assert {name: record[name] for name in ("f1", "acc", "bacc", "nmi", "ari")} == dict.fromkeys(
            ("f1", "acc", "bacc", "nmi", "ari"), 1.0
        )
        assert record["n_known"] == 3


def test_without_unlabelled_rows_only_hidden_classes_are_sought(fits: list[dict[str, Any]]) -> None:
    hidden_class_score(Fake(3), TABLE, LABELS, with_unlabelled=False, random_state=0)
    for fit in fits:
        assert fit["n_novel_classes"] == 2
        assert (fit["classes"] < 5).all()
        assert (fit["y"] == -1).sum() == 2 * N_EACH * 3 // 4


def test_a_table_without_unlabelled_rows_can_be_scored(fits: list[dict[str, Any]]) -> None:
    known = LABELS >= 0
    assert hidden_class_score(Fake(3, quality=1.0), TABLE[known], LABELS[known], random_state=0) == 1.0
    assert {fit["n_novel_classes"] for fit in fits} == {2}


def test_nothing_is_held_out_on_request(fits: list[dict[str, Any]]) -> None:
    records = hidden_class_scores(Fake(3), TABLE, LABELS, held_out=0, random_state=0)
    assert all(len(fit["y"]) == len(TABLE) for fit in fits)
    assert all(record["n_scored"] == 2 * N_EACH for record in records)


def test_the_only_row_of_a_class_is_fitted_and_scored(fits: list[dict[str, Any]]) -> None:
    X, y = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [7.0, 0.0]], [0, 1, 2, -1]
    with pytest.warns(UserWarning, match="only 3 known classes: with some of them hidden, 1 remains"):
        assert hidden_class_score(Fake(1, quality=1.0), X, y, random_state=0) == 1.0
    assert all(len(fit["y"]) == 4 for fit in fits)


def test_the_score_is_the_mean_of_the_splits_and_better_discoverers_have_more() -> None:
    for metric in ("f1", "acc", "bacc", "nmi", "ari"):
        records = hidden_class_scores(Fake(3, quality=0.6), TABLE, LABELS, random_state=3)
        score = hidden_class_score(Fake(3, quality=0.6), TABLE, LABELS, metric=metric, random_state=3)
        assert score == pytest.approx(np.mean([record[metric] for record in records]))
        scores = [
            hidden_class_score(Fake(3, quality=q), TABLE, LABELS, metric=metric, random_state=3) for q in (0.2, 1)
        ]
        assert scores[0] < score < scores[1]


class HideTheFirstTwo:
    """A splitter of one's own."""

    def split(self, X: Any, y: Any) -> Any:
        hidden = np.isin(y, [0, 1])
        yield np.flatnonzero(~hidden), np.flatnonzero(hidden)


def test_rows_that_a_splitter_leaves_out_are_not_fitted() -> None:
    class WithoutTheThird(HideTheFirstTwo):
        def split(self, X: Any, y: Any) -> Any:
            for train, hidden in super().split(X, y):
                yield train[y[train] != 2], hidden

    rng = np.random.RandomState(0)
    (task,) = HiddenTable(TABLE, LABELS).tasks(3, cv=WithoutTheThird(), with_unlabelled=True, held_out=0.25, rng=rng)
    (every,) = HiddenTable(TABLE, LABELS).tasks(3, cv=HideTheFirstTwo(), with_unlabelled=True, held_out=0.25, rng=rng)
    assert 2 in LABELS[every.fitted]
    assert set(LABELS[task.fitted]) == set(LABELS[every.fitted]) - {2}


def test_throwing_hidden_and_novel_classes_together_costs_f1_alone() -> None:
    class Joining(Fake):
        def predict_novel(self, X: Any) -> Any:
            found = super().predict_novel(X)
            return np.where(found >= 5, 0, found)

    (apart,) = hidden_class_scores(Fake(3, quality=1.0), TABLE, LABELS, cv=HideTheFirstTwo())
    (joined,) = hidden_class_scores(Joining(3, quality=1.0), TABLE, LABELS, cv=HideTheFirstTwo())
    assert apart["hidden"] == joined["hidden"] == [0, 1]
    assert apart["f1"] == apart["acc"] == joined["acc"] == 1.0
    # 5 rows of class 0, and three novel classes that count as 5 rows each, are in one found class
    assert joined["f1"] == pytest.approx((1 + 2 * 5 / (5 + 20)) / 2)


def test_a_discoverer_never_sees_which_class_is_hidden(fits: list[dict[str, Any]]) -> None:
    exchanged = LABELS.copy()
    hidden = np.isin(LABELS, [0, 1])
    exchanged[hidden] = np.random.default_rng(0).permutation(LABELS[hidden])
    mirrored = np.where(hidden, 1 - exchanged, exchanged)  # no hidden row has the same label here and there
    scores = [
        hidden_class_score(Fake(3, quality=1.0), TABLE, y, cv=HideTheFirstTwo(), held_out=0, random_state=0)
        for y in (LABELS, exchanged, mirrored)
    ]
    assert scores[0] == 1.0 > scores[1] == scores[2], "the scores know"
    first, *others = ({name: np.asarray(seen).tolist() for name, seen in fit.items()} for fit in fits)
    assert others == [first, first], "the fits do not"


@pytest.mark.parametrize("to", [pd.DataFrame, pl.DataFrame, pa.table, list])
def test_every_kind_of_table_and_labels_is_accepted(to: Any) -> None:
    columns = {"x0": TABLE[:, 0].tolist(), "x1": TABLE[:, 1].tolist()}
    X = TABLE.tolist() if to is list else to(columns)
    y = [None if label < 0 else f"class {label}" for label in LABELS]
    assert hidden_class_score(Fake(3, quality=1.0), X, y, random_state=0) == 1.0


def test_the_discoverer_is_left_as_it_is_and_its_own_seed_counts(fits: list[dict[str, Any]]) -> None:
    discoverer = Fake(3, random_state=11, verbose=1)
    hidden_class_score(discoverer, TABLE, LABELS, random_state=0)
    assert discoverer.get_params() == Fake(3, random_state=11, verbose=1).get_params()
    assert {fit["random_state"] for fit in fits} == {11}
    assert {fit["verbose"] for fit in fits} == {0}
    fits.clear()
    hidden_class_score(Fake(3), TABLE, LABELS, random_state=0)
    assert len({fit["random_state"] for fit in fits}) == 1
    assert fits[0]["random_state"] is not None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "accuracy"}, "metric='accuracy'.*'f1', 'acc'"),
        ({"cv": "x"}, "cv='x', but expected a HiddenClassKFold"),
        ({"cv": 100}, "n_splits=100"),
        ({"held_out": 1}, "held_out=1"),
        ({"held_out": -0.1}, "held_out=-0.1"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        hidden_class_score(Fake(3), TABLE, LABELS, **settings)


def test_what_is_no_discoverer_is_refused() -> None:
    for wrong in (Fake, None, object()):
        with pytest.raises(InputError, match="expected a discoverer such as"):
            hidden_class_score(wrong, TABLE, LABELS)
    with pytest.raises(InputError, match="n_novel_classes=0"):
        hidden_class_score(Fake(0), TABLE, LABELS)


def test_splits_that_hide_unlabelled_rows_are_refused() -> None:
    from sklearn.model_selection import KFold

    with pytest.raises(InputError, match="hides rows without a label"):
        hidden_class_score(Fake(3), TABLE, LABELS, cv=KFold(3))


def test_why_a_discoverer_fails_is_told() -> None:
    with pytest.raises(InputError, match="Nothing works"):
        hidden_class_score(Fake(3, act="always fail"), TABLE, LABELS)


def test_ctrl_c_ends_it_even_inside_a_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("newfound.learning.tabular_ncd.pretrain", interrupted)
    with pytest.raises(KeyboardInterrupt):
        hidden_class_score(nf.TabularNCD(3, epochs=1), TABLE, LABELS, random_state=0)


def test_the_number_of_novel_classes_is_estimated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Estimate:
        n_classes = 3

    def estimate(X: Any, y: Any, *, encoder: Any, random_state: int) -> Estimate:
        asked.append((len(y), random_state))
        return Estimate()

    monkeypatch.setattr("newfound.selection.n_classes.estimate_n_novel_classes", estimate, raising=False)
    records = hidden_class_scores(Fake("auto"), TABLE, LABELS, random_state=0)
    assert {record["n_sought"] for record in records} == {5}
    assert len(asked) == 1


def test_of_many_unlabelled_rows_some_are_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newfound.selection.hidden_classes._MOST_WATCHED", 10)
    rng = np.random.RandomState(0)
    (task, *_) = HiddenTable(TABLE, LABELS).tasks(3, cv=None, with_unlabelled=True, held_out=0.25, rng=rng)
    assert len(task.watched) == 10
    assert (LABELS[task.watched] == -1).all()
    assert task.weight * 10 == pytest.approx(3 * N_EACH * 0.25)


few = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=12)


@given(rows=few, others=st.lists(st.integers(0, 4), max_size=8), weight=st.floats(0, 3))
def test_f1_is_that_of_the_best_pairing(rows: list[tuple[int, int]], others: list[int], weight: float) -> None:
    true, found = (list(column) for column in zip(*rows, strict=True))
    fast = matched_f1(np.array(true), np.array(found), np.array(others, dtype=int), weight)
    assert fast == pytest.approx(oracle.matched_f1(true, found, others, weight))
