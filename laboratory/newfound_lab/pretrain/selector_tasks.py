"""Synthetic tasks for the selector: candidates, their signals, and how good they are.

``python laboratory/newfound_lab/pretrain/selector_tasks.py OUT.npz --seconds 480 --processes 14`` needs torch, numpy,
scikit-learn and safetensors alone. What there is so far is written every half minute.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import queue
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from newfound.incontext import ALL_NOVEL
from newfound.incontext.context import MAX_CLASSES
from newfound.incontext.look import look
from newfound.incontext.reading import context_of
from newfound.incontext.weights import weights_card
from newfound.metrics import balanced_clustering_accuracy, clustering_accuracy
from newfound.selection.candidates import CONSENSUS, METHODS, PAIRS, SPACES, Name, Scene, make_candidates
from newfound.selection.jury import rand_indices
from newfound.selection.selector import load_selector
from newfound.selection.signals import FACTS, SIGNALS, Pairs, facts_of, graphs_of, signals_of
from newfound.tables import TableEncoder
from newfound_lab.pretrain.problems import Problem, load_problems
from newfound_lab.pretrain.tables import as_table
from newfound_lab.prior import sample_tasks
from newfound_lab.prior.source import Source
from newfound_lab.prior.tasks import PRIOR_VERSION

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

SEED = 950_000_000  # of synthetic tasks; no training has it
_ROWS = (200, 350, 600, 900, 1300, 1800)
_COLUMNS = (3, 5, 8, 12, 18, 28, 45, 70, 110)
_ODDS = (0.06, 0.13, 0.18, 0.18, 0.16, 0.13, 0.08, 0.05, 0.03)
_PAUSE = 30.0
_TASKS_IN_FILE = 2_000
N_VIEWS = 1  # AutoDiscoverer has two; tasks of one are made in half of the time
Plan = Mapping[str, tuple[str, ...]]
"""Spaces, and the methods that cut them."""
EVERYTHING: Plan = dict.fromkeys(SPACES, METHODS)


def candidates_of(plan: Plan) -> list[Name]:
    """Name the candidates of a plan, in the order in which they are written."""
    return [*((space, method) for space, methods in plan.items() for method in methods), PAIRS, CONSENSUS]


def encoded(values: NDArray[np.float32], categorical: NDArray[np.bool_]) -> tuple[Floats, Any]:
    """Encode a table of numbers and codes of levels, NaN where missing, as a discoverer would; rows and layout."""
    table = as_table(values, categorical)
    encoder = TableEncoder()
    return encoder.fit_transform(table), encoder.layout_


def examine(
    rows: Floats,
    layout: Any,
    labels: Codes,
    truth: Codes,
    seed: int,
    device: str,
    k: int | None = None,
    plan: Plan = EVERYTHING,
) -> dict[str, Any] | None:
    """Make the candidates of a plan for a table, and measure signals and accuracy of each.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    layout : Layout
    labels : ndarray of shape (n,), int64
        Known class of each row, -1 where unlabelled.
    truth : ndarray of shape (n,), int64
        True classes. Rows of known classes among the unlabelled ones do not count.
    seed : int
    device : str
    k : int, optional
        Number of classes to look for; the true one unless given, the network's where 0.
    plan : mapping of space to methods, optional
        Everything unless given.

    Returns
    -------
    dict or None
        None where there is nothing to choose.
    """
    rng = np.random.RandomState(seed % 2**31)
    codes = np.unique(labels, return_inverse=True)[1].astype(np.int64) - 1
    free = codes < 0
    counts = ~np.isin(truth[free], truth[~free])
    n_true = len(np.unique(truth[free][counts]))
    seen = look(context_of(rows, layout, codes, ALL_NOVEL), seed, n_views=N_VIEWS, device=device)
    if k == 0:
        chances = seen.n_novel[2:].cumsum()
        k = 2 + int(np.searchsorted(chances, chances[-1] / 2))
    k = min(n_true if k is None else k, int(free.sum()) - 2)
    if n_true < 2:
        return None
    scene = Scene(rows, codes, layout, k, seen)
    made = make_candidates(scene, rng, plan)
    found = dict(zip(made.names, made.partitions, strict=True))
    pairs = Pairs(seen.pair_logits(free))
    graphs = graphs_of(scene, made.spaces)
    names = candidates_of(plan)
    signals = np.full((len(names), len(SIGNALS)), np.nan)
    scores = np.full((len(names), 2), np.nan)
    partitions = np.zeros((len(names), int(free.sum())), dtype=np.int64)
    for place, name in enumerate(names):
        if name in found:
            partitions[place] = found[name]
            signals[place] = signals_of(scene, made.spaces, graphs, pairs, found[name])
            of_novel = truth[free][counts], found[name][counts]
            scores[place] = clustering_accuracy(*of_novel), balanced_clustering_accuracy(*of_novel)
    agreement = rand_indices(partitions)[np.triu_indices(len(names), 1)]
    return {
        "signals": signals.astype(np.float16),
        "scores": scores.astype(np.float16),
        "agreement": np.round(250 * agreement.clip(0, 1)).astype(np.uint8),
        "facts": np.array(facts_of(scene, made.spaces, pairs), dtype=np.float32),
        "n_true": np.int16(n_true),
        "mixed": np.float16(1 - counts.mean()),
        "sizes": np.array([len(rows), free.sum(), k]).astype(np.int32),
    }


def tasks(worker: int, device: str, plan: Plan = EVERYTHING) -> Iterator[dict[str, Any]]:
    """Draw tasks without end, and examine them."""
    rng = np.random.default_rng(worker)
    number = 0
    while True:
        seed = SEED + worker * 100_000 + number
        number += 1
        n_rows, n_columns = int(rng.choice(_ROWS)), int(rng.choice(_COLUMNS, p=_ODDS))
        leak = rng.uniform(0, 0.3) if rng.random() < 0.3 else 0.0  # rows of known classes that a router passes on
        k = 0 if rng.random() < 0.2 else None
        drawn = sample_tasks(Source(seed, torch.device("cpu")), 1, n_rows, n_columns, parts=1)
        context = drawn.context
        labels, classes, novel = (x[0].numpy() for x in (context.labels, drawn.classes, drawn.novel))
        keep = (labels >= 0) | novel | (rng.random(n_rows) < leak)
        values = np.where(context.missing[0], np.nan, context.values[0])[keep]
        labels, classes, novel = labels[keep], classes[keep], novel[keep]
        n_labelled, n_known = int((labels >= 0).sum()), len(np.unique(labels[labels >= 0]))
        if novel.sum() < 30 or n_labelled < 6 or n_known > MAX_CLASSES or len(np.unique(classes[novel])) < 2:
            continue
        try:
            rows, layout = encoded(values, context.categorical[0].numpy())
            examined = examine(rows, layout, labels, classes, seed, device, k, plan)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError, RuntimeError) as error:  # one task of thousands
            print(f"task {seed}: {error!r}", flush=True)  # noqa: T201
            continue
        if examined is not None:
            yield examined | {"seed": np.int64(seed)}


def _work(worker: int, device: str, plan: Plan, results: Any) -> None:
    """Examine tasks until ended from outside."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for examined in tasks(worker, device, plan):
        results.put(examined)


def _judge_problems(path: Path, device: str, plan: Plan, results: Any) -> None:
    """Examine the pure development problems."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for problem in load_problems(path):
        if not problem.mixed:
            examined = examine_problem(problem, device, plan)
            if examined is not None:
                results.put(examined)


def examine_problem(problem: Problem, device: str, plan: Plan = EVERYTHING) -> dict[str, Any] | None:
    """Examine a development problem."""
    rows, layout = encoded(problem.values, problem.categorical)
    examined = examine(rows, layout, problem.labels, problem.classes, 0, device, plan=plan)
    return None if examined is None else examined | {"seed": np.int64(-1), "problem": problem.name}


def write(path: Path, found: Sequence[dict[str, Any]], plan: Plan = EVERYTHING) -> None:
    """Write what was found so far, in files that do not become too large."""
    for part in range(0, len(found), _TASKS_IN_FILE):
        name = path.name if part == 0 else f"{path.stem}.{part // _TASKS_IN_FILE}.npz"
        _write(path.with_name(name), found[part : part + _TASKS_IN_FILE], plan)


def _write(path: Path, found: Sequence[dict[str, Any]], plan: Plan) -> None:
    columns = {name: np.array([examined[name] for examined in found]) for name in found[0]}
    about = {
        "candidates": [" / ".join(name) for name in candidates_of(plan)],
        "signal_names": SIGNALS,
        "fact_names": FACTS,
        "weights": weights_card()["sha256"],
        "prior": PRIOR_VERSION,
        "first_seed": SEED,
    }
    arrays = columns | {name: np.array(fact) for name, fact in about.items()}
    fresh = path.with_suffix(".part.npz")
    np.savez_compressed(fresh, **arrays)  # type: ignore[arg-type]
    fresh.replace(path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Examine tasks in several processes for some seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--processes", type=int, default=14)
    parser.add_argument("--problems", type=Path, help="development problems, examined too, into OUT.problems.npz")
    parser.add_argument("--all", action="store_true", help="make every candidate, not only those that the selector has")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args(arguments)
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[threads] = "1"  # for the processes, which share the cores
    plan = EVERYTHING if given.all else load_selector().plan
    start = time.monotonic()
    context = multiprocessing.get_context("spawn")
    results, judged = context.Queue(), context.Queue()
    jobs: list[tuple[Callable[..., None], tuple[Any, ...]]] = [
        (_work, (worker, given.device, plan, results)) for worker in range(given.processes)
    ]
    if given.problems is not None and given.problems.exists():
        jobs.append((_judge_problems, (given.problems, given.device, plan, judged)))
    workers = [context.Process(target=work, args=args, daemon=True) for work, args in jobs]
    for worker in workers:
        worker.start()
    found: list[dict[str, Any]] = []
    problems: list[dict[str, Any]] = []
    written = time.monotonic()
    while time.monotonic() - start < given.seconds:
        for some, into in ((results, found), (judged, problems)):
            try:
                while True:
                    into.append(some.get(timeout=0.2))
            except queue.Empty:
                pass
        if time.monotonic() - written > _PAUSE:
            write(given.out, found, plan)
            write(given.out.with_suffix(".problems.npz"), problems, plan)
            written = time.monotonic()
            print(f"{time.monotonic() - start:.0f} s: {len(found)} tasks, {len(problems)} problems", flush=True)  # noqa: T201
    write(given.out, found, plan)
    write(given.out.with_suffix(".problems.npz"), problems, plan)
    print(f"{len(found)} tasks, {len(problems)} problems", flush=True)  # noqa: T201
    for worker in workers:
        worker.kill()


if __name__ == "__main__":
    main()
