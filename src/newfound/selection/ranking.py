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
from newfound.selection.evidence import Evidence, standardised
from newfound.selection.looking import spread
from newfound.selection.portfolio import NETWORK, Name, Portfolio, agreement_with, build_portfolio
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

    @property
    def tells_less_than_second(self) -> bool:
        """Whether the first candidate has less information than the second."""
        informations = [record["information"] for record in self.leaderboard[:2]]
        return len(informations) == 2 and informations[0] < informations[1]


def rank(portfolio: Portfolio, evidence: Evidence, rng: np.random.RandomState) -> Ranking:
    """Rank the candidates of a portfolio without any novel label.

    With hidden classes, by the information and the hidden accuracy, each standardised and weighed by the trust in it;
    the partition of the in-context network comes first where it leads in one of the two.
    Without, by the agreement with all other candidates and the edges within classes, among the few candidates that do
    well on most tables. Where the first one's classes are less apart than the known ones, it may cut through a large
    class instead of seeing a small one: cleaner partitions then come first, unless hidden classes speak against it.
    """
    agreement = portfolio.agreement(rng)
    if evidence.trusts_something:
        score = evidence.score(portfolio)
    else:
        score = standardised(agreement) + standardised(portfolio.within)
        usual = [space in spaces.FEW_KNOWN and method in cuts.FEW_KNOWN for space, method in portfolio.names]
        score[~np.array(usual)] -= np.ptp(score) + 1.0
    last = portfolio.is_empty.copy()
    if evidence.n_folds < _MANY_FOLDS:
        last |= np.array([method in cuts.NEED_EVIDENCE for _, method in portfolio.names])
    score[last] -= np.ptp(score) + 1.0
    chosen = int(score.argmax())
    as_apart_as_known = evidence.n_folds > 0 and portfolio.within[chosen] > evidence.within - _LESS_APART
    if _network_leads(portfolio, evidence, chosen):
        score[portfolio.names.index(NETWORK)] = score.max() + 1.0
    elif evidence.gain_of_cleaner > -_SMALL_LOSS and not as_apart_as_known:
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


def _network_leads(portfolio: Portfolio, evidence: Evidence, chosen: int) -> bool:
    """Whether the network's partition should be preferred to one that was chosen by its score.

    Either it found hidden classes better than what would have been chosen otherwise; or the graphs tell more about it,
    though it was not made from any of them, and what they tell can be trusted.
    """
    if NETWORK not in portfolio.names:
        return False
    network = portfolio.names.index(NETWORK)
    tells_more = bool(portfolio.information[network] > portfolio.information[chosen])
    is_trusted = evidence.trust_in_information >= _TRUSTED
    return not portfolio.is_empty[network] and (evidence.lead_of_network > 0 or (is_trusted and tells_more))


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
) -> tuple[Codes, bool]:
    """Make the chosen partition anew if there are more rows: a graph of few misses how classes hang together.

    That of the in-context network is not made anew: a forest learns it, and tells the other rows.

    Where the information of a partition can be trusted, it is then exchanged for the most informative spectral
    partition among those that nearly agree with it. That of the network is also exchanged for one that is the same by
    and large, if that tells more: graphs have all rows, and the network saw a sample. Only where the same exchange lost
    no accuracy on hidden classes, though: where classes overlap, what tells more may cut elsewhere.

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
    bool
        Whether that is the network's partition.
    """
    trusted = choice.evidence.trust_in_information >= _TRUSTED and not choice.is_lopsided
    has_more = int((codes < 0).sum()) > choice.partitions.shape[1]
    by_network = choice.names[:1] == [NETWORK]
    best = [name for name in choice.names if name != NETWORK][:n_best]  # the network would see no more rows than before
    names = [*best] if has_more and not by_network else []
    exchanged = trusted and (not by_network or choice.evidence.exchange_pays)
    if exchanged:
        names += [(representation, method) for representation, _ in best for method in cuts.SPECTRAL]
    chosen: Codes = choice.partitions[0]
    if has_more and by_network:
        task = DiscoveryTask(rows, codes, int(codes.max()) + 1, n_classes, layout)
        seen = np.flatnonzero(codes < 0)[shared]
        chosen = spread(task, seen, np.eye(n_classes)[chosen], int(rng.randint(2**31 - 1))).argmax(axis=1)
    if not names:
        return chosen, by_network
    names = list(dict.fromkeys(names))
    portfolio = build_portfolio(rows, codes, layout, n_classes, rng, names=names, device=device)
    if has_more and not by_network:
        chosen = _first_stable(choice, portfolio, shared, n_best)
    if not exchanged:
        return chosen, by_network
    if by_network:
        alike = portfolio.sharper_than(chosen, n_classes)
    else:
        alike = (agreement_with(chosen, portfolio.partitions) >= _ALIKE) & ~portfolio.is_empty
    if not alike.any():
        return chosen, by_network
    return portfolio.partitions[int(np.where(alike, portfolio.information, -np.inf).argmax())], False


def _first_stable(choice: Ranking, portfolio: Portfolio, shared: NDArray[np.intp], n_best: int) -> Codes:
    """Return the best candidate that with more rows still is nearly the partition for which it was ranked."""
    agreements = []
    for name, ranked in zip(choice.names[:n_best], choice.partitions, strict=False):
        if name in portfolio.names:
            anew = portfolio.partitions[portfolio.names.index(name)]
            agreements.append((float(agreement_with(ranked, anew[None, shared])[0]), anew))
    stable = (anew for agreement, anew in agreements if agreement >= _STABLE)
    return next(stable, max(agreements, key=lambda pair: pair[0])[1])
