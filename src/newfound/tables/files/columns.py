"""Cells of a file become a column: texts that spell numbers, booleans or dates are read as such."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.tables.arrow import cells_of
from newfound.tables.cells import MISSING_WORDS, is_blank_text, is_missing, nearly_numbers, read_cells, text_of
from newfound.tables.dates import iso_dates, parse_time
from newfound.tables.files.numbers import CODE, COMMA_NUMBER, NUMBER, may_be_number, read_numbers

_BOOLEANS = {"true": True, "false": False}
_LONGEST_WORD = max(map(len, MISSING_WORDS))
_MOSTLY = 0.9
_MANY = 20

DASHES = frozenset(("-", "--", "---", "\u2013", "\u2014"))
"""Missing cells in a column of numbers, dates or times of day; among other texts a dash may be a category."""


class ReadColumn(NamedTuple):
    """A column of one of the types of `newfound.tables.cells`, and a note for the user, or ""."""

    values: NDArray[Any]
    note: str


def is_blank(cell: Any) -> bool:
    """Whether a cell of a file is missing: nothing, or a word for it such as NA."""
    return is_missing(cell) or (isinstance(cell, str) and is_blank_text(cell))


def as_list(cells: Any) -> list[Any]:
    """Return cells of any kind of file as a list, equal texts as one object."""
    return cells_of(cells).tolist() if hasattr(cells, "to_pylist") else list(cells)


def read_column(cells: Any, name: str, *, decimal: str) -> ReadColumn:
    """Read the cells of a file.

    Parameters
    ----------
    cells : list, or pyarrow.ChunkedArray of texts, of length n
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
    if hasattr(cells, "dictionary_encode"):
        numbers = read_numbers(cells, decimal)
        return ReadColumn(numbers, "") if numbers is not None else _read_texts(*_encoded(cells), name, decimal)
    if all(isinstance(cell, str) or is_missing(cell) for cell in cells):
        places: dict[str, int] = {}
        codes = (places.setdefault(cell if isinstance(cell, str) else "", len(places)) for cell in cells)
        found = np.fromiter(codes, dtype=np.intp, count=len(cells))
        return _read_texts(list(places), list(places), found, name, decimal)
    texts = {cell.strip() for cell in cells if isinstance(cell, str) and not is_blank(cell)}
    missing = texts if texts <= DASHES else set()
    objects = np.empty(len(cells), dtype=object)
    objects[:] = [
        cell if not isinstance(cell, str) else None if is_blank(cell) or cell.strip() in missing else cell.strip()
        for cell in cells
    ]
    return ReadColumn(read_cells(objects, name), "")


def _encoded(column: Any) -> tuple[list[str], list[str], NDArray[np.intp]]:
    """Return the distinct texts of a pyarrow.ChunkedArray, those that may spell numbers, and each cell's place."""
    encoded = column.dictionary_encode()  # all chunks have one dictionary
    codes = [chunk.indices.to_numpy() for chunk in encoded.chunks]
    dictionary = encoded.chunk(0).dictionary
    distinct = dictionary.to_pylist()
    return distinct, list(compress(distinct, may_be_number(dictionary))), np.concatenate(codes, dtype=np.intp)


def _read_texts(
    distinct: list[str], like_numbers: list[str], codes: NDArray[np.intp], name: str, decimal: str
) -> ReadColumn:
    """Read a column of text.

    Parameters
    ----------
    distinct : list of str
        All different.
    like_numbers : list of str
        Those of them that are to be tried as numbers.
    codes : ndarray of shape (n,)
        Place of each cell's text in `distinct`.
    name, decimal : str
        As in `read_column`.
    """
    stripped = [text.strip() for text in distinct]
    missing = np.fromiter(map(len, stripped), dtype=np.intp, count=len(stripped)) <= _LONGEST_WORD
    for place in np.flatnonzero(missing).tolist():
        missing[place] = stripped[place].lower() in MISSING_WORDS
    present = list(compress(stripped, ~missing)) if missing.any() else stripped
    if stripped != distinct:
        present = list(dict.fromkeys(present))
    if not present:
        return ReadColumn(np.full(len(codes), np.nan), "")
    numbers = {text for text in map(str.strip, like_numbers) if NUMBER.fullmatch(text)}
    if not DASHES.isdisjoint(present):
        others = [text for text in present if text not in DASHES]
        if others and _are_measured(others, numbers, decimal):
            present = others
            missing |= np.array([text in DASHES for text in stripped])
    meaning, odd = _meaning(present, numbers, decimal)
    if meaning and isinstance(next(iter(meaning.values())), float):
        return ReadColumn(np.array([meaning.get(text, np.nan) for text in stripped], dtype=np.float64)[codes], "")
    values = np.empty(len(distinct), dtype=object)
    values[:] = [meaning.get(text, text) for text in stripped] if meaning else stripped
    values[missing] = None
    if isinstance(values[0], bool) and not missing.any():
        values = values.astype(np.bool_)
    return ReadColumn(values[codes], nearly_numbers(name, odd) if odd else "")


def _meaning(texts: list[str], numbers: set[str], decimal: str) -> tuple[dict[str, Any], str]:
    """Say what distinct texts stand for, those aside that stand for themselves; and a text among numbers, or ""."""
    if all(text.lower() in _BOOLEANS for text in texts):
        return {text: _BOOLEANS[text.lower()] for text in texts}, ""
    if not any(CODE.fullmatch(text) for text in numbers):
        if len(numbers) == len(texts):
            return {text: float(text) for text in texts}, ""
        if len(_comma_numbers(texts, decimal)) == len(texts):
            return {text: float(text.replace(",", ".")) for text in texts}, ""
        most = max(numbers, _comma_numbers(texts, decimal), key=len)
        if len(most) > max(_MANY, _MOSTLY * len(texts)):
            return _spelled(numbers), min(text for text in texts if text not in most)
    dates = iso_dates(texts)
    return (_spelled(numbers), "") if dates is None else (dates, "")


def _comma_numbers(texts: list[str], decimal: str) -> set[str]:
    """Those of distinct texts that are numbers with a decimal comma, where the file may have such."""
    return {text for text in texts if COMMA_NUMBER.fullmatch(text)} if decimal == "," else set()


def _are_measured(texts: list[str], numbers: set[str], decimal: str) -> bool:
    """Whether distinct texts are all numbers, all dates or all times of day."""
    if any(CODE.fullmatch(text) for text in numbers):
        return False
    if len(texts) in (len(numbers), len(_comma_numbers(texts, decimal))):
        return True
    return all(parse_time(text) is not None for text in texts) or iso_dates(texts) is not None


def _spelled(numbers: Iterable[str]) -> dict[str, Any]:
    """Numbers as categories: 1.0 is 1."""
    return {text: text_of(text) for text in numbers}
