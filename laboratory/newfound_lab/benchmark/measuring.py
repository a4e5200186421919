"""Problems in, lines of results out: one for each problem and method."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound import __version__
from newfound.errors import InputError
from newfound.incontext.weights import weights_card
from newfound.learning.machine import one_thread
from newfound.metrics import open_world_accuracy, open_world_scores
from newfound_lab.benchmark.methods import METHODS, Answer, Method, method_named
from newfound_lab.benchmark.problems import MODES, BenchmarkTable, Problem, make_problem
from newfound_lab.runner.cost import circumstances
from newfound_lab.runner.results import ResultFile
from newfound_lab.runner.workers import Outcome, outcome_of, outcomes
from newfound_lab.suites.trials import Trial

__all__ = ["EXPERIMENT", "Plan", "measure", "measure_missing"]

EXPERIMENT = "benchmark"


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes
    ----------
    methods : sequence of str
        As :func:`newfound_lab.benchmark.methods.method_named` takes them.
    modes : sequence of {"pure", "mixed"}
    n_splits : int
        Choices of known and novel classes for each table, from 0 on.
    seed : int
        Of the methods; the problems have seeds of their own.
    """

    methods: Sequence[str] = tuple(METHODS)
    modes: Sequence[str] = MODES
    n_splits: int = 2
    seed: int = 0


@dataclass(frozen=True, eq=False)
class _Work:
    """A problem and the name of the method for it, as a process gets them."""

    trial: Trial
    problem: Problem
    method: str


def measure(problem: Problem, method: Method, seed: int = 0) -> dict[str, Any]:
    """Have a method answer, and score it.

    Parameters
    ----------
    problem : Problem
    method : Method
    seed : int, default=0

    Returns
    -------
    dict
        On the rows held out: ``all_acc``, ``known_acc`` and ``novel_acc``, where known classes count by name and novel
        ones after a matching; ``acc`` and ``bacc`` of novel rows that are known to be novel; ``auroc`` of novelty;
        ``told_known_acc`` of known rows that are known to be so. On the training rows: ``unlabelled_acc``, the share
        of unlabelled ones that are right. ``confidence``, ``fit_seconds``, and the numbers of known and novel classes.
        None is what the method does not say, and what there are no rows for.
    """
    told = {"truth": problem.truth_train} if method.told_truth else {}
    start = time.perf_counter()
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a user should know of a table shows in the scores here
        given = method.answer(problem.X_train, problem.y_train, problem.X_test, problem.n_novel, seed, **told)
    seconds = time.perf_counter() - start
    answer = Answer(*given)
    truth, known = problem.truth_test.astype(str), problem.known.astype(str)
    scores = open_world_scores(
        truth, _texts(answer.predicted), known, novelty=answer.novelty, told_novel=_texts(answer.told_novel)
    )
    parts = {f"{part}_acc": scores[part]["acc"] if scores[part] else None for part in ("all", "known", "novel")}
    novel = scores["told_novel"] or {}
    return {
        **parts,
        "acc": novel.get("acc"),
        "bacc": novel.get("bacc"),
        "auroc": scores["auroc"],
        "told_known_acc": _told_known(answer, truth, known),
        "unlabelled_acc": _unlabelled(answer, problem),
        "confidence": None if answer.confidence is None else float(answer.confidence),
        "fit_seconds": round(seconds if answer.fit_seconds is None else answer.fit_seconds, 3),
        "n_known": len(known),
        "n_novel": problem.n_novel,
    }


def measure_missing(
    tables: Iterable[BenchmarkTable], plan: Plan, results: ResultFile, *, jobs: int = 1
) -> Iterator[tuple[Trial, Outcome]]:
    """Measure what has no line yet, and write each line as soon as it is there.

    Tables with less than four classes of enough rows are skipped.

    Parameters
    ----------
    tables : iterable of BenchmarkTable
    plan : Plan
    results : ResultFile
    jobs : int, default=1
        1 measures in this process; more in so many processes of one thread each.

    Yields
    ------
    trial, outcome
        Whenever one has ended; of one that failed there is no line.

    Raises
    ------
    InputError
        For an unknown method or mode, for numbers below 1, and where the results hold lines of another version of
        newfound or of other weights of the network: means over both would be of neither.
    """
    for name, value in (("jobs", jobs), ("splits", plan.n_splits)):
        if value < 1:
            raise InputError(f"Got {name}={value}, but expected a whole number of at least 1.")
    if unknown := [mode for mode in plan.modes if mode not in MODES]:
        raise InputError(f"Got the mode {unknown[0]!r}, but expected some of {', '.join(MODES)}.")
    names = {method: method_named(method).name for method in dict.fromkeys(plan.methods)}
    with results.writing():
        _check_origin(results.lines)
        works = _works(tables, plan, names, results.keys)
        ended = ((work, outcome_of(_line, work)) for work in works) if jobs == 1 else outcomes(_line, works, jobs)
        for work, outcome in ended:
            if outcome.value is not None:
                results.append([outcome.value])
            yield work.trial, outcome


def _works(tables: Iterable[BenchmarkTable], plan: Plan, names: Mapping[str, str], done: set[str]) -> Iterator[_Work]:
    """Go through what is missing, table by table; a table of which nothing is missing is not read."""
    for table in tables:
        trials = [
            (_trial(table, split, mode, name, plan.seed), mode, method)
            for split in range(plan.n_splits)
            for mode in plan.modes
            for method, name in names.items()
        ]
        missing = [one for one in trials if one[0].key not in done]
        if not missing:
            continue
        features, classes = table.load()
        for trial, mode, method in missing:
            problem = make_problem(table.name, features, classes, trial.class_split, mode)
            if problem is not None:
                yield _Work(trial, problem, method)


def _trial(table: BenchmarkTable, split: int, mode: str, name: str, seed: int) -> Trial:
    settings = {"set": table.set, "mode": mode}
    return Trial(EXPERIMENT, table.name, name, "", "label-free", "inductive", seed, settings, split)


def _line(work: _Work) -> dict[str, Any]:
    measured = measure(work.problem, method_named(work.method), work.trial.seed)
    return work.trial.line(measured | {"weights": weights_card()["sha256"]} | circumstances("cpu"))


def _check_origin(lines: Iterable[Mapping[str, Any]]) -> None:
    ours = (__version__, weights_card()["sha256"])
    for line in lines:
        if line["experiment"] == EXPERIMENT and (line["versions"]["newfound"], line["weights"]) != ours:
            raise InputError(
                f"The results hold lines of newfound {line['versions']['newfound']} with the weights "
                f"{line['weights'][:12]}, but this is {ours[0]} with {ours[1][:12]}; choose another folder."
            )


def _told_known(answer: Answer, truth: NDArray[Any], known: NDArray[Any]) -> float | None:
    of_known = np.isin(truth, known)
    if answer.told_known is None or not of_known.any():
        return None
    return float((_texts(answer.told_known) == truth)[of_known].mean())


def _unlabelled(answer: Answer, problem: Problem) -> float | None:
    rows = problem.unlabelled
    if answer.labels is None or not rows.any():
        return None
    return open_world_accuracy(
        problem.truth_train[rows].astype(str), _texts(answer.labels)[rows], problem.known.astype(str)
    )


def _texts(labels: Any) -> NDArray[Any]:
    return np.asarray(labels).astype(str)
