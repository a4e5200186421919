"""Development tables in, lines of results out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from newfound.datasets import Dataset
from newfound.errors import InputError
from newfound.incontext import ALL_NOVEL
from newfound.incontext.look import look_at
from newfound.learning.machine import one_thread
from newfound.selection.n_classes import estimate_from_task
from newfound.tables.task import DiscoveryTask
from newfound_lab.research.development import DEVELOPMENT_TABLES, draw_sample, kind_of_table, load_development
from newfound_lab.runner.cost import circumstances
from newfound_lab.runner.results import ResultFile
from newfound_lab.suites.trials import Trial

__all__ = ["EXPERIMENTS", "Plan", "measure_missing", "planned"]


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes
    ----------
    experiment : {"counting"}
    tables : sequence of str
        Some of ``DEVELOPMENT_TABLES``.
    n_splits : int
        Choices of known and novel classes for each table, numbered from 1 as `Dataset.resplit` does.
    n_rows : int
        Most labelled and most unlabelled rows that are drawn of each table.
    """

    experiment: str
    tables: Sequence[str] = DEVELOPMENT_TABLES
    n_splits: int = 2
    n_rows: int = 1_000


def planned(plan: Plan) -> list[Trial]:
    """Trials of a plan, table by table."""
    if plan.experiment not in EXPERIMENTS:
        raise InputError(f"Got {plan.experiment!r}, but expected one of {', '.join(EXPERIMENTS)}.")
    if unknown := [name for name in plan.tables if name not in DEVELOPMENT_TABLES]:
        raise InputError(f"Got the table {unknown[0]!r}, but expected some of {', '.join(DEVELOPMENT_TABLES)}.")
    settings = {"n_rows": plan.n_rows}
    return [
        Trial(plan.experiment, table, "", "", "label-free", "transductive", 0, settings, class_split)
        for table in plan.tables
        for class_split in range(1, plan.n_splits + 1)
    ]


def measure_missing(
    plan: Plan, results: ResultFile, data_dir: Path | None = None, wheels: Path | None = None
) -> Iterator[Trial]:
    """Measure what has no line yet, and write each line as soon as it is there.

    Parameters
    ----------
    plan : Plan
    results : ResultFile
    data_dir, wheels : Path or None
        See :func:`newfound_lab.research.development.load_development`.

    Yields
    ------
    Trial
        Whenever one is done.
    """
    trials = planned(plan)
    with results.writing():
        loaded: tuple[str, Dataset] | None = None
        for trial in trials:
            if trial.key in results.keys:
                continue
            if loaded is None or loaded[0] != trial.dataset:
                loaded = trial.dataset, load_development(trial.dataset, data_dir, wheels)
            results.append([_line(trial, loaded[1].resplit(trial.class_split))])
            yield trial


def _line(trial: Trial, data: Dataset) -> dict[str, Any]:
    began = time.perf_counter()
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what a user should know of a table shows in the scores here
        measured = EXPERIMENTS[trial.experiment](trial, data)
    facts = {
        "kind": kind_of_table(data.kinds),
        "n_known": len(data.known_classes),
        "n_novel": len(data.novel_classes),
        "seconds": round(time.perf_counter() - began, 1),
    }
    return trial.line(measured | facts | circumstances("cpu"))


def _measure_counting(trial: Trial, data: Dataset) -> dict[str, Any]:
    """Estimate the number of novel classes, by all criteria together and by each alone."""
    rng = np.random.RandomState(trial.seed)
    drawn = draw_sample(data, trial.settings["n_rows"], rng)
    task = DiscoveryTask(drawn.rows, drawn.codes, int(drawn.codes.max()) + 1, 0, drawn.layout)
    estimate = estimate_from_task(task, look_at(task, rng, unlabelled=ALL_NOVEL), rng)
    return {
        "truth": len(np.unique(drawn.truth)),
        "n_classes": estimate.n_classes,
        "interval": list(estimate.interval),
        "criteria": {row["criterion"]: row["n_classes"] for row in estimate.criteria},
    }


EXPERIMENTS: dict[str, Callable[[Trial, Dataset], dict[str, Any]]] = {
    "counting": _measure_counting,
}
"""What measures each experiment: "counting" of the novel classes. Lines of earlier ones can still be shown."""
