"""Columns cut into few bins, so that conditions can be searched by counting; and bins turned back into conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newfound.explanation.columns import MISSING, ExplainedColumn, Floats, Mask
from newfound.explanation.conditions import Condition, ConditionKind
from newfound.explanation.wording import round_between, round_date_between, round_time_between

BinCodes = NDArray[np.int32]

_MOST_DISTINCT = 128  # a scale of no more distinct values has a bin for each
_N_QUANTILES = 48  # bins of equal counts, of all rows and of the rows of the class
_MOST_CATEGORIES = 30  # frequent categories with a bin of their own, of all rows and of the rows of the class
_FREQUENT, _FREQUENT_INSIDE = 0.01, 0.05  # shares of all rows, and of those of the class, from which on one is frequent
_FEWEST_CELLS = 3  # of a frequent category; a rule that names rarer ones would repeat single rows


_ON_SCALES: dict[str, tuple[ConditionKind, Callable[..., float]]] = {
    "numeric": ("range", round_between),
    "date": ("date", round_date_between),
    "time": ("time", round_time_between),
}


@dataclass(frozen=True, eq=False)
class ScaleBins:
    """Bins of a scale, in order; the last one is that of the missing cells.

    Attributes
    ----------
    column : ExplainedColumn
    first, last : ndarray of shape (n_bins,)
        Smallest and largest value seen in each bin.
    """

    column: ExplainedColumn
    first: Floats
    last: Floats

    @classmethod
    def fit(cls, column: ExplainedColumn, inside: Mask) -> ScaleBins:
        """Cut a column where there are many rows, or many of a class, whose mask is `inside`."""
        present = ~column.missing
        numbers = column.numbers[present]
        distinct = np.unique(numbers)
        starts = np.arange(len(distinct))
        if len(distinct) > _MOST_DISTINCT:
            shares = np.linspace(0, 1, _N_QUANTILES + 1)
            own = numbers[inside[present]]
            cuts = [np.quantile(values, shares, method="lower") for values in (numbers, own) if len(values)]
            # A bin ends before and after a value that many rows share.
            at = np.searchsorted(distinct, np.concatenate(cuts))
            starts = np.unique(np.concatenate([[0], at, np.minimum(at + 1, len(distinct) - 1)]))
        ends = np.append(starts[1:], len(distinct)) - 1
        return cls(column, distinct[starts], distinct[ends])

    @property
    def n_bins(self) -> int:
        """Number of bins but that of the missing cells."""
        return len(self.first)

    def encode(self) -> BinCodes:
        """Return the bin of each cell, shape (n,)."""
        codes = np.searchsorted(self.first, self.column.numbers, side="right") - 1
        codes[self.column.missing] = self.n_bins
        return codes.astype(np.int32)

    def condition(self, chosen: Mask) -> Condition:
        """Return the condition that a run of bins, or the bin of the missing cells, stands for."""
        name = self.column.name
        places = np.flatnonzero(chosen)
        if places[0] == self.n_bins:
            return Condition(name, "missing")
        i, j, last = int(places[0]), int(places[-1]), self.n_bins - 1
        if (i, j) == (0, last):
            return Condition(name, "missing", negated=True)
        kind, rounded = _ON_SCALES[self.column.kind]
        if self.first[i] == self.last[j] and self.column.whole:  # a single value: "is 0", not "is 0 or less"
            only = float(self.first[i])
            return Condition(name, kind, low=only, high=only, whole_days=self.column.whole)
        low = None if i == 0 else rounded(float(self.last[i - 1]), float(self.first[i]), include_low=False)
        high = None if j == last else rounded(float(self.last[j]), float(self.first[j + 1]), include_low=True)
        if low == self.last[last]:  # nothing lies above: "is 1", not "is 1 or more"
            high = low
        elif high == self.first[0]:
            low = high
        return Condition(name, kind, low=low, high=high, whole_days=self.column.whole)


@dataclass(frozen=True, eq=False)
class NameBins:
    """Bins of categories; then one that rare categories share, and one of the missing cells.

    Attributes
    ----------
    column : ExplainedColumn
    places : ndarray of shape (n_named,)
        The categories with a bin of their own, as places in the column's categories.
    """

    column: ExplainedColumn
    places: NDArray[np.intp]

    @classmethod
    def fit(cls, column: ExplainedColumn, inside: Mask) -> NameBins:
        """Give bins to the categories that are frequent, or frequent in a class, whose mask is `inside`."""
        n = len(column.categories)
        frequent = [np.zeros(0, dtype=np.intp)]
        for codes, share in ((column.codes, _FREQUENT), (column.codes[inside], _FREQUENT_INSIDE)):
            counts = np.bincount(codes[codes != MISSING], minlength=n)
            most = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
            frequent.append(most[counts[most] >= max(_FEWEST_CELLS, share * len(codes))])
        return cls(column, np.unique(np.concatenate(frequent)))

    @property
    def n_bins(self) -> int:
        """Number of bins but that of the missing cells."""
        return len(self.places) + 1

    def encode(self) -> BinCodes:
        """Return the bin of each cell, shape (n,)."""
        bins = np.full(len(self.column.categories) + 1, len(self.places), dtype=np.int32)
        bins[self.places] = np.arange(len(self.places))
        bins[MISSING] = self.n_bins
        return bins[self.column.codes]

    def condition(self, chosen: Mask) -> Condition:
        """Return the condition that a set of bins stands for."""
        name, named = self.column.name, len(self.places)
        if chosen[self.n_bins]:
            return Condition(name, "missing")
        if chosen[: self.n_bins].all():
            return Condition(name, "missing", negated=True)
        negated = bool(chosen[named])
        listed = np.flatnonzero(chosen[:named] != negated)
        kind: ConditionKind = "boolean" if self.column.kind == "boolean" else "category"
        values = tuple(self.column.categories[place] for place in self.places[listed])
        return Condition(name, kind, values=values, negated=negated)


Bins = ScaleBins | NameBins


def cut_into_bins(columns: Sequence[ExplainedColumn], inside: Mask) -> list[Bins]:
    """Cut the columns that vary into bins that suit the rows of a class, whose mask is `inside`."""
    return [(ScaleBins if column.ordered else NameBins).fit(column, inside) for column in columns if _varies(column)]


def _varies(column: ExplainedColumn) -> bool:
    missing = column.missing
    present = (column.numbers if column.ordered else column.codes)[~missing]
    return len(present) > 0 and (bool(missing.any()) or bool((present != present[0]).any()))
