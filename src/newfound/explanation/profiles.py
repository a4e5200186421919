"""What sets the rows of a class apart from others, column by column, with effect sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from newfound.counting import share_text
from newfound.explanation.columns import ExplainedColumn, ExplainedTable, Floats, quantiles
from newfound.explanation.wording import date_text, number_text, plain_value, time_text
from newfound.tables import Kind

_SMALLEST_EFFECT = 0.05  # what is less is no difference to speak of
_FEWEST_CELLS = 3  # of a category that is told


@dataclass(frozen=True)
class Shift:
    """How one column differs between the rows of a class and other rows.

    Attributes
    ----------
    column : str
    kind : {"numeric", "categorical", "boolean", "date", "time"}
    effect : float
        From -1 to 1. For numbers, dates and times Cliff's delta: the probability that a row of the class has the larger
        value, less the probability that it has the smaller one. Otherwise the difference of the shares of `category`.
    category : str or None
        The category whose share differs most; "missing" where it is the share of missing cells; "more than" or "less
        than" a number where the medians look the same.
    here, rest : dict of str to float
        "median", "low" and "high" (quartiles), in days since 1970 for dates and in hours for times; or "share", of
        `category`.
    whole_days : bool
        Whether dates are shown without the time of the day, and times without seconds.
    """

    column: str
    kind: Kind
    effect: float
    category: str | None
    here: dict[str, float]
    rest: dict[str, float]
    whole_days: bool = True

    @property
    def says_nothing(self) -> bool:
        """Whether both sides look the same, as they are shown."""
        return self._shown(self.here) == self._shown(self.rest)

    @property
    def text(self) -> str:
        """The difference in words, the class first."""
        if "share" in self.here:
            shares = f"{self._shown(self.here)} of the rows, against {self._shown(self.rest)}"
            return f"{self.column} is {self.category} in {shares}"
        more, less = ("higher", "lower") if self.kind == "numeric" else ("later", "earlier")
        return (
            f"{self.column} is {more if self.effect > 0 else less}: {self._shown(self.here)} "
            f"against {self._shown(self.rest)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain values; dates and times are ISO texts."""
        return {
            "column": self.column,
            "kind": self.kind,
            "effect": self.effect,
            "category": self.category,
            "here": self._plain(self.here),
            "rest": self._plain(self.rest),
            "text": self.text,
        }

    def _plain(self, facts: dict[str, float]) -> dict[str, Any]:
        return {name: value if name == "share" else plain_value(self.kind, value) for name, value in facts.items()}

    def _shown(self, facts: dict[str, float]) -> str:
        if "share" in facts:
            return share_text(facts["share"])
        median, low, high = (self._value_text(facts[name]) for name in ("median", "low", "high"))
        return median if low == median == high else f"{median} ({low} to {high})"

    def _value_text(self, value: float) -> str:
        if self.kind == "time":
            return time_text(round(60 * value) / 60 if self.whole_days else value)
        return date_text(value, whole=self.whole_days) if self.kind == "date" else number_text(value)


def profile(here: ExplainedTable, rest: ExplainedTable, most: int = 10) -> list[Shift]:
    """Return the columns that differ most between two tables of the same columns, strongest first."""
    if not here.n_rows or not rest.n_rows:
        return []
    shifts = [
        shift
        for ours, theirs in zip(here.columns, rest.columns, strict=True)
        for shift in [_shift(ours, theirs)]
        if shift
    ]
    shifts.sort(key=lambda shift: -abs(shift.effect))
    told = [shift for shift in shifts if abs(shift.effect) >= _SMALLEST_EFFECT and not shift.says_nothing]
    return told[:most]


def cliffs_delta(ours: Floats, theirs: Floats) -> float:
    """Return P(ours > theirs) - P(ours < theirs) over all pairs of values.

    Examples
    --------
    >>> cliffs_delta(np.array([3.0, 4.0]), np.array([1.0, 3.0]))
    0.75
    """
    n, m = len(ours), len(theirs)
    ranks = rankdata(np.concatenate([ours, theirs]))
    return float(2 * (ranks[:n].sum() - n * (n + 1) / 2) / (n * m) - 1)


def _shift(ours: ExplainedColumn, theirs: ExplainedColumn) -> Shift | None:
    """Return the strongest difference of one column, None where there is nothing to compare."""
    found = [_missing_shift(ours, theirs), _scale_shift(ours, theirs) if ours.ordered else _share_shift(ours, theirs)]
    known = [shift for shift in found if shift is not None]
    # Of two that say the same, the one that says what is there more often.
    return max(known, key=lambda shift: (round(abs(shift.effect), 9), shift.effect)) if known else None


def _missing_shift(ours: ExplainedColumn, theirs: ExplainedColumn) -> Shift | None:
    here, rest = float(ours.missing.mean()), float(theirs.missing.mean())
    if here == rest:
        return None
    return Shift(ours.name, "categorical", here - rest, "missing", {"share": here}, {"share": rest})


def _scale_shift(ours: ExplainedColumn, theirs: ExplainedColumn) -> Shift | None:
    here, rest = (column.numbers[~column.missing] for column in (ours, theirs))
    if not len(here) or not len(rest):
        return None
    effect = cliffs_delta(here, rest)
    found = Shift(ours.name, ours.kind, effect, None, _quartiles(here), _quartiles(rest), ours.whole)
    if effect * (found.here["median"] - found.rest["median"]) < 0:  # "lower: 27 against 20" would puzzle readers
        return None
    same = found._value_text(found.here["median"]) == found._value_text(found.rest["median"])
    return _beyond(found, here, rest) if same else found


def _beyond(same: Shift, here: Floats, rest: Floats) -> Shift:
    """Tell a difference that medians do not show, as where most cells are 0, by the rows beyond the median."""
    median = float(quantiles(rest, [0.5])[0])
    sides = {"more than": (here > median, rest > median), "less than": (here < median, rest < median)}
    word, (ours, theirs) = max(sides.items(), key=lambda side: abs(side[1][0].mean() - side[1][1].mean()))
    shares = {"share": float(ours.mean())}, {"share": float(theirs.mean())}
    word = word if same.kind == "numeric" else {"more than": "later than", "less than": "earlier than"}[word]
    return replace(same, category=f"{word} {same._value_text(median)}", here=shares[0], rest=shares[1])


def _share_shift(ours: ExplainedColumn, theirs: ExplainedColumn) -> Shift | None:
    n = len(ours.categories)
    if not n:
        return None
    counts = [np.bincount(column.codes[~column.missing], minlength=n) for column in (ours, theirs)]
    here, rest = (found / len(column.codes) for found, column in zip(counts, (ours, theirs), strict=True))
    # A boolean is told by its yes; of categories, having one says more than lacking one, if it is no single row.
    gaps = np.where(counts[0] + counts[1] >= min(_FEWEST_CELLS, len(ours.codes)), here - rest, 0.0)
    place = 1 if ours.kind == "boolean" else int(np.where(gaps > 0, gaps, -gaps / 2).argmax())
    return Shift(
        ours.name,
        ours.kind,
        float(gaps[place]),
        ours.categories[place],
        {"share": float(here[place])},
        {"share": float(rest[place])},
    )


def _quartiles(values: Floats) -> dict[str, float]:
    low, median, high = quantiles(values, [0.25, 0.5, 0.75]).tolist()
    return {"median": median, "low": low, "high": high}
