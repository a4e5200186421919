"""Records: a table for people and for programs, without a dependency on a data frame library."""

from __future__ import annotations

from typing import Any, SupportsIndex, overload

from newfound.extras import load_extra
from newfound.markup import tag


class Records(list[dict[str, Any]]):
    """A list of dicts with the same keys, which prints as a table.

    Examples
    --------
    >>> print(Records([{"k": 2, "score": 0.51}, {"k": 3, "score": 0.7612}]))
    k  score
    2   0.51
    3  0.761
    """

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
        columns = self.columns
        cells = [columns, *([_shown(record.get(name)) for name in columns] for record in self)]
        numeric = [all(isinstance(record.get(name), int | float | None) for record in self) for name in columns]
        widths = [max(len(line[j]) for line in cells) for j in range(len(columns))]
        lines = (
            "  ".join(
                cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(line, widths, numeric, strict=True)
            )
            for line in cells
        )
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        columns = self.columns
        head = tag("tr", *(tag("th", name) for name in columns))
        rows = (tag("tr", *(tag("td", _shown(record.get(name))) for name in columns)) for record in self)
        return tag("table", tag("thead", head), tag("tbody", *rows))


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
