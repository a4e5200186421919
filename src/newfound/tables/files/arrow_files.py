"""Parquet and Feather, by pyarrow."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from newfound.errors import InputError
from newfound.extras import load_extra
from newfound.tables.files.arrow_sizes import Page, feather_size, pages_of
from newfound.tables.files.budget import CELL, COLUMN, Budget
from newfound.tables.files.table_file import TableFile

_OTHERWISE = "save the table as CSV"
_MOST_TIMES = {"UNCOMPRESSED": 1, "SNAPPY": 22, "LZ4": 256, "LZ4_RAW": 256, "GZIP": 1033}
"""How many times its size a page may become, for kinds of compression that have a limit."""

_NEW_FEATHER = b"ARROW1"
_LONG_TEXT = 10_000  # mean bytes of a column's texts from which on they are looked at as such


def read_parquet(content: bytes, path: Path, budget: Budget) -> TableFile:
    """Read Parquet by pyarrow."""
    parquet = load_extra("pyarrow.parquet", "A Parquet file", _OTHERWISE)

    def read() -> Any:
        # not read_table, which calls a file broken that has a name twice
        file = parquet.ParquetFile(io.BytesIO(content))
        _check_size(file.metadata.num_rows, len(file.schema_arrow.names), budget)
        _Parquet(parquet, file, content, budget).check()
        return file.read()

    return _read("Parquet", read, path, budget)


def read_feather(content: bytes, path: Path, budget: Budget) -> TableFile:
    """Read Feather by pyarrow."""
    feather = load_extra("pyarrow.feather", "A Feather file", _OTHERWISE)

    def read() -> Any:
        if content.startswith(_NEW_FEATHER):
            size = feather_size(content)
            budget.check(
                size.n_bytes + CELL * size.n_rows, f"it unpacks to {size.n_bytes:,} bytes, {size.n_rows:,} rows"
            )
        return feather.read_table(io.BytesIO(content))

    return _read("Feather", read, path, budget)


def _check_size(n_rows: int, n_columns: int, budget: Budget) -> None:
    """Refuse more cells than the budget allows: they are held as in the file, and as columns of a table."""
    budget.check(
        n_columns * (2 * CELL * n_rows + COLUMN),
        f"it has {n_rows:,} rows of {n_columns:,} column{'s' * (n_columns != 1)}",
    )


def _check_long_texts(table: Any, budget: Budget) -> None:
    """Refuse long texts that are too much once they are held as Python has them too, bytes twice.

    Short ones are mostly equal to others, which are held once.
    """
    import pyarrow as pa

    held = 0
    for column in table.columns:
        is_bytes = pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if (is_bytes or is_text) and column.nbytes > _LONG_TEXT * table.num_rows:
            held += column.nbytes * (1 + is_bytes)
    budget.check(held, "it has long texts, which take {:,} bytes once more", held)


def _read(name: str, read: Callable[[], Any], path: Path, budget: Budget) -> TableFile:
    try:
        table = read()
        table = table.unify_dictionaries()
    except (InputError, MemoryError):
        raise
    except Exception as error:  # pyarrow has many kinds of complaint about a broken file
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path} is a broken {name} file ({reason}); it may be cut short, get it again.") from None
    if not table.num_rows or not table.num_columns:
        raise InputError(
            f"{path} has {table.num_columns} columns and {table.num_rows} rows; expected at least one each."
        )
    _check_size(table.num_rows, table.num_columns, budget)
    budget.take(table.nbytes + COLUMN * table.num_columns, "its cells")
    _check_long_texts(table, budget)
    names = tuple(str(column) for column in table.column_names)
    return TableFile(path, name, names, table.num_rows, table.columns, budget=budget)


class _Parquet:
    """What the columns of a Parquet file will take once they are unpacked, and their texts spelled out.

    A page of zeros, or of a few texts that all rows repeat, takes next to nothing in the file.
    """

    def __init__(self, parquet: Any, file: Any, content: bytes, budget: Budget) -> None:
        self._parquet, self._file, self._content, self._budget = parquet, file, content, budget
        self._taken = 0

    def check(self) -> None:
        """Refuse a file that takes more than the budget allows."""
        metadata = self._file.metadata
        chunks = [
            (group, metadata.row_group(group).num_rows, metadata.row_group(group).column(place), place)
            for group in range(metadata.num_row_groups)
            for place in range(metadata.num_columns)
        ]
        longest = sum(self._most(chunk) for _, _, chunk, _ in chunks)
        for group, n_rows, chunk, place in chunks:
            self._check_chunk(
                group, n_rows, chunk, self._file.schema.column(place), closely=longest > self._budget.left
            )

    def _most(self, chunk: Any) -> int:
        """Bytes that the pages of a chunk may become, by what their compression can do."""
        packed = min(max(0, chunk.total_compressed_size), len(self._content))
        return int(packed) * _MOST_TIMES.get(chunk.compression, self._budget.memory)

    def _check_chunk(self, group: int, n_rows: int, chunk: Any, column: Any, *, closely: bool) -> None:
        is_text, is_flat = chunk.physical_type == "BYTE_ARRAY", column.max_repetition_level == 0
        start = min(place for place in (chunk.dictionary_page_offset, chunk.data_page_offset) if place)
        pages = pages_of(self._content, start, chunk.total_compressed_size)
        if not (closely or not is_flat or "DELTA_BYTE_ARRAY" in chunk.encodings):
            first = next(pages, Page(0, 0, False)) if is_text else Page(0, 0, False)
            known, n_values = [first] if first.is_dictionary else [], n_rows
        else:
            known = list(pages)
            n_values = n_rows if is_flat else sum(page.n_values for page in known if not page.is_dictionary)
        name = chunk.path_in_schema
        unpacked = sum(page.size for page in known)
        self._budget.check(
            max((page.size for page in known), default=0), f"column {name!r} unpacks to {unpacked:,} bytes"
        )
        self._take(n_values * self._width(column), f"column {name!r} has {n_values:,} values")
        if not is_text:
            return
        self._take(unpacked, f"column {name!r} unpacks to {unpacked:,} bytes")
        dictionary = max((page.size for page in known if page.is_dictionary), default=0)
        if "DELTA_BYTE_ARRAY" in chunk.encodings:  # a text goes on from the one before it
            self._check_batches(group, name, max(page.size for page in known))
        elif n_values * dictionary > self._budget.left - self._taken:
            self._check_dictionary(group, name, n_values, dictionary, is_plain=is_flat and "." not in name)

    def _width(self, column: Any) -> int:
        return max(CELL, column.length) if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else CELL

    def _take(self, n_bytes: int, what: str) -> None:
        self._taken += n_bytes
        self._budget.check(self._taken, "{}", what)

    def _check_dictionary(self, group: int, name: str, n_values: int, size: int, *, is_plain: bool) -> None:
        """Refuse texts of a dictionary that are too many once all rows spell them out."""
        said = f"column {name!r} spells out long texts in {n_values:,} rows"
        if not is_plain:
            self._take(n_values * size, said)
            return
        file = self._parquet.ParquetFile(io.BytesIO(self._content), read_dictionary=[name])
        batch = next(file.iter_batches(batch_size=1, row_groups=[group], columns=[name], use_threads=False), None)
        if batch is None or not hasattr(batch.column(0), "dictionary"):
            return
        longest = int(_lengths(batch.column(0).dictionary).max(initial=0))
        if n_values * longest <= self._budget.left - self._taken:
            self._taken += n_values * longest
            return
        for batch in file.iter_batches(row_groups=[group], columns=[name], use_threads=False):
            lengths, codes = _lengths(batch.column(0).dictionary), batch.column(0).indices.drop_null().to_numpy()
            self._take(int(lengths[codes].sum()), said)

    def _check_batches(self, group: int, name: str, longest: int) -> None:
        """Refuse texts that are too long, by having a few rows of them at a time."""
        rows = max(1, self._budget.left // 16 // max(1, longest))
        said = f"column {name!r} spells out long texts"
        for batch in self._file.iter_batches(batch_size=rows, row_groups=[group], columns=[name], use_threads=False):
            self._take(batch.nbytes, said)


def _lengths(texts: Any) -> Any:
    """Bytes of each text of an Arrow array."""
    wide = str(texts.type).startswith("large")
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int64 if wide else np.int32)
    return np.diff(offsets[texts.offset : texts.offset + len(texts) + 1]).astype(np.int64)
