"""What one pass over a table tells of its columns, in memory that does not grow with the rows."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.tables import cells
from newfound.tables.scaling import NumericScaling, signed_log

MAX_TEXTS = 4_096
"""Distinct texts of a column that are counted exactly; of more, the frequent ones keep a count that may be too low."""


@dataclass
class Moments:
    """Mean and variance of numbers that come in batches, and the smallest and the largest of them.

    Mean and variance are infinite or no number where the numbers are too large for them.
    """

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0  # sum of squared deviations from the mean
    low: float = np.inf
    high: float = -np.inf

    def add(self, numbers: NDArray[np.float64]) -> None:
        """Add numbers, shape (m,), none missing."""
        if len(numbers):
            with np.errstate(over="ignore", invalid="ignore"):
                mean = float(numbers.mean())
                squares = float(np.square(numbers - mean).sum())
            self.merge(Moments(len(numbers), mean, squares, float(numbers.min()), float(numbers.max())))

    def merge(self, other: Moments) -> None:
        """Add the numbers that others are the moments of."""
        if not other.n:
            return
        # Two batches have the moments of both, and the distance between their means (Chan et al.).
        n, between = self.n + other.n, other.mean - self.mean
        self.squares += other.squares + between * between * self.n * other.n / n
        self.mean += between * other.n / n
        self.n = n
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

    @property
    def spread(self) -> float:
        """Standard deviation; 1 where all numbers are equal."""
        return float(np.sqrt(self.squares / self.n)) if self.low < self.high else 1.0

    @property
    def are_consecutive(self) -> bool:
        """Whether these are whole numbers that follow each other: their mean and their variance say so."""
        if not self.n or not float(self.low).is_integer() or self.high - self.low != self.n - 1:
            return False
        as_theirs = partial(math.isclose, rel_tol=1e-9)
        mean, variance = (self.low + self.high) / 2, (self.n * self.n - 1) / 12
        return as_theirs(self.mean - self.low, mean - self.low) and as_theirs(self.squares / self.n, variance)


@dataclass
class TextCounts:
    """How often each text occurs, exactly up to `MAX_TEXTS` of them (Misra and Gries beyond)."""

    counts: Counter[str] = field(default_factory=Counter)
    is_exact: bool = True

    def add(self, texts: Counter[str]) -> None:
        """Add the counts of a batch."""
        self.counts.update(texts)
        if len(self.counts) > 2 * MAX_TEXTS:
            self.is_exact = False
            least = self.counts.most_common(MAX_TEXTS + 1)[-1][1]
            self.counts = Counter({text: n - least for text, n in self.counts.items() if n > least})

    def merge(self, other: TextCounts) -> None:
        """Add the counts of other rows."""
        self.is_exact = self.is_exact and other.is_exact
        self.add(other.counts)


@dataclass
class ColumnStatistics:
    """What is known of all cells of a column.

    Attributes
    ----------
    n_missing : int
    moments : Moments
        Of numbers, scaled by their signed logarithm where that is asked for, or of dates as days; none of text.
    plain : Moments
        Of numbers as they are.
    texts : TextCounts
        Of text.
    """

    n_missing: int = 0
    moments: Moments = field(default_factory=Moments)
    plain: Moments = field(default_factory=Moments)
    texts: TextCounts = field(default_factory=TextCounts)

    def add(self, values: NDArray[Any], name: str, scaling: NumericScaling) -> None:
        """Add the cells of a batch, shape (m,)."""
        missing = cells.missing_mask(values)
        self.n_missing += int(missing.sum())
        present = values[~missing]
        if values.dtype.kind == "M":
            self.moments.add(cells.as_days(present, name))
        elif values.dtype == np.float64:
            finite = present[np.isfinite(present)]
            self.plain.add(finite)
            self.moments.add(signed_log(finite) if scaling == "signed_log" else finite)
        elif values.dtype == object and not cells.holds_booleans(values):
            self.texts.add(Counter(cells.as_texts(present)))

    def merge(self, other: ColumnStatistics) -> None:
        """Add what is known of other cells of the column."""
        self.n_missing += other.n_missing
        self.moments.merge(other.moments)
        self.plain.merge(other.plain)
        self.texts.merge(other.texts)
