"""Conditions on columns and the rules made of them, in the table's own words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from newfound.explanation.columns import ExplainedColumn, ExplainedTable, Mask
from newfound.explanation.wording import date_text, exact_text, plain_value, time_text

ConditionKind = Literal["range", "category", "missing", "boolean", "date", "time"]


@dataclass(frozen=True)
class Condition:
    """What one column has to be.

    Missing cells satisfy no condition but "is missing".

    Attributes
    ----------
    column : str
    kind : {"range", "date", "time", "category", "boolean", "missing"}
    low, high : float or None
        Ends of a range, both inside; None where it is open. Dates are days since 1970, times hours since midnight.
    values : tuple of str
        Categories, or the one word of a boolean.
    negated : bool
        Whether the cell must be none of the values; for "missing", whether it must be there.
    whole_days : bool
        Whether dates are shown without the time of the day.
    """

    column: str
    kind: ConditionKind
    low: float | None = None
    high: float | None = None
    values: tuple[str, ...] = ()
    negated: bool = False
    whole_days: bool = True

    def mask(self, column: ExplainedColumn) -> Mask:
        """Return which cells satisfy the condition, shape (n,)."""
        if self.kind == "missing":
            return np.not_equal(column.missing, self.negated)
        if self.kind in ("range", "date", "time"):
            inside = ~column.missing
            if self.low is not None:
                inside &= column.numbers >= self.low
            if self.high is not None:
                inside &= column.numbers <= self.high
            return inside
        places = [place for place, category in enumerate(column.categories) if category in self.values]
        inside = np.isin(column.codes, places)
        return ~inside & ~column.missing if self.negated else inside

    @property
    def text(self) -> str:
        """The condition in words."""
        if self.kind == "missing":
            return f"{self.column} is {'not ' * self.negated}missing"
        if self.kind in ("range", "date", "time"):
            return f"{self.column} {self._range_text()}"
        if len(self.values) == 1:
            return f"{self.column} is {'not ' * self.negated}{_shown(self.values[0])}"
        listed = ", ".join(map(_shown, self.values))
        return f"{self.column} is {'none' if self.negated else 'one'} of {listed}"

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as plain values; dates and times are ISO texts."""
        low, high = (None if end is None else plain_value(self.kind, end) for end in (self.low, self.high))
        return {
            "column": self.column,
            "kind": self.kind,
            "low": low,
            "high": high,
            "values": list(self.values) if self.kind in ("category", "boolean") else None,
            "negated": self.negated,
            "text": self.text,
        }

    def _range_text(self) -> str:
        low, high = (None if end is None else self._end_text(end) for end in (self.low, self.high))
        if low == high:
            return f"is {low}"
        if low is None:
            return f"is {high} or {'less' if self.kind == 'range' else 'earlier'}"
        if high is None:
            return f"is {low} or {'more' if self.kind == 'range' else 'later'}"
        return f"is from {low} to {high}"

    def _end_text(self, end: float) -> str:
        if self.kind == "time":
            return time_text(end)
        return date_text(end, whole=self.whole_days) if self.kind == "date" else exact_text(end)


@dataclass(frozen=True)
class Rule:
    """Conditions that hold together, and how well they single out a class on held-out rows.

    Attributes
    ----------
    conditions : tuple of Condition
    precision : float or None
        Share of the matched held-out rows that are of the class; None where no row is matched.
    coverage : float or None
        Share of the held-out rows of the class that are matched; None where there is none.
    n_matched : int
        Number of held-out rows that are matched.
    """

    conditions: tuple[Condition, ...]
    precision: float | None = None
    coverage: float | None = None
    n_matched: int = 0

    def mask(self, table: ExplainedTable) -> Mask:
        """Return which rows satisfy all conditions, shape (n,)."""
        matched = np.ones(table.n_rows, dtype=np.bool_)
        for condition in self.conditions:
            matched &= condition.mask(table.column(condition.column))
        return matched

    @property
    def text(self) -> str:
        """The rule in words."""
        return " and ".join(condition.text for condition in self.conditions)

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain values."""
        return {
            "text": self.text,
            "conditions": [condition.to_dict() for condition in self.conditions],
            "precision": self.precision,
            "coverage": self.coverage,
            "n_matched": self.n_matched,
        }


def _shown(value: str) -> str:
    """Return a category as it is, in quotes where it would be taken for something else."""
    plain = value.strip() == value and value and "," not in value and value != "missing"
    return value if plain else repr(value)
