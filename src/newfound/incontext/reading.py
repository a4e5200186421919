"""From an encoded table to a context."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from newfound.incontext.context import MAX_LEVELS, Context
from newfound.tables.layout import Layout

Floats = NDArray[np.float64]


def context_of(rows: Floats, layout: Layout, codes: NDArray[np.int64], unlabelled: int) -> Context:
    """Make a context of one table.

    The columns of a category become one column of codes again, in which missing cells are a level of their own.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Encoded rows.
    layout : Layout
        What their columns stand for.
    codes : ndarray of shape (n,), int64
        Known class of each row, -1 where unlabelled; below `MAX_CLASSES`.
    unlabelled : int
        `ALL_NOVEL`, `MIXED` or `UNKNOWN`.

    Returns
    -------
    Context
        With one column for each source column of the table.
    """
    values = np.zeros((len(rows), layout.n_groups), dtype=np.float32)
    missing = np.zeros(values.shape, dtype=bool)
    categorical = np.zeros(layout.n_groups, dtype=bool)
    starts = np.flatnonzero(np.diff(layout.groups, prepend=-1))
    for group, (start, end) in enumerate(zip(starts, [*starts[1:], layout.n_columns], strict=True)):
        categorical[group] = layout.categorical[start]
        if categorical[group]:
            values[:, group] = _levels(rows[:, start:end])
        else:
            values[:, group] = rows[:, start]
            missing[:, group] = rows[:, start + 1 : end].any(axis=1)  # the indicator, where there is one
    return Context(
        torch.from_numpy(values)[None],
        torch.from_numpy(categorical)[None],
        torch.from_numpy(missing)[None],
        torch.from_numpy(np.asarray(codes, dtype=np.int64))[None],
        torch.tensor([unlabelled]),
    )


def _levels(columns: Floats) -> NDArray[np.int64]:
    """Code of the level that a row has; rows of none of them, and the rarest levels, have the last; (n, m) to (n,)."""
    # An indicator comes after what it stands for, and is larger than the value that is neither true nor false.
    codes: NDArray[np.int64] = np.where(columns.max(axis=1) > 0, columns.argmax(axis=1), columns.shape[1])
    return codes.clip(max=MAX_LEVELS - 1)
