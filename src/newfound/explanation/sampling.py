"""Which rows make the rules, which score them, and samples in which no class is missed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.explanation.columns import Codes, Floats
from newfound.tables.sampling import sample

Rows = NDArray[np.intp]

_FEW_ROWS = 1000  # of each class that are drawn before large classes take the rest


class Sample(NamedTuple):
    """Rows drawn from a table, and how many rows each stands for; both of shape (m,)."""

    rows: Rows
    weights: Floats


def halves(codes: Codes, rng: np.random.RandomState) -> tuple[Rows, Rows]:
    """Deal the rows of each class to two halves, of which the first has the odd row of a class.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class of each row.
    rng : RandomState
    """
    shuffled = rng.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    starts = np.searchsorted(codes[by_class], codes[by_class])
    turn = (np.arange(len(codes)) - starts) % 2
    return np.sort(by_class[turn == 0]), np.sort(by_class[turn == 1])


def draw(codes: Codes, most: int, rng: np.random.RandomState) -> Sample:
    """Draw about ``most`` rows, of large classes as many as their share, and of small classes more.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class of each row.
    most : int
        If there are no more rows, all are drawn.
    rng : RandomState
    """
    n = len(codes)
    if n <= most:
        return Sample(np.arange(n), np.ones(n))
    classes, counts = np.unique(codes, return_counts=True)
    few = np.minimum(counts, max(1, min(_FEW_ROWS, most // (2 * len(classes)))))
    left = (most - few.sum()) / n
    rows, weights = [], []
    for code, count, floor in zip(classes, counts, few, strict=True):
        n_drawn = min(int(count), int(floor + left * count))
        rows.append(rng.choice(np.flatnonzero(codes == code), n_drawn, replace=False))
        weights.append(np.full(n_drawn, count / n_drawn))
    everything = np.concatenate(rows)
    order = np.argsort(everything)
    return Sample(everything[order], np.concatenate(weights)[order])


def draw_of_each(codes: Codes, most: int, rng: np.random.RandomState) -> Rows:
    """Draw at most ``most`` rows of each class, in ascending order."""
    drawn = [sample(np.flatnonzero(codes == code), most, rng) for code in np.unique(codes)]
    return np.sort(np.concatenate(drawn)) if drawn else np.empty(0, dtype=np.intp)
