"""The output columns of one source column: a number, a boolean or a one-hot block, and what missing cells become."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError, Message, Parameter
from newfound.tables import cells
from newfound.tables.scaling import MAX_UNSCALED, NumberScaler, NumericScaling
from newfound.tables.schema import Column
from newfound.tables.statistics import ColumnStatistics

Floats = NDArray[np.float64]

# A missing boolean lies halfway between the two it might be.
NEUTRAL_BOOLEAN = 0.5


class Block(Protocol):
    """Encodes one source column into its output columns, which are fixed when it is fitted."""

    @property
    def column(self) -> Column:
        """The source column."""

    @property
    def names(self) -> list[str]:
        """Names of the output columns."""

    @property
    def categorical(self) -> list[bool]:
        """Which of the output columns are one-hot, boolean or indicator columns."""

    def encode(self, values: NDArray[Any], out: Floats) -> None:
        """Write the encoding of a column, shape (n,), to `out`, shape (n, len(names)), which is zero."""


@dataclass(frozen=True, eq=False)
class NumberBlock:
    """A scaled number, and an indicator if missing cells were seen at fit.

    Dates are days since 1970. Times are hours since `start`, the hour at which a day of this column begins: where it
    has the fewest rows, so that 23:50 and 0:10 are near each other unless the whole day is full.
    """

    column: Column
    scaler: NumberScaler
    indicator: bool
    start: float = 0.0

    @classmethod
    def fit(cls, column: Column, values: NDArray[Any], scaling: NumericScaling) -> NumberBlock:
        """Fit to the raw cells of a column, shape (n,)."""
        start = emptiest_hour(cells.as_hours(values, column.name)) if column.kind == "time" else 0.0
        numbers = _numbers(column, values, start)
        missing = np.isnan(numbers)
        seen = bool(missing.any())
        # Only numbers can have heavy tails by nature; the distances between dates are kept.
        chosen = scaling if column.kind == "numeric" else "standard"
        if chosen == "none":
            _refuse_huge(column, numbers)
        return cls(column, NumberScaler.fit(numbers[~missing] if seen else numbers, chosen), seen, start)

    @property
    def names(self) -> list[str]:
        """Names of the output columns."""
        return _with_indicator(self.column.name, self.indicator)

    @property
    def categorical(self) -> list[bool]:
        """Which of the output columns are indicators."""
        return [False, True][: len(self.names)]

    def encode(self, values: NDArray[Any], out: Floats) -> None:
        """Write the encoding of a column to `out`."""
        numbers = _numbers(self.column, values, self.start)
        out[:, 0] = self.scaler.apply(numbers)
        if self.indicator:
            out[:, 1] = np.isnan(numbers)


@dataclass(frozen=True, eq=False)
class BooleanBlock:
    """0 or 1, and an indicator if missing cells were seen at fit."""

    column: Column
    indicator: bool

    @classmethod
    def fit(cls, column: Column, values: NDArray[Any]) -> BooleanBlock:
        """Fit to the raw cells of a column, shape (n,)."""
        numbers = cells.as_booleans(values, column.name)
        missing = np.isnan(numbers)
        strange = numbers[~missing & (numbers != 0) & (numbers != 1)]
        if len(strange):
            cure = Message("Fit with another kind for it, e.g. ", cells.kind_setting(column.name, "numeric"), ".")
            what = f"column {column.name!r} is used as booleans but holds {strange[0]:g}; it takes True, False, 0, 1. "
            raise InputError(Message(what, cure), parameter="X", cure=cure)
        return cls(column, bool(missing.any()))

    @property
    def names(self) -> list[str]:
        """Names of the output columns."""
        return _with_indicator(self.column.name, self.indicator)

    @property
    def categorical(self) -> list[bool]:
        """True for every output column."""
        return [True] * len(self.names)

    def encode(self, values: NDArray[Any], out: Floats) -> None:
        """Write the encoding of a column to `out`."""
        numbers = cells.as_booleans(values, self.column.name)
        missing = np.isnan(numbers)
        # A column that happened to hold only 0 and 1 at fit may count further later.
        out[:, 0] = np.where(missing, NEUTRAL_BOOLEAN, np.minimum(np.maximum(numbers, 0.0), 1.0))
        if self.indicator:
            out[:, 1] = missing


@dataclass(frozen=True, eq=False)
class CategoryBlock:
    """One column for each frequent category, for all rarer ones together, and for missing cells if seen at fit."""

    column: Column
    categories: tuple[str, ...]
    other: bool
    missing: bool

    @classmethod
    def fit(cls, column: Column, values: NDArray[Any], max_categories: int) -> CategoryBlock:
        """Fit to the raw cells of a column, shape (n,)."""
        counts = Counter(cells.as_texts(values))
        n_missing = counts.pop(None, 0)
        ranked = sorted(counts, key=lambda text: (-counts[text], text))
        return cls(column, tuple(ranked[:max_categories]), len(ranked) > max_categories, n_missing > 0)

    @property
    def names(self) -> list[str]:
        """Names of the output columns."""
        extra = ["other"] * self.other + ["missing"] * self.missing
        return [f"{self.column.name}={text}" for text in (*self.categories, *extra)]

    @property
    def categorical(self) -> list[bool]:
        """True for every output column."""
        return [True] * len(self.names)

    def encode(self, values: NDArray[Any], out: Floats) -> None:
        """Write the encoding of a column to `out`; a row of an unknown category without a column stays zero."""
        n_known = len(self.categories)
        places: dict[str | None, int] = {text: place for place, text in enumerate(self.categories)}
        places[None] = n_known + self.other if self.missing else -1
        unseen = n_known if self.other else -1
        texts = cells.as_texts(values)
        codes = np.fromiter((places.get(text, unseen) for text in texts), dtype=np.intp, count=len(texts))
        rows = np.flatnonzero(codes >= 0)
        out[rows, codes[rows]] = 1.0


def fit_block(column: Column, values: NDArray[Any], scaling: NumericScaling, max_categories: int) -> Block:
    """Fit the block that suits the kind of a column to its raw cells, shape (n,)."""
    if column.kind == "categorical":
        return CategoryBlock.fit(column, values, max_categories)
    if column.kind == "boolean":
        return BooleanBlock.fit(column, values)
    return NumberBlock.fit(column, values, scaling)


def refined(block: Block, statistics: ColumnStatistics, max_categories: int) -> Block:
    """Return a block that was fitted to a sample with what is known of all cells of its column."""
    missing = statistics.n_missing > 0
    if isinstance(block, NumberBlock):
        moments = statistics.moments
        scaler = block.scaler.refined(moments.mean, moments.spread) if moments.n else block.scaler
        return replace(block, scaler=scaler, indicator=block.indicator or missing)
    if isinstance(block, BooleanBlock):
        return replace(block, indicator=block.indicator or missing)
    if isinstance(block, CategoryBlock) and statistics.texts.counts:
        counts = statistics.texts.counts
        ranked = sorted(counts, key=lambda text: (-counts[text], text))
        other = len(ranked) > max_categories or not statistics.texts.is_exact
        return CategoryBlock(block.column, tuple(ranked[:max_categories]), other, block.missing or missing)
    return block


def _refuse_huge(column: Column, numbers: Floats) -> None:
    """Raise InputError for numbers that would overflow once they are squared; scaled ones never do."""
    place = int(np.nanargmax(np.abs(numbers))) if not np.isnan(numbers).all() else 0
    if abs(numbers[place]) > MAX_UNSCALED:
        cure = Message("Use ", Parameter("numeric_scaling", "standard", "TableEncoder"), ", or smaller units.")
        what = (
            f"column {column.name!r} holds {numbers[place]:g}, and without scaling numbers may reach {MAX_UNSCALED:g}. "
        )
        raise InputError(Message(what, cure), parameter="X", cure=cure)


def emptiest_hour(hours: Floats) -> float:
    """Return the hour around which times of day, in hours and of shape (n,), are fewest; of several, the nearest to 0.

    Examples
    --------
    >>> emptiest_hour(np.array([22.5, 23.5, 0.5, 1.5, 12.0])), emptiest_hour(np.array([8.0, 12.0, 17.0]))
    (4.0, 0.0)
    """
    counts = np.bincount((hours[~np.isnan(hours)] // 1).astype(np.int64) % 24, minlength=24)
    around = counts + np.roll(counts, 1)  # in the hour before and the hour after
    wider = around + np.roll(counts, -1) + np.roll(counts, 2)
    distance = np.minimum(np.arange(24), 24 - np.arange(24))
    return float(np.lexsort((distance, wider, around))[0])


def _numbers(column: Column, values: NDArray[Any], start: float) -> Floats:
    if column.kind == "time":
        return np.mod(cells.as_hours(values, column.name) - start, 24.0)
    if column.kind == "date":
        return cells.as_days(values, column.name)
    return cells.as_numbers(values, column.name)


def _with_indicator(name: str, indicator: bool) -> list[str]:
    return [name, f"{name}=missing"] if indicator else [name]
