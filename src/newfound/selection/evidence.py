"""What hidden classes say about the candidates of a portfolio.

Known classes are hidden, and the same candidates look for them. How far that foretells what they find among the
unlabelled rows, and how far the information of a partition does, differs from table to table and is measured here.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from newfound.deadline import NEVER, Deadline
from newfound.learning.machine import in_parallel
from newfound.metrics import clustering_accuracy
from newfound.selection.hidden_classes import FEWEST_KNOWN, deal_classes, n_hidden_classes
from newfound.selection.hidden_task import HiddenTask
from newfound.selection.portfolio import Name, Portfolio, build_portfolio, told_by
from newfound.tables import Layout

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_HIDDEN_ROWS = (1_000, 1_500)  # hidden and known rows of a task
_SECONDS_OF_LOOK = 1.6  # of the in-context network, in each task


@dataclass(frozen=True)
class Evidence:
    """What hidden classes say about candidates.

    Attributes
    ----------
    n_folds : int
        Number of different sets of known classes that were hidden.
    accuracy : dict of candidate to float
        Mean accuracy on the hidden classes; candidates that failed in some task are judged by the others.
    advantage : dict of candidate to float
        The same, each task's mean over the candidates being subtracted.
    trust_in_information, trust_in_accuracy : float
        How well a task's accuracies are foretold by the information of its partitions, and by the other tasks'
        accuracies: rank correlations, at least 0.
    gain_of_cleaner : float
        Mean change of the accuracy where the most informative partition of a task was exchanged for a cleaner one.
    within : float
        Mean share of the edges that stay within a class, of the hidden classes themselves.
    """

    n_folds: int = 0
    accuracy: dict[Name, float] = field(default_factory=dict)
    advantage: dict[Name, float] = field(default_factory=dict)
    trust_in_information: float = 0.0
    trust_in_accuracy: float = 0.0
    gain_of_cleaner: float = 0.0
    within: float = 0.0


def gather_evidence(
    rows: Floats,
    codes: Codes,
    layout: Layout,
    n_novel: int,
    rng: np.random.RandomState,
    *,
    n_tasks: int,
    names: Sequence[Name] | None = None,
    deadline: Deadline = NEVER,
    seconds_each: float = 0.0,
    on_task: Callable[[], None] = lambda: None,
) -> Evidence:
    """Hide known classes and see which candidates find them.

    Parameters
    ----------
    rows, codes, layout : as for `build_portfolio`
    n_novel : int
        Number of novel classes; as many are hidden if there are enough known ones.
    rng : RandomState
    n_tasks : int
        Most tasks that are made.
    names : sequence of (representation, method), or None
        The candidates that are of interest; None for all.
    deadline : Deadline
        Until which all tasks have to end.
    seconds_each : float
        Expected duration of a task, so that none is begun that would not end in time.
    on_task : callable
        Called whenever a task has ended, from any of the threads.
    """
    hidden = list(_hidden_tasks(codes, n_novel, n_tasks, rng))
    # A seed for each task, so that it does not matter in which order and in how many threads they are done.
    seeds = rng.randint(2**31 - 1, size=len(hidden))
    results: dict[int, _Result] = {}
    durations = [seconds_each]

    def do(part: slice) -> None:
        place, start = part.start, time.monotonic()
        if deadline.passed or max(durations) > deadline.left:
            return
        fold, task = hidden[place]
        own = np.random.RandomState(seeds[place])
        portfolio = build_portfolio(
            rows[task.rows],
            task.codes,
            layout,
            task.n_hidden,
            own,
            names=names,
            n_views=1,
            seconds_of_look=_SECONDS_OF_LOOK,
        )
        accuracy = np.array([clustering_accuracy(task.truth, partition) for partition in portfolio.partitions])
        within = float(told_by(portfolio.graphs, task.truth, task.n_hidden)[1])
        results[place] = _Result(fold, portfolio, accuracy, within)
        durations.append(time.monotonic() - start)
        on_task()

    in_parallel(do, [slice(place, place + 1) for place in range(len(hidden))])
    return _weigh([results[place] for place in sorted(results)])


def _hidden_tasks(
    codes: Codes, n_novel: int, n_tasks: int, rng: np.random.RandomState
) -> Iterator[tuple[tuple[int, ...], HiddenTask]]:
    """Hide known classes, several times; yields the classes and the task."""
    n_known = int(codes.max()) + 1
    if n_known < FEWEST_KNOWN:
        return
    n_hidden = n_hidden_classes(n_known, n_novel)
    folds = deal_classes(n_known, n_hidden, min(n_tasks, math.comb(n_known, n_hidden)), rng)
    # Few known classes can be hidden in few ways; other rows of the same classes are another task, if there are others.
    has_others = (codes >= 0).sum() > sum(_HIDDEN_ROWS)
    for fold in itertools.islice(itertools.cycle(folds), n_tasks if has_others else len(folds)):
        task = HiddenTask.hide(codes, fold).drawn(*_HIDDEN_ROWS, rng)
        if len(task.hidden) > n_hidden + 1 and task.n_hidden > 1:  # a small class may miss the sample
            yield fold, task


@dataclass(frozen=True)
class _Result:
    """Accuracy of each candidate of a task's portfolio, and the share of edges within the true classes."""

    fold: tuple[int, ...]
    portfolio: Portfolio
    accuracy: Floats
    within: float


def _weigh(results: list[_Result]) -> Evidence:
    if not results:
        return Evidence()
    names = sorted({name for result in results for name in result.portfolio.names})
    table = np.full((len(results), len(names)), np.nan)
    for line, result in zip(table, results, strict=True):
        line[[names.index(name) for name in result.portfolio.names]] = result.accuracy
    centred = table - np.nanmean(table, axis=1, keepdims=True)
    informed = [_rank_correlation(result.portfolio.information, result.accuracy) for result in results]
    foretold = []
    for t, result in enumerate(results):
        others = centred[[other.fold != result.fold for other in results]]
        both = ~np.isnan(table[t]) & ~np.isnan(others).all(axis=0)
        if len(others) and both.any():
            foretold.append(_rank_correlation(np.nanmean(others[:, both], axis=0), table[t, both]))
    gains = [gain for result in results if (gain := _gain_of_cleaner(result)) is not None]
    return Evidence(
        n_folds=len({result.fold for result in results}),
        accuracy=dict(zip(names, np.nanmean(table, axis=0).tolist(), strict=True)),
        advantage=dict(zip(names, np.nanmean(centred, axis=0).tolist(), strict=True)),
        trust_in_information=max(0.0, float(np.mean(informed))),
        trust_in_accuracy=max(0.0, float(np.mean(foretold))) if foretold else 0.0,
        gain_of_cleaner=float(np.mean(gains)) if gains else 0.0,
        within=float(np.mean([result.within for result in results])),
    )


def _gain_of_cleaner(result: _Result) -> float | None:
    """Gain of accuracy by the exchange that `rank` would make if the information alone decided; None if by none."""
    portfolio, accuracy = result.portfolio, result.accuracy
    score = np.where(portfolio.is_empty, -np.inf, portfolio.information)
    chosen = int(score.argmax())
    cleaner = portfolio.cleaner_than(chosen)
    if not cleaner.any():
        return None
    return float(accuracy[np.where(cleaner, score, -np.inf).argmax()] - accuracy[chosen])


def _rank_correlation(a: Floats, b: Floats) -> float:
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(spearmanr(a, b).statistic)
