"""JSON lines: an object a line, whose keys name the columns."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from typing import Any

from newfound.errors import InputError
from newfound.tables.cells import shown
from newfound.tables.files.budget import CELL, COLUMN, Budget
from newfound.tables.files.text import Decoded

# Bytes that Python takes for what JSON spells in a few characters.
_VALUE, _LIST, _OBJECT = 64, 88, 232
_SIZE = "it has more than {:,} rows of {:,} columns"
_TOGETHER = 1_000  # rows whose cells are put into columns at once


def read_json_lines(decoded: Decoded, budget: Budget) -> tuple[list[str], list[list[Any]]]:
    """Read an object a line, or one list of objects; returns the names of the columns and the cells of each.

    Keys that an object lacks are missing cells.
    """
    source = budget.source
    columns: dict[str, list[Any]] = {}
    n_rows = 0
    records = _records(decoded, budget)
    while batch := list(itertools.islice(records, _TOGETHER)):
        for name in dict.fromkeys(itertools.chain.from_iterable(batch)):
            if name not in columns:
                budget.take(COLUMN, "it has more than {:,} columns", len(columns))
            cells = columns.setdefault(name, [])
            budget.take(CELL * (n_rows + len(batch) - len(cells)), _SIZE, n_rows, len(columns))
            cells += [None] * (n_rows - len(cells))
            cells += [record.get(name) for record in batch]
        n_rows += len(batch)
    if not n_rows:
        raise InputError(f'{source} has no rows; expected an object such as {{"size": 1}} a line.')
    if not columns:
        raise InputError(f'{source} has rows without columns; expected an object such as {{"size": 1}} a line.')
    n_lacking = sum(n_rows - len(cells) for cells in columns.values())
    budget.take(CELL * n_lacking, _SIZE, n_rows - 1, len(columns))
    for cells in columns.values():
        cells += [None] * (n_rows - len(cells))
    return list(columns), list(columns.values())


def _records(decoded: Decoded, budget: Budget) -> Iterator[dict[str, Any]]:
    """Go through the objects in the lines, or in one list."""
    if decoded.head(_TOGETHER).lstrip().startswith("["):
        memory = decoded.text_size() + _memory_of(decoded.utf8)
        budget.check(memory, "it has {:,} bytes, and about {:,} cells", len(decoded.utf8), decoded.utf8.count(b","))
        for place, record in enumerate(_parsed(decoded.text, budget.source, ""), start=1):
            if type(record) is not dict:
                raise _no_object(record, budget.source, f", row {place}")
            yield record
        return
    # most files fit as a whole, so that their lines need not be counted one by one
    objects = _OBJECT * (decoded.utf8.count(b"\n") + 1)  # which are thrown away
    fits = decoded.text_size() + _memory_of(decoded.utf8) - objects <= budget.left
    for number, line in enumerate(decoded.lines(budget=budget, newline="\n"), start=1):
        if line.isspace():
            continue
        if not fits:
            budget.take(
                sys.getsizeof(line) + _memory_of(line.encode("utf-8", "surrogatepass")) - _OBJECT,
                "it has more than {:,} rows, and one of {:,} characters",
                number - 1,
                len(line),
            )
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = _parsed(line, budget.source, f", line {number}")
        if type(record) is not dict:
            raise _no_object(record, budget.source, f", line {number}")
        yield record


def _memory_of(text: bytes) -> int:
    """Return about how many bytes the cells of a JSON text take besides their characters, more rather than less."""
    n_objects = text.count(b"{")
    return _VALUE * (text.count(b",") + n_objects) + _LIST * text.count(b"[") + _OBJECT * n_objects


def _no_object(record: Any, source: str, where: str) -> InputError:
    return InputError(f'{source}{where} holds {shown(record)}, but expected an object such as {{"size": 1}} a line.')


def _parsed(text: str, source: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f'{source}{where} is not JSON ({error}); expected an object such as {{"size": 1}} a line.'
        ) from None
