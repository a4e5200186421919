"""What the texts of a column stand for, found out cell by cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from newfound.tables.cells import text_of
from newfound.tables.dates import parse_time

MISSING = ["", "na", "n/a", "#n/a", "<na>", "nan", "none", "null", "nil", "nat", "-nan", "?"]
MISSING += ["#null!", "#div/0!", "#value!"]
NUMBER = r"[+-]?([0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?inf|[+-]?infinity"
DASHES = ["-", "--", "---", "–", "—"]
TIME = r"([T ][0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?"


def read_texts(cells: Sequence[str], decimal: str) -> tuple[list[Any], bool]:
    """Values of a column, None where a cell is missing, and whether it is nearly one of numbers."""
    texts = [None if cell.strip().lower() in MISSING else cell.strip() for cell in cells]
    present = [text for text in texts if text is not None]
    if not present:
        return [np.nan] * len(cells), False
    if any(text not in DASHES for text in present) and is_measured([t for t in present if t not in DASHES], decimal):
        texts = [None if text in DASHES else text for text in texts]
        present = [text for text in texts if text is not None]
    for read in (read_boolean, read_number, read_comma_number):
        if read is read_comma_number and decimal == ".":
            continue
        if read is not read_boolean and any(re.fullmatch("[+-]?0[0-9]+", text) for text in present):
            continue
        values = read_all(texts, read)
        if values is not None:
            return [np.nan if value is None and read is not read_boolean else value for value in values], False
    numbers = {text for text in present if read_number(text) is not None}
    commas = {text for text in present if decimal == "," and read_comma_number(text) is not None}
    most = max(len(numbers), len(commas))
    nearly = most > 20 and most > 0.9 * len(set(present))
    if any(re.fullmatch("[+-]?0[0-9]+", text) for text in present):
        nearly = False
    values = read_all(texts, read_date)
    if values is not None and not nearly:
        return values, False
    return [None if text is None else text_of(text) for text in texts], nearly


def is_measured(texts: list[str], decimal: str) -> bool:
    reads: list[Callable[[str], Any]] = [read_date, parse_time]
    if not any(re.fullmatch("[+-]?0[0-9]+", text) for text in texts):
        reads += [read_number, read_comma_number] if decimal == "," else [read_number]
    return any(all(read(text) is not None for text in texts) for read in reads)


def read_all(texts: list[str | None], read: Callable[[str], Any]) -> list[Any] | None:
    values = [None if text is None else read(text) for text in texts]
    failed = any(value is None and text is not None for value, text in zip(values, texts, strict=True))
    return None if failed else values


def read_boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def read_number(text: str) -> float | None:
    return float(text) if re.fullmatch(NUMBER, text, re.IGNORECASE | re.ASCII) else None


def read_comma_number(text: str) -> float | None:
    if "." in text or "i" in text.lower():
        return None
    return read_number(text.replace(",", "."))


def read_date(text: str) -> str | None:
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].+)?", text):
        return text if _exists(text) else None
    return read_german_date(text) or read_slashed_date(text)


def read_german_date(text: str) -> str | None:
    found = re.fullmatch(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})" + TIME, text)
    return found and _iso(found[3], found[2], found[1], found[4])


def read_slashed_date(text: str) -> str | None:
    found = re.fullmatch(r"([0-9]{4})([/-])([0-9]{1,2})\2([0-9]{1,2})" + TIME, text)
    return found and _iso(found[1], found[3], found[4], found[5])


def _iso(year: str, month: str, day: str, time: str | None) -> str | None:
    hours, colon, rest = (time or "")[1:].partition(":")
    date = f"{year}-{int(month):02}-{int(day):02}" + (f" {int(hours):02}{colon}{rest}" if time else "")
    return date if _exists(date) else None


def _exists(date: str) -> bool:
    try:
        return datetime.fromisoformat(date) is not None
    except ValueError:
        return False
