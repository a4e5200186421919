"""What a discoverer predicts with after an update: one forest over all classes, whatever their history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from newfound.discoverers.fitted import Arrays, FittedState, Floats
from newfound.errors import ModelFileError
from newfound.routing import Forest
from newfound.tables.state import checked_array

_PREFIX = "updated."
_COUNTS = f"{_PREFIX}first"


@dataclass(frozen=True, eq=False)
class FlatState:
    """A forest that knows all classes, in the latent space of the first fit.

    Attributes
    ----------
    forest : Forest
        Its classes are the known, then the novel ones.
    first : FittedState
        What `fit` left. Only its latent space counts any more.
    n_known : int
        Number of known classes.
    first_counts : tuple of two ints
        Number of known and of novel classes of ``first``.
    """

    forest: Forest
    first: FittedState
    n_known: int
    first_counts: tuple[int, int]

    def proba(self, rows: Floats) -> Floats:
        """Probabilities of the known, then the novel classes; (n, n_classes)."""
        return _scaled(self.forest.proba(rows))

    def novel_proba(self, rows: Floats) -> Floats:
        """Probabilities of the novel classes for rows that are of one of them; (n, n_novel)."""
        # A little of everything, for rows to which no novel class has any probability.
        return _scaled(self.forest.proba(rows)[:, self.n_known :] + np.finfo(np.float64).tiny)

    def latent(self, rows: Floats) -> Floats:
        """Latent representation of the first fit; (n, n_latent)."""
        return self.first.latent(rows)

    def arrays(self) -> Arrays:
        """Everything in it, for the model file."""
        counts = np.array(self.first_counts, dtype=np.int32)
        return self.first.arrays() | self.forest.arrays(_PREFIX) | {_COUNTS: counts}

    @classmethod
    def restore(
        cls, arrays: Mapping[str, NDArray[Any]], first: FittedState, n_columns: int, n_known: int, n_novel: int
    ) -> Self:
        """Read `arrays` back around the first state; ModelFileError where there is no such forest."""
        forest = Forest.restore(arrays, _PREFIX, n_columns, n_known + n_novel)
        counts = first_counts(arrays, n_known)
        if counts is None or not np.allclose(forest.leaves.sum(axis=1), 1):
            raise ModelFileError(f"array {_PREFIX + 'leaves'!r} must hold probabilities; each row sums to one.")
        return cls(forest, first, n_known, counts)


def first_counts(arrays: Mapping[str, NDArray[Any]], n_known: int) -> tuple[int, int] | None:
    """Numbers of known and of novel classes before the first update, from a model file; None without an update."""
    if _COUNTS not in arrays:
        return None
    known, found = checked_array(arrays, _COUNTS, np.int32, (2,)).tolist()
    if not 0 <= known <= n_known or found < 0:
        raise ModelFileError("the numbers of classes before the first update make no sense.")
    return known, found


def _scaled(proba: Floats) -> Floats:
    """Make rows sum to one to the last digit."""
    scaled: Floats = proba / proba.sum(axis=1, keepdims=True)
    return scaled
