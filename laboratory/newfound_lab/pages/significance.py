"""Whether one method is better than another on tables in general: tests and intervals over tables.

The class splits and seeds of one table are not independent of each other, so a table counts as one observation, however
often it was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap, rankdata

LEVEL = 0.95
"""Share of the probability that intervals hold."""

_RESAMPLES = 9999
_SAME = 9  # decimals; what differs by the rounding of sums alone is equal


@dataclass(frozen=True)
class Lead:
    """How far one method lies above another, over tables.

    Attributes
    ----------
    mean : float
        Mean of the differences, in the units of the values.
    low, high : float
        Interval of that mean, by drawing whole tables anew.
    p : float
        Of the two-sided Wilcoxon signed-rank test.
    n_better, n_tables : int
        Tables with a difference above 0, and all of them.
    """

    mean: float
    low: float
    high: float
    p: float
    n_better: int
    n_tables: int


def lead(ours: Sequence[float], theirs: Sequence[float]) -> Lead | None:
    """Compare two methods by a value for each table, in the same order; None for less than two tables."""
    differences = (np.array(ours, dtype=float) - np.array(theirs, dtype=float)).round(_SAME)
    if len(differences) < 2:
        return None
    low, high = interval_over_tables(differences)
    n_better = int((differences > 0).sum())
    return Lead(float(differences.mean()), low, high, signed_rank_p(differences), n_better, len(differences))


def interval_over_tables(values: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    """Return an interval of the mean of one value a table, by a bootstrap that draws tables (percentiles).

    All runs of a table stay together, since its value is made of all of them.

    Parameters
    ----------
    values : sequence of float
        One for each table, at least two.

    Returns
    -------
    low, high : float
        The same at every call.
    """
    values = np.array(values, dtype=float)
    if np.ptp(values) == 0:
        return float(values[0]), float(values[0])
    found = bootstrap(
        (values,), np.mean, confidence_level=LEVEL, n_resamples=_RESAMPLES, method="percentile", random_state=0
    ).confidence_interval
    return float(found.low), float(found.high)


def signed_rank_p(differences: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the p value of the two-sided Wilcoxon signed-rank test, exact also where differences tie.

    Parameters
    ----------
    differences : sequence of float
        One for each table. Zeros are left out, as Wilcoxon does; 1.0 if there is nothing else.

    Examples
    --------
    >>> signed_rank_p([1.0, 2.0, 3.0])
    0.25
    """
    values = np.array(differences, dtype=float)
    values = values[values != 0]
    # Ranks that tie are halves: twice a rank is a whole number, so that sums of ranks can be counted.
    ranks = (2 * rankdata(np.abs(values))).round().astype(int)
    ways = np.ones(1)  # place s: signs, of all so far, with which the positive ranks sum to s
    for rank in ranks:
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    centre = ranks.sum() / 2
    distance = abs(ranks[values > 0].sum() - centre)
    extreme = np.abs(np.arange(len(ways)) - centre) >= distance
    return float(ways[extreme].sum() / ways.sum())
