"""Numbers, dates and shares in words, and round numbers between two values."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import ceil, floor, isfinite, log10
from typing import Any

import numpy as np

from newfound.tables.cells import text_of

_EPOCH = datetime(1970, 1, 1)
_MICROSECONDS = 86_400_000_000
_LONGEST = 60  # signs of a cell
_CLOCK_STEPS = (1, 2, 4, 12, 60, 3600)  # in an hour: hours, halves, quarters, five minutes, minutes, seconds


def number_text(number: float) -> str:
    """Return a number as a person writes it: whole numbers whole, others with four digits that count.

    Examples
    --------
    >>> number_text(54540.0), number_text(0.123456), number_text(-2.5)
    ('54540', '0.1235', '-2.5')
    """
    if not isfinite(number):
        return str(number)
    if number == floor(number) and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.0f}" if 1e3 <= abs(number) < 1e15 else f"{number:.4g}"


def exact_text(number: float) -> str:
    """Return a number with all the digits it takes to tell it from its neighbours.

    Examples
    --------
    >>> exact_text(3.0), exact_text(0.25)
    ('3', '0.25')
    """
    return str(int(number)) if number == floor(number) and abs(number) < 1e15 else repr(float(number))


def shortened(text: str, longest: int = _LONGEST) -> str:
    """Cut a text that is too long, with three dots at its end."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def class_name(name: Any) -> str:
    """Return the name of a class: texts as they are, and 7.0, which pandas makes of 7 beside a missing label, as 7.

    Examples
    --------
    >>> class_name(7.0), class_name("7.0")
    ('7', '7.0')
    """
    return name if isinstance(name, str) else text_of(name)


def date_of(days: float) -> datetime:
    """Return the moment so many days after 1970, to the microsecond; of dates beyond Python's, the nearest it has."""
    try:
        return _EPOCH + timedelta(microseconds=round(days * _MICROSECONDS))
    except OverflowError:
        return datetime.max if days > 0 else datetime.min


def days_of(moment: datetime) -> float:
    """Return the days from 1970 to a moment."""
    since = moment - (_EPOCH if moment.tzinfo is None else _EPOCH.replace(tzinfo=UTC))
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) / _MICROSECONDS


def date_text(days: float, *, whole: bool) -> str:
    """Return a date; with the time of the day unless the dates of the column are `whole` days.

    Examples
    --------
    >>> date_text(19723.0, whole=True), date_text(19723.5, whole=False)
    ('2024-01-01', '2024-01-01 12:00')
    >>> date_text(3695382.0, whole=True)
    '12087-08-12'
    """
    moment = date_of(days)
    if moment in (datetime.min, datetime.max):  # or beyond, where NumPy's calendar goes on
        far = np.datetime64(round(days * 86_400), "s")
        return str(np.datetime_as_string(far, unit="D" if whole else "s")).replace("T", " ")
    if whole:
        return moment.date().isoformat()
    text = moment.isoformat(sep=" ")
    return text.removesuffix(":00") if moment.second == 0 and moment.microsecond == 0 else text


def time_text(hours: float) -> str:
    """Return a time of day, so many hours after midnight.

    Examples
    --------
    >>> time_text(20.75), time_text(0.51)
    ('20:45', '00:30:36')
    """
    minutes, seconds = divmod(round(hours * 3600), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")


def plain_value(kind: str, value: float) -> float | str:
    """Return a value of a scale as JSON has it: dates, in days since 1970, and times, in hours, as ISO texts."""
    if kind == "date":
        return date_of(value).isoformat()
    return time_text(value) if kind == "time" else value


def round_between(low: float, high: float, *, include_low: bool) -> float:
    """Return the roundest number from low to high, of which one end counts as inside.

    Among the numbers of fewest decimal digits it is the one nearest to the middle.

    Parameters
    ----------
    low, high : float
        With low < high.
    include_low : bool
        Whether the number may be `low`; if not, it may be `high`.

    Examples
    --------
    >>> round_between(3.14159, 3.9, include_low=True)
    3.5
    >>> round_between(3, 4, include_low=False)
    4.0
    """
    largest = max(abs(low), abs(high))
    middle = low / 2 + high / 2
    power = min(ceil(log10(largest)) + 1, 308) if largest > 0 else 0
    for place in range(power, power - 20, -1):
        step = float(f"1e{place}")
        if step == 0:
            break
        first, last = ceil(low / step), floor(high / step)
        nearest = min(max(round(middle / step), first), last)
        for multiple in (nearest, nearest + 1, nearest - 1):
            number = float(f"{multiple}e{place}")
            if (low <= number < high) if include_low else (low < number <= high):
                return number
    return low if include_low else high


def round_date_between(low: float, high: float, *, include_low: bool) -> float:
    """Return the roundest date from low to high, all in days since 1970; as `round_between`, but by the calendar."""
    start, end = date_of(low), date_of(high)
    if start == end:  # beyond the calendar
        return low if include_low else high
    last = end - timedelta(microseconds=1) if include_low else end
    for floored in _floors(last):
        if floored > start or (floored == start and include_low):
            return days_of(floored)
    return low if include_low else high


def round_time_between(low: float, high: float, *, include_low: bool) -> float:
    """Return the roundest time of day from low to high, in hours; as `round_between`, but by the clock."""
    for step in _CLOCK_STEPS:
        first, last = ceil(low * step), floor(high * step)
        nearest = min(max(round((low + high) / 2 * step), first), last)
        for multiple in (nearest, nearest + 1, nearest - 1):
            hours = multiple / step
            if (low <= hours < high) if include_low else (low < hours <= high):
                return hours
    return low if include_low else high


def _floors(moment: datetime) -> Iterator[datetime]:
    """Yield the begin of the moment's year, month, day, hour, minute and second."""
    second = moment.replace(microsecond=0)
    minute = second.replace(second=0)
    hour = minute.replace(minute=0)
    day = hour.replace(hour=0)
    yield from (day.replace(month=1, day=1), day.replace(day=1), day, hour, minute, second)
