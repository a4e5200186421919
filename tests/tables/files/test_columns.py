from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.tables.files.columns import read_column
from tests.oracles import columns


def values(cells: Any, decimal: str = ".") -> list[Any]:
    return read_column(cells, "c", decimal=decimal).values.tolist()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_are_read_to_the_bit(numbers: list[float]) -> None:
    assert values([repr(number) for number in numbers]) == numbers


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", " 2.5 ", "-3e2", "+.5"], [1.0, 2.5, -300.0, 0.5]),
        (["true", "False", "TRUE"], [True, False, True]),
        (["true", "", "FALSE"], [True, None, False]),
        (["yes", "no"], ["yes", "no"]),
        (["007", "12"], ["007", "12"]),
        (["0", "0.5", "-0"], [0.0, 0.5, -0.0]),
        (["1_000", "2"], ["1_000", "2"]),
        (["1,5", "2"], ["1,5", "2"]),
        (["a", "n/a", "b"], ["a", None, "b"]),
        (["31.12.2024", "1.2.2025"], ["2024-12-31", "2025-02-01"]),
        (["1.2.2025 7:05", "1.2.2025 17:05:30"], ["2025-02-01 07:05", "2025-02-01 17:05:30"]),
        (["2024/1/5"], ["2024-01-05"]),
        (["2024-01-31", "31.12.2024", "2024/1/5 7:05", ""], ["2024-01-31", "2024-12-31", "2024-01-05 07:05", None]),
        (["2024-02-31", "31.12.2024"], ["2024-02-31", "31.12.2024"]),
        (["2024-01-31", "12/31/2024"], ["2024-01-31", "12/31/2024"]),
        (["2024-1-5", "2024-12-31"], ["2024-01-05", "2024-12-31"]),
        (["20:40", "7:05", ""], ["20:40", "7:05", None]),
        (["31.13.2024"], ["31.13.2024"]),
        (["31.2.2024"], ["31.2.2024"]),
        (["12/31/2024"], ["12/31/2024"]),
        ([1, 2.5, None], [1.0, 2.5, None]),
        ([1, "n/a", 3], [1.0, None, 3.0]),
        ([1, "many"], ["1", "many"]),
        ([True, None], [True, None]),
        ([datetime(2024, 1, 5)], [datetime(2024, 1, 5)]),
    ],
)
def test_what_cells_stand_for(cells: list[Any], expected: list[Any]) -> None:
    read = values(cells)
    assert [None if cell != cell else cell for cell in read] == expected


@pytest.mark.parametrize("words", [[""], ["NA", "?", "", "NaN", "null", "None", "<NA>"]])
def test_a_column_without_a_cell(words: list[str]) -> None:
    read = read_column(words, "c", decimal=".").values
    assert read.dtype == np.float64
    assert np.isnan(read).all()


def test_decimal_commas_where_they_are_used() -> None:
    assert values(["1,5", "-2", "3,25e1"], decimal=",") == [1.5, -2.0, 32.5]
    assert values(["1.5", "-2"], decimal=",") == [1.5, -2.0]
    assert values(["1.5", "2,5"], decimal=",") == ["1.5", "2,5"]


def test_numbers_beyond_all_bounds_are_infinite() -> None:
    assert values(["1e999", "-inf"]) == [np.inf, -np.inf]


def test_a_few_texts_among_numbers_are_told() -> None:
    cells = [str(i) for i in range(100)]
    assert read_column([*cells, "many"], "size", decimal=".").note == (
        "column 'size' holds numbers, but also text such as 'many'; blank such cells to have it read as numbers."
    )
    assert not read_column([*cells, "NA"], "size", decimal=".").note
    assert not read_column(["1", "2", "many"], "size", decimal=".").note
    commas = [f"{i},5" for i in range(100)]
    assert "such as 'many'" in read_column([*commas, "many"], "size", decimal=",").note


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-", "2.5", " — "], [1.0, None, 2.5, None]),
        (["1,5", "--", "2"], [1.5, None, 2.0]),
        (["31.12.2024", "-"], ["2024-12-31", None]),
        (["20:40", "-", "7:05"], ["20:40", None, "7:05"]),
        ([1.5, "-", None, 2], [1.5, None, None, 2.0]),
        (["+", "-"], ["+", "-"]),
        (["007", "-"], ["007", "-"]),
        ([1.5, "-", "many"], ["1.5", "-", "many"]),
        (["-", "", "-"], ["-", None, "-"]),
    ],
)
def test_dashes_are_missing_cells_among_numbers_dates_and_times(cells: list[Any], expected: list[Any]) -> None:
    read = read_column(cells, "size", decimal=",")
    assert [None if cell != cell else cell for cell in read.values.tolist()] == expected
    assert not read.note


# ---- the same, cell by cell

ALIKE = st.one_of(
    st.sampled_from(["", "NA", " ?", "nan", "-nan", "#N/A", "null ", "-", " --"]),
    st.sampled_from(["true", "False ", "1", "-0", "0.0", "1.0", "12.00", "+5", "5.", ".5", "1e3", "1e999", "1e-999"]),
    st.sampled_from(
        ["inf", "-Infinity", "1,5", ",5", "1.000,5", "007", "-01", "00.5", "0", "1_0", "٣", "\u00a07", " 8 "]
    ),
    st.sampled_from(["1.2.2025", "31.12.2024 7:05", "2024/1/5", "2024/13/5", "2024-01-05", "e5", "+", "1e", "--1"]),
    st.floats(allow_nan=False).map(repr),
    st.integers().map(str),
    st.text(max_size=3),
)
KINDS = st.one_of(
    st.just(ALIKE),
    st.just(st.floats(allow_nan=False).map(repr)),
    st.just(st.floats(-1e6, 1e6).map(lambda number: f"{number:.3f}".replace(".", ","))),
    st.just(st.one_of(st.integers().map(str), st.sampled_from(["", "NA", " 3 ", "+4", "-", "\u2014"]))),
    st.just(st.sampled_from(["true", "FALSE", ""])),
    st.just(
        st.builds(
            lambda day, form: form.format(day=day.day, month=day.month, year=day.year),
            st.dates(),
            st.sampled_from(
                [
                    "{day}.{month}.{year:04}",
                    "{year:04}-{month:02}-{day:02}",
                    "{year:04}/{month}/{day}",
                    "{year:04}-{month}-{day}",
                    "{day}/{month}/{year:04}",
                ]
            ),
        )
    ),
    st.just(st.one_of(st.dates().map(lambda day: f"{day.day}.{day.month}.{day.year:04}"), st.just("-"))),
    st.just(st.sampled_from(["20:40", "7:05", "45:30", "-", ""])),
)
COLUMNS = KINDS.flatmap(lambda cell: st.lists(cell, min_size=1, max_size=40))


@given(COLUMNS, st.sampled_from(".,"), st.integers(1, 10))
def test_columns_of_text_are_read_as_cell_by_cell(cells: list[str], decimal: str, n_first: int) -> None:
    expected, nearly = columns.read_texts(cells, decimal)
    chunked = pa.chunked_array([cells[:n_first], cells[n_first:]], type=pa.string())
    for given_as in (cells, chunked):
        read = read_column(given_as, "c", decimal=decimal)
        assert bool(read.note) == nearly
        assert read.values.dtype in (np.float64, np.bool_, object)
        assert [type(cell) for cell in read.values.tolist()] == [type(cell) for cell in expected]
        assert repr(read.values.tolist()) == repr(expected)  # tells -0.0 from 0.0, and nan is nan


def test_missing_cells_among_texts() -> None:
    assert values([None, "a", float("nan")]) == [None, "a", None]
    assert repr(values([None, "1"])) == "[nan, 1.0]"


@pytest.mark.parametrize(
    "cell", ["1" * 60_000 + "x", "1." + "0" * 60_000 + "x", "0" * 60_000 + "x", " " * 60_000 + "x"]
)
@pytest.mark.parametrize("decimal", [".", ","])
def test_a_long_cell_that_ends_badly_takes_no_time(cell: str, decimal: str) -> None:
    begin = time.process_time()
    assert values([cell, "2"], decimal) == [cell.strip(), "2"]
    assert values(pa.chunked_array([[cell, "2"] * 3]), decimal) == [cell.strip(), "2"] * 3
    assert time.process_time() - begin < 1
