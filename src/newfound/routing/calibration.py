"""Probabilities that mean what they say: rows held out of the training, and the temperature fitted to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

COLDEST, HOTTEST = 0.01, 100.0
"""Temperatures between which one is sought."""

_SHARE = 0.1
_MOST_ROWS = 2_000
_FEWEST_ROWS = 30  # from fewer held-out rows nothing is concluded
_FEWEST_IN_CLASS = 20  # smaller classes keep all their rows


def rows_to_hold_out(codes: Codes, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw known rows on which probabilities are to be compared with what happens.

    Parameters
    ----------
    codes : ndarray of shape (n,), int64
        Known class of each row, -1 where unlabelled.
    rng : RandomState
        Left alone where nothing is drawn.

    Returns
    -------
    ndarray of int
        Row numbers, ascending: the same share of every known class that has enough rows, a tenth at most; none where
        that would be too few to say anything.
    """
    sizes = np.bincount(codes[codes >= 0])
    sizes[sizes < _FEWEST_IN_CLASS] = 0
    share = min(_SHARE, _MOST_ROWS / max(1, int(sizes.sum())))
    wanted = np.floor(share * sizes).astype(np.int64)
    if wanted.sum() < _FEWEST_ROWS:
        return np.empty(0, dtype=np.intp)
    drawn = [
        rng.choice(np.flatnonzero(codes == known), n, replace=False) for known, n in enumerate(wanted.tolist()) if n
    ]
    return np.sort(np.concatenate(drawn))


def fit_temperature(proba: Floats, codes: Codes) -> float:
    """Fit the temperature at which probabilities agree best with the classes of held-out rows.

    It minimises the negative log-likelihood of the rows, with a log-normal prior around 1 that weighs as little as one
    row: without it, rows that are all predicted rightly would call for a temperature of 0.

    Parameters
    ----------
    proba : ndarray of shape (n, n_classes)
        Probabilities of all classes for rows that the training has not seen.
    codes : ndarray of shape (n,), int64
        Their known classes.

    Returns
    -------
    float
        For `at_temperature`; above 1 where the probabilities were too sure of themselves. 1.0 where there are too few
        rows to say. Rows whose class has no probability at all are left out, as no temperature can help them.

    Examples
    --------
    >>> sure_and_half_right = np.tile([0.99, 0.01], (100, 1))
    >>> fit_temperature(sure_and_half_right, np.arange(100) % 2) > 10
    True
    """
    possible = proba[np.arange(len(codes)), codes] > 0
    if possible.sum() < _FEWEST_ROWS:
        return 1.0
    with np.errstate(divide="ignore"):
        logs = np.log(proba[possible])
    own = logs[np.arange(len(logs)), codes[possible]]

    def misfit(log_temperature: float) -> float:
        sharpness = np.exp(-log_temperature)
        surprise = logsumexp(sharpness * logs, axis=1) - sharpness * own
        return float(surprise.sum() + log_temperature**2 / 2)

    best = minimize_scalar(misfit, bounds=(np.log(COLDEST), np.log(HOTTEST)), method="bounded")
    return float(np.exp(best.x))


def at_temperature(proba: Floats, temperature: float) -> Floats:
    """Make probabilities less sure of themselves (above 1) or surer (below 1); the largest stays the largest.

    Parameters
    ----------
    proba : ndarray of shape (n, n_classes)
    temperature : float
        At 1.0 the probabilities are returned as they are.

    Returns
    -------
    ndarray of shape (n, n_classes)
        ``proba ** (1 / temperature)``, its rows scaled to sum to one.
    """
    if temperature == 1.0:
        return proba
    relative = (proba / proba.max(axis=1, keepdims=True)) ** (1 / temperature)
    scaled: Floats = relative / relative.sum(axis=1, keepdims=True)
    return scaled
