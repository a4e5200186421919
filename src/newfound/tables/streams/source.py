"""Where the rows of a stream come from: Parquet files, or batches that are written to one first."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from newfound.counting import counted
from newfound.errors import InputError, warn_user
from newfound.extras import load_extra
from newfound.folders import folder_for_a_while, writing_for_a_while
from newfound.tables.cells import shown
from newfound.tables.streams.schemas import as_in, common_schema, own_columns

BATCH_ROWS = 65_536
"""Rows that are read at a time."""

RESULT = b"newfound.result"
"""Metadata of the Parquet files that newfound writes, by which they are told from the files of a table."""

PIECE_ROWS = 1 << 18
"""Rows of a piece at most, but for those of one row group."""

_PURPOSE = "A table that is read batch by batch"
_ENDING = ".parquet"
_OTHER_TABLES = (".pq", ".csv", ".tsv", ".json", ".jsonl", ".feather", ".arrow", ".xlsx", ".gz")


@dataclass(frozen=True)
class Piece:
    """Rows of a table that follow each other, which can be read on their own.

    Attributes
    ----------
    path : Path
    groups : tuple of int
        Row groups of the file.
    start : int
        Place of the first row in the table.
    n_rows : int
    """

    path: Path
    groups: tuple[int, ...]
    start: int
    n_rows: int


@dataclass(frozen=True)
class TableStream:
    """A table in Parquet files that all have the same columns.

    Attributes
    ----------
    paths : tuple of Path
        In the order in which they are read.
    schema : pyarrow.Schema
        To which the rows of all files are converted, see `common_schema`.
    target : str or None
        The column of the labels; None where there is none.
    n_rows : int
    spelled : callable or None
        Takes cells of the column of the labels, and returns the labels that they stand for.
    blank : tuple of str
        Columns that nobody can learn from, whose cells are taken for missing.
    """

    paths: tuple[Path, ...]
    schema: Any
    target: str | None
    n_rows: int
    spelled: Callable[[list[Any]], list[Any]] | None = None
    blank: tuple[str, ...] = ()

    def column_names(self) -> list[str]:
        """Names of the columns, that of the labels among them."""
        return list(self.schema.names)

    def pieces(self) -> list[Piece]:
        """Cut the table into pieces of at most `PIECE_ROWS` rows, or of one row group where that has more."""
        parquet = load_extra("pyarrow.parquet", _PURPOSE)
        pieces, start = [], 0
        for path in self.paths:
            with _reading(path):
                metadata = parquet.ParquetFile(path).metadata
            groups: list[int] = []
            n_rows = 0
            for group in range(metadata.num_row_groups):
                size = metadata.row_group(group).num_rows
                if groups and n_rows + size > PIECE_ROWS:
                    pieces.append(Piece(path, tuple(groups), start, n_rows))
                    groups, start, n_rows = [], start + n_rows, 0
                groups.append(group)
                n_rows += size
            if n_rows:
                pieces.append(Piece(path, tuple(groups), start, n_rows))
                start += n_rows
        return pieces

    def batches(self, piece: Piece | None = None) -> Iterator[tuple[Any, list[Any] | None]]:
        """Read the rows of a piece, or of the table, from the first to the last.

        Yields
        ------
        table : pyarrow.Table
            At most ``BATCH_ROWS`` rows, without the labels.
        labels : list or None
            Labels of these rows, where there is a column of them.
        """
        for table in self.tables(piece):
            yield self.apart(table)

    def tables(self, piece: Piece | None = None) -> Iterator[Any]:
        """Read the same rows as pyarrow tables with all columns."""
        return self._read(piece, self.schema)

    def apart(self, table: Any) -> tuple[Any, list[Any] | None]:
        """Take a table with all columns apart: the columns but that of the labels, and the labels."""
        arrow = load_extra("pyarrow", _PURPOSE)
        for name in self.blank:
            place = table.column_names.index(name)
            table = table.set_column(place, name, arrow.nulls(table.num_rows))
        if self.target is None:
            return table, None
        return table.drop_columns([self.target]), self._labels_of(table)

    def labels(self, piece: Piece | None = None) -> Iterator[list[Any]]:
        """Read the labels of a piece or of the table alone, a batch at a time; nothing where it has none."""
        arrow = load_extra("pyarrow", _PURPOSE)
        if self.target is not None:
            for table in self._read(piece, arrow.schema([self.schema.field(self.target)])):
                yield self._labels_of(table)

    def _read(self, piece: Piece | None, schema: Any) -> Iterator[Any]:
        """Read the columns of a schema, a batch at a time."""
        arrow, parquet = load_extra("pyarrow", _PURPOSE), load_extra("pyarrow.parquet", _PURPOSE)
        groups = None if piece is None else list(piece.groups)
        names = None if schema is self.schema else schema.names
        for path in self.paths if piece is None else [piece.path]:
            with _reading(path):
                file = parquet.ParquetFile(path)
                n_left = file.metadata.num_rows if piece is None else piece.n_rows
                for batch in file.iter_batches(batch_size=BATCH_ROWS, row_groups=groups, columns=names):
                    table = arrow.Table.from_batches([batch])
                    table.validate(full=True)  # a damaged file may hold texts that are none
                    n_left -= table.num_rows
                    yield as_in(schema, table)
                if n_left:
                    raise arrow.ArrowInvalid(f"{n_left:,} rows are missing")

    def _labels_of(self, table: Any) -> list[Any]:
        cells: list[Any] = table[self.target].to_pylist()
        return cells if self.spelled is None else self.spelled(cells)


def is_stream(X: Any) -> bool:
    """Whether a table is given as a path or paths, as an iterator of Arrow batches, or opened already."""
    if isinstance(X, (list, tuple)) and X:
        return all(isinstance(item, (str, os.PathLike)) for item in X)
    return isinstance(X, (str, os.PathLike, Iterator, TableStream)) or type(X).__name__ == "RecordBatchReader"


def open_files(source: str | os.PathLike[str], target: str | None = None) -> TableStream:
    """Open Parquet files; parameters and errors as in `open_stream`."""
    return _of_files(_files(os.fspath(source)), target)


def refuse_to_overwrite(stream: TableStream, path: str | os.PathLike[str]) -> None:
    """Raise InputError where a file to write is one of those that are read."""
    if os.path.exists(path) and any(os.path.samefile(path, read) for read in stream.paths):
        cure = "name another file, so that nothing is lost"
        raise InputError.of("path", os.fspath(path), problem="which is one of the files that are read", cure=cure)


@contextmanager
def open_stream(source: Any, target: str | None) -> Iterator[TableStream]:
    """Open a table that is read batch by batch.

    Parameters
    ----------
    source : str, path, iterator of pyarrow.RecordBatch or pyarrow.Table, or TableStream
        A Parquet file, a folder of them (also in folders within), a pattern such as "2026-*.parquet", or a list of
        files. An iterator can be read only once, so its batches are written to temporary files.
    target : str or None
        The column of the labels; a table that is open has its own.

    Raises
    ------
    InputError
        If there is no such file, one is broken or has other columns than the first, or there is no such column.
    """
    if isinstance(source, TableStream):
        yield source
        return
    if isinstance(source, (str, os.PathLike)):
        yield open_files(source, target)
        return
    if isinstance(source, (list, tuple)):
        yield _of_files([file for item in source for file in _files(os.fspath(item))], target)
        return
    with folder_for_a_while() as folder:
        yield _of_files(_write_batches(source, folder), target)


def _files(source: str) -> list[Path]:
    path = Path(source)
    if path.is_file():
        return [path]
    if not path.is_dir():
        found = [Path(name) for name in glob.glob(source, recursive=True)]
        files = sorted(file for file in found if file.is_file())
        problem = "which matches folders only; add /*.parquet" if found and not files else "which names no file"
    else:
        found = sorted(file for file in path.rglob("*") if not _is_hidden(file.relative_to(path)) and file.is_file())
        files = [file for file in found if file.suffix.lower() == _ENDING]
        others = [file for file in found if file.suffix.lower() in _OTHER_TABLES]
        problem = f"which is a folder without a file that ends in {_ENDING}"
        if files and others:
            first = others[0].relative_to(path)
            told = f"{counted(len(others), 'file')} of {source}, such as {first}"
            warn_user(f"{told}, not read: of a folder, files that end in {_ENDING} are.")
    if not files:
        expected = "a Parquet file, a folder with such files, or a pattern such as 'rows/*.parquet'"
        raise InputError.of("X", source, expected, problem=problem)
    return files


def _is_hidden(path: Path) -> bool:
    """Whether a file or a folder around it has a name of those that programs have not completed, or keep notes in."""
    return any(part.startswith((".", "_")) for part in path.parts)


def _of_files(paths: list[Path], target: str | None) -> TableStream:
    parquet = load_extra("pyarrow.parquet", _PURPOSE)
    headers: list[tuple[Path, Any]] = []
    results: list[tuple[Path, Any]] = []
    for path in paths:
        with _reading(path):
            header = parquet.ParquetFile(path).metadata
        (results if RESULT in (header.metadata or {}) else headers).append((path, header))
    if headers and results:
        told = f"{counted(len(results), 'file')} of classes that newfound wrote, such as {results[0][0]}"
        warn_user(f"{told}, not read with the others.")
    headers = headers or results
    schema, n_rows, first = None, 0, headers[0][0]
    for path, header in headers:
        own, n_rows = own_columns(header.schema.to_arrow_schema(), path), n_rows + header.num_rows
        if schema is None:
            schema = own
            if target is not None and target not in schema.names:
                cure = f"name one of its columns: {shown(schema.names, 200)}"
                raise InputError.of("y", target, problem=f"which is no column of {path}", cure=cure)
        else:
            schema = common_schema(schema, own, (first, path))
    if not n_rows:
        raise InputError.about("X", "has no rows", "Pass files with rows.")
    return TableStream(tuple(path for path, _ in headers), schema, target, n_rows)


def _write_batches(batches: Iterable[Any], folder: Path) -> list[Path]:
    """Write batches to files, a further one wherever a batch has values that the types before do not hold."""
    arrow = load_extra("pyarrow", _PURPOSE)
    parquet = load_extra("pyarrow.parquet", _PURPOSE)
    paths: list[Path] = []
    schema: Any = None
    writer: Any = None
    try:
        for batch in batches:
            if not isinstance(batch, (arrow.RecordBatch, arrow.Table)):
                problem = f"has an item of type {type(batch).__name__} among its batches"
                raise InputError.about("X", problem, "Pass batches of pyarrow: RecordBatch or Table.")
            own = own_columns(batch.schema, "its batches")
            wider = own if schema is None else common_schema(schema, own, ("the first batches", "a later one"))
            with writing_for_a_while("The batches", folder):
                if wider != schema:
                    if writer is not None:
                        writer.close()
                    schema = wider
                    paths.append(folder / f"batches-{len(paths):06d}.parquet")
                    writer = parquet.ParquetWriter(paths[-1], schema)
                table = batch if isinstance(batch, arrow.Table) else arrow.Table.from_batches([batch])
                writer.write_table(as_in(schema, table))
    finally:
        if writer is not None:
            with writing_for_a_while("The batches", folder):
                writer.close()
    if not paths:
        raise InputError.about("X", "has no batches", "Pass at least one.")
    return paths


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what pyarrow says of a broken file into one clear line."""
    arrow = load_extra("pyarrow", _PURPOSE)
    try:
        yield
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:200]
        problem = f"{path} cannot be read as a Parquet file ({reason})."
        cure = "If it was cut short, get it again; for another format, read the table first with newfound.read_table."
        raise InputError(f"{problem} {cure}", cure=cure) from error
