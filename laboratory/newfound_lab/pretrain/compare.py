"""Discoverers on development problems.

``python -m newfound_lab.pretrain.compare PROBLEMS... OUT.jsonl --processes 11`` holds out a quarter of the rows.
Discoverers learn from the others, the number of novel classes given, and are scored on their unlabelled rows and on the
rows held out. Lines are written as they come, those of quick discoverers first. Nothing here needs pandas.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.ensemble import ExtraTreesClassifier

from newfound import AutoDiscoverer, InContextDiscoverer, KMeansDiscoverer, WhitenedKMeans
from newfound.metrics import open_world_scores
from newfound_lab.pretrain.problems import Problem, load_problems
from newfound_lab.pretrain.tables import as_table

_HELD_OUT = 0.25
_N_TREES = 200


def _told_novel(k: int) -> AutoDiscoverer:
    return AutoDiscoverer(k, unlabelled="novel", random_state=0)


_PURE: dict[str, Callable[[int], Any]] = {
    "k-means": lambda k: KMeansDiscoverer(k, random_state=0),
    "whitened": lambda k: WhitenedKMeans(k, unlabelled="novel", random_state=0),
    "in context": lambda k: InContextDiscoverer(k, unlabelled="novel", random_state=0),
    "auto": _told_novel,
    "auto, finds out": lambda k: AutoDiscoverer(k, random_state=0),
}
_MIXED: dict[str, Callable[[int], Any]] = {
    "whitened, finds out": lambda k: WhitenedKMeans(k, unlabelled="auto", random_state=0),
    "in context, finds out": lambda k: InContextDiscoverer(k, unlabelled="auto", random_state=0),
    "auto, finds out": lambda k: AutoDiscoverer(k, random_state=0),
    "auto, oracle router": _told_novel,
}


def measure(problem: Problem, method: str) -> dict[str, Any]:
    """Fit a discoverer on three quarters of a problem's rows and score it.

    Parameters
    ----------
    problem : Problem
    method : str
        A name of `_MIXED` for a mixed problem, of `_PURE` for another.

    Returns
    -------
    dict
        Scores on the unlabelled rows, and with the prefix ``new_`` on the rows held out.
    """
    table, truth, labels = as_table(problem.values, problem.categorical), problem.classes, problem.labels
    out = np.random.default_rng(0).random(len(truth)) < _HELD_OUT
    model = (_MIXED if problem.mixed else _PURE)[method](problem.n_novel)
    seconds = time.process_time()
    answer = _behind_oracle if method == "auto, oracle router" else _alone
    found, new, facts = answer(model, table, out, problem)
    line = {"problem": problem.name, "method": method, "cpu": round(time.process_time() - seconds, 2), **facts}
    known = np.unique(labels[labels >= 0]).astype(str)
    free = ~out & (labels < 0)
    for prefix, rows, said in (("", free, found), ("new_", out, new)):
        scores = open_world_scores(truth[rows].astype(str), said, known)
        for kind in ("all", "known", "novel"):
            for metric in ("acc", "bacc"):
                value = None if scores[kind] is None else round(scores[kind][metric], 4)
                line[f"{prefix}{kind}_{metric}"] = value
    return line


def _alone(model: Any, table: Any, out: Any, problem: Problem) -> Any:
    """Fit a discoverer on the rows not held out; in a pure problem it is told which of the others are novel."""
    labels = problem.labels
    model.fit(table[~out], labels[~out])
    new = model.predict(table[out]).astype(str)
    if not problem.mixed:
        told = problem.novel[out]
        new[told] = model.predict_novel(table[out][told]).astype(str)
    facts: dict[str, Any] = {"decided": getattr(model, "unlabelled_", "novel")}
    if facts["decided"] != "novel" or model.unlabelled == "auto":
        facts["known_share"] = round(float(model.known_share_), 4)
    if hasattr(model, "confidence_"):
        facts["confidence"] = round(float(model.confidence_), 4)
    return model.labels_[labels[~out] < 0].astype(str), new, facts


def _behind_oracle(model: Any, table: Any, out: Any, problem: Problem) -> Any:
    """Let a discoverer see the novel rows alone; rows of known classes are told by a forest."""
    labels, rows = problem.labels, problem.values.copy()
    rows[np.isnan(rows)] = -1e3  # forests take what is missing for a small number
    forest = ExtraTreesClassifier(_N_TREES, random_state=0).fit(
        rows[~out & (labels >= 0)], labels[~out & (labels >= 0)]
    )
    learned = ~out & ((labels >= 0) | problem.novel)
    model.fit(table[learned], labels[learned])
    said = forest.predict(rows).astype(str).astype(object)
    said[learned & (labels < 0)] = model.labels_[labels[learned] < 0].astype(str)
    new_novel = out & problem.novel
    if new_novel.any():
        said[new_novel] = model.predict_novel(table[new_novel]).astype(str)
    return said[~out & (labels < 0)].astype(str), said[out].astype(str), {}


def _begin() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")


def _work(cell: tuple[Problem, str]) -> dict[str, Any]:
    problem, method = cell
    try:
        return measure(problem, method)
    except (ArithmeticError, ValueError, np.linalg.LinAlgError, RuntimeError) as error:
        return {"problem": problem.name, "method": method, "error": repr(error)}


def main(given: Sequence[str] | None = None) -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", type=Path, nargs="+")
    parser.add_argument("out", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="part of the names of the problems")
    parser.add_argument("--methods", nargs="+")
    options = parser.parse_args(given)
    problems = [problem for path in options.problems for problem in load_problems(path) if options.only in problem.name]
    cells = []
    for method in dict.fromkeys([*_PURE, *_MIXED]):
        if options.methods is None or method in options.methods:
            cells += [(p, method) for p in problems if method in (_MIXED if p.mixed else _PURE)]
    with ExitStack() as stack:
        file = stack.enter_context(options.out.open("a"))
        lines: Iterable[dict[str, Any]] = map(_work, cells)
        if options.processes > 1:
            spawn = multiprocessing.get_context("spawn")
            lines = stack.enter_context(spawn.Pool(options.processes, _begin)).imap_unordered(_work, cells)
        for line in lines:
            print(json.dumps(line), file=file, flush=True)


if __name__ == "__main__":
    main()
