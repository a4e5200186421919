"""What the pages show of the columns of a table, before anything is learned from it."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.errors import NewfoundError
from newfound.explanation.wording import number_text, shortened, time_text
from newfound.tables import Table, infer_schema
from newfound.tables.cells import as_days, as_hours, as_numbers, as_texts, missing_mask
from newfound.tables.files import TableFile, read_target

Facts = dict[str, Any]

_BINS = 20
_DAY = 86_400_000.0  # milliseconds
_LEVELS = 12
_EXAMPLES = 3
_MOST_CLASSES = 60
_TARGET_NAME = re.compile(
    r"(.*[_\-. ])?(class|classes|label|labels|target|category|type|kind|species|diagnosis|attack|outcome|y)",
    re.IGNORECASE,
)


def column_facts(file: TableFile) -> Facts:
    """Say of each column what it holds, which may be that of the classes, and which to leave out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = file.table()
        try:
            schema = {column.name: column for column in infer_schema(table).columns}
        except NewfoundError:  # no column can be used, which a run will say
            schema = {}
    columns = []
    for place, name in enumerate(file.names):
        if name in table.columns:
            found = schema.get(name)
            kind, reason = ("ignored", "nothing to learn from") if found is None else (found.kind, found.reason)
            columns.append(_column(place, name, kind, reason, table.columns[name]))
        else:
            columns.append(_empty(place, name, "row numbers"))
    advice = _suggested_target(file, table, columns)
    ignored = [
        {"name": column["name"], "reason": column["reason"]}
        for column in columns
        if column["kind"] == "ignored" and (advice is None or column["name"] != advice["name"])
    ]
    return {"columns": columns, "suggested_target": advice, "suggested_ignored": ignored}


def target_facts(file: TableFile, name: str, marks: list[str] | None = None) -> Facts:
    """Say what a column holds as that of the classes; InputError where it cannot be one."""
    target = read_target(file, name, marks)
    return {
        "name": name,
        "classes": [{"name": label, "count": n} for label, n in target.counts.most_common()],
        "n_labelled": int((~target.unlabelled).sum()),
        "n_unlabelled": int(target.unlabelled.sum()),
        "notes": [*target.notes],
    }


def _column(place: int, name: str, kind: str, reason: str, values: NDArray[Any]) -> Facts:
    missing = missing_mask(values)
    facts = _empty(place, name, reason) | {"kind": kind, "missing_share": float(missing.mean())}
    present = values[~missing]
    if not len(present):
        return facts
    numbers = _numbers(name, present, kind)
    if numbers is None:
        counted = Counter(str(text) for text in as_texts(present))
        facts["levels"] = [{"text": shortened(text), "count": n} for text, n in counted.most_common(_LEVELS)]
        facts["n_levels"], examples = len(counted), list(counted)[:_EXAMPLES]
    else:
        low, high = float(numbers.min()), float(numbers.max())
        facts["n_levels"] = len(np.unique(numbers))
        counts, edges = np.histogram(numbers, bins=min(_BINS, facts["n_levels"]))
        shown = {"date": _day, "time": time_text}.get(kind, number_text)
        texts = [shown(value) for value in (low, high)]
        facts["histogram"] = {"edges": edges.tolist(), "counts": counts.tolist(), "low": texts[0], "high": texts[1]}
        examples = [str(text) for text in as_texts(present[:_EXAMPLES])]
    facts["examples"] = [shortened(text) for text in dict.fromkeys(examples)]
    return facts


def _day(milliseconds: float) -> str:
    return str(np.datetime64(int(milliseconds), "ms")).partition("T")[0]


def _empty(place: int, name: str, reason: str) -> Facts:
    nothing: Facts = {"n_levels": None, "histogram": None, "levels": None, "examples": []}
    return {"index": place, "name": name, "kind": "ignored", "reason": reason, "missing_share": 0.0, **nothing}


def _numbers(name: str, present: NDArray[Any], kind: str) -> NDArray[np.float64] | None:
    """Cells as numbers, dates as milliseconds since 1970, times as hours; None where they are none of these."""
    if kind == "date":
        return as_days(present, name) * _DAY
    if kind == "time":
        return as_hours(present, name)
    if kind == "numeric":
        return as_numbers(present, name)
    return present if kind == "ignored" and present.dtype == np.float64 else None


def _suggested_target(file: TableFile, table: Table, columns: list[Facts]) -> Facts | None:
    """Guess the column of the classes: few different texts, some cells empty, a name that says so, near the end."""
    best: tuple[float, Facts] | None = None
    for column in columns:
        levels = column["n_levels"]
        if levels is None or not 2 <= levels <= _MOST_CLASSES or levels > table.n_rows / 2:
            continue
        named = _TARGET_NAME.fullmatch(column["name"]) is not None
        missing = 0 < column["missing_share"] < 1
        text = column["kind"] in ("categorical", "boolean")
        score = 3 * named + 2 * missing + text + (column["index"] == len(columns) - 1) + 0.5 * (column["index"] == 0)
        if not (named or (missing and text)):
            continue
        if best is None or score > best[0]:
            said = ["its name says so"] * named + ["some of its cells are empty"] * missing
            best = (score, {"name": column["name"], "reason": f"{levels} different values; {' and '.join(said)}"})
    return None if best is None else best[1]
