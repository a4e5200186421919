from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.tables.cells import as_days
from newfound.tables.dates import parse_date, parse_dates

DIGITS = [st.integers(0, 10**n - 1).map(lambda number, n=n: f"{number:0{n}}") for n in (2, 4)]
FORMS = st.sampled_from(["{}-{}-{}", "{}-{}-{} {}:{}", "{}-{}-{}T{}:{}", "{}-{}-{} {}:{}:{}", "{}-{}-{} {}:{}:{}.5"])
FIELDS = st.tuples(DIGITS[1], *[DIGITS[0]] * 5)


@given(FORMS, st.lists(FIELDS, min_size=1, max_size=4))
def test_whatever_looks_like_dates_is_parsed_as_one_by_one(form: str, fields: list[Any]) -> None:
    check([form.format(*field) for field in fields])


@given(st.lists(st.datetimes(), min_size=1, max_size=5), st.sampled_from([10, 16, 19, 26]))
def test_dates_are_parsed_as_one_by_one(moments: list[Any], length: int) -> None:
    check([moment.isoformat()[:length] for moment in moments])


EDGES = ["2024-01-05", "2024-02-30", "0000-01-01", "0001-01-01", "9999-12-31 23:59", "9999-12-31T23:60"]


@given(st.lists(st.sampled_from(EDGES), min_size=1))
def test_edges(texts: list[str]) -> None:
    check(texts)


UNUSUAL = ["2024-01-05T10:00Z", "2024-01-05 10:00:00.123456", "2024-01-05 10", "20240105", "٢٠٢٤-01-05"]


@pytest.mark.parametrize("text", UNUSUAL)
def test_unusual_dates(text: str) -> None:
    check([text])
    check(["2024-01-05", text])


def check(texts: list[str]) -> None:
    expected = [parse_date(text) for text in texts]
    read = parse_dates(texts)
    if None in expected:
        assert read is None
    else:
        assert read is not None
        assert read.tolist() == expected


def test_missing_cells_among_dates() -> None:
    days = as_days(np.array([None, "1970-01-02", "1970-01-01 12:00"], dtype=object), "day")
    np.testing.assert_array_equal(days, [np.nan, 1.0, 0.5])
    np.testing.assert_array_equal(as_days(np.array([None, None], dtype=object), "day"), [np.nan, np.nan])
