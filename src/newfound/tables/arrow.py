"""Cells of an Arrow column as Python objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
_TOGETHER = 4096  # cells that become objects at once


def cells_of(column: Any) -> NDArray[Any]:
    """Return the cells of a column, None where they are missing; equal texts are one object.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of length n

    Returns
    -------
    ndarray of shape (n,), object
        Moments that Python has no type for, such as those after the year 9999, are ``numpy.datetime64``.
    """
    found = distinct_cells(column)
    if found is not None:
        return spread(*found)
    cells = np.empty(len(column), dtype=object)
    same: dict[str, str] = {}
    for start in range(0, len(column), _TOGETHER):
        some = _listed(column.slice(start, _TOGETHER))
        cells[start : start + len(some)] = [same.setdefault(cell, cell) if type(cell) is str else cell for cell in some]
    return cells


def is_nested(column: Any) -> bool:
    """Whether the cells are lists or structures."""
    from pyarrow import types

    return bool(types.is_nested(column.type)) or str(column.type).startswith(("list", "large_list"))


def distinct_cells(column: Any) -> tuple[NDArray[Any], NDArray[np.intp]] | None:
    """Return the different cells of a column of texts or of a dictionary, and the place of each cell among them.

    A dictionary may name one long text a million times: as objects of their own they would take all memory.

    Returns
    -------
    tuple of ndarray of shape (d,), object, and ndarray of shape (n,), intp; or None
        The place is -1 where a cell is missing. None for columns of other kinds.
    """
    from pyarrow import types

    kind = column.type
    if types.is_dictionary(kind):
        encoded = column.unify_dictionaries()
    elif str(kind) in _TEXTS:
        encoded = column.dictionary_encode()
    else:
        return None
    codes = [chunk.indices.cast("int64").fill_null(-1).to_numpy() for chunk in encoded.chunks]
    listed = _listed(encoded.chunk(0).dictionary) if encoded.num_chunks else []
    distinct = np.empty(len(listed), dtype=object)
    distinct[:] = listed
    return distinct, np.concatenate(codes, dtype=np.intp) if codes else np.empty(0, dtype=np.intp)


def spread(distinct: NDArray[Any], codes: NDArray[np.intp]) -> NDArray[Any]:
    """Return what stands at each place, and None for the place -1; shape (n,), object."""
    cells = np.empty(len(distinct) + 1, dtype=object)  # the last is None
    cells[:-1] = distinct
    spread_out: NDArray[Any] = cells[codes]
    return spread_out


def _listed(cells: Any) -> list[Any]:
    try:
        return list(cells.to_pylist())
    except (OverflowError, ValueError):  # dates and durations beyond those of Python
        moments = cells.to_numpy(zero_copy_only=False) if hasattr(cells, "buffers") else cells.to_numpy()
        return [None if missing else moment for moment, missing in zip(moments, np.isnat(moments), strict=True)]
