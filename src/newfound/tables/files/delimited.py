"""CSV: cells of text, separated by any delimiter."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from newfound.errors import InputError, Message, Parameter
from newfound.tables.cells import shown
from newfound.tables.files.budget import CELL, COLUMN, TEXT, Budget
from newfound.tables.files.columns import as_list
from newfound.tables.files.text import Decoded

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}
_FOUND = (",", ";", "\t", "|")
HEAD = 1 << 17
"""Characters in which the delimiter is looked for."""

_SAMPLE_ROWS = 100
_ROW = 64  # bytes of a row besides its cells
_COUNTED_TOGETHER = 1 << 18  # cells


class Cells(NamedTuple):
    """The names of the columns ("" where there is none), the cells of each, and what separated them.

    The cells are lists of text, or texts of pyarrow, which `fast_delimited` makes.
    """

    names: list[str]
    columns: list[Any]
    delimiter: str


def read_delimited(decoded: Decoded, delimiter: str | None, budget: Budget) -> Cells:
    """Read CSV.

    Parameters
    ----------
    decoded : Decoded
        The first line holds the names of the columns. Cells may be quoted, and then hold delimiters and line ends.
    delimiter : str or None
        One character, or a name of `DELIMITERS`; None finds out which of comma, semicolon, tab and pipe it is.
    budget : Budget
        The cells are taken from it. It knows the name of the file.

    Raises
    ------
    InputError
        If lines have different numbers of cells, a quote is never closed, there is no row, or there are too many.
    """
    source = budget.source
    rest, used = find_delimiter(head := decoded.head(HEAD), delimiter)
    announced = len(head[: len(head) - len(rest)].encode())
    lines = rows_of(decoded.lines(announced, budget=budget), used, source)
    first = next(lines, None)
    if first is None:
        raise InputError(f"{source} is empty; expected names of columns in its first line, and rows below.")
    heading, rows = first[1], []
    budget.take(COLUMN * len(heading), "it has {:,} columns", len(heading))
    text_size = decoded.text_size()
    same: dict[str, str] = {}  # most cells repeat others, so that each text is kept once
    counted = -1  # rows and texts up to which the memory is counted
    for number, cells in lines:
        if len(cells) != len(heading):
            raise _ragged(number, cells, heading, used, source)
        rows.append([same.setdefault(cell, cell) for cell in cells])
        if len(rows) + len(same) > counted:
            _check_memory(len(rows), len(heading), len(same), text_size, budget)
            counted = len(rows) + len(same) + _COUNTED_TOGETHER // (len(heading) + 1)
    if not rows:
        raise InputError(f"{source} has names of columns but no rows; expected rows below the first line.")
    _check_memory(len(rows), len(heading), len(same), text_size, budget)
    columns = [list(column) for column in zip(*rows, strict=True)]
    budget.take(CELL * len(rows) * len(heading) + TEXT * len(same), "its cells")
    return without_empty_end(Cells([name.strip() for name in heading], columns, used))


def _check_memory(n_rows: int, n_columns: int, n_texts: int, text_size: int, budget: Budget) -> None:
    """Refuse more cells than the budget allows: they are held as rows, and then as columns too."""
    budget.check(
        n_rows * (_ROW + 2 * CELL * n_columns) + n_texts * TEXT + text_size,
        "it has more than {:,} rows of {:,} columns, with {:,} different texts",
        n_rows - 1,
        n_columns,
        n_texts,
    )


def find_delimiter(text: str, given: str | None) -> tuple[str, str]:
    """Return the text without a line that only names the delimiter, and the delimiter: as given, named or found."""
    rest, announced = _without_announcement(text)
    return rest, announced or _find(rest) if given is None else check_delimiter(given)


def without_empty_end(cells: Cells) -> Cells:
    """Take off the last column where there is none, but every line ends with a delimiter."""
    names, columns, delimiter = cells
    if len(names) > 1 and not names[-1] and not any(cell.strip() for cell in as_list(columns[-1])):
        return Cells(names[:-1], columns[:-1], delimiter)
    return cells


def check_delimiter(delimiter: str) -> str:
    """Return the character that a delimiter, or the name of one, stands for."""
    used = DELIMITERS.get(delimiter, delimiter)
    if len(used) != 1 or used in '"\r\n\0':
        expected = f"one character such as ';', or one of {', '.join(name for name in DELIMITERS if name.isalpha())}"
        message = Message("Got ", Parameter("delimiter"), f" {shown(delimiter)}, but expected {expected}.")
        raise InputError(message, value=delimiter, expected=expected)
    return used


def _without_announcement(text: str) -> tuple[str, str]:
    """Take off the line ``sep=;`` that Excel writes and reads; returns the rest and that delimiter."""
    line, _, rest = text.partition("\n")
    line = line.rstrip("\r")
    if line.lower().startswith("sep=") and len(line) == 5:
        return rest, line[4]
    return text, ""


def _find(text: str) -> str:
    """Find the delimiter under which the first lines have equally many cells, and most of them."""
    sample = text[:HEAD]
    scores = {delimiter: _score(sample, delimiter, whole=len(sample) == len(text)) for delimiter in _FOUND}
    best = max(_FOUND, key=lambda delimiter: scores[delimiter])
    return best if scores[best][1] > 1 else ","


def _score(sample: str, delimiter: str, *, whole: bool) -> tuple[float, int]:
    """Share of lines with as many cells as the first, and that number."""
    counts: list[int] = []
    try:
        for cells in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
            if cells:
                counts.append(len(cells))
            if len(counts) == _SAMPLE_ROWS:
                break
        else:
            if not whole and len(counts) > 1:
                counts.pop()  # it was cut
    except csv.Error:
        return 0.0, 0
    if not counts or counts[0] == 1:
        return 0.0, 0
    return sum(count == counts[0] for count in counts) / len(counts), counts[0]


def rows_of(lines: Iterable[str], delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Go through number and cells of each line that has any."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    begin = 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise _broken(str(error), begin, delimiter, source) from None
        if cells is None:
            return
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield begin, cells
        begin = reader.line_num + 1


def _broken(problem: str, line: int, delimiter: str, source: str) -> InputError:
    if "field limit" in problem:
        what = "holds a cell of more than 131,072 characters; a quote may never be closed"
    elif "end of data" in problem:
        what = 'has a quote (") that is never closed'
    else:
        what = f'has text between a closing quote (") and the next delimiter {delimiter!r}'
    return InputError(
        f"{source}, line {line}: the row that begins here {what}. Correct the line; a quote inside a quoted cell is "
        'written twice ("").'
    )


def _ragged(line: int, cells: list[str], heading: list[str], delimiter: str, source: str) -> InputError:
    problem = f"{source}, line {line} has {_cells(len(cells))}, but the first line has {len(heading)}, separated by "
    cure = f"{delimiter!r}. Correct the line (cells that hold {delimiter!r} need quotes), or name another "
    return InputError(Message(problem, cure, Parameter("delimiter"), "."))


def _cells(n: int) -> str:
    return f"{n} cell{'s' * (n != 1)}"
