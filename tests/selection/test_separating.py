"""A column that tells labelled from unlabelled rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from newfound.selection.separating import separating_column
from newfound.selection.source_columns import SourceColumns
from newfound.tables import TableEncoder


def named(X: pd.DataFrame, codes: np.ndarray) -> str | None:
    encoder = TableEncoder().fit(X)
    return separating_column(SourceColumns.of(encoder), encoder.transform(X), codes)


def table(n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Two known and two novel classes that overlap in every column."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(4), n)
    centres = rng.normal(size=(4, 3))
    X = pd.DataFrame(centres[truth] + rng.normal(size=(len(truth), 3)), columns=list("abc"))
    X["colour"] = rng.choice(["red", "blue"], len(X))
    return X, np.where(truth < 2, truth, -1)


def test_no_column_does() -> None:
    assert named(*table()) is None


@pytest.mark.parametrize("kind", ["date", "batch", "number", "missing", "nearly"])
def test_the_column_is_named(kind: str) -> None:
    X, codes = table()
    free, rng = codes < 0, np.random.default_rng(1)
    days = np.where(free, rng.integers(200, 300, len(X)), rng.integers(0, 200, len(X)))
    planted = {
        "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D"),
        "batch": np.where(free, rng.choice(["e", "f"], len(X)), rng.choice(["g", "h", "i", "j"], len(X))),
        "number": days.astype(float),
        "missing": np.where(free, np.nan, rng.normal(size=len(X))),
        "nearly": np.where(np.arange(len(X)) == 3, ~free, free),
    }
    X["planted"] = planted[kind]
    assert named(X, codes) == "planted"


def test_a_column_that_is_often_wrong_is_not_named() -> None:
    X, codes = table()
    X["planted"] = np.where(np.random.default_rng(0).random(len(X)) < 0.1, codes >= 0, codes < 0)
    assert named(X, codes) is None


def test_a_column_that_tells_known_classes_apart_may_tell_novel_ones_too() -> None:
    X, codes = table()
    X["species"] = np.array(["x", "y", "z"])[codes]
    assert named(X, codes) is None


def test_the_order_of_the_rows_says_nothing() -> None:
    X, codes = table()
    X["same"] = np.where(np.arange(len(X)) % 50, 0.0, 1.0)  # nearly constant: by their order its cells would tell all
    assert named(X, codes) is None


def test_few_rows_are_not_judged() -> None:
    X, codes = table(n=9)
    X["planted"] = codes < 0
    assert named(X, codes) is None
