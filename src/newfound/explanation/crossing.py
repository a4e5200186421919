"""Rows made up by crossing neighbours, so that the ends of ranges do not hang on the few rows there happen to be.

A model can be asked about any row. Rules made of the answers on crossed rows too say more of the model and less of the
sample (Craven and Shavlik, Extracting tree-structured representations of trained networks, 1996).
"""

from __future__ import annotations

import numpy as np

from newfound.clustering.graphs import nearest
from newfound.discoverers.reading import Reading
from newfound.explanation.sampling import Rows
from newfound.tables import Table

_N_NEIGHBOURS = 5


def cross_neighbours(reading: Reading, n: int, rng: np.random.RandomState) -> tuple[Reading, Rows, Rows]:
    """Make up rows, each of whose cells is that of a row or of one of its nearest neighbours.

    Parameters
    ----------
    reading : Reading of m rows
        At least 2.
    n : int
        How many rows to make up; each row gets its turn.
    rng : RandomState

    Returns
    -------
    crossed : Reading of n rows
    rows, neighbours : ndarrays of shape (n,)
        The two rows from which each was made.
    """
    encoder, columns = reading.model.encoder_, reading.table.columns
    close, _ = nearest(reading.rows, _N_NEIGHBOURS)
    rows = np.resize(rng.permutation(len(reading.rows)), n)
    neighbours = close[rows, rng.randint(close.shape[1], size=n)]
    own = {name: rng.random_sample(n) < 0.5 for name in columns}
    cells = {name: np.where(own[name], values[rows], values[neighbours]) for name, values in columns.items()}
    table = Table(cells, n, reading.table.named)
    crossed = Reading(reading.model, table, table)
    # Each cell is encoded on its own, so that the crossed rows are made of parts of encoded rows.
    own_groups = np.column_stack([own[column.name] for column in encoder.schema_.used])
    crossed.rows = np.where(own_groups[:, encoder.layout_.groups], reading.rows[rows], reading.rows[neighbours])
    return crossed, rows, neighbours
