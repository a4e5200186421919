"""A portfolio of partitions of the unlabelled rows, and a choice among them that needs no novel label.

Every candidate is a way to measure distances (a representation) and a way to cut rows (a method). Two signals rank the
candidates. The information is what edges of neighbour graphs tell about a partition of the unlabelled rows. The hidden
accuracy is how well the same candidate finds known classes whose labels were hidden. How far each signal can be trusted
differs from table to table and is itself measured on the hidden classes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from scipy.stats import spearmanr

from newfound.clustering import partitions as cuts
from newfound.clustering import representations as spaces
from newfound.metrics import clustering_accuracy
from newfound.records import Records
from newfound.selection.hidden_classes import deal_classes, n_hidden_classes
from newfound.tables import Layout

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Name = tuple[str, str]

FEWEST_KNOWN = 3
"""Known classes from which two can be hidden while one stays known."""

_BALANCE = 0.2  # weight of the entropy in the score of a partition: large classes are no proof of information
_EDGES = 10  # neighbours of each row that vote on a partition
_TRUST_IN_HIDDEN = 2.0  # weight of the hidden accuracy beside the information, both being equally reliable
_MOST_ROWS = 3_000  # of each kind in the portfolio; the best candidates are then made anew with more rows
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
    """

    names: list[Name]
    partitions: Codes
    information: Floats
    within: Floats

    def agreement(self, rng: np.random.RandomState) -> Floats:
        """Mean agreement of each partition with all of them, from 0 to 1; (c,)."""
        n = self.partitions.shape[1]
        some = rng.choice(n, min(n, _COMPARED_ROWS), replace=False)
        agreement: Floats = _normalised_information(self.partitions[:, some]).mean(axis=1)
        return agreement


def _normalised_information(partitions: Codes) -> Floats:
    """Normalised mutual information of all pairs of partitions, (c, n) to (c, c).

    One matrix product counts the rows that any two classes share, for all pairs of partitions at once.
    """
    c, n = partitions.shape
    k = int(partitions.max()) + 1
    indicators = np.zeros((c, k, n), dtype=np.float32)
    np.put_along_axis(indicators, partitions[:, None, :], 1.0, axis=1)
    flat = indicators.reshape(c * k, n)
    joint = (flat @ flat.T).reshape(c, k, c, k).transpose(0, 2, 1, 3).astype(np.float64) / n
    shares = indicators.mean(axis=2, dtype=np.float64)
    entropies = -xlogy(shares, shares).sum(axis=1)
    independent = shares[:, None, :, None] * shares[None, :, None, :]
    information = xlogy(joint, joint / np.where(independent > 0, independent, 1.0)).sum(axis=(2, 3))
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
    """
    unlabelled = codes < 0
    found: list[Name] = []
    labels: list[Codes] = []
    edges = []
    wanted = None if names is None else frozenset(representation for representation, _ in names)
    for representation, represented in spaces.representations(rows, codes, layout, rng, wanted):
        own = represented[unlabelled]
        own = own + _JITTER * own.std() * rng.standard_normal(own.shape)
        neighbours = cuts.neighbour_graph(own)
        edges.append(neighbours[0][:, :_EDGES])
        methods = None if names is None else frozenset(method for name, method in names if name == representation)
        for method, partition in cuts.partitions(own, neighbours, n_classes, rng, methods):
            found.append((representation, method))
            labels.append(partition)
        if time.monotonic() > deadline:
            break
    information, within = np.array([_edge_scores(partition, edges, n_classes) for partition in labels]).T
    return Portfolio(found, np.array(labels), information, within)


def _edge_scores(partition: Codes, edges: list[Codes], n_classes: int) -> tuple[float, float]:
    told = np.mean([cuts.edge_information(partition, graph, n_classes) for graph in edges], axis=0)
    return float(told[0] - _BALANCE * cuts.entropy(partition)), float(told[1])


@dataclass(frozen=True)
class Evidence:
    """What hidden classes say about candidates.

    Attributes
    ----------
    n_tasks : int
        Number of times that known classes were hidden.
    accuracy : dict of candidate to float
        Mean accuracy on the hidden classes; candidates that failed in some task are judged by the others.
    advantage : dict of candidate to float
        The same, each task's mean over the candidates being subtracted.
    trust_in_information, trust_in_accuracy : float
        How well a task's accuracies are foretold by the information of its partitions, and by the other tasks'
        accuracies: rank correlations, at least 0.
    """

    n_tasks: int = 0
    accuracy: dict[Name, float] = field(default_factory=dict)
    advantage: dict[Name, float] = field(default_factory=dict)
    trust_in_information: float = 0.0
    trust_in_accuracy: float = 0.0


def gather_evidence(
    rows: Floats,
    codes: Codes,
    layout: Layout,
    n_novel: int,
    rng: np.random.RandomState,
    *,
    n_tasks: int,
    deadline: float = math.inf,
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
        Time of `time.monotonic` after which no further task is begun.
    """
    results = []
    longest = 0.0
    for task_rows, task_codes, truth in _hidden_tasks(rows, codes, n_novel, n_tasks, rng):
        start = time.monotonic()
        if start + longest > deadline:
            break
        portfolio = build_portfolio(task_rows, task_codes, layout, len(np.unique(truth)), rng)
        accuracy = np.array([clustering_accuracy(truth, partition) for partition in portfolio.partitions])
        results.append((portfolio, accuracy))
        longest = max(longest, time.monotonic() - start)
    return _weigh(results)


def _hidden_tasks(
    rows: Floats, codes: Codes, n_novel: int, n_tasks: int, rng: np.random.RandomState
) -> Iterator[tuple[Floats, Codes, Codes]]:
    """Rows, codes with hidden ones as -1, and the hidden rows' true classes, of each task."""
    n_known = int(codes.max()) + 1
    if n_known < FEWEST_KNOWN:
        return
    n_hidden = n_hidden_classes(n_known, n_novel)
    for fold in deal_classes(n_known, n_hidden, min(n_tasks, math.comb(n_known, n_hidden)), rng):
        is_hidden = np.isin(codes, fold)
        hidden = sample(np.flatnonzero(is_hidden), _HIDDEN_ROWS[0], rng)
        kept = sample(np.flatnonzero((codes >= 0) & ~is_hidden), _HIDDEN_ROWS[1], rng)
        if len(hidden) <= n_hidden + 1:
            continue
        classes = np.unique(codes[kept], return_inverse=True)[1]
        task_codes = np.concatenate([classes, np.full(len(hidden), -1)]).astype(np.int64)
        yield rows[np.concatenate([kept, hidden])], task_codes, codes[hidden]


def _weigh(results: list[tuple[Portfolio, Floats]]) -> Evidence:
    if not results:
        return Evidence()
    names = sorted({name for portfolio, _ in results for name in portfolio.names})
    table = np.full((len(results), len(names)), np.nan)
    informed = []
    for t, (portfolio, accuracy) in enumerate(results):
        table[t, [names.index(name) for name in portfolio.names]] = accuracy
        informed.append(_rank_correlation(portfolio.information, accuracy))
    centred = table - np.nanmean(table, axis=1, keepdims=True)
    foretold = []
    for t in range(len(results)):
        others = np.delete(centred, t, axis=0)
        both = ~np.isnan(table[t]) & ~np.isnan(others).all(axis=0)
        if len(others) and both.any():
            foretold.append(_rank_correlation(np.nanmean(others[:, both], axis=0), table[t, both]))
    return Evidence(
        n_tasks=len(results),
        accuracy=dict(zip(names, np.nanmean(table, axis=0).tolist(), strict=True)),
        advantage=dict(zip(names, np.nanmean(centred, axis=0).tolist(), strict=True)),
        trust_in_information=max(0.0, float(np.mean(informed))),
        trust_in_accuracy=max(0.0, float(np.mean(foretold))) if foretold else 0.0,
    )


def _rank_correlation(a: Floats, b: Floats) -> float:
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(spearmanr(a, b).statistic)


@dataclass(frozen=True)
class Choice:
    """The candidates, best first, and why.

    Attributes
    ----------
    partitions : ndarray of shape (c, n), int64
        Of the n unlabelled rows that took part.
    names : list of (representation, method)
    score : ndarray of shape (c,)
    evidence : Evidence
    leaderboard : Records
    """

    partitions: Codes
    names: list[Name]
    score: Floats
    evidence: Evidence
    leaderboard: Records


def rank(portfolio: Portfolio, evidence: Evidence, rng: np.random.RandomState) -> Choice:
    """Rank the candidates of a portfolio without any novel label.

    With hidden classes, by the information and the hidden accuracy, each standardised and weighed by the trust in it.
    Without, by the agreement with all other candidates and the edges within classes, among the few candidates that do
    well on most tables.
    """
    agreement = portfolio.agreement(rng)
    if evidence.n_tasks and evidence.trust_in_information + evidence.trust_in_accuracy > 0:
        # A candidate that no task allowed, for want of known classes, is neither praised nor blamed.
        advantage = np.array([evidence.advantage.get(name, 0.0) for name in portfolio.names])
        score = evidence.trust_in_information * _standardised(portfolio.information)
        score += _TRUST_IN_HIDDEN * evidence.trust_in_accuracy * _standardised(advantage)
    else:
        score = _standardised(agreement) + _standardised(portfolio.within)
        usual = [space in spaces.FEW_KNOWN and method in cuts.FEW_KNOWN for space, method in portfolio.names]
        score[~np.array(usual)] -= np.ptp(score) + 1.0
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
            "agreement": float(agreement[i]),
        }
        for place, i in enumerate(order)
    )
    return Choice(portfolio.partitions[order], names, score[order], evidence, leaderboard)


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
