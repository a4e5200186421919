"""What a worker can do, by name; short tasks keep the last run that they have opened."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from newfound.errors import InputError
from newfound.web.code import write_code
from newfound.web.columns import column_facts, target_facts
from newfound.web.curating import STATES, Curated, state_file, take_step
from newfound.web.examples import write_example
from newfound.web.fitting import PARENT, discover, update
from newfound.web.opened import ANSWERS, Opened
from newfound.web.problems import problem
from newfound.web.problems import told as in_words
from newfound.web.records import read_json, write_json
from newfound.web.sources import LABELS, PLACES, open_source, read
from newfound.web.store import RESULT

Facts = dict[str, Any]
Tell = Callable[[dict[str, Any]], None]

COLUMNS = "columns.json"
_N_ROWS_ADVISED = 12


# ---- tables


def look(_: Tell, *, path: str, name: str, most_rows: int, most_columns: int) -> Facts:
    """Read a table that was uploaded, and write what is shown of its columns."""
    file = read(path, name)
    if file.n_rows > most_rows or len(file.names) > most_columns:
        raise InputError(
            f"{name} has {file.n_rows:,} rows and {len(file.names):,} columns; at most {most_rows:,} rows and "
            f"{most_columns:,} columns are accepted. Take a sample of it."
        )
    facts = column_facts(file)
    write_json(Path(path).parent / COLUMNS, facts)
    notes = [in_words(note, PLACES) for note in file.notes]
    return {"format": file.format, "n_rows": file.n_rows, "n_columns": len(file.names), "notes": notes}


def example(_: Tell, *, path: str, name: str) -> None:
    """Write an example."""
    write_example(name, Path(path))


def target(_: Tell, *, path: str, name: str, column: str, marks: list[str] | None) -> Facts:
    """Say what a column holds as that of the classes."""
    try:
        found = target_facts(read(path, name), column, marks)
    except InputError as error:
        return {"target": None, "target_problem": problem(error, PLACES)}
    found["notes"] = [in_words(note, PLACES) for note in found["notes"]]
    return {"target": found, "target_problem": None}


# ---- finished runs


@lru_cache(maxsize=2)
def _open(folder: str, steps: str, path: str, name: str, options: str) -> Opened:
    here, wanted = Path(folder), json.loads(options)
    return Opened(here, here / RESULT, open_source(path, name, wanted, here), wanted, json.loads(steps))


def _opened(folder: str, path: str, name: str, options: Facts, curated: Curated | None = None) -> Opened:
    """Open a run as it is now."""
    steps = (Curated(Path(folder)) if curated is None else curated).steps
    return _open(folder, json.dumps(steps), path, name, json.dumps(options, sort_keys=True))


def curate(_: Tell, *, folder: str, path: str, name: str, options: Facts, step: Facts) -> list[str]:
    """Do a step, and write the classes and the map after it."""
    here = Path(folder)
    curated = Curated(here)
    places = here / STATES
    places.mkdir(exist_ok=True)
    source = open_source(path, name, options, here)
    after = Opened(here, here / RESULT, source, options, curated.steps)
    take_step(after.model, step, source.table, after.accepted, training=after.is_training)
    revision = curated.coming()
    after.write_classes(places, revision)
    if step["action"] == "accept":  # nothing else changes
        for kind in ("sections", "report", "facts"):
            before = state_file(here, kind, curated.revision)
            if before is not None:
                facts = read_json(before)
                facts["workbench"]["revision"] = revision
                facts |= {"revision": revision} if kind == "sections" else {}
                write_json(places / f"{kind}-{revision}.json", facts)
    curated.add(step)
    return []


def refresh(_: Tell, *, folder: str, path: str, name: str, options: Facts, more: Facts) -> int:
    """Write the facts of the present state; returns its revision."""
    here = Path(folder)
    curated = Curated(here)
    if state_file(here, "facts", curated.revision) is None:
        (here / STATES).mkdir(exist_ok=True)
        _opened(folder, path, name, options, curated).write_facts(here / STATES, curated.revision, more)
    return curated.revision


def rows(_: Tell, *, folder: str, path: str, name: str, options: Facts, rows: list[int]) -> Facts:
    """Cells of some rows."""
    opened = _opened(folder, path, name, options)
    file, labelling, answers = opened.source.file, opened.labelling, opened.answers
    n = file.n_rows
    beyond = [row for row in rows if row >= n]
    if beyond:
        raise InputError(f"Got row {beyond[0]}, but the table has {n:,} rows.", parameter="rows")
    cells = [[_cell(cell) for cell in _some(column, rows)] for column in file.columns]
    return {
        "columns": list(file.names),
        "rows": [
            {
                "row": row,
                "label": opened.source.labels[row],
                "class_name": "" if labelling.codes[row] < 0 else labelling.classes[labelling.codes[row]],
                "probability": float(labelling.probability[row]),
                "answer": answers.get(row),
                "cells": [column[place] for column in cells],
            }
            for place, row in enumerate(rows)
        ],
    }


def _some(column: Any, rows: list[int]) -> list[Any]:
    """Cells of a column as it lies in the file: a list, or what Arrow has."""
    return [column[row].as_py() if hasattr(column[row], "as_py") else column[row] for row in rows]


def _cell(value: Any) -> str | None:
    from newfound.explanation.wording import shortened
    from newfound.tables.cells import is_missing, text_of

    return None if is_missing(value) or value == "" else shortened(text_of(value), 200)


def column(_: Tell, *, folder: str, path: str, name: str, options: Facts, index: int) -> str:
    """Write the cells of a column in the order of the map; returns the path of the file within the folder."""
    from newfound.reporting.facts import coded_column, plain

    curated = Curated(Path(folder))
    opened = _opened(folder, path, name, options, curated)
    file = opened.source.file
    if index >= len(file.names):
        raise InputError(f"Got column {index}, but the table has {len(file.names):,} columns.", parameter="index")
    wanted = file.names[index]
    without = [name for name in file.names if name != wanted]
    if wanted in file.row_numbers:
        raise InputError(f"{wanted} holds row numbers.", parameter="index")
    values = opened.source.table.columns.get(wanted)
    if values is None:
        values = file.table(without).columns[wanted]
    drawn = _map_rows(opened, curated.revision)
    found: Facts = plain(coded_column(wanted, values if drawn is None else values[drawn]))
    (opened.folder / STATES).mkdir(exist_ok=True)
    place = f"{STATES}/column-{index}-{curated.revision}.json"
    write_json(opened.folder / place, {"name": wanted, "texts": found.get("texts"), "cells": found["cells"]})
    return place


def _map_rows(opened: Opened, revision: int) -> Any:
    """Rows on the map; None if all are."""
    found = state_file(opened.folder, "map", revision)
    drawn = None if found is None else read_json(found)["rows"]
    return None if drawn is None else np.array(drawn, dtype=np.intp)


def curves(_: Tell, *, history: list[Facts]) -> str:
    """Draw the losses of a run that goes on."""
    from newfound.reporting.fragments import draw_curves

    return str(draw_curves([_with_losses(epoch) for epoch in history]))


def _with_losses(epoch: Facts) -> Facts:
    losses = {name: value for name, value in epoch["losses"].items() if value is not None}
    return {"stage": epoch["stage"], "epoch": epoch["epoch"], **losses}


def suggest(_: Tell, *, folder: str, path: str, name: str, options: Facts) -> Facts:
    """Say what people could do next."""
    from newfound.reporting.facts import plain
    from newfound.suggestions import suggest_labels, suggest_merges
    from newfound.tables.cells import text_of

    opened = _opened(folder, path, name, options)
    merges = suggest_merges(opened.model).pairs if len(opened.model.novel_classes_) > 1 else []
    labels = opened.answered()
    advised: list[Any] = []
    if any(label is None for label in labels):
        advised = list(suggest_labels(opened.model, opened.reading, _N_ROWS_ADVISED, y=labels).table)
    found: Facts = plain(
        {
            "revision": Curated(opened.folder).revision,
            "merges": [{**pair, "first": text_of(pair["first"]), "second": text_of(pair["second"])} for pair in merges],
            "rows": [
                {
                    **{name: row[name] for name in ("row", "probability", "stands_for", "reason")},
                    "class_name": text_of(row["class"]),
                    "second": None if row["second"] is None else text_of(row["second"]),
                }
                for row in advised
            ],
        }
    )
    return found


def label(_: Tell, *, folder: str, path: str, name: str, options: Facts, labels: list[list[Any]]) -> list[list[Any]]:
    """Keep labels that somebody gave rows; returns all of them."""
    n_rows = read(path, name).n_rows
    opened = _opened(folder, path, name, options)
    answers = opened.answers
    for row, given in labels:
        if row >= n_rows:
            raise InputError(f"Got row {row}, but the table has {n_rows:,} rows.", parameter="row")
        if given is None:
            answers.pop(row, None)
        else:
            answers[row] = given.strip()
    write_json(opened.folder / ANSWERS, {str(row): given for row, given in sorted(answers.items())})
    return [[row, given] for row, given in sorted(answers.items())]


def next_round(_: Tell, *, folder: str, path: str, name: str, options: Facts, fresh: str) -> None:
    """Write the labels of the next round to its folder: labels and answers, and the rows of accepted classes."""
    from newfound.runs.names import class_named
    from newfound.tables.cells import is_missing, text_of

    opened = _opened(folder, path, name, options)
    accepted = [class_named(name, opened.model) for name in sorted(opened.accepted)]
    labels = opened.model.to_labels(opened.reading, opened.answered(), accept=accepted).tolist()
    texts = [None if is_missing(label) or label == -1 else text_of(label) for label in labels]
    if all(text is not None for text in texts):
        raise InputError(
            "Every row has a class now, so there is nothing left to search. Export the labels, or accept fewer classes."
        )
    write_json(Path(fresh) / LABELS, texts)
    write_code(Path(fresh), opened, "next")


def hand_over(_: Tell, *, folder: str, path: str, name: str, options: Facts, fresh: str) -> None:
    """Give the model of a run to the update that begins with it."""
    from newfound.persistence import save

    opened = _opened(folder, path, name, options)
    save(opened.model, Path(fresh) / PARENT)
    write_code(Path(fresh), opened, "update")


def export(_: Tell, *, folder: str, path: str, name: str, options: Facts, what: str, more: Facts) -> str:
    """Write a file for the user; returns its name in the folder of the run."""
    from newfound.web.exporting import export_file

    here = Path(folder)
    revision = Curated(here).revision
    if what == "report":
        refresh(_, folder=folder, path=path, name=name, options=options, more=more)
    opened = _opened(folder, path, name, options)
    return export_file(opened, revision, what)


TASKS: dict[str, Callable[..., Any]] = {
    "column": column,
    "curate": curate,
    "curves": curves,
    "discover": discover,
    "example": example,
    "export": export,
    "hand_over": hand_over,
    "label": label,
    "look": look,
    "next_round": next_round,
    "refresh": refresh,
    "rows": rows,
    "suggest": suggest,
    "target": target,
    "update": update,
}
"""What a worker can do, by name."""
