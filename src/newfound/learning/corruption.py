"""VIME's corruption: values swapped for others of the same column."""

from __future__ import annotations

import torch
from torch import Tensor

from newfound.nn import MemberStreams


def corrupt(
    batch: Tensor, rows: Tensor, groups: Tensor | None, probability: float, streams: MemberStreams
) -> tuple[Tensor, Tensor]:
    """Replace some values by values drawn from each column's marginal distribution.

    Columns of one group (a one-hot block, or a number and its missing indicator) are swapped together, from one donor
    row, so that a corrupted block still is a category.

    Parameters
    ----------
    batch : Tensor of shape (n_members, b, d)
        Rows to corrupt.
    rows : Tensor of shape (n, d)
        The table the donors come from.
    groups : Tensor of shape (d,), int64, or None
        Group of each column; None when every column is a group of its own.
    probability : float
        Chance of each group to be swapped (p_m in the paper).
    streams : MemberStreams
        Random draws of each member.

    Returns
    -------
    corrupted : Tensor of shape (n_members, b, d)
    mask : Tensor of shape (n_members, b, d)
        1 where a value was swapped, as floating point numbers.
    """
    n, d = rows.shape
    n_groups = d if groups is None else int(groups[-1]) + 1
    swap = streams.coins(probability, batch.shape[1], n_groups)
    donors = streams.integers(n, batch.shape[1], n_groups)
    if groups is not None:
        swap, donors = swap[..., groups], donors[..., groups]
    # Of what is not swapped the first row is read, and not used: memory far away is slow to read.
    donors = donors.mul_(swap).mul_(d).add_(torch.arange(d, device=rows.device))
    return torch.where(swap, torch.take(rows, donors), batch), swap.to(batch.dtype)
