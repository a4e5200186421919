"""Cells of an Arrow column as Python objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_TOGETHER = 4096  # cells that become objects at once


def cells_of(column: Any) -> NDArray[Any]:
    """Return the cells of a column, None where they are missing; equal texts are one object.

    A dictionary, or a view, may name one long text a million times: as objects of their own they would take all memory.

    Parameters
    ----------
    column : pyarrow.ChunkedArray or pyarrow.Array of length n

    Returns
    -------
    ndarray of shape (n,), object
        Moments that Python has no type for, such as those after the year 9999, are ``numpy.datetime64``.
    """
    import pyarrow as pa

    cells = np.empty(len(column), dtype=object)
    same: dict[Any, Any] = {}
    start = 0
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        if _is_text(chunk.type):
            chunk = chunk.dictionary_encode()
        end = start + len(chunk)
        if isinstance(chunk, pa.DictionaryArray):
            cells[start:end] = _spelled(chunk, same)
        else:
            cells[start:end] = _objects(chunk, same)
        start = end
    return cells


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(
        types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind)
    )


def _spelled(chunk: Any, same: dict[Any, Any]) -> NDArray[Any]:
    distinct = _objects(chunk.dictionary, same)
    texts = np.empty(len(distinct), dtype=object)
    texts[:] = distinct
    spelled = np.empty(len(chunk), dtype=object)  # all None
    present = chunk.is_valid().to_numpy(zero_copy_only=False)
    spelled[present] = texts[chunk.indices.drop_null().to_numpy()]
    return spelled


def _objects(chunk: Any, same: dict[Any, Any]) -> list[Any]:
    cells: list[Any] = []
    for start in range(0, len(chunk), _TOGETHER):
        some = _listed(chunk.slice(start, _TOGETHER))
        if some and any(isinstance(cell, (str, bytes)) for cell in some):
            some = [same.setdefault(cell, cell) if isinstance(cell, (str, bytes)) else cell for cell in some]
        cells += some
    return cells


def _listed(chunk: Any) -> list[Any]:
    try:
        return list(chunk.to_pylist())
    except (OverflowError, ValueError):  # dates and durations beyond those of Python
        moments = chunk.to_numpy(zero_copy_only=False)
        return [None if missing else moment for moment, missing in zip(moments, np.isnat(moments), strict=True)]
