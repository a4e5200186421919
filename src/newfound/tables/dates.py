"""Dates and times of day in texts, one by one or a whole column at once: the only reader of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

MICROSECONDS_PER_SECOND = 1_000_000

_EPOCH = datetime(1970, 1, 1)
_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)

# A date on its own or with a time after it; anything looser would swallow codes such as "20200101".
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].+)?", re.ASCII)
_CLOCK = r"(?P<time>[T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?"
_OTHER_DATES = (
    re.compile(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})" + _CLOCK, re.ASCII),
    re.compile(r"(?P<year>\d{4})(?P<sign>[/-])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})" + _CLOCK, re.ASCII),
)
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d{1,9})?))?(?: ?([ap])\.?m\.?)?", re.ASCII | re.IGNORECASE)
_LIKE_A_DATE = re.compile(r"(\d{4}([./-])\d{1,2}\2\d{1,2}|\d{1,2}([./-])\d{1,2}\3\d{4})([T ].*)?", re.ASCII)
_DAY_OR_MONTH_FIRST = re.compile(r"\d{1,2}[/-]\d{1,2}[/-]\d{4}([T ].*)?", re.ASCII)
_MOSTLY = 0.9
_MANY = 20
_LOOKED_AT = 1_000
_PATTERN = "0000-00-00 00:00:00"  # of texts that numpy parses as Python does
_USUAL_LENGTHS = (10, 16, 19)


def parse_date(text: str) -> float | None:
    """Return the microseconds since 1970 of a date, with or without a time, or None if it is not one.

    It is written as 2024-12-31, 31.12.2024 or 2024/12/31. Where a slash parts day and month, nobody can tell which of
    them comes first, so that 3/4/2024 is not read.
    """
    written = iso_date(text)
    if written is None:
        return None
    try:
        moment = datetime.fromisoformat(written)
        since = moment - (_EPOCH if moment.tzinfo is None else _EPOCH_UTC)
    except (ValueError, OverflowError):
        return None
    return float((since.days * 86_400 + since.seconds) * MICROSECONDS_PER_SECOND + since.microseconds)


def iso_date(text: str) -> str | None:
    """Return a date in the form 2024-12-31, where it is in a form that can be read; the day itself may not exist.

    Examples
    --------
    >>> iso_date("1.2.2025 7:05"), iso_date("2024/12/31"), iso_date("3/4/2024")
    ('2025-02-01 07:05', '2024-12-31', None)
    """
    if _ISO_DATE.fullmatch(text):
        return text
    found = next(filter(None, (form.fullmatch(text) for form in _OTHER_DATES)), None)
    if found is None:
        return None
    clock = (found["time"] or "").replace("T", " ")
    if clock and clock.index(":") == 2:
        clock = f" 0{clock[1:]}"
    return f"{found['year']}-{int(found['month']):02}-{int(found['day']):02}{clock}"


def iso_dates(texts: Sequence[str]) -> dict[str, str] | None:
    """Return each text as `iso_date` writes it, those aside that are so already; None unless all are dates."""
    if _parse_usual(texts) is not None:
        return {}
    written = {text: iso_date(text) for text in texts}
    found = {text: iso for text, iso in written.items() if iso is not None}
    if len(found) < len(written) or parse_dates(list(found.values())) is None:
        return None
    return {text: iso for text, iso in found.items() if iso != text}


def parse_time(text: str) -> float | None:
    """Return the hours from midnight to a time of day, or None if it is not one.

    Examples
    --------
    >>> parse_time("20:45"), parse_time("8:45 pm"), parse_time("00:00:36"), parse_time("45:30")
    (20.75, 20.75, 0.01, None)
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hour, minute, second = int(found[1]), int(found[2]), float(found[3] or 0)
    if found[4]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found[4] in "pP")
    hours = (hour * 3600 + minute * 60 + second) / 3600
    return hours if minute < 60 and second < 60 and hours <= 24 else None


class Oddity(NamedTuple):
    """What keeps texts that look like dates or times from being read as such: one of them, and what to do."""

    kind: Literal["date", "time"]
    example: str
    cure: str


def odd_among(texts: Sequence[str]) -> Oddity | None:
    """Say what keeps distinct texts from being read as dates or as times of day; None if few of them look like it."""
    some = texts[:_LOOKED_AT]
    enough = max(_MANY, _MOSTLY * len(some))
    if sum(_LIKE_A_DATE.fullmatch(text) is not None for text in some) > enough:
        odd = min((text for text in texts if parse_date(text) is None), default=None)
        if odd is not None and _DAY_OR_MONTH_FIRST.fullmatch(odd):
            return Oddity("date", odd, "day and month may be either way round; write them as 2024-12-31")
        return None if odd is None else Oddity("date", odd, "blank such cells, or write them as 2024-12-31")
    if sum(_TIME.fullmatch(text) is not None for text in some) > enough:
        odd = min((text for text in texts if parse_time(text) is None), default=None)
        return None if odd is None else Oddity("time", odd, "blank such cells, or write them as 20:40")
    return None


def parse_dates(texts: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the microseconds since 1970 of n dates, shape (n,), or None if some text is not one.

    Examples
    --------
    >>> parse_dates(["1970-01-02", "1970-01-01"])
    array([8.64e+10, 0.00e+00])
    """
    usual = _parse_usual(texts)
    if usual is not None:
        return usual
    numbers = []
    for text in texts:
        number = parse_date(text)
        if number is None:
            return None
        numbers.append(number)
    return np.array(numbers, dtype=np.float64)


def _parse_usual(texts: Sequence[str]) -> NDArray[np.float64] | None:
    """Parse ISO dates of one length all at once; None where they are not of this form, or a day does not exist."""
    lengths = set(map(len, texts))
    if len(lengths) != 1 or (length := lengths.pop()) not in _USUAL_LENGTHS:
        return None
    usual = np.array(texts, dtype=f"U{length}")
    if not _are_usual(usual):
        return None
    try:
        return usual.astype("M8[us]").astype(np.int64).astype(np.float64)
    except ValueError:  # such as the 31st of February
        return None


def _are_usual(texts: NDArray[np.str_]) -> bool:
    """Whether texts of one length have digits and separators where an ISO date has them, and a year above 0."""
    length = texts.dtype.itemsize // 4
    letters = texts.view(np.uint32).reshape(len(texts), length)
    for place, expected in enumerate(_PATTERN[:length]):
        column = letters[:, place]
        if expected == "0":
            right = (column >= ord("0")) & (column <= ord("9"))
        elif expected == " ":
            right = (column == ord(" ")) | (column == ord("T"))
        else:
            right = column == ord(expected)
        if not right.all():
            return False
    return bool((letters[:, :4] != ord("0")).any(axis=1).all())
