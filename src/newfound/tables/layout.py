"""What the columns of an encoded table are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newfound.tables.cells import shown


@dataclass(frozen=True, eq=False)
class Layout:
    """What the encoder's output columns are.

    Attributes
    ----------
    names : tuple of str, length d
        Such as "age", "age=missing", "city=Paris", "city=other", "city=missing"; all different.
    groups : ndarray of int, shape (d,)
        Index of the source column of each output column: 0, 1, ... in order, the columns of a group side by side.
    categorical : ndarray of bool, shape (d,)
        True for one-hot, boolean and missing-indicator columns, False for numbers.
    """

    names: tuple[str, ...]
    groups: NDArray[np.intp]
    categorical: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.groups) == len(self.categorical) > 0:
            raise ValueError("names, groups and categorical must have one entry for each output column.")
        steps = np.diff(self.groups, prepend=-1)
        if self.groups[0] != 0 or not np.isin(steps, (0, 1)).all():
            raise ValueError(f"groups must count 0, 1, ... without gaps, got {shown(self.groups)}.")

    @property
    def n_groups(self) -> int:
        """Number of source columns."""
        return int(self.groups[-1]) + 1

    @property
    def n_columns(self) -> int:
        """Number d of output columns."""
        return len(self.names)


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Lengthen repeated names until all differ: a category may be called "missing" or "other" itself."""
    unique: dict[str, None] = {}
    for name in names:
        while name in unique:
            name += "_"
        unique[name] = None
    return tuple(unique)
