"""A column that parts the unlabelled rows into groups: they may be several classes, whatever else is counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newfound.selection.source_columns import SourceColumns

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_FEWEST_ROWS, _MOST_ROWS = 20, 400  # of a class, or of the unlabelled rows, whose groups are looked for
_PIECES = 32  # of equal numbers of rows, between which groups of numbers may end, and as many of the widest gaps
_MOST_GROUPS = 8
_SMALL = 0.05  # share of the rows that every group has at least
_EXACT = 1e-4  # share of the variance that is left in groups of equal numbers, so that logarithms stay finite
# Learned on 1,060 made-up tables (see one_class.py): where one class was counted, that was right for 44 of 53 tables in
# which no column is clearer than this, and for 5 of the 26 others.
_PARTED = 0.2


@dataclass(frozen=True)
class Parting:
    """A column that parts the unlabelled rows into groups more clearly than any known class.

    Attributes
    ----------
    column : str
    n_groups : int
    """

    column: str
    n_groups: int


def parting_column(columns: SourceColumns, rows: Floats, codes: Codes, rng: np.random.RandomState) -> Parting | None:
    """Find the column that parts the unlabelled rows into groups most clearly, compared with the known classes.

    A known class is one class: where no known class falls into such groups, the unlabelled rows may be several classes.

    Parameters
    ----------
    columns : SourceColumns
    rows : ndarray of shape (n, d)
    codes : ndarray of shape (n,), int64
        Known classes 0, 1, ...; -1 where a row is unlabelled.
    rng : RandomState

    Returns
    -------
    Parting or None
        None where there is no such column, or no known class of at least 20 rows to compare with.
    """
    sets = [np.flatnonzero(codes == code) for code in range(-1, int(codes.max(initial=-1)) + 1)]
    unlabelled, *known = [_some(places, rng) for places in sets if len(places) >= _FEWEST_ROWS or places is sets[0]]
    if len(unlabelled) < _FEWEST_ROWS or not known:
        return None
    best: tuple[float, Parting] | None = None
    for place, name in enumerate(columns.names):
        clearness, n_groups = _groups(columns, rows, place, unlabelled)
        if n_groups < 2 or clearness < (_PARTED if best is None else best[0]):
            continue
        beyond = clearness - max(_groups(columns, rows, place, places)[0] for places in known)
        if beyond >= (_PARTED if best is None else best[0]):
            best = beyond, Parting(name, n_groups)
    return None if best is None else best[1]


def _some(places: Rows, rng: np.random.RandomState) -> Rows:
    return places if len(places) <= _MOST_ROWS else rng.choice(places, _MOST_ROWS, replace=False)


def _groups(columns: SourceColumns, rows: Floats, place: int, some: Rows) -> tuple[float, int]:
    numbers = columns.numbers(rows[some], place)
    return diversity(columns.levels(rows[some], place)) if numbers is None else clumps(numbers[~np.isnan(numbers)])


def diversity(levels: Codes) -> tuple[float, int]:
    """Return the entropy of categories (n,), in nats, and how many of them have a share of the rows that counts."""
    shares = np.bincount(levels) / len(levels)
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum()), int((shares >= _SMALL).sum())


def clumps(numbers: Floats) -> tuple[float, int]:
    """Say how far numbers (n,) fall into groups, and into how many.

    Of numbers that are spread evenly, the best cut into g groups leaves a g-th of the standard deviation. The return
    is the logarithm of how much less is left here, for the number of groups for which that is largest; at least 0.
    """
    if len(numbers) < _FEWEST_ROWS:
        return 0.0, 1
    left = squares_left(np.sort(numbers), _MOST_GROUPS)
    if not left[0] > 0:
        return 0.0, 1
    n_groups = np.arange(1, _MOST_GROUPS + 1)
    less = -0.5 * np.log((left / left[0] + _EXACT) * n_groups**2)
    best = int(less.argmax())
    return max(0.0, float(less[best])), best + 1


def squares_left(ordered: Floats, most: int) -> Floats:
    """Return the least sum of squared distances to the means of 1, 2, ..., ``most`` groups of sorted numbers (n,).

    Groups end at the widest gaps or between pieces of equal numbers of rows, and have a share of the rows that counts;
    infinite where there are no such groups.
    """
    n = len(ordered)
    widest = np.argsort(-np.diff(ordered), kind="stable")[:_PIECES] + 1
    even = np.linspace(0, n, min(n, _PIECES) + 1).round().astype(np.int64)
    edges = np.union1d(even, widest)
    sums = np.concatenate([[0.0], np.cumsum(ordered - ordered.mean())])
    squares = np.concatenate([[0.0], np.cumsum(np.square(ordered - ordered.mean()))])
    start, end = edges[:-1, None], edges[None, 1:]
    size = end - start
    spread = squares[end] - squares[start] - np.square(sums[end] - sums[start]) / np.maximum(size, 1)
    cost = np.where(size >= max(1.0, _SMALL * n), np.maximum(spread, 0.0), np.inf)
    best, left = cost[0], [float(cost[0, -1])]
    for _ in range(most - 1):
        best = np.concatenate([[np.inf], (best[:-1, None] + cost[1:, 1:]).min(axis=0, initial=np.inf)])
        left.append(float(best[-1]))
    return np.array(left)
