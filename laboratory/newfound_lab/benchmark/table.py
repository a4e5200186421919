"""Tables of the benchmark, made of its lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from newfound.errors import InputError
from newfound_lab.benchmark.measuring import EXPERIMENT
from newfound_lab.benchmark.methods import METHODS
from newfound_lab.benchmark.problems import MODES, SETS
from newfound_lab.pages.rendering import Cell, ResultTable, markdown
from newfound_lab.pages.significance import lead

__all__ = ["lead_table", "read_lines", "reliability_notes", "score_table", "tables_of"]

Line = Mapping[str, Any]

BASE = "by hand"
SURE = 0.9
"""Confidence from which on a result is to be relied on."""
GOOD = 0.8
"""Share of the unlabelled rows above which it was right to rely on a result."""

_COLUMNS = {"all_acc": "ALL", "known_acc": "known", "novel_acc": "novel", "acc": "ACC", "bacc": "BACC"}
_AUROC, _SECONDS = "auroc", "fit_seconds"
_TITLES = {
    "pure": "all unlabelled rows are of novel classes",
    "mixed": "the unlabelled rows are mixed with half of the known ones",
}


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read the lines of the benchmark from a file.

    Raises
    ------
    InputError
        Where the file cannot be read, holds anything but lines, or none of the benchmark.
    """
    try:
        rows = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read the lines of {path}: {getattr(error, 'strerror', None) or error}.") from None
    lines = []
    for number, row in enumerate(rows, 1):
        try:
            line = json.loads(row) if row.strip() else {}
            if line.get("experiment") == EXPERIMENT:
                lines.append(line)
        except (ValueError, AttributeError):
            raise InputError(f"{path}, line {number} is not a result. Delete that line.") from None
    if not lines:
        raise InputError(f"{path} has no line of the benchmark; measure first with `newfound-lab benchmark`.")
    return lines


def tables_of(lines: Sequence[Line]) -> str:
    """Make the tables of every set and mode that there are lines of, as Markdown."""
    parts = []
    for set_name in [*SETS, *sorted({line["settings"]["set"] for line in lines} - set(SETS))]:
        for mode in MODES:
            some = [line for line in lines if line["settings"] == {"set": set_name, "mode": mode}]
            if some:
                parts.append(markdown(score_table(some, set_name, mode)))
                leads = lead_table(some, set_name, mode)
                if leads.rows:
                    parts.append(markdown(leads))
    return "\n".join(parts)


def score_table(lines: Sequence[Line], set_name: str, mode: str) -> ResultTable:
    """Make the table of scores of one set and mode.

    Means are over the problems that all methods have a line of, so that every row is about the same ones; a table
    counts once, by its mean over class splits.
    """
    shared = _shared(lines)
    n_tables = len({dataset for dataset, *_ in shared})
    rows = []
    for method, own in _by_method(lines).items():
        kept = [own[problem] for problem in shared]
        cells = [_percent(_mean(kept, name)) for name in _COLUMNS]
        auroc, seconds = _mean(kept, _AUROC), _mean(kept, _SECONDS)
        texts = [method, *cells, _percent(auroc), "" if seconds is None else f"{seconds:.1f}"]
        rows.append(tuple(Cell(text) for text in texts))
    caption = (
        f"Means over {n_tables} development tables with {len(shared)} class splits in all, in percent; these tables "
        "were looked at while the methods of newfound were made. The number of novel classes is given, and 30 % of "
        "the rows are held out. ALL, known, novel: known classes by name, novel ones after a matching. ACC and BACC: "
        "of rows that are known to be novel. AUROC: of novelty. Seconds: of a fit in one thread. "
        f"{_origins(lines)}"
    )
    return ResultTable(
        f"benchmark_{set_name}_{mode}",
        f"Set {set_name}, {_TITLES[mode]}",
        caption,
        ("Method", *_COLUMNS.values(), "AUROC", "seconds"),
        tuple(rows),
        notes=(*_left_out(lines, shared), *reliability_notes(lines)),
    )


def lead_table(lines: Sequence[Line], set_name: str, mode: str) -> ResultTable:
    """Make the table of how far every method is ahead of "by hand" in ALL; without rows where that was not measured.

    Each method is compared on the problems that both have a line of.
    """
    methods = _by_method(lines)
    base = methods.get(BASE, {})
    rows = []
    for method, own in methods.items():
        both = [problem for problem in own if problem in base]
        ours, theirs = (_of_tables([some[problem] for problem in both], "all_acc") for some in (own, base))
        found = lead(list(ours.values()), list(theirs.values())) if method != BASE else None
        if found is not None:
            mean, low, high = (f"{100 * value:+.1f}" for value in (found.mean, found.low, found.high))
            texts = (method, mean, f"{low} to {high}", f"{found.n_better} of {found.n_tables}")
            rows.append(tuple(Cell(text) for text in texts))
    return ResultTable(
        f"benchmark_{set_name}_{mode}_leads",
        f"Set {set_name}, {mode}: lead over {BASE} in ALL",
        "In points. Interval: 95 %, by drawing tables anew (bootstrap); a table counts once, by its mean over class "
        "splits.",
        ("Method", "lead", "interval", "better on"),
        tuple(rows),
    )


def reliability_notes(lines: Sequence[Line]) -> list[str]:
    """Say of each method with a confidence how often it was right to rely on it."""
    notes = []
    for method, own in _by_method(lines).items():
        told = [line for line in own.values() if line["confidence"] is not None and line["unlabelled_acc"] is not None]
        sure = [line["unlabelled_acc"] > GOOD for line in told if line["confidence"] >= SURE]
        if told:
            notes.append(
                f"{method}: {len(sure)} of {len(told)} results have a confidence of at least {SURE:g}; "
                f"{sum(sure)} of these have more than four in five unlabelled rows right."
            )
    return notes


def _by_method(lines: Iterable[Line]) -> dict[str, dict[tuple[Any, ...], Line]]:
    """Lines by method, in the order of the methods, and by problem; the first line of a problem counts."""
    found: dict[str, dict[tuple[Any, ...], Line]] = {}
    for line in lines:
        problem = (line["dataset"], line["class_split"], line["seed"])
        found.setdefault(line["method"], {}).setdefault(problem, line)
    order = [*METHODS, *found]
    return {method: found[method] for method in dict.fromkeys(order) if method in found}


def _shared(lines: Iterable[Line]) -> list[tuple[Any, ...]]:
    """Problems that every method has a line of, in one order."""
    every = list(_by_method(lines).values())
    return sorted(set(every[0]).intersection(*every[1:]))


def _left_out(lines: Sequence[Line], shared: Sequence[tuple[Any, ...]]) -> list[str]:
    """Name the methods that lack problems which others have."""
    methods = _by_method(lines)
    n_all = len(set().union(*methods.values()))
    lacking = [f"{method} {n_all - len(own)}" for method, own in methods.items() if len(own) < n_all]
    if not lacking:
        return []
    return [f"{n_all - len(shared)} of {n_all} class splits are left out, as methods lack them: {', '.join(lacking)}."]


def _of_tables(lines: Iterable[Line], name: str) -> dict[str, float]:
    """Mean of a score for each table that has it, in the order of their names."""
    values: dict[str, list[float]] = {}
    for line in lines:
        if line[name] is not None:
            values.setdefault(line["dataset"], []).append(line[name])
    return {dataset: float(np.mean(values[dataset])) for dataset in sorted(values)}


def _mean(lines: Iterable[Line], name: str) -> float | None:
    values = list(_of_tables(lines, name).values())
    return float(np.mean(values)) if values else None


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _origins(lines: Iterable[Line]) -> str:
    """Name the versions and weights; several of them are told as such."""
    found = sorted({(line["versions"]["newfound"], line["weights"][:12]) for line in lines})
    named = "; ".join(f"newfound {version}, weights {weights}" for version, weights in found)
    return f"Measured with {named}." if len(found) == 1 else f"Measured with several states of newfound: {named}."
