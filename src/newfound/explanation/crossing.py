"""Rows made up by crossing neighbours, so that the ends of ranges do not hang on the few rows there happen to be.

A model can be asked about any row. Rules made of the answers on crossed rows too say more of the model and less of the
sample (Craven and Shavlik, Extracting tree-structured representations of trained networks, 1996).
"""

from __future__ import annotations

import numpy as np

from newfound.clustering.graphs import nearest
from newfound.explanation.columns import Floats
from newfound.explanation.sampling import Rows
from newfound.tables import Table

_N_NEIGHBOURS = 5


def cross_neighbours(table: Table, encoded: Floats, n: int, rng: np.random.RandomState) -> tuple[Table, Rows, Rows]:
    """Make up rows, each of whose cells is that of a row or of one of its nearest neighbours.

    Parameters
    ----------
    table : Table of m rows
        At least 2.
    encoded : ndarray of shape (m, d)
        Where they lie.
    n : int
        How many rows to make up; each row gets its turn.
    rng : RandomState

    Returns
    -------
    table : Table of n rows
    rows, neighbours : ndarrays of shape (n,)
        The two rows from which each was made.
    """
    close, _ = nearest(encoded, _N_NEIGHBOURS)
    rows = np.resize(rng.permutation(table.n_rows), n)
    neighbours = close[rows, rng.randint(close.shape[1], size=n)]
    columns = {
        name: np.where(rng.random_sample(n) < 0.5, cells[rows], cells[neighbours])
        for name, cells in table.columns.items()
    }
    return Table(columns, n, table.named), rows, neighbours
