"""The columns of the user's table behind encoded rows, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newfound.tables import TableEncoder
from newfound.tables.layout import Layout

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SourceColumns:
    """The columns of the user's table behind encoded rows.

    Parameters
    ----------
    layout : Layout
        Of the encoded rows.
    names : sequence of str
        Of the columns, one for each group of the layout.
    """

    layout: Layout
    names: Sequence[str]

    @classmethod
    def of(cls, encoder: TableEncoder) -> SourceColumns:
        """Return the columns that a fitted encoder uses."""
        return cls(encoder.layout_, [column.name for column in encoder.schema_.used])

    def numbers(self, rows: Floats, place: int) -> Floats | None:
        """Return the numbers of a column, NaN where they are missing; None for a column of categories."""
        at = np.flatnonzero(self.layout.groups == place)
        if self.layout.categorical[at[0]]:
            return None
        numbers = rows[:, at[0]].copy()
        if len(at) > 1:
            numbers[rows[:, at[1]] > 0.5] = np.nan
        return numbers

    def levels(self, rows: Floats, place: int) -> Codes:
        """Return the category of each row in a column, as a code from 0 on; a missing cell is one of its own."""
        block = rows[:, self.layout.groups == place]
        _, codes = np.unique(block, axis=0, return_inverse=True)
        return codes.astype(np.int64).ravel()
