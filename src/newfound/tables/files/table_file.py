"""A table as it lies in a file: its cells as they are, and its columns as the library wants them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from newfound.errors import InputError, Message, Parameter
from newfound.tables.cells import parse_number, shown, text_of
from newfound.tables.files.budget import CELL, Budget
from newfound.tables.files.columns import as_list, is_blank, read_column
from newfound.tables.files.numbers import COMMA_NUMBER
from newfound.tables.frame import Table, as_table, listed
from newfound.tables.matching import closest

_MOST_NAMES = 12
_TEXT_ROWS = 4096
_INDEX = re.compile(r"__index_level_\d+__")  # as pandas names the index of a frame that it saves


@dataclass(frozen=True, eq=False)
class TableFile:
    """What was read from a file.

    Attributes
    ----------
    path : Path
    format : str
        "CSV", "JSON lines", "Parquet", "Feather" or "Excel".
    names : tuple of str
        Of the columns, all different; one that is given as "" becomes "column_" and its number.
    n_rows : int
    columns : sequence of list or pyarrow.ChunkedArray, each of length n_rows
        The cells as they are: text in CSV, whatever they hold in other formats.
    encoding, delimiter : str or None
        Of text; None for binary formats.
    decimal : str
        "," where numbers may be written with a comma.
    notes : list of str
        What the user should know; reading columns adds to it.
    budget : Budget or None
        The memory that its columns may take as well.
    row_numbers : list of str
        Names of columns that hold nothing but these, as pandas writes them.
    """

    path: Path
    format: str
    names: tuple[str, ...]
    n_rows: int
    columns: Sequence[Any] = field(repr=False)
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str = "."
    notes: list[str] = field(default_factory=list)
    budget: Budget | None = field(default=None, repr=False)
    row_numbers: list[str] = field(init=False)

    def __post_init__(self) -> None:
        row_numbers = [name for name in self.names if _INDEX.fullmatch(name)]
        if not self.names[0] and _are_row_numbers(self.columns[0]):
            row_numbers.append("column_1")
            self.notes.append(
                "the first column has no name, and whole numbers that are all different: it is taken for row numbers "
                "and not used. To have it used, give it a name."
            )
        names = tuple(name or f"column_{place}" for place, name in enumerate(self.names, start=1))
        vars(self).update(names=names, row_numbers=row_numbers)
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            raise InputError(
                f"{self.path} has duplicate column names: {listed(twice)}. Give every column a name of its own."
            )

    def has_decimal_commas(self) -> bool:
        """Whether some column is of numbers written with a comma, as far as its first rows tell."""
        return self.decimal == "," and any(_are_comma_numbers(column[:_TEXT_ROWS]) for column in self.columns)

    def place(self, name: str, asked: Parameter) -> int:
        """Place of a column; InputError, naming the parameter that asked for it, where there is none."""
        return place_of(name, self.names, self.path, asked, self._doubt)

    def cells(self, name: str) -> list[Any]:
        """Cells of a column as they are in the file, length n_rows."""
        return as_list(self.columns[self.names.index(name)])

    def table(self, without: Collection[str] = ()) -> Table:
        """Return the columns, but for those named and row numbers, as a table that discoverers read."""
        columns = {}
        for name, cells in zip(self.names, self.columns, strict=True):
            if name in without or name in self.row_numbers:
                continue
            self._take(CELL * self.n_rows)
            if self.format in ("Parquet", "Feather"):  # which have types of their own
                columns[name] = _of_arrow(cells, name)
                continue
            columns[name], note = read_column(cells, name, decimal=self.decimal)
            if note and note not in self.notes:
                self.notes.append(note)
        if not columns:
            raise InputError(
                Message(
                    f"{self.path} has no column but {listed(self.names)}; expected others to tell the classes apart.",
                    self._doubt(),
                )
            )
        _refuse_infinite(columns, self.path)
        return Table(columns, self.n_rows, named=True)

    def text_rows(self) -> Iterator[list[str]]:
        """Rows in order, each cell as text: unchanged if it was text, "" if it is missing."""
        for start in range(0, self.n_rows, _TEXT_ROWS):
            some = (as_list(column[start : start + _TEXT_ROWS]) for column in self.columns)
            rows = map(list, zip(*some, strict=True))
            yield from rows if self.format == "CSV" else ([_text(cell) for cell in row] for row in rows)

    def _take(self, n_bytes: int) -> None:
        if self.budget is not None:
            self.budget.take(n_bytes, "it has {:,} rows of {:,} columns", self.n_rows, len(self.names))

    def _doubt(self) -> Message:
        """Say what else may be wrong where columns are not those that were expected."""
        if self.delimiter is None:
            return Message()
        if len(self.names) == 1:
            other = max((";", ",", "\t", "|"), key=self.names[0].count)
            if other in self.names[0]:
                named = {"\t": "tab", "|": "pipe", ";": "semicolon", ",": "comma"}[other]
                said = f" It was read with the delimiter {self.delimiter!r}; try "
                return Message(said, Parameter("delimiter", named), ".")
        if all(parse_number(name) is not None for name in self.names):
            return Message(" The first line must hold the names of the columns.")
        return Message()


def place_of(
    name: str, names: Sequence[str], path: Path, asked: Parameter, doubt: Callable[[], Message] = Message
) -> int:
    """Place of a column among those of a table; InputError, naming the parameter that asked for it, if it has none.

    Parameters
    ----------
    name : str
    names : sequence of str
        Of all columns.
    path : Path
        Of the table.
    asked : Parameter
    doubt : callable
        Returns what else may be wrong.
    """
    if name in names:
        return names.index(name)
    near = closest(name, names)
    hint = f" Did you mean {near!r}?" if near is not None else ""
    problem = f", but {path} has no such column; it has {_shown_names(names)}.{hint}"
    raise InputError(Message("Got ", asked, problem, doubt()))


def _are_row_numbers(cells: Any) -> bool:
    texts = [text_of(cell) for cell in as_list(cells)]
    return all(text.isdecimal() for text in texts) and len(set(texts)) == len(texts)


def _of_arrow(column: Any, name: str) -> Any:
    import pyarrow as pa

    return as_table(pa.table({name: column})).columns[name]


def _are_comma_numbers(cells: Any) -> bool:
    texts = [cell.strip() if isinstance(cell, str) else "" for cell in as_list(cells) if not is_blank(cell)]
    return any("," in text for text in texts) and all(COMMA_NUMBER.fullmatch(text) for text in texts)


def _refuse_infinite(columns: dict[str, Any], path: Path) -> None:
    bad = [name for name, values in columns.items() if values.dtype == np.float64 and np.isinf(values).any()]
    if bad:
        row = int(np.isinf(columns[bad[0]]).argmax()) + 1
        problem = f"{path} has infinite numbers, or larger ones than a computer can hold, in {listed(bad)}"
        cure = "Correct or blank such cells, or leave the column out: "
        raise InputError(Message(f"{problem}; the first in row {row}. {cure}", Parameter("ignore", bad[0])))


def _shown_names(names: Sequence[str]) -> str:
    listed_names = ", ".join(shown(name) for name in names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return f"{'the column' if len(names) == 1 else 'the columns'} {listed_names}{more}"


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if cell is None or (isinstance(cell, float) and math.isnan(cell)) or type(cell).__name__ == "NaTType":
        return ""
    return cell.decode("utf-8", errors="replace") if isinstance(cell, bytes) else str(cell)
