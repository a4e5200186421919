"""A choice among the candidates of a portfolio that needs no novel label.

Two signals rank them. The information is what edges of neighbour graphs tell about a partition of the unlabelled rows.
The hidden accuracy is how well the same candidate finds known classes whose labels were hidden.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from newfound.clustering import partitions as cuts
from newfound.clustering import representations as spaces
from newfound.records import Records
from newfound.selection.evidence import Evidence
from newfound.selection.looking import spread
from newfound.selection.portfolio import (
    NETWORK,
    Name,
    Portfolio,
    build_portfolio,
    information_of,
    normalised_information,
)
from newfound.tables import Layout
from newfound.tables.task import DiscoveryTask

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_MANY_FOLDS = 4  # ways of hiding known classes from which on a method that often fails may be chosen
_SMALL_LOSS = 0.1  # ... is preferred, unless that cost more accuracy on the hidden classes
_LESS_APART = 0.03  # share of edges within classes by which a choice may stay behind the hidden classes
_TRUSTED = 0.5  # trust in the information from which on it decides between partitions that are nearly ...
_ALIKE = 0.85  # ... alike
_STABLE = 0.6  # agreement of a candidate with itself, made anew with more rows, from which on it is the same
_TRUST_IN_HIDDEN = 2.0  # weight of the hidden accuracy beside the information, both being equally reliable
_SMOOTHING = 0.3  # of the hidden accuracies over candidates with the same representation or method


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
        Whether some class of the first candidate consists almost only of rows in which one column is empty.
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

    That of the in-context network is not made anew: a forest learns it, and tells the other rows.

    Where the information of a partition can be trusted, it is then exchanged for the most informative spectral
    partition among those that nearly agree with it. That of the network is also exchanged for one that is the same by
    and large, if that tells more: graphs have all rows, and the network saw a sample.

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
    trusted = choice.evidence.trust_in_information >= _TRUSTED and not choice.is_lopsided
    has_more = int((codes < 0).sum()) > choice.partitions.shape[1]
    by_network = choice.names[:1] == [NETWORK]
    best = [name for name in choice.names if name != NETWORK][:n_best]  # the network would see no more rows than before
    names = [*best] if has_more and not by_network else []
    if trusted:
        names += [(representation, method) for representation, _ in best for method in cuts.SPECTRAL]
    chosen: Codes = choice.partitions[0]
    if has_more and by_network:
        task = DiscoveryTask(rows, codes, int(codes.max()) + 1, n_classes, layout)
        seen = np.flatnonzero(codes < 0)[shared]
        chosen = spread(task, seen, np.eye(n_classes)[chosen], int(rng.randint(2**31 - 1))).argmax(axis=1)
    if not names:
        return chosen
    names = list(dict.fromkeys(names))
    portfolio = build_portfolio(rows, codes, layout, n_classes, rng, names=names, device=device)
    if has_more and not by_network:
        chosen = _first_stable(choice, portfolio, shared, n_best)
    if not trusted:
        return chosen
    agreement, worth = _agreement_with(chosen, portfolio.partitions), portfolio.information
    if by_network:
        alike = (agreement >= _STABLE) & (worth > information_of(portfolio.graphs, chosen, n_classes))
    else:
        alike = agreement >= _ALIKE
    alike &= ~portfolio.is_empty
    return portfolio.partitions[int(np.where(alike, worth, -np.inf).argmax())] if alike.any() else chosen


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
    return np.array([normalised_information(np.stack([partition, other]))[0, 1] for other in partitions])


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
