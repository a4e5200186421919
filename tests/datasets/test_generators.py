from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from newfound.datasets import Dataset, make_table
from newfound.errors import InputError
from newfound.tables.encoder import TableEncoder


def accuracy(table: Dataset) -> float:
    """How well a forest that is told all classes recognises the test rows."""
    from sklearn.ensemble import RandomForestClassifier

    encoder = table.encoder()
    train, test = encoder.fit_transform(table.X_train), encoder.transform(table.X_test)
    forest = RandomForestClassifier(40, random_state=0).fit(train, table.y_train_truth.astype(str))
    return float(np.mean(forest.predict(test) == table.y_test))


def columns_of(X: Any) -> dict[str, NDArray[Any]]:
    return {name: X[name].to_numpy() for name in X.columns}


def same(a: Dataset, b: Dataset) -> bool:
    return (
        a.X_train.equals(b.X_train)  # type: ignore[union-attr]
        and a.X_test.equals(b.X_test)  # type: ignore[union-attr]
        and np.array_equal(a.y_train_truth, b.y_train_truth)
    )


# ---- columns, rows and classes


@pytest.mark.parametrize("rules", [False, True], ids=["clouds", "rules"])
@settings(max_examples=25, deadline=None)
@given(
    n_rows=st.integers(200, 400),
    n_numeric=st.integers(0, 4),
    n_categorical=st.integers(2, 4),
    n_dates=st.integers(0, 2),
    n_noise=st.integers(0, 4),
    n_known=st.integers(1, 5),
    n_novel=st.integers(1, 4),
    imbalance=st.floats(1, 5),
    heavy_tails=st.booleans(),
)
def test_has_the_rows_columns_and_classes_asked_for(rules: bool, n_rows: int, **asked: Any) -> None:
    table = make_table(n_rows, **asked, rules=rules, random_state=0)
    assert len(table.y_train) + len(table.y_test) == n_rows
    assert (len(table.known_classes), len(table.novel_classes)) == (asked["n_known"], asked["n_novel"])
    classes = [*table.known_classes, *table.novel_classes]
    assert sorted(set(table.y_train_truth)) == sorted(set(table.y_test)) == classes
    assert list(table.X_train.columns) == list(table.X_test.columns) == list(table.kinds)  # type: ignore[union-attr]
    for prefix, number in {
        "number": "n_numeric",
        "category": "n_categorical",
        "date": "n_dates",
        "noise": "n_noise",
    }.items():
        assert sum(name.startswith(f"{prefix}_") for name in table.kinds) == asked[number]
    for name, cells in columns_of(table.X_train).items():
        if table.kinds[name] == "numeric":
            assert np.isfinite(cells).all()


def test_labels_are_hidden_where_the_class_is_novel() -> None:
    table = make_table(random_state=0)
    assert all((label is None) == novel for label, novel in zip(table.y_train, table.train_novel, strict=True))
    assert set(table.y_train[~table.train_novel]) == set(table.known_classes)


def test_class_names_sort_by_their_number() -> None:
    table = make_table(n_known=9, n_novel=3, random_state=0)
    assert table.known_classes.tolist() == [f"class_{i:02}" for i in range(9)]
    assert table.novel_classes.tolist() == ["class_09", "class_10", "class_11"]


def test_kinds_are_those_that_would_be_inferred() -> None:
    table = make_table(n_dates=1, n_noise=2, missing=0.1, random_state=0)
    inferred = TableEncoder().fit(table.X_train).schema_
    assert {column.name: column.kind for column in inferred.columns} == table.kinds


def test_repr_counts_dates_apart() -> None:
    assert "columns: 11 (6 numeric, 4 categorical, 1 of dates)" in repr(make_table(n_dates=1, random_state=0))


def test_can_be_split_into_other_classes() -> None:
    table = make_table(random_state=0)
    other = table.resplit(1)
    assert set(other.novel_classes) != set(table.novel_classes)
    assert other.X_train is table.X_train


def test_without_pandas_is_an_array(uninstall: Callable[[str], None]) -> None:
    framed = make_table(n_dates=1, missing=0.1, random_state=0)
    uninstall("pandas")
    uninstall("pyarrow")
    plain = make_table(n_dates=1, missing=0.1, random_state=0)
    assert isinstance(plain.X_train, np.ndarray)
    assert plain.X_train.dtype == object
    assert list(plain.kinds) == [f"x{i}" for i in range(11)]
    assert list(plain.kinds.values()) == list(framed.kinds.values())
    assert [name for name, kind in plain.kinds.items() if kind == "categorical"] == ["x6", "x7", "x8", "x9"]
    np.testing.assert_array_equal(plain.X_train[:, 0].astype(float), framed.X_train["number_0"])  # type: ignore[index]
    rows, numbers = plain.encoder().fit_transform(plain.X_train), make_table(n_categorical=0, random_state=0).X_train
    assert len(rows) == len(plain.y_train)
    assert isinstance(numbers, np.ndarray)
    assert numbers.dtype == np.float64


# ---- the seed


@pytest.mark.parametrize("rules", [False, True], ids=["clouds", "rules"])
def test_a_seed_makes_the_same_table(rules: bool) -> None:
    first, again, other = (
        make_table(n_dates=1, n_noise=2, missing=0.1, rules=rules, random_state=seed)
        for seed in (0, np.random.RandomState(0), 1)
    )
    assert same(first, again)
    assert not same(first, other)


def test_leaves_the_global_generator_alone() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[union-attr]  # noqa: NPY002
    make_table()
    make_table(random_state=0)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


# ---- what can be asked for


@pytest.mark.parametrize("imbalance", [1, 3, 10])
def test_imbalance_is_the_ratio_of_novel_classes(imbalance: float) -> None:
    table = make_table(2000, n_known=3, n_novel=4, imbalance=imbalance, random_state=0)
    truth = np.concatenate([table.y_train_truth, table.y_test])
    sizes = {label: int(np.sum(truth == label)) for label in np.unique(truth.astype(str))}
    novel = [sizes[label] for label in table.novel_classes]
    assert max(novel) / min(novel) == pytest.approx(imbalance, rel=0.05)
    ratios = np.array(novel[:-1]) / np.array(novel[1:])
    assert ratios == pytest.approx(imbalance ** (1 / 3), rel=0.05)
    known = [sizes[label] for label in table.known_classes]
    assert max(known) - min(known) <= 1
    assert sum(novel) == pytest.approx(2000 * 4 / 7, abs=2)


def test_missing_is_a_share_of_the_cells_of_every_column() -> None:
    import pandas as pd

    whole = make_table(3000, n_dates=1, n_noise=2, random_state=0)
    table = make_table(3000, n_dates=1, n_noise=2, missing=0.2, random_state=0)
    assert not pd.isna(whole.X_train).to_numpy().any()
    shares = pd.isna(table.X_train).mean()
    assert shares.between(0.16, 0.24).all()


def test_heavy_tails_reach_further() -> None:
    def farthest(heavy_tails: bool) -> float:
        table = make_table(3000, n_numeric=1, n_categorical=0, separation=0, heavy_tails=heavy_tails, random_state=0)
        cells = np.asarray(table.X_train)[:, 0]
        return float(np.abs(cells - np.median(cells)).max() / np.median(np.abs(cells - np.median(cells))))

    assert farthest(True) > 2 * farthest(False)


def test_numbers_have_units_of_their_own() -> None:
    table = make_table(n_numeric=6, random_state=0)
    numbers = {name: cells for name, cells in columns_of(table.X_train).items() if table.kinds[name] == "numeric"}
    spreads = [cells.std() for cells in numbers.values()]
    assert max(spreads) > 10 * min(spreads)
    for name in ("number_2", "number_5"):
        assert np.array_equal(numbers[name], np.rint(numbers[name]))
    assert numbers["number_1"].min() > 0


# ---- what can be learnt


@pytest.mark.parametrize("rules", [False, True], ids=["clouds", "rules"])
@pytest.mark.parametrize("columns", [(6, 0), (0, 6), (4, 3)], ids=["numbers", "categories", "both"])
def test_separation_is_how_well_a_forest_learns(columns: tuple[int, int], rules: bool) -> None:
    none, some, much = (
        accuracy(make_table(700, *columns, separation=separation, rules=rules, random_state=0))
        for separation in (0, 2, 8)
    )
    assert none < 0.25  # there are seven classes
    assert none + 0.1 < some < much
    assert much > 0.9


def test_noise_tells_nothing() -> None:
    table = make_table(700, n_noise=6, separation=8, random_state=0)
    kinds = {name: kind for name, kind in table.kinds.items() if name.startswith("noise_")}
    train, test = (X[list(kinds)] for X in (table.X_train, table.X_test))  # type: ignore[index]
    assert accuracy(replace(table, X_train=train, X_test=test, kinds=kinds)) < 0.25


def test_a_class_of_a_rule_asks_for_few_columns() -> None:
    """With seven classes, two columns are enough: each class has its own third of both."""
    table = make_table(1400, n_numeric=5, n_categorical=0, separation=8, rules=True, random_state=0)
    X = np.concatenate([table.X_train, table.X_test])
    y = np.concatenate([table.y_train_truth, table.y_test])
    ranks = X.argsort(axis=0).argsort(axis=0) / len(X)
    medians = np.array([np.median(ranks[y == label], axis=0) for label in np.unique(y.astype(str))])
    differing = np.ptp(medians, axis=0) > 0.5
    assert differing.sum() == 2


# ---- what is refused


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"n_rows": 0}, "n_rows=0"),
        ({"n_numeric": -1}, "n_numeric=-1"),
        ({"n_categorical": 1.5}, "n_categorical=1.5"),
        ({"n_known": 0}, "n_known=0"),
        ({"n_novel": 0}, "n_novel=0"),
        ({"n_dates": -1}, "n_dates=-1"),
        ({"n_noise": -1}, "n_noise=-1"),
        ({"separation": -1}, "separation=-1"),
        ({"separation": float("nan")}, "separation=nan"),
        ({"imbalance": 0.5}, "imbalance=0.5"),
        ({"missing": 1}, "missing=1"),
        ({"random_state": -1}, "random_state=-1"),
        ({"n_numeric": 0, "n_categorical": 0}, "at least one column"),
        ({"n_rows": 20}, "Ask for about 28 rows"),
        ({"imbalance": 200}, "at least 4 rows in the smallest class"),
        ({"n_numeric": 1, "n_categorical": 0, "rules": True}, "rules for so many need at least 2"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_refuses(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_table(**asked)
