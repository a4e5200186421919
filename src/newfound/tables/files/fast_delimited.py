"""CSV parsed by pyarrow, wherever it is certain to read what the reader of `delimited` would."""

from __future__ import annotations

import codecs
import csv
import io
from typing import Any

import numpy as np

from newfound.errors import InputError
from newfound.tables.files.budget import CELL, COLUMN, Budget
from newfound.tables.files.delimited import HEAD, Cells, find_delimiter, rows_of, without_empty_end
from newfound.tables.files.numbers import offsets_of
from newfound.tables.files.text import Decoded

FAST_FROM = 1 << 18
"""Bytes from which on pyarrow is faster: loading it takes as long as reading so many without it."""

_BLOCK = 1 << 20  # bytes that are looked at together
_FEWEST = 1 << 10  # bytes a column; with fewer, looking at a column as a whole takes longer than at its cells
_SHARE = 1 << 14  # bytes a column in a block, or a table of very many columns would be cut into chunks of few rows
_LARGEST_BLOCK = 1 << 30
_PLACE = 5  # bytes of a cell besides its text: where it begins, and whether it is there
_QUOTE, _END, _RETURN = b'"\n\r'


def read_fast(decoded: Decoded, delimiter: str | None, budget: Budget) -> Cells | None:
    """Read CSV by pyarrow, cells as Arrow texts.

    Parameters
    ----------
    decoded : Decoded
    delimiter : str or None
        As in `read_delimited`.
    budget : Budget
        The cells are taken from it.

    Returns
    -------
    Cells or None
        None where pyarrow is not installed, or where the two readers might differ: `read_delimited` then has the say,
        and names the line if there is something wrong with it.
    """
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    try:
        text, used = find_delimiter(head := decoded.head(HEAD), delimiter)
        _, heading = next(rows_of(io.StringIO(text, newline=""), used, ""))
    except (InputError, StopIteration):
        return None
    content = memoryview(decoded.utf8)[len(head[: len(head) - len(text)].encode()) :]
    # Lines of white space are no rows, which among lines of one cell takes a closer look.
    if len(heading) == 1 or len(content) < _FEWEST * len(heading) or not _is_plain(decoded.utf8, used):
        return None
    budget.check(COLUMN * len(heading), "it has {:,} columns", len(heading))
    _check_memory(content, used, budget)
    quoted = b'"' in decoded.utf8
    block_size = min(max(_BLOCK, _SHARE * len(heading)), _LARGEST_BLOCK)
    try:
        table = arrow_csv.read_csv(
            pa.py_buffer(content),
            read_options=arrow_csv.ReadOptions(
                autogenerate_column_names=True, block_size=block_size, use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=used, quote_char='"' if quoted else False, newlines_in_values=quoted
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={f"f{place}": pa.string() for place in range(len(heading))}
            ),
        )
    except pa.ArrowException:
        return None
    if table.num_columns != len(heading) or table.num_rows < 2 or _longest(table) > csv.field_size_limit():
        return None
    budget.take(table.nbytes + COLUMN * len(heading), "its cells")
    names = [column[0].as_py().strip() for column in table.columns]
    return without_empty_end(Cells(names, [column.slice(1) for column in table.columns], used))


def _check_memory(content: memoryview, delimiter: str, budget: Budget) -> None:
    """Refuse more cells than the budget allows; their texts are held once more, and each has a place among them.

    Once the content is given back, each has a number or the place of its text in a table as well.
    """
    if len(content) * (_PLACE + CELL) <= budget.left:  # a cell takes at least a delimiter
        return
    marks = np.frombuffer(content, dtype=np.uint8)
    blocks = (marks[start : start + _BLOCK] for start in range(0, len(marks), _BLOCK))
    n_cells = sum(int(np.count_nonzero((block == ord(delimiter)) | (block == _END))) for block in blocks)
    most = max(len(content) + _PLACE * n_cells, (_PLACE + CELL - 1) * n_cells)  # a delimiter of each is in no text
    budget.check(most, f"it has {len(content):,} bytes and about {n_cells:,} cells")


def _is_plain(utf8: bytes, delimiter: str) -> bool:
    """Whether a text has nothing in it that parsers of CSV disagree about."""
    return (
        delimiter.isascii()
        and delimiter not in '"\r\n\0'
        and not utf8.startswith(codecs.BOM_UTF8)
        and b"\0" not in utf8
        and not utf8.endswith(b"\r")
        and ((b'"' not in utf8 and b"\r" not in utf8) or _marks_are_plain(utf8, ord(delimiter)))
    )


def _marks_are_plain(utf8: bytes, delimiter: int) -> bool:
    """Whether quotes enclose whole cells and are doubled inside of them, and carriage returns end lines.

    Every second quote then opens a cell or is the second of a double one, and the others close it or are the first.
    Carriage returns between quotes are refused too: where its blocks meet, pyarrow loses line feeds that follow them.
    """
    content = np.frombuffer(utf8, dtype=np.uint8)
    may_precede, may_follow = np.zeros((2, 256), dtype=np.bool_)
    may_precede[[delimiter, _END, _QUOTE]] = True
    may_follow[[delimiter, _END, _RETURN, _QUOTE]] = True
    n_quotes = 0
    for start in range(0, len(content), _BLOCK):
        block = content[start : start + _BLOCK]
        places = np.flatnonzero(block == _QUOTE) + start
        opening, closing = places[n_quotes % 2 :: 2], places[1 - n_quotes % 2 :: 2]
        if len(opening) and opening[0] == 0:
            opening = opening[1:]
        if len(closing) and closing[-1] == len(content) - 1:
            closing = closing[:-1]
        if not (may_precede[content[opening - 1]].all() and may_follow[content[closing + 1]].all()):
            return False
        returns = np.flatnonzero(block == _RETURN) + start
        if (content[returns + 1] != _END).any() or ((np.searchsorted(places, returns) + n_quotes) % 2).any():
            return False
        n_quotes += len(places)
    return n_quotes % 2 == 0


def _longest(table: Any) -> int:
    """Bytes of the longest cell."""
    chunks = (chunk for column in table.columns for chunk in column.chunks)
    return max(int(np.diff(offsets_of(chunk)).max(initial=0)) for chunk in chunks)
