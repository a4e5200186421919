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


def largest_share(labelled: Floats, unlabelled: Floats, doubt: float = 0.1) -> float:
    """Largest share of the labelled rows' kind that can be among the unlabelled rows.

    Best bin estimation: above any threshold of a score there cannot be more rows of that kind among the unlabelled
    rows than there are rows. The threshold at which this says most, allowing for the few rows above it, is taken.

    Parameters
    ----------
    labelled : ndarray of shape (n,)
        Scores of labelled rows, high where rows look labelled; by models that have not seen the rows.
    unlabelled : ndarray of shape (m,)
    doubt : float, default=0.1
        Chance that the frequencies are further from the truth than allowed for.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> known, novel = rng.normal(3, 1, 4000), rng.normal(0, 1, 3000)
    >>> bool(abs(largest_share(known[1000:], np.append(novel, known[:1000])) - 0.25) < 0.05)
    True
    """
    cuts = np.unique(np.concatenate([labelled, unlabelled]))
    above_l = 1 - np.searchsorted(np.sort(labelled), cuts, "left") / len(labelled)
    above_u = 1 - np.searchsorted(np.sort(unlabelled), cuts, "left") / len(unlabelled)
    error = sum(np.sqrt(np.log(4 / doubt) / (2 * n)) for n in (len(labelled), len(unlabelled)))
    some = above_l > 0
    above_l, above_u = above_l[some], above_u[some]
    best = np.argmin((above_u + error) / above_l)
    return float(min(1.0, above_u[best] / above_l[best]))
