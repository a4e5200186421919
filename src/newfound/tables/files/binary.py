"""Parquet, Feather and Excel, by the packages that know these formats."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from newfound.errors import InputError, Message, Parameter
from newfound.extras import load_extra
from newfound.tables.files.table_file import TableFile

_OTHERWISE = "save the table as CSV"


def read_parquet(content: io.BytesIO, path: Path) -> TableFile:
    """Read Parquet by pyarrow."""
    parquet = load_extra("pyarrow.parquet", "A Parquet file", _OTHERWISE)
    # not read_table, which calls a file broken that has a name twice
    return _of_arrow("Parquet", lambda source: parquet.ParquetFile(source).read(), content, path)


def read_feather(content: io.BytesIO, path: Path) -> TableFile:
    """Read Feather by pyarrow."""
    return _of_arrow("Feather", load_extra("pyarrow.feather", "A Feather file", _OTHERWISE).read_table, content, path)


def read_excel(content: io.BytesIO, path: Path, sheet: str | None) -> TableFile:
    """Read a sheet of an Excel file by openpyxl: the first line that is not empty holds the names."""
    if not zipfile.is_zipfile(content) or "xl/workbook.xml" not in _members(content):
        raise InputError(f"{path} is a zip archive, but not a whole Excel file; unpack it, and name the table in it.")
    openpyxl = load_extra("openpyxl", "An Excel file", _OTHERWISE)
    try:
        book = openpyxl.load_workbook(content, read_only=True, data_only=True)
        used = _sheet(book, sheet, path)
        rows = [row for row in used.iter_rows(values_only=True) if any(cell is not None for cell in row)]
    except InputError:
        raise
    except Exception as error:  # whatever openpyxl stumbles over in a broken file
        raise InputError(f"{path} is a broken Excel file ({error}); save it again, or save it as CSV.") from None
    if len(rows) < 2:
        raise InputError(
            f"{path}, sheet {used.title!r} has {'names of columns but no' if rows else 'no names of columns and no'} "
            "rows; expected names in its first line, and rows below."
        )
    width = max(max(place for place, cell in enumerate(row, start=1) if cell is not None) for row in rows)
    padded = [list(row[:width]) + [None] * (width - len(row)) for row in rows]
    heading, body = padded[0], padded[1:]
    names = tuple("" if name is None else str(name).strip() for name in heading)
    notes: list[str] = []
    if sheet is None and len(book.sheetnames) > 1:
        notes.append(
            Message(
                f"read sheet {used.title!r}, the first of {len(book.sheetnames)} in {path}; ",
                Parameter("sheet"),
                " names another.",
            )
        )
    columns = [[_plain(cell) for cell in column] for column in zip(*body, strict=True)]
    return TableFile(path, "Excel", names, len(body), columns, notes=notes)


def _sheet(book: Any, sheet: str | None, path: Path) -> Any:
    if sheet is None:
        return book.worksheets[0]
    if sheet not in book.sheetnames:
        problem = f", but {path} has the sheets {', '.join(map(repr, book.sheetnames))}."
        raise InputError(Message("Got ", Parameter("sheet", sheet), problem))
    return book[sheet]


def _plain(cell: Any) -> Any:
    """Turn a time of day into text, which is the one kind of cell that columns have no type for."""
    return str(cell) if type(cell).__name__ == "time" else cell


def _members(content: io.BytesIO) -> list[str]:
    with zipfile.ZipFile(content) as archive:
        return archive.namelist()


def _of_arrow(name: str, read: Callable[[Any], Any], content: io.BytesIO, path: Path) -> TableFile:
    try:
        table = read(content)
        table = table.unify_dictionaries()
    except Exception as error:  # pyarrow has many kinds of complaint about a broken file
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path} is a broken {name} file ({reason}); it may be cut short, get it again.") from None
    if not table.num_rows or not table.num_columns:
        raise InputError(
            f"{path} has {table.num_columns} columns and {table.num_rows} rows; expected at least one each."
        )
    names = tuple(str(column) for column in table.column_names)
    return TableFile(path, name, names, table.num_rows, table.columns)
