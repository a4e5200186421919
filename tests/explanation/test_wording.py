from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from newfound.counting import share_text
from newfound.explanation.wording import (
    date_of,
    date_text,
    days_of,
    exact_text,
    number_text,
    round_between,
    round_date_between,
    round_time_between,
    time_text,
)

numbers = st.floats(allow_nan=False, allow_infinity=False)
days = st.floats(-30_000, 60_000)


@given(numbers, numbers, st.booleans())
def test_a_round_number_lies_between(a: float, b: float, include_low: bool) -> None:
    low, high = sorted((a, b))
    assume(low < high)
    found = round_between(low, high, include_low=include_low)
    assert low <= found < high if include_low else low < found <= high


@pytest.mark.parametrize(
    ("low", "high", "include_low", "found"),
    [
        (3, 4, False, 4),
        (3, 4, True, 3),
        (0.0, 0.07, False, 0.04),
        (1234, 5678, True, 3000),
        (-1, 1, True, 0),
        (99.6, 100.2, True, 100),
        (-5.5, -5.1, False, -5.3),
        (0.1, 0.1 + 1e-16, True, 0.1),
    ],
)
def test_round_numbers(low: float, high: float, include_low: bool, found: float) -> None:
    assert round_between(low, high, include_low=include_low) == found


@given(days, days, st.booleans())
def test_a_round_date_lies_between(a: float, b: float, include_low: bool) -> None:
    low, high = (days_of(date_of(day)) for day in sorted((a, b)))
    assume(low < high)
    found = round_date_between(low, high, include_low=include_low)
    assert low <= found < high if include_low else low < found <= high


@given(st.floats(0, 24), st.floats(0, 24), st.booleans())
def test_a_round_time_lies_between(a: float, b: float, include_low: bool) -> None:
    low, high = sorted((a, b))
    assume(low < high)
    found = round_time_between(low, high, include_low=include_low)
    assert low <= found < high if include_low else low < found <= high


@pytest.mark.parametrize(("low", "high", "text"), [(20.4, 23.2, "22:00"), (20.1, 20.6, "20:30"), (7.0, 7.02, "07:01")])
def test_round_times(low: float, high: float, text: str) -> None:
    assert time_text(round_time_between(low, high, include_low=False)) == text


@pytest.mark.parametrize(
    ("low", "high", "include_low", "text"),
    [
        ("2020-12-26", "2021-02-04", True, "2021-01-01"),
        ("2021-01-10", "2021-02-04", False, "2021-02-01"),
        ("2021-01-10", "2021-01-11", False, "2021-01-11"),
        ("2021-01-10", "2021-01-11", True, "2021-01-10"),
    ],
)
def test_round_dates(low: str, high: str, include_low: bool, text: str) -> None:
    ends = (days_of(datetime.fromisoformat(end)) for end in (low, high))
    assert date_text(round_date_between(*ends, include_low=include_low), whole=True) == text


@given(days)
def test_dates_there_and_back(day: float) -> None:
    assert days_of(date_of(day)) == pytest.approx(day, abs=1e-10)


def test_texts_of_numbers() -> None:
    assert [number_text(number) for number in (0.0, 1234.5, 12.3456, 1e20)] == ["0", "1234", "12.35", "1e+20"]
    assert [exact_text(number) for number in (0.1, 5.0, -0.0)] == ["0.1", "5", "0"]
    assert [share_text(share) for share in (0, 0.004, 0.996, 1)] == ["0 %", "<1 %", ">99 %", "100 %"]
    assert date_text(19723.5 + 1 / 86_400, whole=False) == "2024-01-01 12:00:01"


@pytest.mark.parametrize(("days", "year"), [(1e9, 9999), (-1e9, 1)])
def test_dates_beyond_those_of_python(days: float, year: int) -> None:
    assert date_of(days).year == year
