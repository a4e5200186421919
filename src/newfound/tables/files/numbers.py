"""A column of text as numbers, all cells at once, where its cells are plain enough for that."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.tables.cells import MISSING_WORDS

# Each pattern can match a text in one way only: otherwise a long cell that ends badly would take forever.
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
COMMA_NUMBER = re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?", re.ASCII)
CODE = re.compile(r"[+-]?0\d+", re.ASCII)  # 007 is a name, not a number

_POINT, _COMMA, _ZERO, _NINE, _PLUS, _MINUS = b".,09+-"
_MOST_ODD = 0.5  # share of cells that are looked at one by one


def read_numbers(column: Any, decimal: str) -> NDArray[np.float64] | None:
    """Read a column as numbers.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of n texts
    decimal : {".", ","}
        The comma is tried after the point.

    Returns
    -------
    ndarray of shape (n,), or None
        NaN where a cell is missing. None where some cell is no number, or most of them need a closer look.
    """
    numbers = _read(column, _POINT, lambda text: float(text) if NUMBER.fullmatch(text) else None)
    if numbers is None and decimal == ",":
        numbers = _read(
            column, _COMMA, lambda text: float(text.replace(",", ".")) if COMMA_NUMBER.fullmatch(text) else None
        )
    return numbers


def _read(column: Any, point: int, parse: Callable[[str], float | None]) -> NDArray[np.float64] | None:
    plain = np.zeros(256, dtype=np.bool_)
    plain[[*b"0123456789+-eE", point]] = True
    numbers, end = np.empty(len(column)), 0
    for chunk in column.chunks:
        read = _read_chunk(chunk, plain, point, parse)
        if read is None:
            return None
        numbers[end : end + len(read)] = read
        end += len(read)
    return numbers


def _read_chunk(
    chunk: Any, plain: NDArray[np.bool_], point: int, parse: Callable[[str], float | None]
) -> NDArray[np.float64] | None:
    import pyarrow as pa

    if not len(chunk):
        return np.empty(0)
    offsets = offsets_of(chunk)
    data = np.frombuffer(chunk.buffers()[2] or b"", dtype=np.uint8)
    odd = _odd_cells(data, offsets, plain)
    if len(odd) > _MOST_ODD * len(chunk):
        return None
    given = {place: data[offsets[place] : offsets[place + 1]].tobytes().decode().strip() for place in odd.tolist()}
    parsed = {text: _parsed(text, parse) for text in set(given.values())}
    if None in parsed.values() or any(map(CODE.fullmatch, parsed)) or _has_code(data, offsets):
        return None
    present = offsets[1:] > offsets[:-1]
    present[odd] = False
    if point != _POINT:
        data = np.where(data == point, np.uint8(_POINT), data)
    texts = pa.StringArray.from_buffers(
        len(chunk),
        pa.py_buffer(np.ascontiguousarray(offsets)),
        pa.py_buffer(data),
        pa.py_buffer(np.packbits(present, bitorder="little")),
    )
    try:
        numbers: NDArray[np.float64] = texts.cast(pa.float64()).to_numpy(zero_copy_only=False, writable=True)
    except pa.ArrowInvalid:
        return None
    numbers[odd] = [parsed[given[place]] for place in odd.tolist()]
    return numbers


def _parsed(text: str, parse: Callable[[str], float | None]) -> float | None:
    return float("nan") if text.lower() in MISSING_WORDS else parse(text)


def may_be_number(texts: Any) -> NDArray[np.bool_]:
    """Which of an Arrow array of n texts have no character that numbers, and white space around them, never have."""
    accepted = np.zeros(256, dtype=np.bool_)
    accepted[[*b"0123456789+-.,eEinftyINFTY", *range(33), *range(128, 256)]] = True
    mask = np.ones(len(texts), dtype=np.bool_)
    mask[_odd_cells(np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8), offsets_of(texts), accepted)] = False
    return mask


def _odd_cells(data: NDArray[np.uint8], offsets: NDArray[np.int32], plain: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Places of the cells that hold anything but the characters of plain numbers."""
    found = np.flatnonzero(~plain[data[offsets[0] : offsets[-1]]]) + offsets[0]
    odd = np.zeros(len(offsets) - 1, dtype=np.bool_)
    odd[np.searchsorted(offsets, found, side="right") - 1] = True
    return np.flatnonzero(odd)


def _has_code(data: NDArray[np.uint8], offsets: NDArray[np.int32]) -> bool:
    """Whether some cell begins with a zero and goes on in digits; white space around cells is not looked at."""
    places = np.flatnonzero(np.diff(offsets) >= 2)
    begin, end = offsets[:-1][places], offsets[1:][places]
    first = data[begin]
    digit = begin + ((first == _PLUS) | (first == _MINUS))
    following = data[np.minimum(digit + 1, end - 1)]
    leading = (data[digit] == _ZERO) & (following >= _ZERO) & (following <= _NINE) & (end - digit >= 2)
    return any(
        CODE.fullmatch(data[start:other].tobytes().decode())
        for start, other in zip(begin[leading].tolist(), end[leading].tolist(), strict=True)
    )


def offsets_of(chunk: Any) -> NDArray[np.int32]:
    """Where the cells of an Arrow array of n texts begin among its bytes, and where the last ends, shape (n + 1,)."""
    offsets = np.frombuffer(chunk.buffers()[1], dtype=np.int32)
    return offsets[chunk.offset : chunk.offset + len(chunk) + 1]
