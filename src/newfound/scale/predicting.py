"""Prediction of tables that are larger than memory, from Parquet to Parquet."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

from newfound.discoverers.base import BaseDiscoverer
from newfound.errors import InputError
from newfound.extras import load_extra
from newfound.tables.cells import shown
from newfound.tables.streams import RESULT, is_stream, open_stream, refuse_to_overwrite
from newfound.writing import replacing

_OURS = ("class", "probability")
_PURPOSE = "A table that is read batch by batch"


def predict_parquet(
    model: BaseDiscoverer, source: Any, path: str | os.PathLike[str], *, keep: Sequence[str] = ()
) -> int:
    """Predict a class for each row of a table that need not fit into memory, and write them as a Parquet file.

    Parameters
    ----------
    model : discoverer
        Fitted, in memory or on a stream.
    source : str, path, or iterator of pyarrow.RecordBatch or pyarrow.Table
        A Parquet file, a folder of them, a pattern such as ``"2026-*.parquet"``, or a list of files.
    path : str or path
        The file to write. It appears once it is complete; one that is there already is then replaced, but for
        those that are read.
    keep : sequence of str, default=()
        Columns of the table that are written too, such as one that identifies the rows.

    Returns
    -------
    int
        Number of rows. They are written in their order, with ``class``, ``probability`` and what was to be kept.

    Examples
    --------
    >>> import newfound as nf
    >>> model = nf.TabularNCD(5).fit("calls/2026-*.parquet", "kind")  # doctest: +SKIP
    >>> nf.predict_parquet(model, "calls/2027-01.parquet", "classes.parquet", keep=["call"])  # doctest: +SKIP
    1048576
    """
    check_fitted(model)
    if not is_stream(source):
        raise InputError.of("source", type(source).__name__, "a path, or an iterator of batches of pyarrow")
    with open_stream(source, None) as stream:
        refuse_to_overwrite(stream, path)
        return write_tables((predicted(model, table, keep) for table, _ in stream.batches()), path)


def predicted(model: BaseDiscoverer, table: Any, keep: Sequence[str]) -> Any:
    """Return a pyarrow table with the class of each row of one, its probability, and what was to be kept."""
    arrow = load_extra("pyarrow", _PURPOSE)
    check_kept(keep, table.column_names)
    proba = model.predict_proba(table)
    columns = {name: table[name] for name in keep}
    columns["class"] = arrow.array(model.classes_[proba.argmax(axis=1)].tolist())
    columns["probability"] = arrow.array(proba.max(axis=1))
    return arrow.table(columns)


def write_tables(tables: Iterable[Any], path: str | os.PathLike[str]) -> int:
    """Write tables of pyarrow one below the other as a Parquet file, which appears as a whole; returns its rows."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise InputError.of("path", os.fspath(path), problem=f"but there is no folder {folder}", cure="make it first")
    try:
        with replacing(os.fspath(path)) as fresh:
            return fill_parquet(fresh, tables)
    except OSError as error:
        problem = f"which cannot be written ({' '.join(str(error).split())[:200]})"
        raise InputError.of("path", os.fspath(path), problem=problem, cure="make room, or name another file") from error


def fill_parquet(place: str | os.PathLike[str], tables: Iterable[Any]) -> int:
    """Write tables of pyarrow one below the other into a file; returns the number of rows."""
    parquet = load_extra("pyarrow.parquet", _PURPOSE)
    n_rows, writer = 0, None
    with ExitStack() as closing:
        for table in tables:
            if writer is None:
                schema = table.schema.with_metadata({**(table.schema.metadata or {}), RESULT: b"1"})
                writer = closing.enter_context(parquet.ParquetWriter(place, schema))
            writer.write_table(table)
            n_rows += table.num_rows
    return n_rows


def check_fitted(model: Any) -> None:
    """Raise an error for what is no discoverer, or one that is not fitted."""
    if not isinstance(model, BaseDiscoverer):
        raise InputError.of("model", model, "a fitted discoverer, such as newfound.load returns")
    model._check_is_fitted()


def check_kept(keep: Sequence[str], names: Sequence[str]) -> None:
    """Raise InputError for columns to keep that are not there, or have the name of one of the result."""
    if isinstance(keep, str) or not isinstance(keep, Sequence):
        raise InputError.of("keep", keep, "a list of names of columns")
    for name in keep:
        if name not in names:
            cure = f"name some of its columns: {shown(list(names), 200)}"
            raise InputError.of("keep", list(keep), problem=f"but the table has no column {name!r}", cure=cure)
        if name in _OURS:
            raise InputError.of("keep", list(keep), problem=f"but {name!r} is the name of a column of the result")
