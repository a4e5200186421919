"""A path comes in, a table goes out; what a file is, its first bytes say better than its name."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any, overload

from numpy.typing import NDArray

from newfound.errors import InputError, Message, Parameter, warn_user
from newfound.tables.cells import shown
from newfound.tables.files.arrow_files import read_feather, read_parquet
from newfound.tables.files.budget import Budget, out_of_memory
from newfound.tables.files.content import read_content
from newfound.tables.files.delimited import read_delimited
from newfound.tables.files.excel import read_excel
from newfound.tables.files.fast_delimited import FAST_FROM, read_fast
from newfound.tables.files.json_lines import read_json_lines
from newfound.tables.files.table_file import TableFile
from newfound.tables.files.targets import read_target
from newfound.tables.files.text import decode
from newfound.tables.frame import Table

_PARQUET, _ZIP, _OLD_EXCEL = b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_FEATHER = (b"ARROW1", b"FEA1")
_HEAD = 1 << 16  # characters
_JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
_BINARY_ENDINGS = {".parquet": "Parquet", ".feather": "Feather", ".arrow": "Feather", ".xlsx": "Excel"}


@overload
def read_table(
    path: str | os.PathLike[str],
    *,
    target: None = None,
    unlabelled: str | Collection[str] | None = None,
    ignore: str | Collection[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    max_memory: int | str | None = None,
) -> Table: ...


@overload
def read_table(
    path: str | os.PathLike[str],
    *,
    target: str,
    unlabelled: str | Collection[str] | None = None,
    ignore: str | Collection[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    max_memory: int | str | None = None,
) -> tuple[Table, NDArray[Any]]: ...


def read_table(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    unlabelled: str | Collection[str] | None = None,
    ignore: str | Collection[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    max_memory: int | str | None = None,
) -> Table | tuple[Table, NDArray[Any]]:
    r"""Read a table from a file, as the command line does.

    Numbers, booleans and dates are recognised, also with decimal commas, and so are words for missing cells such as NA
    and ?. Codes such as 007 stay text. Row numbers that pandas wrote are left out.

    Parameters
    ----------
    path : str or path
        CSV, JSON lines, Parquet, Feather or Excel, also compressed by gzip. Its content says which it is.
    target : str, optional
        The column of the classes, which is then returned as y.
    unlabelled : str or collection of str, optional
        What stands in the target of unlabelled rows, besides nothing; by default the words for missing cells, and -1
        where all other labels are numbers.
    ignore : str or collection of str, default=()
        Columns to leave out.
    delimiter, encoding : str, optional
        Of CSV; by default they are found out.
    decimal : {".", ","}, optional
        How numbers are written in CSV; by default a comma is accepted where the delimiter is a semicolon.
    sheet : str, optional
        Of an Excel file; by default the first.
    max_memory : int or str, optional
        The most memory that reading may take, in bytes or as a text such as "4GB". By default it is a quarter of the
        machine's memory, but at most 512 MiB and 16 times the size of the file.

    Returns
    -------
    X : Table
        What `fit`, `predict` and `explain` take. ``X["size"]`` is a column as an array, ``X[["size", "colour"]]`` some
        columns, ``X[:100]`` some rows, and ``pandas.DataFrame(X.columns)`` a data frame.
    y : ndarray of shape (n_rows,), object
        Only with `target`: text, None where a row is unlabelled.

    Warns
    -----
    UserWarning
        What the user should know of the choices made, such as a text among numbers.

    Raises
    ------
    InputError
        If the file cannot be read, with the line that is wrong and what to do, or takes more memory than it may.
    MissingExtraError
        If a package is needed that is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "animals.csv")
    ...     _ = path.write_text("size,colour,animal\n1.5,red,cat\nNA,blue,\n")
    ...     X, y = read_table(path, target="animal")
    >>> X
    Table of 2 rows and 2 columns: size (numbers), colour (text)
    >>> X["size"], y
    (array([1.5, nan]), array(['cat', None], dtype=object))
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError.of("path", path, "the path of a file as a text or pathlib.Path")
    if not isinstance(target, str | None):
        raise InputError.of("target", target, "the name of a column")
    ignored = _listed("ignore", ignore)
    file = read_file(
        Path(path), delimiter=delimiter, encoding=encoding, decimal=decimal, sheet=sheet, max_memory=max_memory
    )
    for name in ignored:
        file.place(name, Parameter("ignore", name))
    if target is None:
        labels = None
    else:
        labels = read_target(file, target, None if unlabelled is None else _listed("unlabelled", unlabelled))
        ignored.append(target)
    table = file.table(ignored)
    for note in (*file.notes, *(labels.notes if labels else ())):
        warn_user(note)
    return table if labels is None else (table, labels.labels)


def _listed(parameter: str, given: Any) -> list[str]:
    texts: list[Any] = [given] if isinstance(given, str) else list(given) if isinstance(given, Collection) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise InputError.of(parameter, given, "a text or a list of texts")
    return texts


def read_file(
    path: Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    max_memory: int | str | None = None,
) -> TableFile:
    """Read a table from a file.

    Parameters
    ----------
    path : Path
        CSV, JSON lines, Parquet, Feather or Excel, also compressed by gzip. Its content says which it is.
    delimiter : str or None
        Of CSV; None finds out.
    encoding : str or None
        Of text; None finds out.
    decimal : {".", ","} or None
        How numbers are written in text; None is the comma where the delimiter is a semicolon and no point is used.
    sheet : str or None
        Of an Excel file; None is the first.
    max_memory : int, str or None
        The most memory that reading may take; see `read_table`.

    Raises
    ------
    InputError
        If it cannot be read, with what to do.
    MissingExtraError
        If a package is needed that is not installed.
    """
    if decimal not in (None, ".", ","):
        raise InputError.of("decimal", decimal, "'.' or ','")
    budget = Budget.of(max_memory, path)
    try:
        return _read(path, delimiter, encoding, decimal, sheet, budget)
    except MemoryError:
        raise out_of_memory(str(path)) from None


def _read(
    path: Path,
    delimiter: str | None,
    encoding: str | None,
    decimal: str | None,
    sheet: str | None,
    budget: Budget,
) -> TableFile:
    content = read_content(path, budget)
    ending = _ending(path)
    _refuse(content, ending, path)
    if sheet is not None and not content.startswith(_ZIP):
        problem = f", but {path} is not an Excel file; leave "
        raise InputError(Message("Got ", Parameter("sheet", sheet), problem, Parameter("sheet"), " out."))
    if content.startswith(_PARQUET):
        return read_parquet(content, path, budget)
    if content.startswith(_FEATHER):
        return read_feather(content, path, budget)
    if content.startswith(_ZIP):
        return read_excel(content, path, sheet, budget)
    decoded = decode(content, encoding, budget)
    del content  # of which the text may be a copy
    notes = [decoded.note] if decoded.note else []
    if not decoded.utf8 or decoded.utf8.isspace():
        raise InputError(f"{path} is empty; expected names of columns in its first line, and rows below.")
    if ending in _JSON_ENDINGS or (delimiter is None and decoded.head(_HEAD).lstrip().startswith(("{", "[{"))):
        names, columns = read_json_lines(decoded, budget)
        return TableFile(
            path, "JSON lines", tuple(names), len(columns[0]), columns, decoded.encoding, notes=notes, budget=budget
        )
    cells = read_fast(decoded, delimiter, budget) if len(decoded.utf8) >= FAST_FROM else None
    if cells is None:
        cells = read_delimited(decoded, delimiter, budget)
    budget.give_back(len(decoded.utf8))
    return TableFile(
        path,
        "CSV",
        tuple(cells.names),
        len(cells.columns[0]),
        cells.columns,
        decoded.encoding,
        cells.delimiter,
        decimal or ("," if cells.delimiter == ";" else "."),
        notes,
        budget,
    )


def _ending(path: Path) -> str:
    """Last ending of the name, without that of gzip, in small letters."""
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.suffix.lower()


def _refuse(content: bytes, ending: str, path: Path) -> None:
    """Refuse what is no table, where the content or the name says so."""
    if not content:
        raise InputError(f"{path} is empty; expected names of columns in its first line, and rows below.")
    if content.startswith(_OLD_EXCEL):
        raise InputError(f"{path} is in Excel's old format (.xls); save it as .xlsx or CSV.")
    if content[8:9] == b"{" and content[4:8] == bytes(4):
        raise InputError(f"{path} is a model file, but expected a table; name the file of the table.")
    expected = _BINARY_ENDINGS.get(ending)
    if expected and not content.startswith((_PARQUET, _ZIP, *_FEATHER)):
        raise InputError(
            f"{path} is called {shown(ending)}, but is no {expected} file; it may be cut short. If it is CSV, "
            "rename it."
        )
