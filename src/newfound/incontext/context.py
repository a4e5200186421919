"""What the network is shown (tables with some labelled rows) and the random vectors that stand for names.

Classes, columns and levels of categories have no order. Each is named by a random vector, drawn anew for every table,
so that the network cannot learn an order: a table with its columns, classes or levels in another order is the same
table with the same vectors in another order.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

ALL_NOVEL, MIXED, UNKNOWN = 0, 1, 2  # what is known about the unlabelled rows

MAX_CLASSES = 64  # known classes in one context
MAX_LEVELS = 64  # levels of a categorical column; rarer ones have to be merged before
LABEL_WIDTH = 32  # of the vector that names a class
TAG_WIDTH = 16  # of the vector that names a column, or a level
SLOTS = 8  # indicator columns a categorical column has in the geometry of rows
GEOMETRY_WIDTH = 256  # of a row in the geometry of rows
PRINCIPAL = 32  # at most so many principal directions join the columns


class _Tensors:
    """Dataclass of tensors that can move between devices."""

    def to(self, device: torch.device | str) -> Self:
        """Return the same on another device."""
        return type(self)(*(getattr(self, field.name).to(device) for field in fields(self)))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Context(_Tensors):
    """Tables of one size, some of whose rows carry a known class.

    Parameters
    ----------
    values : Tensor of shape (B, N, D), float32
        Numbers, or the codes 0..63 of a category's levels. Finite also where missing.
    categorical : Tensor of shape (B, D), bool
    missing : Tensor of shape (B, N, D), bool
    labels : Tensor of shape (B, N), int64
        Known class 0..63, -1 where unlabelled.
    unlabelled : Tensor of shape (B,), int64
        `ALL_NOVEL`, `MIXED` or `UNKNOWN`: what is known about the unlabelled rows.
    """

    values: Tensor
    categorical: Tensor
    missing: Tensor
    labels: Tensor
    unlabelled: Tensor

    def rows(self, places: NDArray[np.intp]) -> Context:
        """Return the same tables with some of their rows, given by their numbers."""
        return replace(
            self, values=self.values[:, places], missing=self.missing[:, places], labels=self.labels[:, places]
        )


@dataclass(frozen=True)
class Draws(_Tensors):
    """The random vectors of a context.

    Parameters
    ----------
    classes : Tensor of shape (B, 64, 32)
        Name of each class.
    columns : Tensor of shape (B, D, 16)
        Name of each column.
    levels : Tensor of shape (B, D, 64, 16)
        Name of each level of each column.
    slots : Tensor of shape (B, D, 64), int64
        Which of a column's 8 indicators a level shares in the geometry; up to 8 levels have one of their own.
    signs : Tensor of shape (B, D, 64)
        Sign of a level in its indicator.
    projection : Tensor of shape (B, D, 8, 256)
        Where the indicators of a column point to in the geometry.
    keys : Tensor of shape (B, D)
        Order in which columns are left out of a wide table's cells.
    directions : Tensor of shape (B, 256, 32)
        Start of the search for principal directions.
    principal : Tensor of shape (B, 32, 16)
        Names of the principal directions, as columns.
    """

    classes: Tensor
    columns: Tensor
    levels: Tensor
    slots: Tensor
    signs: Tensor
    projection: Tensor
    keys: Tensor
    directions: Tensor
    principal: Tensor

    @classmethod
    def draw(cls, batch: int, columns: int, generator: torch.Generator, *, n_levels: Tensor | None = None) -> Draws:
        """Draw vectors for ``batch`` tables of ``columns`` columns, on the generator's device.

        Parameters
        ----------
        batch, columns : int
        generator : torch.Generator
        n_levels : Tensor of shape (B, D), optional
            Levels of each column: slots are spread over these alone. 64 where not given.

        Returns
        -------
        Draws
        """
        device = generator.device

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, device=device)

        def uniform(*shape: int) -> Tensor:
            return torch.rand(*shape, generator=generator, device=device)

        order = uniform(batch, columns, MAX_LEVELS)
        if n_levels is not None:
            absent = torch.arange(MAX_LEVELS, device=device) >= n_levels[..., None]
            order = order + 2.0 * absent
        place = order.argsort(-1).argsort(-1)
        flipped = (place >= SLOTS) & (uniform(batch, columns, MAX_LEVELS) < 0.5)
        return cls(
            classes=normal(batch, MAX_CLASSES, LABEL_WIDTH),
            columns=normal(batch, columns, TAG_WIDTH),
            levels=normal(batch, columns, MAX_LEVELS, TAG_WIDTH),
            slots=place % SLOTS,
            signs=1.0 - 2.0 * flipped.float(),
            projection=normal(batch, columns, SLOTS, GEOMETRY_WIDTH) / GEOMETRY_WIDTH**0.5,
            keys=uniform(batch, columns),
            directions=normal(batch, GEOMETRY_WIDTH, PRINCIPAL),
            principal=normal(batch, PRINCIPAL, TAG_WIDTH),
        )
