"""A batch of tables as a family makes them: columns and classes, nothing hidden yet."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Tables(NamedTuple):
    """A batch of complete tables.

    Attributes
    ----------
    values : Tensor of shape (B, N, D)
        Numbers, or codes from 0 in categorical columns.
    categorical : Tensor of shape (B, D), bool
    classes : Tensor of shape (B, N), int64
        From 0 to 39; not every class need have rows.
    recorded : Tensor of shape (B,), bool
        Tables whose columns are final: no warps, levels or noise are added to them.
    """

    values: Tensor
    categorical: Tensor
    classes: Tensor
    recorded: Tensor


def numeric(values: Tensor, classes: Tensor) -> Tables:
    """Tables of numbers (B, N, D), to be recorded in any way."""
    batch, _, columns = values.shape
    none = torch.zeros(batch, columns, dtype=torch.bool, device=values.device)
    return Tables(values, none, classes, none[:, 0])


def join(parts: list[Tables]) -> Tables:
    """Join batches of tables of one size."""
    return Tables(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))
