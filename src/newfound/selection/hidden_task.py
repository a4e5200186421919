"""Known classes hidden on purpose: the task on which candidates, settings and counts are tried."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newfound.tables.sampling import sample

Codes = NDArray[np.int64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class HiddenTask:
    """Rows of known classes, of which some are hidden and have to be found as if they were novel.

    Attributes
    ----------
    labels : ndarray of shape (n,), int64
        Known class of every row of the table, -1 where it is unlabelled.
    known : ndarray of int
        Numbers of the rows whose classes stay known.
    hidden : ndarray of int
        Numbers of the rows whose labels are hidden.

    Examples
    --------
    >>> task = HiddenTask.hide(np.array([0, 0, 1, 2, -1]), [1, 2])
    >>> task.rows, task.codes, task.truth
    (array([0, 1, 2, 3]), array([ 0,  0, -1, -1]), array([0, 1]))
    """

    labels: Codes
    known: Indices
    hidden: Indices

    @classmethod
    def hide(cls, labels: Codes, classes: Collection[int]) -> HiddenTask:
        """Hide all rows of some known classes."""
        is_hidden = np.isin(labels, list(classes))
        return cls(labels, np.flatnonzero((labels >= 0) & ~is_hidden), np.flatnonzero(is_hidden))

    @property
    def n_known(self) -> int:
        """Number of classes that stay known."""
        return len(np.unique(self.labels[self.known]))

    @property
    def n_hidden(self) -> int:
        """Number of classes that are hidden."""
        return len(np.unique(self.labels[self.hidden]))

    @property
    def rows(self) -> Indices:
        """Numbers of the rows of the task: the known ones, then the hidden ones."""
        return np.concatenate([self.known, self.hidden])

    @property
    def codes(self) -> Codes:
        """What may be seen of the classes of `rows`: 0, 1, ... for those that stay known, -1 for the hidden ones."""
        seen = np.unique(self.labels[self.known], return_inverse=True)[1]
        return np.concatenate([seen, np.full(len(self.hidden), -1)]).astype(np.int64)

    @property
    def truth(self) -> Codes:
        """Classes of the hidden rows: 0, 1, ..."""
        truth: Codes = np.unique(self.labels[self.hidden], return_inverse=True)[1].astype(np.int64)
        return truth

    def drawn(self, most_hidden: int, most_known: int, rng: np.random.RandomState) -> HiddenTask:
        """Return the task with at most so many rows of each kind."""
        hidden = sample(self.hidden, most_hidden, rng)
        return replace(self, hidden=hidden, known=sample(self.known, most_known, rng))
