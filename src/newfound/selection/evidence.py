"""What hidden classes say about the candidates of a portfolio.

Known classes are hidden, and the same candidates look for them. How far that foretells what they find among the
unlabelled rows, and how far the information of a partition does, differs from table to table and is measured here.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from newfound.deadline import NEVER, Deadline
from newfound.learning.machine import in_parallel, one_thread
from newfound.metrics import clustering_accuracy
from newfound.selection.hidden_classes import FEWEST_KNOWN, deal_classes, n_hidden_classes
from newfound.selection.hidden_task import HiddenTask
from newfound.selection.portfolio import NETWORK, Name, Portfolio, build_portfolio, told_by
from newfound.tables import Layout

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_HIDDEN_ROWS = (1_000, 1_500)  # hidden and known rows of a task
_SECONDS_OF_LOOK = 1.6  # of the in-context network, in each task
_TRUST_IN_HIDDEN = 2.0  # weight of the hidden accuracy beside the information, both being equally reliable
_SMOOTHING = 0.3  # of the hidden accuracies over candidates with the same representation or method
_EXECUTOR: ContextVar[Executor | None] = ContextVar("_EXECUTOR", default=None)  # where hidden classes are looked for


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
    lead_of_network : float
        Mean lead of the network's partition over that which the information of a task and the other tasks would choose
        among all others; 0 where there is none.
    gains_of_exchange : tuple of float
        Change of the accuracy in each task where the network's partition was exchanged for a spectral one that is the
        same by and large but tells more.
    within : float
        Mean share of the edges that stay within a class, of the hidden classes themselves.
    """

    n_folds: int = 0
    accuracy: dict[Name, float] = field(default_factory=dict)
    advantage: dict[Name, float] = field(default_factory=dict)
    trust_in_information: float = 0.0
    trust_in_accuracy: float = 0.0
    gain_of_cleaner: float = 0.0
    lead_of_network: float = 0.0
    gains_of_exchange: tuple[float, ...] = ()
    within: float = 0.0

    @property
    def trusts_something(self) -> bool:
        """Whether hidden classes can tell candidates apart."""
        return self.trust_in_information + self.trust_in_accuracy > 0

    def score(self, portfolio: Portfolio) -> Floats:
        """Score candidates by information and hidden accuracy, each standardised and weighed by the trust in it; (c,).

        A candidate that no task allowed, for want of known classes, is neither praised nor blamed.
        """
        advantage = _smoothed(portfolio.names, np.array([self.advantage.get(name, 0.0) for name in portfolio.names]))
        score: Floats = self.trust_in_information * _lead(portfolio.information)
        score += _TRUST_IN_HIDDEN * self.trust_in_accuracy * _lead(advantage)
        return score

    @property
    def exchange_pays(self) -> bool:
        """Whether tasks, more than one, say that the exchange of the network's partition loses no accuracy.

        The mean of their gains may lie below 0 by its standard error.
        """
        gains = np.array(self.gains_of_exchange)
        return len(gains) > 1 and bool(gains.mean() + gains.std(ddof=1) / math.sqrt(len(gains)) >= 0)


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
    # A seed for each task, so that it does not matter in which order and where they are done.
    seeds = rng.randint(2**31 - 1, size=len(hidden)).tolist()
    trials = [
        partial(_try, fold, rows[task.rows], task.codes, task.truth, layout, seed, names)
        for (fold, task), seed in zip(hidden, seeds, strict=True)
    ]
    executor = _EXECUTOR.get()
    if executor is None:
        results = _done_here(trials, deadline, seconds_each, on_task)
    else:
        results = _done_elsewhere(trials, executor, deadline, on_task)
    return _weigh([results[place] for place in sorted(results)])


@contextmanager
def helped_by(executor: Executor | None) -> Iterator[None]:
    """Have hidden classes looked for in an executor, by all that gathers evidence within this."""
    token = _EXECUTOR.set(executor)
    try:
        yield
    finally:
        _EXECUTOR.reset(token)


def _done_here(
    trials: Sequence[Callable[[], _Result]], deadline: Deadline, seconds_each: float, on_task: Callable[[], None]
) -> dict[int, _Result]:
    """Do trials in threads, as far as there is time; returns their results by their places."""
    results: dict[int, _Result] = {}
    durations = [seconds_each]

    def do(part: slice) -> None:
        start = time.monotonic()
        if deadline.passed or max(durations) > deadline.left:
            return
        results[part.start] = trials[part.start]()
        durations.append(time.monotonic() - start)
        on_task()

    in_parallel(do, [slice(place, place + 1) for place in range(len(trials))])
    return results


def _done_elsewhere(
    trials: Sequence[Callable[[], _Result]], executor: Executor, deadline: Deadline, on_task: Callable[[], None]
) -> dict[int, _Result]:
    """Do trials in an executor; those that have not ended in time are left out."""
    places = {executor.submit(_alone, trial): place for place, trial in enumerate(trials)}
    results: dict[int, _Result] = {}
    with suppress(TimeoutError):
        for done in as_completed(places, deadline.left if deadline.is_set else None):
            results[places[done]] = done.result()
            on_task()
    for future in places:
        future.cancel()
    return results


def _alone(trial: Callable[[], _Result]) -> _Result:
    """Do a trial in one thread, since others are done beside it."""
    with one_thread():
        return trial()


def _try(
    fold: tuple[int, ...],
    rows: Floats,
    codes: Codes,
    truth: Codes,
    layout: Layout,
    seed: int,
    names: Sequence[Name] | None,
) -> _Result:
    """Have all candidates look for hidden classes.

    Parameters
    ----------
    fold : tuple of int
        The hidden classes.
    rows, codes : ndarray of shape (n, d) and (n,)
        Encoded rows, and their known class or -1 where it is hidden.
    truth : ndarray of shape (n_hidden_rows,)
        The hidden classes of the rows.
    layout : Layout
    seed : int
    names : sequence of (representation, method), or None
    """
    n_hidden = len(np.unique(truth))
    portfolio = build_portfolio(
        rows,
        codes,
        layout,
        n_hidden,
        np.random.RandomState(seed),
        names=names,
        n_views=1,
        seconds_of_look=_SECONDS_OF_LOOK,
    )
    accuracy = np.array([clustering_accuracy(truth, partition) for partition in portfolio.partitions])
    within = float(told_by(portfolio.graphs, truth, n_hidden)[1])
    return _Result(fold, portfolio, accuracy, within, n_hidden)


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
    """Accuracy of each candidate of a task, the share of edges within the true classes, and how many these are."""

    fold: tuple[int, ...]
    portfolio: Portfolio
    accuracy: Floats
    within: float
    n_hidden: int


def _weigh(results: list[_Result]) -> Evidence:
    """Weigh what tasks say, and how far the network leads in tasks that have no part in what it is compared with."""
    leads = []
    for result in results:
        others = _summarise([other for other in results if other.fold != result.fold])
        if others.trusts_something and NETWORK in result.portfolio.names:
            leads.append(_lead_of_network(result, others))
    return replace(_summarise(results), lead_of_network=float(np.mean(leads)) if leads else 0.0)


def _summarise(results: list[_Result]) -> Evidence:
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
        gains_of_exchange=tuple(gain for result in results if (gain := _gain_of_exchange(result)) is not None),
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


def _lead_of_network(result: _Result, evidence: Evidence) -> float:
    """Accuracy of the network's partition, less that of the one that would be chosen among all others."""
    portfolio, network = result.portfolio, result.portfolio.names.index(NETWORK)
    score = evidence.score(portfolio)
    score[portfolio.is_empty] = -np.inf
    score[network] = -np.inf
    return float(result.accuracy[network] - result.accuracy[score.argmax()])


def _gain_of_exchange(result: _Result) -> float | None:
    """Gain of accuracy by the exchange that `remake` would make of the network's partition; None if by none."""
    portfolio, accuracy = result.portfolio, result.accuracy
    if NETWORK not in portfolio.names:
        return None
    network = portfolio.names.index(NETWORK)
    sharper = portfolio.sharper_than(portfolio.partitions[network], result.n_hidden)
    if not sharper.any():
        return None
    return float(accuracy[np.where(sharper, portfolio.information, -np.inf).argmax()] - accuracy[network])


def _rank_correlation(a: Floats, b: Floats) -> float:
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(spearmanr(a, b).statistic)


def _lead(values: Floats) -> Floats:
    """Standardised lead over the median; how bad the worse half is must not decide among the better."""
    return standardised(np.maximum(values, np.median(values)))


def _smoothed(names: list[Name], advantage: Floats) -> Floats:
    """Draw each candidate's advantage towards what its representation and its method have on average.

    Few tasks are few chances to be lucky; those that share a representation or a method were lucky independently.
    """
    additive = np.full(len(names), -advantage.mean())
    for part in (0, 1):
        kinds = np.unique([name[part] for name in names], return_inverse=True)[1]
        additive += (np.bincount(kinds, advantage) / np.bincount(kinds))[kinds]
    smoothed: Floats = (1 - _SMOOTHING) * advantage + _SMOOTHING * additive
    return smoothed


def standardised(values: Floats) -> Floats:
    """Values (n,) less their mean, in units of their standard deviation; all 0 where they are equal."""
    spread = float(values.std())
    standard: Floats = (values - values.mean()) / (spread if spread > 0 else 1.0)
    return standard
