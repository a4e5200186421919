"""ISO dates in texts, one by one or a whole column at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

MICROSECONDS_PER_SECOND = 1_000_000

_EPOCH = datetime(1970, 1, 1)
_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)

# A date on its own or with a time after it; anything looser would swallow codes such as "20200101".
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].+)?", re.ASCII)
_PATTERN = "0000-00-00 00:00:00"  # of texts that numpy parses as Python does
_USUAL_LENGTHS = (10, 16, 19)


def parse_date(text: str) -> float | None:
    """Return the microseconds since 1970 of an ISO date, with or without a time, or None if it is not one."""
    if not ISO_DATE.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
        since = moment - (_EPOCH if moment.tzinfo is None else _EPOCH_UTC)
    except (ValueError, OverflowError):
        return None
    return float((since.days * 86_400 + since.seconds) * MICROSECONDS_PER_SECOND + since.microseconds)


def parse_dates(texts: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the microseconds since 1970 of n ISO dates, shape (n,), or None if some text is not one.

    Examples
    --------
    >>> parse_dates(["1970-01-02", "1970-01-01"])
    array([8.64e+10, 0.00e+00])
    """
    lengths = set(map(len, texts))
    if len(lengths) == 1 and (length := lengths.pop()) in _USUAL_LENGTHS:
        usual = np.array(texts, dtype=f"U{length}")
        if _are_usual(usual):
            try:
                return usual.astype("M8[us]").astype(np.int64).astype(np.float64)
            except ValueError:  # such as the 31st of February
                return None
    numbers = []
    for text in texts:
        number = parse_date(text)
        if number is None:
            return None
        numbers.append(number)
    return np.array(numbers, dtype=np.float64)


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
