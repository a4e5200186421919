"""Which columns of a wide table are worth a closer look."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from newfound.explanation.columns import Codes, ExplainedColumn, ExplainedTable, Floats, Mask


def telling_columns(table: ExplainedTable, codes: Codes, classes: Sequence[int], most: int) -> list[int]:
    """Return the places of the columns in which one of some classes differs most from all other rows.

    Parameters
    ----------
    table : ExplainedTable of n rows
    codes : ndarray of shape (n,)
        Class of each row.
    classes : sequence of int
        Those that matter; each has its share of the columns.
    most : int
        About how many columns to return; all, if there are no more.
    """
    if len(table.columns) <= most or not len(classes):
        return list(range(len(table.columns)))
    groups = [codes == code for code in classes]
    each = -(-most // len(groups))
    strength = np.array([[_difference(column, inside) for inside in groups] for column in _ranked(table)])
    chosen = [np.argsort(-strength[:, place], kind="stable")[:each] for place in range(len(groups))]
    return sorted({int(column) for columns in chosen for column in columns})


def _ranked(table: ExplainedTable) -> list[ExplainedColumn | Floats]:
    """Return the cells of scales as ranks from -1 to 1, of all scales at once; missing cells count as the largest.

    Equal cells share their mean rank: by their order a constant column of a sorted table would tell its classes apart.
    """
    scales = [column.numbers for column in table.columns if column.ordered]
    if not scales:
        return list(table.columns)
    ranks = rankdata(np.nan_to_num(np.stack(scales), nan=np.inf, posinf=np.inf), axis=1)
    left = iter((2 * ranks - table.n_rows - 1) / max(1, table.n_rows - 1))
    return [next(left) if column.ordered else column for column in table.columns]


def _difference(column: ExplainedColumn | Floats, inside: Mask) -> float:
    if not inside.any() or inside.all():
        return 0.0
    if isinstance(column, np.ndarray):
        return float(abs(column[inside].mean() - column[~inside].mean()))
    n = len(column.categories) + 1  # the last one is that of missing cells
    shares = [np.bincount(column.codes[rows] % n, minlength=n) / rows.sum() for rows in (inside, ~inside)]
    return float(np.abs(shares[0] - shares[1]).max())
