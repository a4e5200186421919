"""JSON lines: an object a line, whose keys name the columns."""

from __future__ import annotations

import json
from typing import Any

from newfound.errors import InputError
from newfound.tables.cells import shown


def read_json_lines(text: str, source: str) -> tuple[list[str], list[list[Any]]]:
    """Read an object a line, or one list of objects; returns the names of the columns and the cells of each.

    Keys that an object lacks are missing cells.
    """
    records = _records(text, source)
    if not records:
        raise InputError(f'{source} has no rows; expected an object such as {{"size": 1}} a line.')
    names = list(dict.fromkeys(name for record in records for name in record))
    if not names:
        raise InputError(f'{source} has rows without columns; expected an object such as {{"size": 1}} a line.')
    return names, [[record.get(name) for record in records] for name in names]


def _records(text: str, source: str) -> list[dict[str, Any]]:
    if text.lstrip().startswith("["):
        whole = _parsed(text, source, "")
        for place, record in enumerate(whole, start=1):
            _check(record, source, f", row {place}")
        return list(whole)
    records = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f", line {number}"
            record = _parsed(line, source, where)
            _check(record, source, where)
            records.append(record)
    return records


def _parsed(text: str, source: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f'{source}{where} is not JSON ({error}); expected an object such as {{"size": 1}} a line.'
        ) from None


def _check(record: Any, source: str, where: str) -> None:
    if not isinstance(record, dict):
        raise InputError(f'{source}{where} holds {shown(record)}, but expected an object such as {{"size": 1}} a line.')
