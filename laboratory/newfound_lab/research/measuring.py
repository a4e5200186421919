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
from newfound.learning.machine import one_thread
from newfound.metrics import balanced_clustering_accuracy, clustering_accuracy
from newfound.selection.evidence import gather_evidence
from newfound.selection.n_classes import estimate_from_rows
from newfound.selection.portfolio import build_portfolio
from newfound.selection.ranking import rank
from newfound_lab.research.development import DEVELOPMENT_TABLES, draw_sample, kind_of_table, load_development
from newfound_lab.runner.cost import circumstances
from newfound_lab.runner.results import ResultFile
from newfound_lab.suites.trials import Trial

__all__ = ["EXPERIMENTS", "Plan", "measure_missing", "planned"]

_DIGITS = 4


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes
    ----------
    experiment : {"choice", "counting"}
    tables : sequence of str
        Some of ``DEVELOPMENT_TABLES``.
    n_splits : int
        Choices of known and novel classes for each table, numbered from 1 as `Dataset.resplit` does.
    n_rows : int
        Most labelled and most unlabelled rows that are drawn of each table.
    n_tasks : int
        Most times that known classes are hidden; for the choice only.
    """

    experiment: str
    tables: Sequence[str] = DEVELOPMENT_TABLES
    n_splits: int = 2
    n_rows: int = 1_000
    n_tasks: int = 5


def planned(plan: Plan) -> list[Trial]:
    """Trials of a plan, table by table."""
    if plan.experiment not in EXPERIMENTS:
        raise InputError(f"Got {plan.experiment!r}, but expected one of {', '.join(EXPERIMENTS)}.")
    if unknown := [name for name in plan.tables if name not in DEVELOPMENT_TABLES]:
        raise InputError(f"Got the table {unknown[0]!r}, but expected some of {', '.join(DEVELOPMENT_TABLES)}.")
    settings = {"n_rows": plan.n_rows} | ({"n_tasks": plan.n_tasks} if plan.experiment == "choice" else {})
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


def _measure_choice(trial: Trial, data: Dataset) -> dict[str, Any]:
    """Score every candidate of the portfolio, and note what speaks for it without a novel label."""
    rng = np.random.RandomState(trial.seed)
    drawn = draw_sample(data, trial.settings["n_rows"], rng)
    n_novel = len(np.unique(drawn.truth))
    portfolio = build_portfolio(drawn.rows, drawn.codes, drawn.layout, n_novel, rng)
    n_tasks = trial.settings["n_tasks"]
    evidence = gather_evidence(drawn.rows, drawn.codes, drawn.layout, n_novel, rng, n_tasks=n_tasks)
    choice = rank(portfolio, evidence, rng)
    columns: dict[str, Sequence[Any]] = {
        "representation": [representation for representation, _ in portfolio.names],
        "method": [method for _, method in portfolio.names],
        "acc": [clustering_accuracy(drawn.truth, partition) for partition in portfolio.partitions],
        "bacc": [balanced_clustering_accuracy(drawn.truth, partition) for partition in portfolio.partitions],
        "information": portfolio.information.tolist(),
        "agreement": portfolio.agreement(rng).tolist(),
        "hidden": [evidence.advantage.get(name) for name in portfolio.names],
    }
    return {
        "candidates": {name: [_rounded(value) for value in values] for name, values in columns.items()},
        "chosen": portfolio.names.index(choice.names[0]),
        "n_folds": evidence.n_folds,
        "trust_in_information": _rounded(evidence.trust_in_information),
        "trust_in_accuracy": _rounded(evidence.trust_in_accuracy),
    }


def _measure_counting(trial: Trial, data: Dataset) -> dict[str, Any]:
    """Estimate the number of novel classes, by all criteria together and by each alone."""
    rng = np.random.RandomState(trial.seed)
    drawn = draw_sample(data, trial.settings["n_rows"], rng)
    estimate = estimate_from_rows(drawn.rows, drawn.codes, rng)
    return {
        "truth": len(np.unique(drawn.truth)),
        "n_classes": estimate.n_classes,
        "interval": list(estimate.interval),
        "criteria": {row["criterion"]: row["n_classes"] for row in estimate.criteria},
    }


def _rounded(value: Any) -> Any:
    return round(value, _DIGITS) if isinstance(value, float) else value


EXPERIMENTS: dict[str, Callable[[Trial, Dataset], dict[str, Any]]] = {
    "choice": _measure_choice,
    "counting": _measure_counting,
}
"""What measures each experiment: "choice" among the candidates of AutoDiscoverer, "counting" of the novel classes."""
