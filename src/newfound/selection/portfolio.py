"""A portfolio of partitions of the unlabelled rows, and a choice among them that needs no novel label.

Every candidate is a way to measure distances (a representation) and a way to cut rows (a method). Two signals rank the
candidates. The information is what edges of neighbour graphs tell about a partition of the unlabelled rows. The hidden
accuracy is how well the same candidate finds known classes whose labels were hidden. How far each signal can be trusted
differs from table to table and is itself measured on the hidden classes.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy
from scipy.stats import spearmanr

from newfound.clustering import partitions as cuts
from newfound.clustering import representations as spaces
from newfound.metrics import clustering_accuracy
from newfound.records import Records
from newfound.selection.hidden_classes import FEWEST_KNOWN, deal_classes, n_hidden_classes
from newfound.tables import Layout

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Name = tuple[str, str]

_BALANCE = 0.2  # weight of the entropy in the score of a partition: large classes are no proof of information
_MANY_FOLDS = 4  # ways of hiding known classes from which on a method that often fails may be chosen
_FEWEST_CLASSES = 0.1  # share of the classes beyond the first that a partition must fill, counted by its entropy
_CLEAN = 0.95  # share of the edges within classes from which on a partition is clean
_TELLS_MORE = 0.06  # of what there is to tell: a clean partition that tells so much more ...
_SMALL_LOSS = 0.1  # ... is preferred, unless that cost more accuracy on the hidden classes
_LESS_APART = 0.03  # share of edges within classes by which a choice may stay behind the hidden classes
_SMALLEST_ENTROPY = 0.05
_EVEN = 0.5  # share of the largest entropy below which classes are of very different sizes
_HOLES = 0.5  # overlap with the rows that lack one cell from which on a class is little else than these
_TRUSTED = 0.5  # trust in the information from which on it decides between partitions that are nearly ...
_ALIKE = 0.85  # ... alike
_STABLE = 0.6  # agreement of a candidate with itself, made anew with more rows, from which on it is the same
_EDGES = 10  # neighbours of each row that vote on a partition
_TRUST_IN_HIDDEN = 2.0  # weight of the hidden accuracy beside the information, both being equally reliable
_SMOOTHING = 0.3  # of the hidden accuracies over candidates with the same representation or method
_HIDDEN_ROWS = (1_000, 1_500)  # hidden and known rows of a task
_COMPARED_ROWS = 1_500
_JITTER = 1e-6  # of the spread: equal rows get neighbours at random instead of in the order of the table


@dataclass(frozen=True)
class Portfolio:
    """Partitions of some rows into a number of classes.

    Attributes
    ----------
    names : list of (representation, method)
    partitions : ndarray of shape (c, n), int64
    information : ndarray of shape (c,)
        Mutual information over the edges of all representations' graphs, less a share of the entropy.
    within : ndarray of shape (c,)
        Share of these edges that stay within a class.
    told : ndarray of shape (c,)
        Share of the entropy that the edges tell, from 0 to 1. Unlike the information it can be large for classes of
        very different sizes.
    is_lopsided : ndarray of shape (c,), bool
        Whether the classes are clean and of very different sizes.
    is_empty : ndarray of shape (c,), bool
        Whether one class holds nearly all rows, so that nothing was found.
    is_holes : ndarray of shape (c,), bool
        Whether some class is little else than the rows that lack the cell of one column.
    graphs : list of ndarray of shape (n, 10), int64
        Nearest neighbours of each row in each representation.
    """

    names: list[Name]
    partitions: Codes
    information: Floats
    within: Floats
    told: Floats
    is_lopsided: NDArray[np.bool_]
    is_empty: NDArray[np.bool_]
    is_holes: NDArray[np.bool_]
    graphs: list[NDArray[np.int64]]

    def agreement(self, rng: np.random.RandomState) -> Floats:
        """Mean agreement of each partition with all of them, from 0 to 1; (c,)."""
        n = self.partitions.shape[1]
        some = rng.choice(n, min(n, _COMPARED_ROWS), replace=False)
        agreement: Floats = _normalised_information(self.partitions[:, some]).mean(axis=1)
        return agreement

    def cleaner_than(self, chosen: int) -> NDArray[np.bool_]:
        """Whether each partition should be preferred to a chosen one that may cut through a large class; (c,).

        The information of a partition is largest for classes of equal size: it would rather cut through a large class
        than see a small one. The cut shows in the edges between classes, and in how little these tell.
        """
        tells_more = self.told >= self.told[chosen] + _TELLS_MORE
        something = self.is_lopsided & ~self.is_empty & ~self.is_holes
        preferred: NDArray[np.bool_] = something & tells_more & (self.within[chosen] < _CLEAN)
        return preferred


def _normalised_information(partitions: Codes) -> Floats:
    """Normalised mutual information of all pairs of partitions, (c, n) to (c, c).

    A sparse product counts the rows that the classes of one partition share with those of all others: however many
    classes there are, two partitions share rows in at most n pairs of classes.
    """
    c, n = partitions.shape
    k = int(partitions.max()) + 1
    places = partitions + k * np.arange(c)[:, None]
    belongs = csr_array((np.ones(c * n), (places.ravel(), np.tile(np.arange(n), c))), shape=(c * k, n))
    shares = belongs.sum(axis=1) / n
    information = np.empty((c, c))
    for i in range(c):
        joint = (belongs[i * k : (i + 1) * k] @ belongs.T).tocoo()
        share = joint.data / n
        terms = share * np.log(share / (shares[i * k + joint.row] * shares[joint.col]))
        information[i] = np.bincount(joint.col // k, terms, minlength=c)
    entropies = -xlogy(shares, shares).reshape(c, k).sum(axis=1)
    mean = (entropies[:, None] + entropies[None, :]) / 2
    normalised: Floats = np.where(mean > 0, information / np.where(mean > 0, mean, 1.0), 1.0)
    return normalised


def build_portfolio(
    rows: Floats,
    codes: Codes,
    layout: Layout,
    n_classes: int,
    rng: np.random.RandomState,
    *,
    names: Sequence[Name] | None = None,
    deadline: float = math.inf,
    device: torch.device | str = "cpu",
) -> Portfolio:
    """Cut the unlabelled rows by every candidate.

    Parameters
    ----------
    rows, codes : ndarray of shape (n, d) and (n,)
        Encoded rows, and their known class or -1.
    layout : Layout
    n_classes : int
        From 2 to the number of unlabelled rows less 1.
    rng : RandomState
    names : sequence of (representation, method), or None
        The candidates; None for all.
    deadline : float
        Time of `time.monotonic` after which no further representation is begun.
    device : torch.device or str
        Where neighbours are searched.
    """
    unlabelled = codes < 0
    found: list[Name] = []
    labels: list[Codes] = []
    edges = []
    wanted = None if names is None else frozenset(representation for representation, _ in names)
    for representation, represented in spaces.representations(rows, codes, layout, rng, wanted):
        own = represented[unlabelled]
        own = own + _JITTER * own.std() * rng.standard_normal(own.shape)
        neighbours = cuts.neighbour_graph(own, device)
        edges.append(neighbours[0][:, :_EDGES])
        methods = None if names is None else frozenset(method for name, method in names if name == representation)
        for method, partition in cuts.partitions(own, neighbours, n_classes, rng, methods):
            found.append((representation, method))
            labels.append(partition)
        if time.monotonic() > deadline:
            break
    information, within = np.array([_told_by(edges, partition, n_classes) for partition in labels]).T
    entropies = np.array([cuts.entropy(partition) for partition in labels])
    return Portfolio(
        found,
        np.array(labels),
        information=information - _BALANCE * entropies,
        within=within,
        told=information / np.maximum(entropies, _SMALLEST_ENTROPY),
        is_lopsided=(within >= _CLEAN) & (entropies < _EVEN * math.log(n_classes)),
        is_empty=np.exp(entropies) < 1 + _FEWEST_CLASSES * (n_classes - 1),
        is_holes=_hold_holes(np.array(labels), rows[unlabelled], layout, n_classes),
        graphs=edges,
    )


def _hold_holes(partitions: Codes, rows: Floats, layout: Layout, n_classes: int) -> NDArray[np.bool_]:
    """Whether a class of each partition (c, n) overlaps mostly with the rows that lack one cell; (c,)."""
    lacks = rows[:, [name.endswith("=missing") for name in layout.names]] > 0
    found = np.zeros(len(partitions), dtype=bool)
    for place, partition in enumerate(partitions):
        belongs = partition[:, None] == np.arange(n_classes)
        both = belongs.T.astype(np.float64) @ lacks
        either = belongs.sum(axis=0)[:, None] + lacks.sum(axis=0) - both
        found[place] = bool((both > _HOLES * either).any())
    return found


def _told_by(graphs: Sequence[NDArray[np.int64]], partition: Codes, n_classes: int) -> Floats:
    """Mean over graphs of the information, and of the share of edges within classes; (2,)."""
    told: Floats = np.mean([cuts.edge_information(partition, graph, n_classes) for graph in graphs], axis=0)
    return told


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
    deadline: float = math.inf,
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
    deadline : float
        Time of `time.monotonic` until which all tasks have to end.
    seconds_each : float
        Expected duration of a task, so that none is begun that would not end in time.
    on_task : callable
        Called whenever a task has ended.
    """
    results = []
    longest = seconds_each
    for fold, task_rows, task_codes, truth in _hidden_tasks(rows, codes, n_novel, n_tasks, rng):
        start = time.monotonic()
        if start + longest > deadline:
            break
        n_hidden = int(truth.max()) + 1
        portfolio = build_portfolio(task_rows, task_codes, layout, n_hidden, rng)
        accuracy = np.array([clustering_accuracy(truth, partition) for partition in portfolio.partitions])
        within = float(_told_by(portfolio.graphs, truth, n_hidden)[1])
        results.append(_Result(fold, portfolio, accuracy, within))
        longest = max(longest, time.monotonic() - start)
        on_task()
    return _weigh(results)


def _hidden_tasks(
    rows: Floats, codes: Codes, n_novel: int, n_tasks: int, rng: np.random.RandomState
) -> Iterator[tuple[tuple[int, ...], Floats, Codes, Codes]]:
    """Hidden classes, rows, codes with hidden ones as -1, and the hidden rows' true classes 0.., of each task."""
    n_known = int(codes.max()) + 1
    if n_known < FEWEST_KNOWN:
        return
    n_hidden = n_hidden_classes(n_known, n_novel)
    folds = deal_classes(n_known, n_hidden, min(n_tasks, math.comb(n_known, n_hidden)), rng)
    # Few known classes can be hidden in few ways; other rows of the same classes are another task, if there are others.
    has_others = (codes >= 0).sum() > sum(_HIDDEN_ROWS)
    for fold in itertools.islice(itertools.cycle(folds), n_tasks if has_others else len(folds)):
        is_hidden = np.isin(codes, fold)
        hidden = sample(np.flatnonzero(is_hidden), _HIDDEN_ROWS[0], rng)
        kept = sample(np.flatnonzero((codes >= 0) & ~is_hidden), _HIDDEN_ROWS[1], rng)
        if len(hidden) <= n_hidden + 1 or len(np.unique(codes[hidden])) < 2:  # a small class may miss the sample
            continue
        classes = np.unique(codes[kept], return_inverse=True)[1]
        task_codes = np.concatenate([classes, np.full(len(hidden), -1)]).astype(np.int64)
        yield fold, rows[np.concatenate([kept, hidden])], task_codes, np.unique(codes[hidden], return_inverse=True)[1]


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


@dataclass(frozen=True)
class Ranking:
    """The candidates, best first, and why.

    Attributes
    ----------
    partitions : ndarray of shape (c, n), int64
        Of the n unlabelled rows that took part.
    names : list of (representation, method)
    score : ndarray of shape (c,)
    within : float
        Share of the edges that stay within a class, of the first candidate.
    is_holes : bool
        Whether some class of the first candidate is little else than the rows that lack the cell of one column.
    is_lopsided : bool
        Whether the first candidate's classes are clean and of very different sizes, so that what evens out sizes would
        spoil them.
    evidence : Evidence
    leaderboard : Records
    """

    partitions: Codes
    names: list[Name]
    score: Floats
    within: float
    is_holes: bool
    is_lopsided: bool
    evidence: Evidence
    leaderboard: Records


def rank(portfolio: Portfolio, evidence: Evidence, rng: np.random.RandomState) -> Ranking:
    """Rank the candidates of a portfolio without any novel label.

    With hidden classes, by the information and the hidden accuracy, each standardised and weighed by the trust in it.
    Without, by the agreement with all other candidates and the edges within classes, among the few candidates that do
    well on most tables. Where the first one's classes are less apart than the known ones, it may cut through a large
    class instead of seeing a small one: cleaner partitions then come first, unless hidden classes speak against it.
    """
    agreement = portfolio.agreement(rng)
    if evidence.trust_in_information + evidence.trust_in_accuracy > 0:
        # A candidate that no task allowed, for want of known classes, is neither praised nor blamed.
        advantage = _smoothed(
            portfolio.names, np.array([evidence.advantage.get(name, 0.0) for name in portfolio.names])
        )
        score = evidence.trust_in_information * _lead(portfolio.information)
        score += _TRUST_IN_HIDDEN * evidence.trust_in_accuracy * _lead(advantage)
    else:
        score = _standardised(agreement) + _standardised(portfolio.within)
        usual = [space in spaces.FEW_KNOWN and method in cuts.FEW_KNOWN for space, method in portfolio.names]
        score[~np.array(usual)] -= np.ptp(score) + 1.0
    last = portfolio.is_empty.copy()
    if evidence.n_folds < _MANY_FOLDS:
        last |= np.array([method in cuts.NEED_EVIDENCE for _, method in portfolio.names])
    score[last] -= np.ptp(score) + 1.0
    chosen = int(score.argmax())
    as_apart_as_known = evidence.n_folds > 0 and portfolio.within[chosen] > evidence.within - _LESS_APART
    if evidence.gain_of_cleaner > -_SMALL_LOSS and not as_apart_as_known:
        score[portfolio.cleaner_than(chosen)] += np.ptp(score) + 1.0
    order = np.argsort(-score, kind="stable")
    names = [portfolio.names[i] for i in order]
    leaderboard = Records(
        {
            "rank": place + 1,
            "representation": portfolio.names[i][0],
            "method": portfolio.names[i][1],
            "score": float(score[i]),
            "hidden_accuracy": evidence.accuracy.get(portfolio.names[i]),
            "information": float(portfolio.information[i]),
            "within": float(portfolio.within[i]),
            "agreement": float(agreement[i]),
        }
        for place, i in enumerate(order)
    )
    return Ranking(
        portfolio.partitions[order],
        names,
        score[order],
        within=float(portfolio.within[order[0]]),
        is_holes=bool(portfolio.is_holes[order[0]]),
        is_lopsided=bool(portfolio.is_lopsided[order[0]]),
        evidence=evidence,
        leaderboard=leaderboard,
    )


def remake(
    choice: Ranking,
    rows: Floats,
    codes: Codes,
    layout: Layout,
    n_classes: int,
    rng: np.random.RandomState,
    *,
    shared: NDArray[np.intp],
    n_best: int,
    device: torch.device | str = "cpu",
) -> Codes:
    """Make the chosen partition anew if there are more rows: a graph of few misses how classes hang together.

    Where the information of a partition can be trusted, it is then exchanged for the most informative spectral
    partition among those that nearly agree with it.

    Parameters
    ----------
    choice : Ranking
    rows, codes, layout, n_classes, rng, device : as for `build_portfolio`
    shared : ndarray of int
        Places of the rows that took part in the choice among the unlabelled rows.
    n_best : int
        Number of the best candidates whose representations are used.

    Returns
    -------
    ndarray of shape (n_unlabelled,), int64
        Class of each unlabelled row.
    """
    best = choice.names[:n_best]
    trusted = choice.evidence.trust_in_information >= _TRUSTED and not choice.is_lopsided
    has_more = int((codes < 0).sum()) > choice.partitions.shape[1]
    names = [*best] if has_more else []
    if trusted:
        names += [(representation, method) for representation, _ in best for method in cuts.SPECTRAL]
    chosen: Codes = choice.partitions[0]
    if not names:
        return chosen
    names = list(dict.fromkeys(names))
    portfolio = build_portfolio(rows, codes, layout, n_classes, rng, names=names, device=device)
    if has_more:
        chosen = _first_stable(choice, portfolio, shared, n_best)
    if trusted:
        alike = (_agreement_with(chosen, portfolio.partitions) >= _ALIKE) & ~portfolio.is_empty
        if alike.any():
            chosen = portfolio.partitions[int(np.where(alike, portfolio.information, -np.inf).argmax())]
    return chosen


def _first_stable(choice: Ranking, portfolio: Portfolio, shared: NDArray[np.intp], n_best: int) -> Codes:
    """Return the best candidate that with more rows still is nearly the partition for which it was ranked."""
    agreements = []
    for name, ranked in zip(choice.names[:n_best], choice.partitions, strict=False):
        if name in portfolio.names:
            anew = portfolio.partitions[portfolio.names.index(name)]
            agreements.append((float(_agreement_with(ranked, anew[None, shared])[0]), anew))
    stable = (anew for agreement, anew in agreements if agreement >= _STABLE)
    return next(stable, max(agreements, key=lambda pair: pair[0])[1])


def _agreement_with(partition: Codes, partitions: Codes) -> Floats:
    """Normalised mutual information of a partition (n,) with others (c, n); (c,)."""
    return np.array([_normalised_information(np.stack([partition, other]))[0, 1] for other in partitions])


def _lead(values: Floats) -> Floats:
    """Standardised lead over the median; how bad the worse half is must not decide among the better."""
    return _standardised(np.maximum(values, np.median(values)))


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


def _standardised(values: Floats) -> Floats:
    spread = float(values.std())
    standard: Floats = (values - values.mean()) / (spread if spread > 0 else 1.0)
    return standard


def sample(index: NDArray[np.intp], most: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw at most so many of the row numbers, in ascending order."""
    return index if len(index) <= most else np.sort(rng.choice(index, most, replace=False))


def sample_of_each(codes: Codes, most: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Row numbers of at most ``most`` labelled and ``most`` unlabelled rows, in ascending order."""
    labelled, unlabelled = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    return np.sort(np.concatenate([sample(labelled, most, rng), sample(unlabelled, most, rng)]))
