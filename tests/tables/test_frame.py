"""Reading tables: every accepted type gives the same columns, and what cannot be read is refused with a cure."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from newfound.errors import InputError
from newfound.tables.frame import CHUNK_ROWS, Table, as_table, chunks, listed
from tests.tables.formats import FORMATS, convert


def assert_same_columns(left: Table, right: Table) -> None:
    for a, b in zip(left.columns.values(), right.columns.values(), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


MIXED = {
    "number": [1.5, None, -2.25, 1e300],
    "whole": [1, 2, None, 2**40],
    "text": ["a", None, "", "ç"],
    "flag": [True, False, None, True],
    "full flag": [True, False, False, True],
    "moment": [dt.datetime(2020, 1, 1, 12, 0, 0, 123456), None, dt.datetime(1950, 6, 1), dt.datetime(2200, 1, 1)],
    "day": [dt.date(2020, 1, 1), None, dt.date(1950, 6, 1), dt.date(2200, 1, 1)],
    "span": [dt.timedelta(days=1), None, dt.timedelta(microseconds=-7), dt.timedelta(0)],
    "money": [Decimal("1.10"), None, Decimal("3.33"), Decimal("0.07")],
    "nothing": [None, None, None, None],
}


@pytest.mark.parametrize("to", FORMATS)
def test_all_formats_give_the_same_columns(to: str) -> None:
    table = as_table(convert(MIXED, to))
    assert_same_columns(table, as_table(convert(MIXED, "numpy")))
    assert table.n_rows == 4
    assert table.named is (to not in ("numpy", "lists"))
    assert table.names == (tuple(MIXED) if table.named else tuple(f"x{j}" for j in range(len(MIXED))))


def test_column_types() -> None:
    columns = as_table(convert(MIXED, "polars")).columns
    np.testing.assert_array_equal(columns["number"], [1.5, np.nan, -2.25, 1e300])
    np.testing.assert_array_equal(columns["span"], [86400.0, np.nan, -7e-6, 0.0])
    np.testing.assert_array_equal(columns["money"], [1.10, np.nan, 3.33, 0.07])
    assert columns["text"].tolist() == ["a", None, "", "ç"]
    assert columns["flag"].tolist() == [True, False, None, True]
    assert columns["full flag"].dtype == bool
    assert columns["moment"].dtype == columns["day"].dtype == np.dtype("M8[us]")
    assert columns["moment"][0] == np.datetime64("2020-01-01T12:00:00.123456")
    assert np.isnan(columns["nothing"]).all()


cell_columns = st.sampled_from(
    [
        st.floats(allow_infinity=False, allow_nan=False),
        st.integers(-(2**62), 2**62),
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
        st.booleans(),
        st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2250, 1, 1)),
        st.dates(dt.date(1700, 1, 1), dt.date(2250, 1, 1)),
        st.timedeltas(dt.timedelta(-9999), dt.timedelta(9999)),
    ]
).flatmap(lambda cell: st.lists(st.none() | cell, min_size=5, max_size=5))


@given(st.lists(cell_columns, min_size=1, max_size=4))
def test_any_table_reads_alike_from_every_library(cells: list[list[Any]]) -> None:
    columns = {f"c{j}": column for j, column in enumerate(cells)}
    expected = as_table(convert(columns, "numpy"))
    for to in ("pandas", "pandas_object", "polars", "pyarrow"):
        if to == "pandas" and any(isinstance(cell, int) and abs(cell) > 2**53 for column in cells for cell in column):
            continue  # pandas itself turns whole numbers beside missing ones into floats
        assert_same_columns(as_table(convert(columns, to)), expected)


def test_short_pandas_tables_read_as_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    columns = {f"{dtype}{n}": rng.integers(0, 2, 9).astype(dtype) for n in range(2) for dtype in "bhHqQefdgO"}
    table = pd.DataFrame(columns | {f"flag{n}": rng.random(9) < 0.5 for n in range(2)})
    table = table.assign(
        word=pd.Series([*"abcabcab", None], dtype="str"),
        spelled=pd.array(["1.0", "x", None] * 3, dtype="string"),
        gone=pd.array([None] * 9, dtype="str"),
    )
    table = table.assign(nullable=pd.array([1, None, 3] * 3, dtype="Int8"), d0=np.nan)[::-1]
    short = as_table(table)
    monkeypatch.setattr("newfound.tables.frame.CHUNK_ROWS", 0)
    assert_same_columns(short, as_table(table))
    assert list(short.columns) == list(table.columns)
    assert all(column.flags.c_contiguous for column in short.columns.values())


def test_float64_array_is_not_copied() -> None:
    X = np.random.default_rng(0).normal(size=(10, 3))
    assert all(np.shares_memory(column, X) for column in as_table(X).columns.values())


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint64", "longdouble", object])
def test_numeric_arrays_become_float64(dtype: Any) -> None:
    columns = as_table(np.array([[0, 1], [2, 3]], dtype=dtype)).columns
    assert all(column.dtype == np.float64 for column in columns.values())
    np.testing.assert_array_equal(columns["x1"], [1.0, 3.0])


def test_other_arrays() -> None:
    assert as_table(np.array([[True], [False]])).columns["x0"].dtype == bool
    assert as_table(np.array([["1970-01-02"]], dtype="M8[D]")).columns["x0"][0] == np.datetime64("1970-01-02")
    np.testing.assert_array_equal(as_table(np.array([[2], ["NaT"]], dtype="m8[h]")).columns["x0"], [7200.0, np.nan])
    assert as_table(np.array([["a", "b"]])).columns["x1"].tolist() == ["b"]
    assert as_table(np.array([[b"a", b"b"]])).columns["x1"].tolist() == ["b"]
    masked = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(as_table(masked).columns["x1"], [np.nan, 4.0])


def test_mixed_list_keeps_its_numbers() -> None:
    table = as_table([(1, "a"), (2.5, "b")])
    np.testing.assert_array_equal(table.columns["x0"], [1.0, 2.5])
    assert table.columns["x1"].tolist() == ["a", "b"]


def test_object_columns_take_the_type_of_their_cells() -> None:
    def read(*cells: Any) -> Any:
        return as_table(pd.DataFrame({"a": pd.Series(cells, dtype=object)})).columns["a"].tolist()

    assert read(1, "b", None, 2.0) == ["1", "b", None, "2"]
    assert read(1, 2.5, Decimal("3.1"), True, 10**30) == [1.0, 2.5, 3.1, 1.0, 1e30]
    assert read(10**400, -(10**400)) == [np.inf, -np.inf]
    assert read(True, None, np.False_) == [True, None, False]
    assert read(True, "x", pd.NA) == ["True", "x", None]
    paris = dt.timezone(dt.timedelta(hours=1))
    assert read(dt.datetime(2020, 1, 1, 1, tzinfo=paris), pd.NaT, pd.Timestamp("2020-01-01")) == [
        dt.datetime(2020, 1, 1),
        None,
        dt.datetime(2020, 1, 1),
    ]


def test_time_zones_are_brought_to_utc() -> None:
    moments = pd.Series(pd.to_datetime(["2020-07-01 12:00", None]).tz_localize("Europe/Paris"))
    for frame in (pd.DataFrame({"t": moments}), pl.DataFrame({"t": moments}), pa.table({"t": pa.array(moments)})):
        column = as_table(frame).columns["t"]
        assert column[0] == np.datetime64("2020-07-01T10:00")
        assert np.isnat(column[1])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.Categorical([1, None, 2])}),
        pl.DataFrame({"a": ["1", None, "2"]}, schema={"a": pl.Categorical}),
        pl.DataFrame({"a": ["1", None, "2"]}, schema={"a": pl.Enum(["1", "2"])}),
        pa.table({"a": pa.array([1, None, 2]).dictionary_encode()}),
    ],
)
def test_categoricals_are_texts_whatever_they_hold(frame: Any) -> None:
    assert as_table(frame).columns["a"].tolist() == ["1", None, "2"]


def test_names_become_text() -> None:
    assert as_table(pd.DataFrame([[1, 2]], columns=[0, ("a", 1)])).names == ("0", "('a', 1)")


def test_a_table_reads_as_itself() -> None:
    table = as_table([[1.0]])
    assert as_table(table) is table


def test_chunks_cover_the_rows() -> None:
    table = as_table(np.zeros((2 * CHUNK_ROWS + 1, 1)))
    assert [rows.stop - rows.start for rows in chunks(table.n_rows)] == [CHUNK_ROWS, CHUNK_ROWS, 1]


def test_listed() -> None:
    assert listed(["a"]) == "column 'a'"
    assert listed("abcd", limit=2) == "columns 'a', 'b' and 2 more"


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (scipy.sparse.csr_matrix(np.eye(2)), "sparse matrix.*toarray"),
        (scipy.sparse.coo_array(np.eye(2)), "sparse matrix.*toarray"),
        (np.eye(2) * 1j, "Complex data not supported"),
        (pd.DataFrame({"z": [1j, 2]}), "Complex data not supported: column 'z'"),
        (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required."),
        (pd.DataFrame(index=[0, 1]), r"0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1 is required."),
        (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\)"),
        (pl.DataFrame({"a": []}), r"0 sample\(s\)"),
        (np.arange(3.0), "Expected 2D array, got 1D array instead.*Reshape your data"),
        (pd.Series([1, 2]), "Expected 2D array, got 1D array instead"),
        (pl.Series([1, 2]), "Expected 2D array, got 1D array instead"),
        (5, "got scalar instead"),
        ("rows.csv", "Got the name of a file, 'rows.csv', as X; read the table first"),
        (Path("rows.csv"), "Got the name of a file, 'rows.csv', as X.*newfound.predict_parquet"),
        (np.zeros((2, 2, 2)), "dim 3"),
        ([[1, 2], [3]], "cannot be read as a table"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "duplicate column names: column 'a'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "duplicate column names: column '1'"),
        (pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"]), "duplicate column names: column 'a'"),
        (pl.DataFrame({"a": [1]}).lazy(), "lazy frame.*collect"),
        (pa.array([1, 2]), "cannot be read; pass a pandas"),
        (pd.DataFrame({"deep": [[1], [2]]}), "nested cells .* column 'deep'"),
        (pl.DataFrame({"deep": [[1], [2]]}), "nested cells .* column 'deep'"),
        (pl.DataFrame({"deep": [{"a": 1}, {"a": 2}]}), "nested cells .* column 'deep'"),
        (pa.table({"deep": [{"a": 1}, {"a": 2}]}), "nested cells .* column 'deep'"),
        (np.array([[{"a": 1}], [2]], dtype=object), "nested cells .* column 'x0'"),
    ],
)
def test_refused(X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_table(X)


def test_messages_name_the_argument() -> None:
    with pytest.raises(InputError, match="X_new is a sparse matrix"):
        as_table(scipy.sparse.eye(2), what="X_new")


@pytest.mark.parametrize("name", ["collect", "column_names", "columns", "shape"])
def test_columns_may_be_called_like_attributes(name: str) -> None:
    assert as_table(pd.DataFrame({name: [1.0, 2.0], "b": [3.0, 3.0]})).names == (name, "b")


def test_integers_wider_than_numpys_are_numbers() -> None:
    table = as_table(pl.DataFrame({"a": [1, None, 3]}).with_columns(pl.col("a").cast(pl.Int128)))
    np.testing.assert_array_equal(table.columns["a"], [1.0, np.nan, 3.0])


# ---- rows


@given(rows=st.lists(st.integers(0, 3), max_size=8))
def test_rows_can_be_taken(rows: list[int]) -> None:
    table = as_table(pd.DataFrame(MIXED))
    taken = table.take(np.array(rows, dtype=np.intp))
    assert (taken.names, taken.n_rows, taken.named) == (table.names, len(rows), True)
    for name, column in taken.columns.items():
        assert column.dtype == table.columns[name].dtype
        np.testing.assert_array_equal(column, table.columns[name][rows])


def test_a_table_is_like_an_array_of_rows() -> None:
    table = as_table(pd.DataFrame(MIXED))
    n = len(table)
    assert table.shape == (n, len(MIXED))
    name = table.names[0]
    assert table[name] is table.columns[name]
    mask = np.arange(n) % 2 == 0
    for rows in (slice(0, n, 2), mask, np.flatnonzero(mask), (np.flatnonzero(mask), ...)):
        assert_same_columns(table[rows], table.take(np.flatnonzero(mask)))
    for key in (0, (0, 1), np.int64(1)):
        with pytest.raises(TypeError, match="columns by name and rows by a slice"):
            table[key]
    with pytest.raises(KeyError):
        table["no such column"]


def test_some_columns_are_a_table_of_their_own() -> None:
    table = as_table(pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [True, False]}))
    some = table[["c", "a"]]
    assert (some.names, some.shape, some.named) == (("c", "a"), (2, 2), True)
    assert some["a"] is table["a"]
    with pytest.raises(KeyError, match="d"):
        table[["a", "d"]]


def test_a_table_shows_what_it_holds() -> None:
    frame = pd.DataFrame({"a": [1.5], "b": ["x"], "c": [True], "d": pd.to_datetime(["2024-01-05"])})
    assert repr(as_table(frame)) == "Table of 1 row and 4 columns: a (numbers), b (text), c (booleans), d (dates)"
    assert repr(as_table(np.zeros((2000, 14)))).endswith("x11 (numbers), and 2 more")
