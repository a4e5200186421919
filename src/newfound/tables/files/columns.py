"""Cells of a file become a column: texts that spell numbers, booleans or dates are read as such."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.tables.cells import is_missing, read_cells, shown

MISSING_WORDS = frozenset(
    ("", "na", "n/a", "#n/a", "<na>", "nan", "none", "null", "nil", "nat", "-nan", "?", "#null!", "#div/0!", "#value!")
)

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
COMMA_NUMBER = re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?", re.ASCII)
_CODE = re.compile(r"[+-]?0\d+", re.ASCII)  # 007 is a name, not a number
_BOOLEANS = {"true": True, "false": False}
_TIME = r"(?P<time>[T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?"
_DATES = (
    re.compile(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})" + _TIME, re.ASCII),
    re.compile(r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})" + _TIME, re.ASCII),
)
_MOSTLY = 0.9
_MANY_NUMBERS = 20


class ReadColumn(NamedTuple):
    """A column of one of the types of `newfound.tables.cells`, and a note for the user, or ""."""

    values: NDArray[Any]
    note: str


def is_blank(cell: Any) -> bool:
    """Whether a cell of a file is missing: nothing, or a word for it such as NA."""
    return is_missing(cell) or (isinstance(cell, str) and cell.strip().lower() in MISSING_WORDS)


def read_column(cells: Sequence[Any], name: str, *, decimal: str) -> ReadColumn:
    """Read the cells of a file.

    Parameters
    ----------
    cells : sequence of length n
        Texts, as in CSV, or what JSON and Excel hold.
    name : str
        Of the column.
    decimal : {".", ","}
        The comma is tried after the point.

    Returns
    -------
    ReadColumn

    Examples
    --------
    >>> read_column(["1", "NA", "2.5"], "size", decimal=".").values
    array([1. , nan, 2.5])
    >>> read_column(["31.12.2024", "1.1.2025"], "day", decimal=".").values
    array(['2024-12-31', '2025-01-01'], dtype=object)
    """
    texts = {cell for cell in cells if isinstance(cell, str)}
    blank = {text for text in texts if is_blank(text)}
    present = {text: text.strip() for text in texts - blank}
    only_texts = all(isinstance(cell, str) or is_missing(cell) for cell in cells)
    meaning, note = _meaning(present, decimal) if only_texts else (dict(present), "")
    if only_texts and not meaning:
        return ReadColumn(np.full(len(cells), np.nan), "")
    if only_texts and isinstance(next(iter(meaning.values())), float):
        numbers = (meaning.get(cell, np.nan) for cell in cells)
        return ReadColumn(np.fromiter(numbers, dtype=np.float64, count=len(cells)), "")
    objects = np.empty(len(cells), dtype=object)
    objects[:] = [meaning.get(cell) if isinstance(cell, str) else cell for cell in cells]
    return ReadColumn(read_cells(objects, name), f"column {shown(name)} {note}" if note else "")


def _meaning(present: dict[str, str], decimal: str) -> tuple[dict[str, Any], str]:
    """Say what each distinct text stands for, all of one type; and what to tell of the choice."""
    texts = set(present.values())
    if not texts:
        return {}, ""
    if all(text.lower() in _BOOLEANS for text in texts):
        return {cell: _BOOLEANS[text.lower()] for cell, text in present.items()}, ""
    if not any(_CODE.fullmatch(text) for text in texts):
        numbers = {text for text in texts if _NUMBER.fullmatch(text)}
        if len(numbers) == len(texts):
            return {cell: float(text) for cell, text in present.items()}, ""
        if decimal == "," and all(COMMA_NUMBER.fullmatch(text) for text in texts):
            return {cell: float(text.replace(",", ".")) for cell, text in present.items()}, ""
        if len(numbers) > max(_MANY_NUMBERS, _MOSTLY * len(texts)):
            return dict(present), _nearly_numbers(texts - numbers)
    for pattern in _DATES:
        if dates := _dates(pattern, texts):
            return {cell: dates[text] for cell, text in present.items()}, ""
    return dict(present), ""


def _nearly_numbers(others: Iterable[str]) -> str:
    example = shown(min(others))
    return f"holds numbers, but also text such as {example}; blank such cells to have it read as numbers."


def _dates(pattern: re.Pattern[str], texts: Iterable[str]) -> dict[str, str]:
    """Each text as an ISO date; empty unless all are dates of this pattern."""
    dates = {}
    for text in texts:
        found = pattern.fullmatch(text)
        if found is None or not (1 <= int(found["month"]) <= 12 and 1 <= int(found["day"]) <= 31):
            return {}
        time = (found["time"] or "").replace("T", " ")
        if time and time.index(":") == 2:
            time = f" 0{time[1:]}"
        dates[text] = f"{found['year']}-{int(found['month']):02}-{int(found['day']):02}{time}"
    return dates
