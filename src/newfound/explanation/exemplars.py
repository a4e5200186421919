"""Rows that are typical of a class, and rows at its border."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.explanation.columns import Floats
from newfound.tables import Table, cells

Rows = NDArray[np.intp]

_SURE = 0.9  # lead of the class over the next one, from which on a row is not at the border


@dataclass(frozen=True)
class Exemplar:
    """A typical row.

    Attributes
    ----------
    row : int
        Its place in the table, from 0.
    probability : float
        Of the class.
    values : dict of str to value
        Its cells; None where missing, dates as ISO texts.
    """

    row: int
    probability: float
    values: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return {"row": self.row, "probability": self.probability, "values": self.values}


@dataclass(frozen=True)
class Borderline(Exemplar):
    """A row that nearly belongs to another class.

    Attributes
    ----------
    runner_up : int, float or str
        The other class.
    runner_up_probability : float
    """

    runner_up: Any
    runner_up_probability: float

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return {
            "row": self.row,
            "probability": self.probability,
            "runner_up": self.runner_up,
            "runner_up_probability": self.runner_up_probability,
            "values": self.values,
        }


def typical_rows(rows: Rows, latent: Floats, probability: Floats, n: int) -> Rows:
    """Return rows from the middle of a class that are surely of it and unlike each other.

    Of the surer half, the half nearest to their mean is looked at: first the nearest row, then again and again the row
    farthest from those chosen before.

    Parameters
    ----------
    rows : ndarray of shape (m,)
        Places of rows of the class in the table.
    latent : ndarray of shape (m, d)
        Where they lie in the model's latent space.
    probability : ndarray of shape (m,)
        Of the class.
    n : int
        How many to return; rows that lie in the same place as another count once, as long as there are others.
    """
    if not len(rows):
        return rows
    sure = np.flatnonzero(probability >= np.median(probability))
    distance = np.square(latent[sure] - latent[sure].mean(axis=0)).sum(axis=1)
    order = _distinct_first(np.argsort(distance, kind="stable"), distance.round(9))
    central = sure[order[: max(n, len(order) // 2)]]
    return rows[central[_spread(latent[central], n)]]


def _spread(points: Floats, n: int) -> Rows:
    """Return the places of the first point and of up to n - 1 others, each the farthest from those before."""
    gaps = np.full(len(points), np.inf)
    chosen: list[int] = []
    while len(chosen) < min(n, len(points)):
        place = int(gaps.argmax())
        chosen.append(place)
        gaps = np.minimum(gaps, np.square(points - points[place]).sum(axis=1))
        gaps[chosen] = -1.0
    return np.array(chosen, dtype=np.intp)


def border_rows(proba: Floats, rows: Rows, n: int) -> Rows:
    """Return the rows of a class to which another class comes nearest, if it comes near at all.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_classes)
    rows : ndarray of shape (m,)
        Places of the rows of the class.
    n : int
        How many to return at most; rows of equal probabilities count once, as long as there are others.
    """
    if proba.shape[1] < 2 or not len(rows):
        return rows[:0]
    top = np.partition(proba[rows], -2, axis=1)[:, -2:]
    margin = top[:, 1] - top[:, 0]
    order = np.argsort(margin, kind="stable")
    order = order[margin[order] < _SURE]
    return rows[_distinct_first(order, margin.round(12))[:n]]


def values_of(table: Table, row: int, columns: Sequence[str]) -> dict[str, Any]:
    """Return the cells of one row as plain values."""
    return {name: _plain(table.columns[name][row]) for name in columns}


def _plain(cell: Any) -> Any:
    if cells.is_missing(cell):
        return None
    if isinstance(cell, np.datetime64):
        return cells.text_of(cell)
    value = cell.item() if isinstance(cell, np.generic) else cell
    if not isinstance(value, float):
        return value
    if not isfinite(value):  # only in columns that the model ignores, and JSON has no word for it
        return str(value)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _distinct_first(order: Rows, values: Floats) -> Rows:
    """Put those that repeat the value of an earlier one last."""
    _, first = np.unique(values[order], return_index=True)
    fresh = np.zeros(len(order), dtype=np.bool_)
    fresh[first] = True
    return np.concatenate([order[fresh], order[~fresh]])
