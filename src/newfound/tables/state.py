"""A fitted encoder as JSON and arrays, and back; what comes back is checked before anything is built from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from newfound.errors import ModelFileError
from newfound.tables.blocks import Block, BooleanBlock, CategoryBlock, NumberBlock
from newfound.tables.cells import shown
from newfound.tables.scaling import MAX_UNSCALED, NumberScaler, NumericScaling
from newfound.tables.schema import Column, Kind, kind_from_json

Floats = NDArray[np.float64]
T = TypeVar("T")


class Entries:
    """A dict read from a file, whose entries are checked one by one as they are taken."""

    def __init__(self, content: Any, what: str) -> None:
        if not isinstance(content, dict):
            raise ModelFileError(f"{what} must be a dict, got {shown(content)}.")
        self._content = content
        self._what = what

    def get(self, key: str, kind: type[T]) -> T:
        """Return an entry of exactly this type."""
        value = self._content.get(key)
        if type(value) is not kind:
            raise self._refused(key, kind.__name__)
        return value

    def one_of(self, key: str, accepted: Sequence[T]) -> T:
        """Return an entry that is one of a few."""
        value = self._content.get(key)
        for choice in accepted:
            if type(value) is type(choice) and value == choice:
                return choice
        raise self._refused(key, " or ".join(map(repr, accepted)))

    def positive(self, key: str) -> int:
        """Return an integer of at least 1."""
        value = self.get(key, int)
        if value < 1:
            raise self._refused(key, "an integer of at least 1")
        return value

    def number(self, key: str) -> float:
        """Return a finite float."""
        value = self.get(key, float)
        if not math.isfinite(value):
            raise self._refused(key, "a finite number")
        return value

    def spread(self, key: str) -> float:
        """Return a finite float above 0."""
        value = self.number(key)
        if value <= 0:
            raise self._refused(key, "a number above 0")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of different texts."""
        values = self.get(key, list)
        if not all(type(value) is str for value in values) or len(set(values)) != len(values):
            raise self._refused(key, "a list of different texts")
        return tuple(values)

    def kinds(self, key: str) -> dict[str, Kind] | None:
        """Return a dict of column kinds, or None."""
        if self._content.get(key) is None:
            return None
        values: dict[Any, Any] = self.get(key, dict)
        kinds = {name: kind_from_json(kind) for name, kind in values.items()}
        known = {name: kind for name, kind in kinds.items() if type(name) is str and kind is not None}
        if len(known) < len(kinds):
            raise self._refused(key, "a dict of column kinds")
        return known

    def _refused(self, key: str, wanted: str) -> ModelFileError:
        return ModelFileError(f"{self._what} needs {wanted} in {key!r}, got {shown(self._content.get(key))}.")


def checked_array(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: type[np.generic], shape: tuple[int, ...]
) -> NDArray[Any]:
    """Return an array of a given type and shape, in which -1 stands for any length of at least 1."""
    array = arrays.get(name)
    if not isinstance(array, np.ndarray):
        raise ModelFileError(f"array {name!r} is missing.")
    fits = array.ndim == len(shape) and all(
        length == wanted or (wanted == -1 and length > 0) for length, wanted in zip(array.shape, shape, strict=True)
    )
    if array.dtype != dtype or not fits:
        wanted = f"{dtype.__name__} of shape ({', '.join('any' if n == -1 else str(n) for n in shape)})"
        raise ModelFileError(f"array {name!r} must hold {wanted}, got {array.dtype} of shape {array.shape}.")
    return array


def finite_floats(
    arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...], *, positive: bool = False
) -> Floats:
    """Return an array of finite float64 of a given shape, above 0 if asked."""
    array = checked_array(arrays, name, np.float64, shape)
    if not np.isfinite(array).all() or (positive and (array <= 0).any()):
        raise ModelFileError(f"array {name!r} must hold finite numbers{' above 0' if positive else ''}.")
    return array


def blocks_to_state(blocks: Sequence[Block]) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
    """Return one dict for each block, and the arrays of those that have any."""
    items: list[dict[str, Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    for index, block in enumerate(blocks):
        if isinstance(block, CategoryBlock):
            items.append({"categories": list(block.categories), "other": block.other, "missing": block.missing})
        elif isinstance(block, NumberBlock):
            scaler = block.scaler
            numbers = {key: getattr(scaler, key) for key in ("unit", "centre", "spread", "neutral")}
            start = {"start": block.start} if block.column.kind == "time" else {}
            items.append({"indicator": block.indicator, **numbers, **start})
            if scaler.scaling == "quantile":
                arrays |= {f"references.{index}": scaler.references, f"levels.{index}": scaler.levels}
        else:
            assert isinstance(block, BooleanBlock)
            items.append({"indicator": block.indicator})
    return items, arrays


def blocks_from_state(
    columns: Sequence[Column],
    items: Sequence[Any],
    arrays: Mapping[str, NDArray[Any]],
    scaling: NumericScaling,
    max_categories: int,
) -> list[Block]:
    """Build the blocks of the used columns again."""
    if not columns or len(columns) != len(items):
        raise ModelFileError(f"the encoder needs one block for each used column; got {len(items)} for {len(columns)}.")
    blocks = [
        _block_from_state(column, Entries(item, f"the block of column {column.name!r}"), arrays, index, scaling)
        for index, (column, item) in enumerate(zip(columns, items, strict=True))
    ]
    for block in blocks:
        if isinstance(block, CategoryBlock) and len(block.categories) > max_categories:
            n = len(block.categories)
            raise ModelFileError(
                f"column {shown(block.column.name)} has {n:,} categories, but {max_categories} at most."
            )
    return blocks


def _block_from_state(
    column: Column, entries: Entries, arrays: Mapping[str, NDArray[Any]], index: int, scaling: NumericScaling
) -> Block:
    if column.kind == "categorical":
        block = CategoryBlock(
            column, entries.texts("categories"), entries.get("other", bool), entries.get("missing", bool)
        )
        if not block.names:
            raise ModelFileError(f"the block of column {column.name!r} has no categories.")
        return block
    indicator = entries.get("indicator", bool)
    if column.kind == "boolean":
        return BooleanBlock(column, indicator)
    chosen = scaling if column.kind == "numeric" else "standard"
    start = entries.number("start") if column.kind == "time" else 0.0
    if not 0 <= start < 24:
        raise ModelFileError(f"the day of column {column.name!r} begins at {start:g}, which is no hour of it.")
    return NumberBlock(column, _scaler_from_state(entries, arrays, index, chosen), indicator, start)


def _scaler_from_state(
    entries: Entries, arrays: Mapping[str, NDArray[Any]], index: int, scaling: NumericScaling
) -> NumberScaler:
    references = levels = np.empty(0)
    if scaling == "quantile":
        references = finite_floats(arrays, f"references.{index}", (-1,))
        levels = finite_floats(arrays, f"levels.{index}", references.shape)
        if (np.diff(references) <= 0).any() or (np.diff(levels, prepend=0.0, append=1.0) < 0).any():
            raise ModelFileError(f"the quantiles of block {index} must increase, their levels from 0 to 1.")
    unit, spread, neutral = entries.spread("unit"), entries.spread("spread"), entries.number("neutral")
    if abs(neutral) > MAX_UNSCALED:
        raise ModelFileError(f"block {index} puts {neutral:g} in the place of missing numbers, which is too large.")
    return NumberScaler(scaling, unit, entries.number("centre"), spread, neutral, references, levels)
