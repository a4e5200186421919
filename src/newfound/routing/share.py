"""How many of the unlabelled rows are of known classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class KnownShare(float):
    """Share of the unlabelled rows that are of known classes: a number from 0 to 1 that carries its interval.

    Parameters
    ----------
    estimate : float
    interval : tuple of two floats
        Where the share lies with a chance of nine in ten.

    Examples
    --------
    >>> share = KnownShare(0.3, (0.2, 0.45))
    >>> round(1 - share, 2), share.interval
    (0.7, (0.2, 0.45))
    >>> share
    KnownShare(0.3, interval=(0.2, 0.45))
    """

    interval: tuple[float, float]

    def __new__(cls, estimate: float, interval: tuple[float, float]) -> KnownShare:
        """Make a number with an interval."""
        share = super().__new__(cls, estimate)
        share.interval = (float(interval[0]), float(interval[1]))
        return share

    @property
    def estimate(self) -> float:
        """The share as a plain number."""
        return float(self)

    def __repr__(self) -> str:
        low, high = self.interval
        return f"KnownShare({float(self):.3g}, interval=({low:.3g}, {high:.3g}))"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return float(self), self.interval


def shares_by_spies(places: Floats, known: Floats, quantiles: Floats) -> Floats:
    """Share of known rows among the unlabelled ones, by the rows that look labelled most.

    Spies are labelled rows that passed for unlabelled, so among the rows that look labelled most there is the same part
    of all spies as of all known rows that are unlabelled. How many known rows there are in that place is the sum of
    probabilities; divided by that part it is how many there are at all. Only the probabilities of rows that look
    labelled count, of which models are surer than of the others.

    Parameters
    ----------
    places : ndarray of shape (n_spies,)
        Share of the unlabelled rows that look more labelled than each spy.
    known : ndarray of shape (n,)
        Probability of being of a known class, of the unlabelled rows in the order of how much they look labelled.
    quantiles : ndarray of shape (q,)
        Parts of the spies by which to judge.

    Returns
    -------
    ndarray of shape (q,)
        An estimate for each of them, from 0 to 1.

    Examples
    --------
    >>> known = np.repeat([0.9, 0.1], [300, 700])  # 300 rows look labelled, 270 of which are known
    >>> shares_by_spies(np.linspace(0, 0.3, 50), known, np.array([0.5, 0.8])).round(2)
    array([0.27, 0.27])
    """
    expected = np.append(0.0, known.cumsum())
    within = np.quantile(places, quantiles) * len(known)
    shares: Floats = np.interp(within, np.arange(len(expected)), expected) / (quantiles * len(known))
    return np.minimum(shares, 1.0)
