"""From evidence to probabilities: how many unlabelled rows are of known classes, and which."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

from newfound.routing.evidence import Evidence
from newfound.routing.share import KnownShare, shares_by_spies

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# Learned on 360 synthetic tasks, 120 of them without novel rows; `newfound-lab pretrain router` does it again.
_WIDTH = 0.872  # nine in ten errors of the share are below so many times the estimates' spread
_NOTHING = 0.06  # share of synthetic tables with no novel class: above it, the table speaks for "no novel class"
# No estimate is smaller on 58 development tables with half of the known rows unlabelled; 54 of 58 without any are.
_FEW = 0.1  # share of known rows below which the errors of a router cost more than it brings
# Set on seven development tables (half of the known rows labelled; 90, 50 or 10 % of a class; all or 30 %; 10 rows
# a class): quantiles of 0.05 to 0.5, and 0 to 20 rows, were tried.
_PUREST = 0.1  # share of a class's labelled rows that lie where other rows are few
_ROWS_FOR_ALL = 2.0  # a class's own level counts for more where it has more labelled rows than that

_QUANTILES = np.array([0.35, 0.5, 0.65, 0.8])  # of spies
_FAR = 7.0  # no log odds count for more
_FEWEST = 0.001  # no share is
_TYPICAL_SHARE = 0.3  # of known rows in the mixed tables on which the in-context network was trained
_SIGNIFICANT = 2.0  # standard errors


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the evidence says about the unlabelled rows.

    Attributes
    ----------
    log_odds : ndarray of shape (n_unlabelled,)
        Evidence for each row being novel, before the share of known rows is taken into account.
    known_share : KnownShare
    is_pure : bool
        Whether too little says that rows of known classes are among them.
    nothing_novel : bool
        Whether nothing says that any row is novel.
    """

    log_odds: Floats
    known_share: KnownShare
    is_pure: bool
    nothing_novel: bool

    def novelty(self) -> Floats:
        """Probability of each unlabelled row to be novel; their mean agrees with the share; (n_unlabelled,).

        Where nothing is novel, rows still differ, but none is more likely novel than known.
        """
        share = float(np.clip(self.known_share, _FEWEST, 1 - _FEWEST))
        far = 60.0 + np.abs(self.log_odds).max()
        shift = brentq(lambda by: expit(self.log_odds + by).mean() - (1 - share), -far, far)
        novelty: Floats = expit(self.log_odds + shift)
        return novelty / 2 if self.nothing_novel else novelty


@dataclass(frozen=True)
class ShareEstimates:
    """Estimates of the share of known rows, and what else decides about a table.

    Attributes
    ----------
    by_spies : tuple of floats
        By the rows that look labelled as much as a third, a half, ... of the spies do, see `shares_by_spies`.
    mean : float
        The mean of all rows' probabilities.
    consistent : float
        The mean of the probabilities that start from it: shows best whether there are known rows at all.
    chance : float
        What so few rows make uncertain in any case.
    separation : float
        How far spies and unlabelled rows are told apart, see `separation`.
    """

    by_spies: tuple[float, ...]
    mean: float
    consistent: float
    chance: float
    separation: float

    @property
    def share(self) -> float:
        """The estimate."""
        return float(np.mean(self.by_spies))

    @property
    def doubt(self) -> float:
        """How far the estimates are apart, and what few rows add to it."""
        every = (*self.by_spies, self.mean, self.consistent)
        return max(every) - min(every) + self.chance


def judge(evidence: Evidence, codes: Codes) -> Judgement:
    """Judge the unlabelled rows by the evidence.

    Parameters
    ----------
    evidence : Evidence
    codes : ndarray of shape (n,), int64
        Known class of each row, -1 where unlabelled.

    Returns
    -------
    Judgement
    """
    log_odds, estimates = weigh(evidence, codes)
    told_apart = estimates.separation >= _SIGNIFICANT
    nothing_novel = bool(not told_apart and evidence.n_novel[0] >= _NOTHING)
    share, half = 1.0 if nothing_novel else estimates.share, _WIDTH * estimates.doubt
    low, high = max(0.0, share - half), min(1.0, share + half)
    found = Judgement(log_odds, KnownShare(share, (low, high)), False, nothing_novel)
    # Where rows are not told apart and there may be no known row, all of them are what most of them seem to be.
    anyones_guess = low == 0 and share < 0.5 and not told_apart
    is_pure = bool(share < _FEW or anyones_guess)
    return replace(found, is_pure=is_pure)


def weigh(evidence: Evidence, codes: Codes) -> tuple[Floats, ShareEstimates]:
    """Weigh the evidence; parameters as in `judge`.

    Returns
    -------
    log_odds : ndarray of shape (n_unlabelled,)
        See `Judgement`.
    estimates : ShareEstimates
    """
    labelled, free = codes >= 0, codes < 0
    ratio = evidence.ratio
    told_apart = kappa(evidence.known[labelled], codes[labelled])
    level = levels(ratio, evidence.known, codes, told_apart)
    found = ratio.clip(-_FAR, _FAR) - level
    log_odds = (found + evidence.novelty.clip(-_FAR, _FAR))[free]
    places = places_of_spies(evidence.unlike - level, evidence.spy_in)
    known = 1 - expit(log_odds)
    estimates = ShareEstimates(
        tuple(shares_by_spies(places, known[np.argsort(found[free], kind="stable")], _QUANTILES).tolist()),
        float(known.mean()),
        self_consistent(log_odds),
        float(1 / np.sqrt(min(labelled.sum(), free.sum()))),
        separation(places, int(free.sum())),
    )
    return log_odds, estimates


def places_of_spies(unlike: Floats, spy_in: Codes) -> Floats:
    """Share of the unlabelled rows that look more labelled than each spy, in the forest in which it is one.

    Parameters
    ----------
    unlike : ndarray of shape (n_forests, n)
        Of `Evidence`.
    spy_in : ndarray of shape (n,), int64
        Of `Evidence`.

    Returns
    -------
    ndarray of shape (n_labelled,)
        From 0 to 1, in no order that means anything; half of the rows that look the same are counted. If nothing is
        novel, spies and unlabelled rows are alike, and these are as many numbers drawn evenly from 0 to 1.
    """
    free = np.sort(unlike[:, spy_in < 0], axis=1)
    places = [
        np.searchsorted(row, scores[spy_in == forest], side) / len(row)
        for side in ("left", "right")
        for forest, (row, scores) in enumerate(zip(free, unlike, strict=True))
    ]
    left, right = np.split(np.concatenate(places), 2)
    half: Floats = (left + right) / 2
    return half


def levels(ratio: Floats, known: Floats, codes: Codes, told_apart: float) -> Floats:
    """How far log ratios are too high or too low since another share of the rows of a class is labelled than of others.

    Where few rows of a class are labelled, its unlabelled rows seem dense beside the labelled ones, as novel rows do;
    but so do its labelled rows. Each row is therefore compared with the labelled rows of the class that it is most
    like: with the tenth of them that look labelled most, where rows of other classes are few. The less the known
    classes are told apart, the less is changed, as rows may then be like a class without being of it.

    Parameters
    ----------
    ratio : ndarray of shape (n,)
        Of `Evidence`.
    known : ndarray of shape (n, n_known)
        Probabilities of the known classes, by models that have not seen the row.
    codes : ndarray of shape (n,), int64
        Known class of each row, -1 where unlabelled.
    told_apart : float
        See `kappa`.

    Returns
    -------
    ndarray of shape (n,)
        To be taken off the log ratios.
    """
    labelled = codes >= 0
    of_all = np.quantile(ratio[labelled], _PUREST)
    of_classes = np.full(known.shape[1], of_all)
    for k in range(known.shape[1]):
        own = ratio[codes == k]
        if len(own):
            of_classes[k] = (len(own) * np.quantile(own, _PUREST) + _ROWS_FOR_ALL * of_all) / (len(own) + _ROWS_FOR_ALL)
    nearest = np.where(labelled, codes, known.argmax(axis=1))
    level: Floats = told_apart**2 * (of_classes[nearest] - of_all)
    return level


def self_consistent(log_odds: Floats) -> float:
    """Share of known rows that is the mean of the probabilities it leads to, from 0.002 to 0.998.

    It is found by going back and forth between share and probabilities, as in the estimation of class priors by
    expectation and maximisation.
    """
    share = _TYPICAL_SHARE
    for _ in range(50):
        known = 1 - expit(log_odds + logit(1 - share) - logit(1 - _TYPICAL_SHARE)).mean()
        share = float(np.clip(known, 0.002, 0.998))
    return share


def kappa(proba: Floats, codes: Codes) -> float:
    """How well known classes are told apart: 0 as by guessing, 1 without an error; 0.5 where there is but one.

    Parameters
    ----------
    proba : ndarray of shape (n, n_known)
        Of labelled rows, by models that have not seen them.
    codes : ndarray of shape (n,), int64
    """
    n_known = proba.shape[1]
    if n_known == 1:
        return 0.5
    right = float((proba.argmax(axis=1) == codes).mean())
    return float(np.clip((right - 1 / n_known) / (1 - 1 / n_known), 0, 1))


def separation(places: Floats, n_free: int) -> float:
    """How far spies and unlabelled rows are told apart, in standard errors of the rank-sum test; 0 is by chance."""
    n_spies = len(places)
    return float((0.5 - places.mean()) / np.sqrt((n_free + n_spies + 1) / (12 * n_free * n_spies)))
