"""Arrays of numbers and codes as tables that discoverers take, without pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_table(values: NDArray[np.float32], categorical: NDArray[np.bool_]) -> NDArray[Any]:
    """Write levels as text and missing cells as None, and leave constant columns out.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        Numbers, or codes of levels; NaN where missing.
    categorical : ndarray of shape (d,)

    Returns
    -------
    ndarray of shape (n, d') of objects
    """
    told = [len(np.unique(column[~np.isnan(column)])) > 1 for column in values.T]
    table = values[:, told].astype(object)
    table[np.isnan(values[:, told])] = None
    for place in np.flatnonzero(categorical[told]):
        table[:, place] = [None if level is None else f"level {level:.0f}" for level in table[:, place]]
    return table
