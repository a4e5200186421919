"""Columns as a space in which distances are measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

Floats = NDArray[np.float64]

_MOST_COLUMNS = 100  # of a space; wider tables are cut to their principal components
_WIDE = 1_000  # columns from which on axes are found in other ways than by the products of all pairs of columns
_MOST_PRODUCTS = 1 << 36  # multiplications for these products; of more rows a part is looked at
_ROUNDING = 1e-9  # of the largest eigenvalue: smaller ones are none


def principal_axes(centred: Floats) -> Floats:
    """Leading principal axes of centred rows (n, d) as columns, at most 100; the identity if d is at most 100.

    Of tables with many columns and rows they are found by a randomised decomposition, and of a part of the rows.
    """
    d = centred.shape[1]
    if d <= _MOST_COLUMNS:
        return np.eye(d)
    step = -(-len(centred) * d * d // _MOST_PRODUCTS)
    rows = centred[::step] if step > 1 else centred
    if min(rows.shape) > _WIDE:
        found: Floats = randomized_svd(rows, _MOST_COLUMNS, n_iter=4, random_state=0)[2].T
        return found
    if len(rows) < d and d > _WIDE:  # the smaller of the two products has the same axes
        values, vectors = np.linalg.eigh(rows @ rows.T)
        some = slice(None, -_MOST_COLUMNS - 1, -1)
        positive = values[some] > _ROUNDING * max(float(values[-1]), np.finfo(float).tiny)
        values, vectors = values[some][positive], vectors[:, some][:, positive]
        axes: Floats = rows.T @ (vectors / np.sqrt(values))
        return axes if axes.size else np.eye(d, 1)
    return np.linalg.eigh(rows.T @ rows)[1][:, : -_MOST_COLUMNS - 1 : -1]


def compact(rows: Floats) -> Floats:
    """Centred rows, or their leading principal components where there are too many columns."""
    centred: Floats = rows - rows.mean(axis=0)
    return centred if rows.shape[1] <= _MOST_COLUMNS else centred @ principal_axes(centred)
