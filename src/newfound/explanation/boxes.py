"""Search for boxes, each a choice of bins of a few columns, that hold many rows of a class and few others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newfound.explanation.bins import BinCodes, Bins, ScaleBins
from newfound.explanation.columns import Floats, Mask

Box = dict[int, Mask]  # the chosen bins of each column that it speaks of
Rows = NDArray[np.intp]
Columns = NDArray[np.intp]

_WIDTH = 6  # boxes kept at each step of a search
_BRANCHES = 6  # columns by which each of them is continued
_SETTLED = 2  # of these, boxes whose bins are chosen anew
_ROUNDS = 6  # in which they are
_MOST_COLUMNS = 64  # columns that take part in a search, by what they say on their own
_MOST_VALUES = 4  # categories that a condition names
_CONDITION_PRICE = 0.005  # what a condition has to bring, as a share of the class


@dataclass(frozen=True, eq=False)
class BinnedRows:
    """Rows by the bins of their cells.

    Attributes
    ----------
    bins : sequence of Bins, one a column
    codes : ndarray of shape (n_columns, n)
    """

    bins: Sequence[Bins]
    codes: BinCodes

    @classmethod
    def of(cls, bins: Sequence[Bins]) -> BinnedRows:
        """Sort the cells of columns into their bins."""
        return cls(bins, np.stack([column.encode() for column in bins]))

    def within(self, box: Box, rows: Rows) -> Rows:
        """Return those of some rows that lie in a box."""
        for j, chosen in box.items():
            rows = rows[chosen[self.codes[j][rows]]]
        return rows


@dataclass(frozen=True, eq=False)
class _Candidate:
    box: Box
    rows: Rows
    score: float


class BoxSearch:
    """Find the box whose rows score best.

    The score of a box is the weight of the rows of the class in it that are still to be covered, less the price of each
    other row, less something for each condition. For such a sum the best range, or set of categories, of a column is
    found by counting: the run of bins, or the bins, of largest sum. So columns are added one by one (a beam search),
    and then the bins of each are chosen anew, given those of the others.

    Parameters
    ----------
    binned : BinnedRows of n rows
    inside : ndarray of shape (n,), bool
        The rows of the class.
    weights : ndarray of shape (n,)
        How many rows each row stands for; 0 where it takes no part.
    max_conditions : int
    """

    def __init__(self, binned: BinnedRows, inside: Mask, weights: Floats, max_conditions: int) -> None:
        self.binned, self.inside, self.weights, self.max_conditions = binned, inside, weights, max_conditions
        self.n_bins = np.array([column.n_bins for column in binned.bins])
        self.width = int(self.n_bins.max()) + 1
        self.on_scale = np.array([isinstance(column, ScaleBins) for column in binned.bins])
        self.right = np.where(inside, weights, 0.0)  # what is to be covered
        self.wrong = np.where(inside, 0.0, weights)
        self.size = float(self.right.sum())
        self.rows = np.flatnonzero(weights > 0)
        self.columns = self._most_telling(np.arange(len(binned.bins)))

    @property
    def uncovered(self) -> float:
        """Share of the class that no box covers yet."""
        return float(self.right.sum()) / self.size

    def cover(self, box: Box) -> None:
        """Take the rows of a box as covered: those of the class count neither as right nor as wrong from now on."""
        self.right[self.rows_in(box)] = 0.0

    def rows_in(self, box: Box) -> Rows:
        """Return the rows in a box."""
        return self.binned.within(box, self.rows)

    def gain(self, box: Box) -> float:
        """Return the share of the class that a box would cover in addition."""
        return float(self.right[self.rows_in(box)].sum()) / self.size

    def best(self, price: float) -> Box | None:
        """Return the best box found where a wrong row costs ``price`` right ones; None if none is worth its price."""
        start = min(price, max(float(self.right.sum()), 1e-9) / max(float(self.wrong.sum()), 1e-9))
        beam = [_Candidate({}, self.rows, 0.0)]
        best: _Candidate | None = None
        for depth in range(1, self.max_conditions + 1):
            # At the full price the first condition would be far too narrow.
            share = depth / self.max_conditions
            beam = self._continued(beam, start ** (1 - share) * price**share)
            for candidate in beam[:_SETTLED]:
                settled = self._settled(candidate.box, price)
                if best is None or settled.score > best.score:
                    best = settled
        return self._simplified(best.box, price) if best is not None and best.score > 0 else None

    # ---- steps of the search

    def _score(self, box: Box, price: float) -> float:
        rows = self.rows_in(box)
        return float(self.right[rows].sum() - price * self.wrong[rows].sum()) - self._fee(len(box))

    def _fee(self, n_conditions: float) -> float:
        return _CONDITION_PRICE * self.size * n_conditions

    def _continued(self, beam: Sequence[_Candidate], price: float) -> list[_Candidate]:
        """Add a column to boxes; returns the best of those that speak of different columns."""
        found: dict[tuple[int, ...], _Candidate] = {}
        for candidate in beam:
            columns = np.setdiff1d(self.columns, list(candidate.box))
            if not len(columns):
                continue
            chosen, scores = self._best_conditions(candidate.rows, columns, price)
            for place in np.argsort(-scores, kind="stable")[:_BRANCHES]:
                j, score = int(columns[place]), float(scores[place])
                key = tuple(sorted([*candidate.box, j]))
                if key not in found or score > found[key].score:
                    rows = self.binned.within({j: chosen[place]}, candidate.rows)
                    found[key] = _Candidate({**candidate.box, j: chosen[place]}, rows, score)
        return sorted(found.values(), key=lambda candidate: -candidate.score)[:_WIDTH]

    def _settled(self, box: Box, price: float) -> _Candidate:
        """Choose the bins of each column anew, given those of the others, until nothing gets better."""
        box, fee = dict(box), self._fee(len(box))
        score = self._score(box, price)
        for _ in range(_ROUNDS):
            before = score
            for j in list(box):
                others = self.rows_in({k: chosen for k, chosen in box.items() if k != j})
                chosen, scores = self._best_conditions(others, np.array([j]), price)
                if scores[0] - fee > score:
                    box[j], score = chosen[0], float(scores[0]) - fee
            if score <= before:
                break
        return _Candidate(box, self.rows_in(box), score)

    def _simplified(self, box: Box, price: float) -> Box:
        """Leave out conditions, and ends of ranges, that bring too little."""
        score = self._score(box, price)
        while True:
            for simpler, spared in self._simpler(box):
                without = self._score(simpler, price)
                if without + spared >= score:
                    box, score = simpler, without
                    break
            else:
                return box

    def _simpler(self, box: Box) -> Iterator[tuple[Box, float]]:
        """Yield simpler boxes, and what they spare apart from conditions."""
        if len(box) > 1:
            for j in box:
                yield {k: chosen for k, chosen in box.items() if k != j}, 0.0
        for j, chosen in box.items():
            if not self.on_scale[j] or chosen[self.n_bins[j]]:
                continue
            places = np.flatnonzero(chosen)
            for opened in (slice(0, places[0]), slice(places[-1] + 1, self.n_bins[j])):
                if opened.start < opened.stop:
                    wider = chosen.copy()
                    wider[opened] = True
                    yield {**box, j: wider}, self._fee(0.5)

    # ---- the best condition on each column

    def _best_conditions(self, rows: Rows, columns: Columns, price: float) -> tuple[NDArray[np.bool_], Floats]:
        """Return the bins of each column, (n_columns, width), whose rows score best, and their scores."""
        gains = self._counted(rows, columns, self.right) - price * self._counted(rows, columns, self.wrong)
        chosen = np.zeros(gains.shape, dtype=np.bool_)
        scores = np.zeros(len(columns))
        scales = np.flatnonzero(self.on_scale[columns])
        if len(scales):
            chosen[scales], scores[scales] = best_runs(gains[scales], self.n_bins[columns[scales]])
        for place in np.flatnonzero(~self.on_scale[columns]):
            n = int(self.n_bins[columns[place]])
            chosen[place, : n + 1], scores[place] = best_names(gains[place, : n + 1], _MOST_VALUES)
        missing = gains[np.arange(len(columns)), self.n_bins[columns]]
        for place in np.flatnonzero(missing > scores):
            chosen[place] = False
            chosen[place, self.n_bins[columns[place]]] = True
            scores[place] = missing[place]
        return chosen, scores

    def _counted(self, rows: Rows, columns: Columns, weights: Floats) -> Floats:
        """Return the weight in each bin of each column, (n_columns, width)."""
        rows = rows[weights[rows] != 0]
        places = self.binned.codes[columns[:, None], rows] + np.arange(len(columns))[:, None] * self.width
        counts = np.bincount(
            places.ravel(), weights=np.tile(weights[rows], len(columns)), minlength=len(columns) * self.width
        )
        return counts.astype(np.float64, copy=False).reshape(len(columns), self.width)

    def _most_telling(self, columns: Columns) -> Columns:
        if len(columns) <= _MOST_COLUMNS:
            return columns
        _, scores = self._best_conditions(self.rows, columns, self.size / max(float(self.wrong.sum()), 1e-9))
        return np.sort(columns[np.argsort(-scores, kind="stable")[:_MOST_COLUMNS]])


def best_runs(gains: Floats, n_bins: NDArray[np.intp]) -> tuple[NDArray[np.bool_], Floats]:
    """Return the run of bins of largest sum in each line.

    Parameters
    ----------
    gains : ndarray of shape (m, width)
    n_bins : ndarray of shape (m,)
        How many of the bins of each line count, at least 1.

    Returns
    -------
    chosen : ndarray of shape (m, width), bool
        A run of at least one bin; of equal sums, one that no empty bin could make longer.
    sums : ndarray of shape (m,)
    """
    places = np.arange(gains.shape[1])
    usable = places < n_bins[:, None]
    totals = np.cumsum(np.where(usable, gains, 0.0), axis=1)
    before = np.concatenate([np.zeros((len(gains), 1)), totals[:, :-1]], axis=1)
    sums = np.where(usable, totals - np.minimum.accumulate(before, axis=1), -np.inf)
    last = gains.shape[1] - 1 - sums[:, ::-1].argmax(axis=1)
    first = np.where(places <= last[:, None], before, np.inf).argmin(axis=1)
    return (places >= first[:, None]) & (places <= last[:, None]), sums[np.arange(len(gains)), last]


def best_names(gains: Floats, most: int) -> tuple[Mask, float]:
    """Return the categories of largest sum among the sets that a short condition can name or exclude.

    Parameters
    ----------
    gains : ndarray of shape (n_named + 2,)
        Of each category, of all rare ones together, and of the missing cells.
    most : int
        Largest number of categories that are named; one fewer are excluded.

    Returns
    -------
    chosen : ndarray of shape (n_named + 2,), bool
        With the rare ones where categories are excluded; without the missing cells.
    total : float
    """
    named = gains[:-2]
    chosen = np.zeros(len(gains), dtype=np.bool_)
    best = np.argsort(-named, kind="stable")[:most]
    best = best[named[best] > 0]
    worst = np.argsort(named, kind="stable")[: most - 1]
    worst = worst[named[worst] < 0]
    naming, excluding = float(named[best].sum()), float(gains[:-1].sum() - named[worst].sum())
    if naming >= excluding:
        chosen[best] = True
        return chosen, naming
    chosen[:-1] = True
    chosen[worst] = False
    return chosen, excluding
