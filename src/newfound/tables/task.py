"""What a discoverer learns from, once table and labels are read: encoded rows and codes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.tables.layout import Layout


@dataclass(frozen=True, eq=False)
class DiscoveryTask:
    """Encoded rows, the codes of their known classes, and how many novel classes to look for.

    Nothing else about the classes reaches a discoverer, so true classes of unlabelled rows have no way in.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
    codes : ndarray of shape (n,), int64
        Known class of each row from 0 on, -1 where it is unlabelled.
    n_known, n_novel : int
        Number of known classes, and of novel classes to find; 0 where no row is unlabelled.
    layout : Layout
        What the columns of `rows` stand for.
    """

    rows: NDArray[np.float64]
    codes: NDArray[np.int64]
    n_known: int
    n_novel: int
    layout: Layout

    @property
    def unlabelled_rows(self) -> NDArray[np.float64]:
        """Rows to discover in; shape (n_unlabelled, d)."""
        return self.rows[self.codes < 0]

    def take(self, places: NDArray[Any]) -> DiscoveryTask:
        """Return the same task on some of the rows, given by their numbers."""
        return replace(self, rows=self.rows[places], codes=self.codes[places])
