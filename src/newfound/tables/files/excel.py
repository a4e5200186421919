"""A sheet of an Excel file, by openpyxl, row by row and never more of it than the budget allows."""

from __future__ import annotations

import io
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from newfound.errors import InputError, Message, Parameter
from newfound.extras import load_extra
from newfound.tables.files.budget import CELL, COLUMN, Budget
from newfound.tables.files.table_file import TableFile

_MOST_ROWS, _MOST_COLUMNS = 1 << 20, 1 << 14  # of any Excel sheet
_LONGEST_TEXT = 1 << 20  # bytes without a tag; a cell of Excel has at most 32,767 characters
_MOST_TAGS = 1 << 20  # in a row
_LARGEST_PART = 1 << 24  # bytes of what describes the sheets
_USUAL_PART, _USUAL_SHEET = 1 << 21, 1 << 23  # bytes from which on a part is suspicious if it is packed very tightly
_MOST_TIMES = 100  # a sheet whose cells are all the same is packed to a 25th
_TAG, _CELL, _TEXT = 24, 96, 160  # bytes of memory
_OVERLAP = 16
_DECLARATIONS = (b"<!DOCTYPE", b"<!ENTITY")


def read_excel(content: bytes, path: Path, sheet: str | None, budget: Budget) -> TableFile:
    """Read a sheet of an Excel file: the first line that is not empty holds the names."""
    source = io.BytesIO(content)
    if "xl/workbook.xml" not in _members(source):
        raise InputError(f"{path} is a zip archive, but not a whole Excel file; unpack it, and name the table in it.")
    load_extra("openpyxl", "An Excel file", "save the table as CSV")
    try:
        with warnings.catch_warnings(), _Archive(source) as archive:
            warnings.simplefilter("ignore")  # about parts that are not read, and dates that are none
            book = _Book(archive, budget)
            title, part = book.find(sheet, path)
            rows = list(book.rows(part))
    except (InputError, MemoryError):
        raise
    except Exception as error:  # whatever openpyxl stumbles over in a broken file
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path} is a broken Excel file ({reason}); save it again, or save it as CSV.") from None
    if len(rows) < 2:
        raise InputError(
            f"{path}, sheet {title!r} has {'names of columns but no' if rows else 'no names of columns and no'} "
            "rows; expected names in its first line, and rows below."
        )
    width = max(map(len, rows))
    for row in rows:
        row += [None] * (width - len(row))
    heading, body = rows[0], rows[1:]
    names = tuple("" if name is None else str(name).strip() for name in heading)
    notes: list[str] = []
    if sheet is None and len(book.titles) > 1:
        notes.append(
            Message(
                f"read sheet {title!r}, the first of {len(book.titles)} in {path}; for another, use ",
                Parameter("sheet"),
                ".",
            )
        )
    columns = [[_plain(cell) for cell in column] for column in zip(*body, strict=True)]
    return TableFile(path, "Excel", names, len(body), columns, notes=notes, budget=budget)


def _plain(cell: Any) -> Any:
    """Turn a time of day into text, which is the one kind of cell that columns have no type for."""
    return str(cell) if type(cell).__name__ == "time" else cell


def _members(content: io.BytesIO) -> list[str]:
    """Names of the parts; none where the archive is broken, about which zipfile complains in many ways."""
    try:
        with zipfile.ZipFile(content) as archive:
            return archive.namelist()
    except Exception:
        return []


class _Archive(zipfile.ZipFile):
    """A zip archive that refuses parts as no Excel file has them."""

    def __init__(self, content: io.BytesIO) -> None:
        super().__init__(content)
        self._size = content.getbuffer().nbytes

    def read(self, name: Any, pwd: bytes | None = None) -> bytes:
        """Read a part that describes the sheets, which is built up in memory as a whole."""
        part = self.getinfo(name)
        self.refuse_unusual(part, _USUAL_PART)
        if part.file_size > _LARGEST_PART:
            raise ValueError(f"{part.filename} unpacks to {part.file_size:,} bytes")
        content = super().read(name, pwd)
        if any(declaration in content for declaration in _DECLARATIONS):
            raise ValueError(f"{part.filename} declares entities")
        return content

    def refuse_unusual(self, part: zipfile.ZipInfo, usual: int) -> None:
        """Refuse a part that is packed as no program that writes sheets does, if it is larger than usual."""
        if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{part.filename} is packed in an unusual way")
        times = part.file_size // max(1, min(part.compress_size, self._size))
        if part.file_size > usual and times > _MOST_TIMES:
            raise ValueError(f"{part.filename} unpacks to {times:,} times its size")


class _Guarded(io.RawIOBase):
    """A part of an archive as a stream, which ends in an error where memory or time would run away.

    Attributes
    ----------
    tags : int
        Number of tags since it was last set to 0.
    """

    def __init__(self, archive: _Archive, name: str, budget: Budget) -> None:
        info = archive.getinfo(name)
        archive.refuse_unusual(info, _USUAL_SHEET)
        budget.check(info.file_size, "{} in it unpacks to {:,} bytes", name, info.file_size)
        self._stream, self._name, self._budget = archive.open(name), name, budget
        self._end = b""
        self._text = self.tags = 0

    def read(self, size: int = -1) -> bytes:
        """Read some bytes."""
        data = self._stream.read(size)
        first = data.find(b"<")
        self._text = self._text + len(data) if first < 0 else len(data) - data.rfind(b"<")
        n_tags = data.count(b"<")
        self.tags += n_tags
        self._budget.take(_TAG * n_tags, "{} in it has millions of tags", self._name)
        if self._text > _LONGEST_TEXT:
            raise ValueError(f"a cell has more than {_LONGEST_TEXT:,} characters")
        if self.tags > _MOST_TAGS:
            raise ValueError(f"a row has more than {_MOST_TAGS:,} tags")
        seam = self._end + data
        if any(declaration in seam for declaration in _DECLARATIONS) or (not self._end and b"\0" in data[:4]):
            raise ValueError(f"{self._name} declares entities, or is not in UTF-8")
        self._end = data[-_OVERLAP:]
        return data


class _Book:
    """The sheets of an Excel file, as far as they are asked for."""

    def __init__(self, archive: _Archive, budget: Budget) -> None:
        from openpyxl.reader.excel import ExcelReader
        from openpyxl.styles.stylesheet import apply_stylesheet

        self._archive, self._budget = archive, budget
        self._reader = ExcelReader(archive.fp, read_only=True, data_only=True, keep_links=False)
        self._reader.archive = archive
        self._reader.read_manifest()
        self._reader.read_workbook()
        apply_stylesheet(archive, self._reader.wb)
        there = set(archive.namelist())
        self._parts = {
            sheet.name: rel.target
            for sheet, rel in self._reader.parser.find_sheets()
            if rel.target in there and "chartsheet" not in rel.Type
        }

    @property
    def titles(self) -> list[str]:
        """Names of the sheets."""
        return list(self._parts)

    def find(self, sheet: str | None, path: Path) -> tuple[str, str]:
        """Return the name and the part of a sheet, the first by default."""
        if sheet is None:
            return next(iter(self._parts.items()))
        if sheet not in self._parts:
            problem = f", but {path} has the sheets {', '.join(map(repr, self._parts))}."
            raise InputError(Message("Got ", Parameter("sheet", sheet), problem))
        return sheet, self._parts[sheet]

    def rows(self, part: str) -> Iterator[list[Any]]:
        """Go through the rows of a sheet that have a cell, each up to its last."""
        from openpyxl.worksheet._reader import DATA_TAG, ROW_TAG, WorkSheetParser
        from openpyxl.xml.functions import iterparse

        book, stream = self._reader.wb, _Guarded(self._archive, part, self._budget)
        parser = WorkSheetParser(stream, self._texts(), True, book.epoch, book._date_formats, book._timedelta_formats)
        n_rows = n_found = width = 0
        for _, element in iterparse(stream):
            if element.tag == DATA_TAG:
                break
            if element.tag != ROW_TAG:
                continue
            number, cells = parser.parse_row(element)
            element.clear()
            parser.row_dimensions.clear()
            n_rows, stream.tags = n_rows + 1, 0
            if max(number, n_rows) > _MOST_ROWS:
                raise ValueError(f"it has a row {max(number, n_rows):,}, and Excel has at most {_MOST_ROWS:,}")
            self._budget.take(_CELL * len(cells), "it has more than {:,} rows", n_rows - 1)
            present = [(cell["column"], cell["value"]) for cell in cells if cell["value"] is not None]
            if not present:
                continue
            last = max(place for place, _ in present)
            if not 0 < last <= _MOST_COLUMNS:
                raise ValueError(f"it has a column {last:,}, and Excel has at most {_MOST_COLUMNS:,}")
            n_found, width = n_found + 1, max(width, last)
            self._budget.check(
                2 * CELL * n_found * width + COLUMN * width,
                "it has more than {:,} rows of {:,} columns",
                n_found - 1,
                width,
            )
            row = [None] * last
            for place, value in present:
                row[place - 1] = value
            yield row
        self._budget.take(2 * CELL * n_found * width + COLUMN * width, "its cells")

    def _texts(self) -> list[str]:
        """Return the texts that cells refer to by their number."""
        from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
        from openpyxl.xml.functions import iterparse

        found = self._reader.package.find(SHARED_STRINGS)
        if found is None:
            return []
        text, *told = (f"{{{SHEET_MAIN_NS}}}{tag}" for tag in ("si", "t", "r"))
        plain = told[0]
        stream = _Guarded(self._archive, found.PartName[1:], self._budget)
        texts: list[str] = []
        for _, element in iterparse(stream):
            if element.tag != text:
                continue
            # a text is plain, or in parts of different looks; how Chinese is pronounced stands elsewhere
            parts = (
                child.text if child.tag == plain else child.findtext(plain) for child in element if child.tag in told
            )
            texts.append("".join(filter(None, parts)).replace("x005F_", ""))  # the last as openpyxl does
            element.clear()
            stream.tags = 0
            self._budget.take(_TEXT + sys.getsizeof(texts[-1]), "it has more than {:,} texts", len(texts) - 1)
        return texts
