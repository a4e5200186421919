from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.tables.files.columns import read_column


def values(cells: list[Any], decimal: str = ".") -> list[Any]:
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
        (["31.13.2024"], ["31.13.2024"]),
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
    assert [None if one != one else one for one in read] == expected


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
