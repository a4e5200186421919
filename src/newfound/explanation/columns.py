"""The columns of a table in their own words: numbers and dates on a scale, categories and booleans by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.tables import Kind, Schema, cells

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

MISSING = -1
_LARGE = 4e307
_READERS = {"numeric": cells.as_numbers, "date": cells.as_days, "time": cells.as_hours}  # of what lies on a scale


@dataclass(frozen=True, eq=False)
class ExplainedColumn:
    """One column in its own words and units.

    Attributes
    ----------
    name : str
    kind : {"numeric", "categorical", "boolean", "date", "time"}
    numbers : ndarray of shape (n,)
        Numbers, days since 1970 for dates, hours since midnight for times; NaN where missing. Empty for categories and
        booleans.
    codes : ndarray of shape (n,)
        Place of each cell in `categories`, -1 where missing. Empty for numbers and dates.
    categories : tuple of str
        As the table spells them; for booleans the word for no, then the word for yes.
    whole : bool
        Whether all numbers are whole; for dates, whether all are midnight; for times, whether all are whole minutes.
    """

    name: str
    kind: Kind
    numbers: Floats
    codes: Codes
    categories: tuple[str, ...]
    whole: bool

    @property
    def ordered(self) -> bool:
        """Whether the cells lie on a scale."""
        return self.kind in _READERS

    @property
    def missing(self) -> Mask:
        """Mask of the missing cells, shape (n,)."""
        mask: Mask = np.isnan(self.numbers) if self.ordered else np.equal(self.codes, MISSING)
        return mask

    def take(self, rows: NDArray[np.intp]) -> ExplainedColumn:
        """Return the cells of some rows."""
        if self.ordered:
            return replace(self, numbers=self.numbers[rows])
        return replace(self, codes=self.codes[rows])


@dataclass(frozen=True, eq=False)
class ExplainedTable:
    """The columns that a model uses, under the names they had at fit.

    Attributes
    ----------
    columns : tuple of ExplainedColumn
    n_rows : int
    """

    columns: tuple[ExplainedColumn, ...]
    n_rows: int

    def take(self, rows: NDArray[np.intp]) -> ExplainedTable:
        """Return some rows as a table of their own."""
        return ExplainedTable(tuple(column.take(rows) for column in self.columns), len(rows))

    def spelled_as(self, other: ExplainedTable) -> ExplainedTable:
        """Return the table with the words for booleans, such as "yes" rather than "Yes", of another view of it."""
        columns = (
            replace(column, categories=other.column(column.name).categories) if column.kind == "boolean" else column
            for column in self.columns
        )
        return ExplainedTable(tuple(columns), self.n_rows)

    def column(self, name: str) -> ExplainedColumn:
        """Return the column of a name; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


def view_columns(raw: dict[str, NDArray[Any]], schema: Schema, n_rows: int) -> ExplainedTable:
    """View raw cells by the kinds of a schema.

    Booleans get the word of their first cells, so a view of other rows may have other words;
    `ExplainedTable.spelled_as` evens them out.
    """
    kinds = {column.name: column.kind for column in schema.used}
    return ExplainedTable(tuple(_view(name, values, kinds[name]) for name, values in raw.items()), n_rows)


def _view(name: str, values: NDArray[Any], kind: Kind) -> ExplainedColumn:
    if kind in _READERS:
        numbers = _READERS[kind](values, name)
        present = numbers[~np.isnan(numbers)]
        ticks = (present * 60).round(6) if kind == "time" else present
        whole = bool((ticks == np.floor(ticks)).all())
        return ExplainedColumn(name, kind, numbers, np.empty(0, dtype=np.int64), (), whole)
    if kind == "boolean":
        codes, categories = _booleans(name, values)
    else:
        codes, categories = _categories(cells.as_texts(values))
    return ExplainedColumn(name, kind, np.empty(0), codes, categories, whole=False)


def _booleans(name: str, values: NDArray[Any]) -> tuple[Codes, tuple[str, ...]]:
    flags = cells.as_booleans(values, name)
    # A column that happened to hold only 0 and 1 at fit may count further here; the encoder takes 2 for 1 as well.
    codes = np.where(np.isnan(flags), MISSING, np.clip(np.nan_to_num(flags), 0, 1).round()).astype(np.int64)
    spelled = []
    numbers = values.dtype == np.float64
    for code, default in enumerate(("0", "1") if numbers else ("False", "True")):
        places = np.flatnonzero(flags == code)
        # The table's own word: "no", "0" or "False".
        spelled.append(cells.text_of(values[places[0]]) if len(places) else default)
    return codes, tuple(spelled)


def _categories(texts: NDArray[Any]) -> tuple[Codes, tuple[str, ...]]:
    categories = sorted({text for text in texts.tolist() if text is not None}) if texts.dtype == object else []
    places: dict[str | None, int] = {category: place for place, category in enumerate(categories)}
    codes = np.fromiter((places.get(text, MISSING) for text in texts.tolist()), dtype=np.int64, count=len(texts))
    return codes, tuple(categories)


def quantiles(numbers: Floats, shares: Sequence[float]) -> Floats:
    """Return the quantiles of numbers, shape (n,), none missing; also where a difference of two is too large for one.

    Examples
    --------
    >>> quantiles(np.array([-1e308, 1e308]), [0.5]).tolist()
    [0.0]
    """
    unit = 4.0 if np.abs(numbers).max() > _LARGE else 1.0  # smaller numbers would lose digits
    found: Floats = np.quantile(numbers / unit, shares) * unit
    return found
