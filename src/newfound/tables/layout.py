"""What the columns of an encoded table are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.errors import ModelFileError
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

    def to_json(self) -> dict[str, Any]:
        """Return the layout as plain lists."""
        return {"names": list(self.names), "groups": self.groups.tolist(), "categorical": self.categorical.tolist()}

    @classmethod
    def from_json(cls, content: Any) -> Layout:
        """Build a layout from :meth:`to_json`; ModelFileError if the content is not one."""
        if not isinstance(content, dict):
            raise ModelFileError(f"the layout must be a dict, got {shown(content)}.")
        names = _typed_list(content, "names", str)
        groups = _typed_list(content, "groups", int)
        categorical = _typed_list(content, "categorical", bool)
        try:
            return cls(tuple(names), np.array(groups, dtype=np.intp), np.array(categorical, dtype=np.bool_))
        except (ValueError, OverflowError) as error:
            raise ModelFileError(f"the layout is not consistent: {error}") from error


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Lengthen repeated names until all differ: a category may be called "missing" or "other" itself."""
    unique: dict[str, None] = {}
    for name in names:
        while name in unique:
            name += "_"
        unique[name] = None
    return tuple(unique)


def _typed_list(content: dict[str, Any], key: str, kind: type) -> list[Any]:
    items = content.get(key)
    if not isinstance(items, list) or not all(type(item) is kind for item in items):
        raise ModelFileError(f"the layout needs a list of {kind.__name__} in {key!r}, got {shown(items)}.")
    return items
