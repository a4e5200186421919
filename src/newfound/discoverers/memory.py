"""Rows that a fitted discoverer keeps of each class, so that its classes can live on in later batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from newfound.discoverers.fitted import Arrays, Codes, Floats
from newfound.errors import ModelFileError
from newfound.tables.state import checked_array

MOST_OF_CLASS = 300
"""Rows that are kept of a class at most, and of the rows that fit no class."""

_MOST_ROWS = 20_000
_MOST_NUMBERS = 4_000_000  # 16 MiB in a model file
_FEWEST_OF_CLASS = 20  # kept even where there are very many classes or columns
_MOST_SEEN = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class Memory:
    """A bounded sample of encoded rows and their classes.

    Of each class it is a random sample of all rows that were ever seen of it: newer rows replace older ones in
    proportion to their numbers.

    Attributes
    ----------
    rows : ndarray of shape (m, d), float32
    codes : ndarray of shape (m,), int32
        Class of each row, as the discoverer found them (before anybody merged or split one); -1 for rows of the last
        batch that fit no class.
    seen : ndarray of shape (n_classes,), int32
        How many rows of each class there were so far.

    Examples
    --------
    >>> rows, codes = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    >>> Memory.of(rows, codes, 2, np.random.RandomState(0)).codes.tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """

    rows: NDArray[np.float32]
    codes: NDArray[np.int32]
    seen: NDArray[np.int32]

    @classmethod
    def of(cls, rows: Floats, codes: Codes, n_classes: int, rng: np.random.RandomState) -> Self:
        """Keep some of the rows (n, d) of each class; codes are (n,)."""
        nothing = np.empty((0, rows.shape[1]), dtype=np.float32)
        empty = cls(nothing, np.empty(0, dtype=np.int32), np.zeros(0, dtype=np.int32))
        return empty.joined(rows, codes, n_classes, rng)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.seen)

    def joined(self, rows: Floats, codes: Codes, n_classes: int, rng: np.random.RandomState) -> Self:
        """Return the memory after more rows were seen.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
        codes : ndarray of shape (n,), int64
            Rows of code -1 take the place of all earlier ones of that code.
        n_classes : int
            Number of classes from now on; classes are never fewer than before.
        rng : RandomState
        """
        most = most_of_class(n_classes, rows.shape[1])
        seen = np.zeros(n_classes, dtype=np.int64)
        seen[: self.n_classes] = self.seen
        kept, added = [np.empty(0, dtype=np.intp)], []
        for code in range(n_classes):
            old, new = np.flatnonzero(self.codes == code), np.flatnonzero(codes == code)
            size = min(most, int(seen[code]) + len(new))
            n_new = int(rng.hypergeometric(len(new), int(seen[code]), size)) if len(new) and seen[code] else len(new)
            n_old = min(max(size - n_new, 0), len(old))
            kept.append(_drawn(old, n_old, rng))
            added.append(_drawn(new, min(size - n_old, len(new)), rng))
            seen[code] += len(new)
        added.append(_drawn(np.flatnonzero(codes < 0), most, rng))
        old, new = np.concatenate(kept), np.concatenate(added)
        return type(self)(
            np.concatenate([self.rows[old], rows[new].astype(np.float32)]),
            np.concatenate([self.codes[old], codes[new].astype(np.int32)]),
            np.minimum(seen, _MOST_SEEN).astype(np.int32),
        )

    def relabelled(self, places: Codes) -> Self:
        """Return the same rows with class ``places[code]`` in place of class ``code``."""
        codes = np.append(places, -1)[self.codes].astype(np.int32)
        seen = np.zeros(int(places.max(initial=-1)) + 1, dtype=np.int32)
        seen[places] = self.seen
        return type(self)(self.rows, codes, seen)

    def with_codes(self, codes: Codes) -> Self:
        """Return the rows of classes with other codes (m,); of classes that change, only kept rows count as seen."""
        has_class = self.codes >= 0
        n_classes = int(max(codes.max(initial=-1) + 1, self.n_classes))
        before, after = (np.bincount(some, minlength=n_classes) for some in (self.codes[has_class], codes))
        seen = np.zeros(len(before), dtype=np.int64)
        seen[: self.n_classes] = self.seen
        changed = before != after
        seen[changed] = after[changed]
        return type(self)(self.rows[has_class], codes.astype(np.int32), seen.astype(np.int32))

    # ---- the model file

    def arrays(self) -> Arrays:
        """Everything in it, for the model file."""
        return {"rows": self.rows, "codes": self.codes, "seen": self.seen}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], n_columns: int, n_classes: int) -> Self:
        """Read `arrays` back; ModelFileError where they are no rows of so many columns and classes."""
        codes = checked_array(arrays, "codes", np.int32, (-1,))
        rows = checked_array(arrays, "rows", np.float32, (len(codes), n_columns))
        seen = checked_array(arrays, "seen", np.int32, (n_classes,))
        if not (-1 <= codes.min() <= codes.max() < n_classes and np.isfinite(rows).all() and seen.min() >= 0):
            raise ModelFileError("the kept rows are of classes that do not exist, or no finite numbers.")
        return cls(rows, codes, seen)


def most_of_class(n_classes: int, n_columns: int) -> int:
    """How many rows are kept of each class."""
    in_all = min(_MOST_ROWS, _MOST_NUMBERS // max(1, n_columns))
    return min(MOST_OF_CLASS, max(_FEWEST_OF_CLASS, in_all // max(1, n_classes)))


def _drawn(places: NDArray[np.intp], n: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw n of some places, in their order."""
    return places if n >= len(places) else np.sort(rng.choice(places, n, replace=False))
