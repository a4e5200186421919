"""Column kinds: what the cells suggest, what the user says, and what is ignored and why."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from newfound.errors import InputError, ModelFileError
from newfound.tables.frame import as_table
from newfound.tables.schema import Column, Kind, Schema, infer_schema
from newfound.tables.state import Entries

N = 30
VARIED = np.random.default_rng(0).normal(size=N)


def infer(cells: Any, name: str = "c") -> Column:
    """Return what is inferred for a column beside one that is surely kept."""
    table = as_table(pd.DataFrame({name: pd.Series(cells), "kept": np.resize(VARIED, len(cells))}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return infer_schema(table).columns[0]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (VARIED, "numeric"),
        ([1, 2, 2] * 10, "numeric"),
        (pd.to_timedelta([1, 2, 5] * 10, unit="s"), "numeric"),
        ([0, 1, 1] * 10, "boolean"),
        ([0.0, 1.0, None] * 10, "boolean"),
        ([0.0, 1.0, 0.5] * 10, "numeric"),
        ([True, False, True] * 10, "boolean"),
        ([True, None, False] * 10, "boolean"),
        ([True, None, True] * 10, "boolean"),
        (["a", "b", None] * 10, "categorical"),
        (["1", "2", "3"] * 10, "categorical"),
        (pd.Categorical([1, 2, 3] * 10), "categorical"),
        (pd.date_range("2020", periods=N), "date"),
        ([f"2020-01-{d:02d}" for d in range(1, N + 1)], "date"),
        (["2020-01-01T12:00:00Z", None, "2021-05-05 01:02"] * 10, "date"),
        (["2020-01-01", "soon", "soon"] * 10, "categorical"),
        (["20200101", "20200102", "20200102"] * 10, "categorical"),
        (["2020-13-01", "2020-13-01", "2020-01-01"] * 10, "categorical"),
    ],
)
def test_inferred_kind(cells: Any, kind: Kind) -> None:
    assert infer(cells) == Column("c", kind)


@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("c", [7] * N, "every cell is '7'"),
        ("c", ["x"] * N, "every cell is 'x'"),
        ("c", [True] * N, "every cell is 'True'"),
        ("c", [None] * N, "every cell is missing"),
        ("c", [f"row {i}" for i in range(N)], "like an identifier: 30 distinct texts in 30 cells"),
        ("c", list(range(100, 100 + N)), "a row number"),
        ("c", list(range(N))[::-1], "a row number"),
        *((name, [i * i for i in range(N)], "an identifier") for name in ("id", "ID", "user_id", "userId", "uuid")),
        *((name, [i * i for i in range(N)], "an identifier") for name in ("index", "Row Number", "row_no", "user-ID")),
    ],
)
def test_ignored_with_a_reason(name: str, cells: Any, reason: str) -> None:
    column = infer(cells, name)
    assert column.kind == "ignored"
    assert reason in column.reason


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("c", [7, None] * 15),  # where it is missing is information
        ("c", list(range(19))),  # too few rows to tell
        ("c", [*range(N - 1), None]),
        ("c", [i / 2 for i in range(N)]),
        ("id", [1, 1, *range(2, 30, 1)]),
        ("id", list(VARIED)),
        ("paid", [i * i for i in range(N)]),
        ("price_index", [i * i for i in range(N)]),
    ],
)
def test_numbers_that_are_not_ignored(name: str, cells: Any) -> None:
    assert infer(cells, name).kind == "numeric"


@pytest.mark.parametrize(("distinct", "kind"), [(27, "categorical"), (28, "ignored")])
def test_identifier_share_of_texts(distinct: int, kind: Kind) -> None:
    assert infer([f"t{min(i, distinct - 1)}" for i in range(N)]).kind == kind


def test_few_distinct_texts_are_kept() -> None:
    assert infer([f"t{i}" for i in range(19)]).kind == "categorical"


def test_whole_numbers_that_differ_more_than_chance_allows_are_identifiers() -> None:
    rng = np.random.default_rng(0)
    orders = np.sort(rng.choice(400_000, 10_000, replace=False)) + 10**9  # a part of a table, with gaps
    assert infer(orders).reason == "an identifier: 10,000 whole numbers in a narrow range, no two of which agree"
    assert infer(rng.permutation(orders)[:5_000]).kind == "ignored"
    for numbers in (
        orders[:100],  # which differ by chance
        np.append(orders[:-1], orders[0]),
        orders + 0.5,
        rng.integers(400_000, size=10_000),
        rng.choice(10**12, 10_000, replace=False),
        [*range(0, 1_000_000, 100_000), *range(1_000_000, 3_000_000, 100_000)],
    ):
        assert infer(numbers).kind == "numeric"


def test_one_warning_names_all_ignored_columns() -> None:
    table = as_table(pd.DataFrame({"a": VARIED, "b": 1, "c": np.arange(N)}))
    with pytest.warns(UserWarning, match="ignored column") as caught:
        infer_schema(table)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "'b' (every cell is '1')" in message
    assert "'c' (a row number" in message
    assert "To keep a column, name its kind: TableEncoder(kinds={'b': 'categorical'})." in message
    assert message.endswith("without this message: TableEncoder(kinds={'b': 'ignored'}).")


def test_kinds_of_the_user_win_without_a_warning() -> None:
    table = as_table(pd.DataFrame({"a": VARIED, "b": 1, "c": np.arange(N), "d": VARIED}))
    kinds: dict[str, Kind] = {"b": "numeric", "c": "categorical", "d": "ignored"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema = infer_schema(table, kinds)
    assert [column.kind for column in schema.columns] == ["numeric", "numeric", "categorical", "ignored"]
    assert [column.name for column in schema.used] == ["a", "b", "c"]
    assert schema.ignored == (Column("d", "ignored", "set by kinds"),)


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"nope": "numeric"}, "kinds names 'nope', which is not a column"),
        ({"a": "number"}, r"kinds\['a'\] is 'number'; a kind is one of 'numeric'"),
        ([("a", "numeric")], "kinds must be a dict"),
    ],
)
def test_bad_kinds(kinds: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        infer_schema(as_table(pd.DataFrame({"a": VARIED})), kinds)


def test_infinite_values_are_named_by_column() -> None:
    table = as_table(pd.DataFrame({"a": VARIED, "b": [np.inf, *VARIED[1:]], "c": [*VARIED[1:], -np.inf]}))
    with pytest.raises(InputError, match="infinite values in columns 'b', 'c'"):
        infer_schema(table)
    assert len(infer_schema(table, {"b": "ignored", "c": "ignored"}).used) == 1


def test_no_usable_column() -> None:
    with pytest.raises(InputError, match="no usable column: ignored column 'x0'"):
        infer_schema(as_table(np.ones((5, 2))))
    with pytest.raises(InputError, match="n_samples=1"):
        infer_schema(as_table(np.ones((1, 2))))


def test_json_round_trip() -> None:
    schema = Schema((Column("a", "numeric"), Column("é", "ignored", "why")))
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema
    assert schema.names == ("a", "é")
    assert schema.kind_of("é") == "ignored"
    with pytest.raises(KeyError):
        schema.kind_of("b")


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        [1],
        [{"name": "a"}],
        [{"name": "a", "kind": "odd", "reason": ""}],
        [{"name": 1, "kind": "numeric", "reason": ""}],
        [{"name": "a", "kind": ["numeric"], "reason": ""}],
        [{"name": "a", "kind": "numeric", "reason": ""}] * 2,
    ],
)
def test_bad_json(content: Any) -> None:
    with pytest.raises(ModelFileError):
        Schema.from_json(content)


def test_numbers_stored_as_text_are_numbers() -> None:
    texts = [f"{i * 0.37:.2f}" for i in range(60)]
    table = as_table(pd.DataFrame({"weight": texts, "size": range(0, 120, 2)}))
    assert infer_schema(table).kind_of("weight") == "numeric"


def test_numbers_with_a_few_texts_are_ignored_with_the_reason() -> None:
    texts = ["?" if i in (3, 17) else f"{i * 0.37:.2f}" for i in range(60)]
    table = as_table(pd.DataFrame({"weight": texts, "size": range(0, 120, 2)}))
    with pytest.warns(UserWarning, match=r"'weight' \(numbers, but 2 cells hold text such as '\?'"):
        infer_schema(table)


def test_the_warning_names_ten_columns_at_most() -> None:
    table = as_table(np.concatenate([np.ones((30, 25)), np.random.default_rng(0).normal(size=(30, 1))], axis=1))
    with pytest.warns(UserWarning, match=r"'x9' .* and 15 more columns") as caught:
        infer_schema(table)
    assert "'x10'" not in str(caught[0].message)


def test_kinds_of_older_model_files_are_understood() -> None:
    schema = Schema.from_json([{"name": "since", "kind": "datetime", "reason": ""}])
    assert schema.kind_of("since") == "date"
    assert Entries({"kinds": {"since": "datetime"}}, "the encoder").kinds("kinds") == {"since": "date"}
    with pytest.raises(ModelFileError, match="a dict of column kinds"):
        Entries({"kinds": {"since": "moment"}}, "the encoder").kinds("kinds")
