"""From evidence to probabilities: how many unlabelled rows are of known classes, and which."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import rankdata

from newfound.routing.evidence import Evidence
from newfound.routing.share import KnownShare, largest_share

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# Learned on 3,509 synthetic tasks; `newfound-lab pretrain router` does it again.
_WIDTH = 0.704  # nine in ten errors of the share are below so many times the estimates' spread
_PURE = 0.019  # nine in ten tasks without known rows among the unlabelled ones have a lower `self_consistent` share
# Set on 60 problems of 30 development tables: 0.3 gave the best AUROC of 0, 0.3 and 1.
_DOUBT = 0.3  # weight of how unsure the classifier of known classes is
# Set on seven development tables (half of the known rows labelled; 90, 50 or 10 % of a class; all or 30 %; 10 rows
# a class): quantiles of 0.05 to 0.5, and 0 to 20 rows, were tried.
_PUREST = 0.1  # share of a class's labelled rows that lie where other rows are few
_ROWS_FOR_ALL = 2.0  # a class's own level counts for more where it has more labelled rows than that

_FAR = 7.0  # no log odds count for more
_LEAST = 0.003  # no probability is nearer to 0 or 1
_FEWEST = 0.001  # no share is
_TYPICAL_SHARE = 0.3  # of known rows in the mixed tables on which the in-context network was trained
_SIGNIFICANT = 2.0  # standard errors
_HARDLY_ANY = 0.05  # a share of known rows that is not worth the errors of a router


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the evidence says about the unlabelled rows.

    Attributes
    ----------
    log_odds : ndarray of shape (n_unlabelled,)
        Evidence for each row being novel, before the share of known rows is taken into account.
    known_share : KnownShare
    is_pure : bool
        Whether nothing says that rows of known classes are among them.
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
    """Three estimates of the share of known rows, and what is made of them.

    Attributes
    ----------
    largest : float
        The largest share that the forest allows for: right where classes can be told apart.
    mean : float
        The mean of the rows' probabilities: nearer where classes overlap.
    consistent : float
        The mean of the probabilities that start from it: shows best whether there are known rows at all.
    told_apart : float
        How well the known classes are told apart, see `kappa`.
    chance : float
        What so few rows make uncertain in any case.
    separation : float
        How far labelled and unlabelled rows are told apart, see `separation`.
    """

    largest: float
    mean: float
    consistent: float
    told_apart: float
    chance: float
    separation: float

    @property
    def share(self) -> float:
        """The estimate: the first as far as known classes are told apart, and by many rows; otherwise the second."""
        trust = self.told_apart * max(0.0, 1 - 2 * self.chance)
        return trust * self.largest + (1 - trust) * self.mean

    @property
    def doubt(self) -> float:
        """How far the estimates are apart, and what few rows add to it."""
        three = (self.largest, self.mean, self.consistent)
        return max(three) - min(three) + self.chance


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
    by_chance = 1 / len(evidence.n_novel)
    nothing_novel = bool(estimates.separation < _SIGNIFICANT and evidence.n_novel[0] >= by_chance)
    share, half = 1.0 if nothing_novel else estimates.share, _WIDTH * estimates.doubt
    interval = (max(0.0, share - half), min(1.0, share + half))
    is_pure = estimates.consistent < _PURE or share < _HARDLY_ANY
    return Judgement(log_odds, KnownShare(share, interval), is_pure, nothing_novel)


def weigh(evidence: Evidence, codes: Codes) -> tuple[Floats, ShareEstimates]:
    """Weigh the evidence; parameters as in `judge`.

    Returns
    -------
    log_odds : ndarray of shape (n_unlabelled,)
        See `Judgement`.
    estimates : ShareEstimates
    """
    labelled, free = codes >= 0, codes < 0
    told_apart = kappa(evidence.known[labelled], codes[labelled])
    ratio = levelled(log_ratio(evidence.unlike, free), evidence.known, codes, told_apart)
    sure = logit(evidence.known.max(axis=1).clip(_LEAST, 1 - _LEAST))
    log_odds = (ratio + evidence.novelty.clip(-_FAR, _FAR) - _DOUBT * sure)[free]
    estimates = ShareEstimates(
        largest_share(-ratio[labelled], -ratio[free]),
        float(1 - expit(log_odds).mean()),
        self_consistent(log_odds),
        told_apart,
        float(1 / np.sqrt(min(labelled.sum(), free.sum()))),
        separation(ratio, free),
    )
    return log_odds, estimates


def log_ratio(unlike: Floats, free: NDArray[np.bool_]) -> Floats:
    """Log of how much denser unlabelled rows are than labelled ones, from the probabilities of being unlabelled."""
    odds = logit(unlike.clip(_LEAST, 1 - _LEAST))
    ratio: Floats = (odds - np.log(free.sum() / (~free).sum())).clip(-_FAR, _FAR)
    return ratio


def levelled(ratio: Floats, known: Floats, codes: Codes, told_apart: float) -> Floats:
    """Make log ratios comparable between known classes of which different shares of the rows are labelled.

    Where few rows of a class are labelled, its unlabelled rows seem dense beside the labelled ones, as novel rows do;
    but so do its labelled rows. Each row is therefore compared with the labelled rows of the class that it is most
    like: with the tenth of them that look labelled most, where rows of other classes are few. The less the known
    classes are told apart, the less is changed, as rows may then be like a class without being of it.

    Parameters
    ----------
    ratio : ndarray of shape (n,)
        See `log_ratio`.
    known : ndarray of shape (n, n_known)
        Probabilities of the known classes, by models that have not seen the row.
    codes : ndarray of shape (n,), int64
        Known class of each row, -1 where unlabelled.
    told_apart : float
        See `kappa`.

    Returns
    -------
    ndarray of shape (n,)
    """
    labelled = codes >= 0
    of_all = np.quantile(ratio[labelled], _PUREST)
    levels = np.full(known.shape[1], of_all)
    for k in range(known.shape[1]):
        own = ratio[codes == k]
        if len(own):
            levels[k] = (len(own) * np.quantile(own, _PUREST) + _ROWS_FOR_ALL * of_all) / (len(own) + _ROWS_FOR_ALL)
    nearest = np.where(labelled, codes, known.argmax(axis=1))
    level: Floats = (ratio - told_apart**2 * (levels[nearest] - of_all)).clip(-_FAR, _FAR)
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


def separation(ratio: Floats, free: NDArray[np.bool_]) -> float:
    """How far labelled and unlabelled rows are told apart, in standard errors of the rank-sum test; 0 is by chance."""
    n_free, n_labelled = int(free.sum()), int((~free).sum())
    above = rankdata(ratio)[free].sum() - n_free * (n_free + 1) / 2
    area = above / (n_free * n_labelled)
    return float((area - 0.5) / np.sqrt((n_free + n_labelled + 1) / (12 * n_free * n_labelled)))
