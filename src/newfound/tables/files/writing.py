"""A table goes back to a file in the format it came in, with other cells in one of its columns."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from newfound.errors import InputError
from newfound.extras import load_extra
from newfound.tables.files.columns import as_list
from newfound.tables.files.table_file import TableFile


def write_rows(stream: TextIO, rows: Iterable[Sequence[str]], delimiter: str | None) -> None:
    """Write rows of text as CSV."""
    plain, quoted = (
        csv.writer(stream, delimiter=delimiter or ",", lineterminator="\n", quoting=quoting)
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    )
    for cells in rows:
        # a carriage return ends a line for who reads it, but csv does not quote it in all versions of Python
        (quoted if any("\r" in cell for cell in cells) else plain).writerow(cells)


def encoding_of(file: TableFile, texts: Iterable[str]) -> str:
    """Return the encoding to write text in: that of the file where it can hold `texts`, which are written beside it.

    Otherwise, and in the place of UTF-16 and Excel's own format, it is UTF-8 with a byte order mark: without one,
    spreadsheets take UTF-8 for something else.
    """
    if file.format == "Excel":
        return "utf-8-sig"
    encoding = codecs.lookup(file.encoding or "utf-8").name
    if encoding in ("utf-8", "utf-8-sig"):
        return encoding
    if encoding.startswith(("utf-16", "utf-32")):
        return "utf-8-sig"
    try:
        for text in set(texts):
            text.encode(encoding)
    except UnicodeError:
        return "utf-8-sig"
    return encoding


def write_file(file: TableFile, path: Path, column: str, cells: Sequence[Any], *, compress: bool = False) -> None:
    """Write a table in the format it was read from, with other cells in one column.

    Parameters
    ----------
    file : TableFile
    path : Path
        An earlier file there is lost.
    column : str
        A column of the file.
    cells : sequence of length n_rows
        Its cells: text, or whatever the column held.
    compress : bool, default=False
        Whether the file is compressed by gzip.

    Notes
    -----
    CSV keeps its delimiter, and its encoding where that can hold the new cells. JSON is written as one object a line.
    Of an Excel file the sheet that was read is kept, without formats and formulas.
    """
    place = file.names.index(column)
    with _opened(path, compress) as stream:
        if file.format == "CSV":
            heading = ["" if name in file.row_numbers and name == "column_1" else name for name in file.names]
            rows = ([*row[:place], cell, *row[place + 1 :]] for row, cell in zip(file.text_rows(), cells, strict=True))
            with io.TextIOWrapper(stream, encoding_of(file, map(str, cells)), errors="replace", newline="") as text:
                write_rows(text, itertools.chain([heading], rows), file.delimiter)
        elif file.format == "JSON lines":
            with io.TextIOWrapper(stream, "utf-8", errors="replace", newline="") as text:
                text.writelines(_json_lines(file, place, cells))
        elif file.format == "Excel":
            _write_excel(file, stream, place, cells)
        else:
            _write_arrow(file, stream, place, cells)


@contextmanager
def _opened(path: Path, compress: bool) -> Iterator[Any]:
    with path.open("wb") as raw:
        if not compress:
            yield raw
            return
        with gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as stream:
            yield stream


def _columns(file: TableFile, place: int, cells: Sequence[Any]) -> list[list[Any]]:
    return [list(cells) if i == place else as_list(column) for i, column in enumerate(file.columns)]


def _json_lines(file: TableFile, place: int, cells: Sequence[Any]) -> Iterator[str]:
    for row in zip(*_columns(file, place, cells), strict=True):
        yield json.dumps(dict(zip(file.names, row, strict=True)), ensure_ascii=False) + "\n"


def _write_excel(file: TableFile, stream: Any, place: int, cells: Sequence[Any]) -> None:
    openpyxl = load_extra("openpyxl", "An Excel file", "save the table as CSV")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append([_without_formula(openpyxl, sheet, name) for name in file.names])
    for row in zip(*_columns(file, place, cells), strict=True):
        sheet.append([_without_formula(openpyxl, sheet, cell) for cell in row])
    book.save(stream)


def _without_formula(openpyxl: Any, sheet: Any, cell: Any) -> Any:
    """Return a text that begins like a formula as a cell that is one no more than it was."""
    if not (isinstance(cell, str) and cell.startswith("=")):
        return cell
    text = openpyxl.cell.WriteOnlyCell(sheet, cell)
    text.data_type = "s"
    return text


def _write_arrow(file: TableFile, stream: Any, place: int, cells: Sequence[Any]) -> None:
    import pyarrow as pa
    from pyarrow import feather, parquet

    columns = list(file.columns)
    try:
        columns[place] = pa.array(cells)
    except pa.ArrowException as error:
        raise InputError(f"{file.names[place]!r} cannot hold cells of several types ({error}).") from None
    table = pa.table(columns, names=list(file.names))
    if file.format == "Parquet":
        parquet.write_table(table, stream)
    else:
        feather.write_feather(table, stream)
