"""Records: a table for people and for programs, without a dependency on a data frame library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, SupportsIndex, overload

from newfound.extras import load_extra
from newfound.markup import Html, inline, tag


class Records(list[dict[str, Any]]):
    """A list of dicts with the same keys, which prints as a table.

    Examples
    --------
    >>> print(Records([{"k": 2, "score": 0.51}, {"k": 3, "score": 0.7612}]))
    k  score
    2   0.51
    3  0.761
    """

    _n_shown: ClassVar[int | None] = None  # all

    @overload
    def __getitem__(self, place: SupportsIndex) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> Records: ...
    def __getitem__(self, place: SupportsIndex | slice) -> dict[str, Any] | Records:
        """One record, or some of them as records again."""
        found = super().__getitem__(place)
        return Records(found) if isinstance(found, list) else found

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in the order of their first mention."""
        return list(dict.fromkeys(name for record in self for name in record))

    def to_frame(self) -> Any:
        """Return a pandas DataFrame; MissingExtraError without pandas."""
        return load_extra("pandas", "A data frame").DataFrame(list(self), columns=self.columns)

    def __str__(self) -> str:
        columns, records = self.columns, self._first()
        cells = [columns, *([_shown(record.get(name)) for name in columns] for record in records)]
        numeric = [_is_numeric(records, name) for name in columns]
        widths = [max(len(line[j]) for line in cells) for j in range(len(columns))]
        lines = (
            "  ".join(
                cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(line, widths, numeric, strict=True)
            )
            for line in cells
        )
        return "\n".join([*(line.rstrip() for line in lines), *self._rest()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> Html:
        columns, records = self.columns, self._first()
        kinds = ["number" if _is_numeric(records, name) else None for name in columns]
        head = tag("tr", *(tag("th", name, class_=kind) for name, kind in zip(columns, kinds, strict=True)))
        rows = (
            tag(
                "tr",
                *(tag("td", _shown(record.get(name)), class_=kind) for name, kind in zip(columns, kinds, strict=True)),
            )
            for record in records
        )
        table = tag("table", tag("thead", head), tag("tbody", *rows))
        return inline(table, *(tag("p", tag("small", line)) for line in self._rest()))

    def _first(self) -> Sequence[dict[str, Any]]:
        """Return the records that are shown."""
        return list(self) if self._n_shown is None else list(self)[: self._n_shown]

    def _rest(self) -> list[str]:
        """Say how many are not shown, and how to see them."""
        n_more = len(self) - len(self._first())
        return [f"... and {n_more} more; [:] shows all of them"] if n_more else []


class Leaderboard(Records):
    """Records of which only the first ten are shown; a slice of them is shown as a whole.

    Examples
    --------
    >>> print(Leaderboard({"rank": rank} for rank in range(1, 13)))  # doctest: +ELLIPSIS
    rank
       1
    ...
      10
    ... and 2 more; [:] shows all of them
    """

    _n_shown = 10


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _is_numeric(records: Sequence[dict[str, Any]], name: str) -> bool:
    return all(isinstance(record.get(name), int | float | None) for record in records)
