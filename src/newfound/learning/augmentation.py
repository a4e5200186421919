"""SMOTE-NC views: a row moved towards one of its neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import embedding  # picks rows several times as fast as an index

from newfound.learning.residence import empty_for
from newfound.nn import MemberStreams


@dataclass(frozen=True)
class Views:
    """Makes a slightly different version of training rows.

    Numbers move to a random place on the line to a random neighbour; a category becomes the one that most of the
    neighbours have.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
        The training rows.
    neighbours : Tensor of shape (n, k), int64
        Neighbours of each row.
    categorical : Tensor of shape (d,), bool, or None
        Which columns hold categories; None for none.
    majority : Tensor of shape (n, c) or (n_members, n, c), or None
        The neighbours' most frequent category, in the c categorical columns (see `majority_categories`); with a
        leading axis where members have different numbers of neighbours.
    own_k : Tensor of shape (n_members, 1), int64, or None
        How many of the k neighbours each member uses; None for all of them.
    """

    rows: Tensor
    neighbours: Tensor
    categorical: Tensor | None = None
    majority: Tensor | None = None
    own_k: Tensor | None = None

    def pair(self, index: Tensor, streams: MemberStreams) -> Tensor:
        """Rows and their views.

        Parameters
        ----------
        index : Tensor of shape (n_members, b), int64
        streams : MemberStreams

        Returns
        -------
        Tensor of shape (n_members, 2b, d)
            The b rows, then their b views in the same order.
        """
        b, k = index.shape[1], self.neighbours.shape[1]
        choice = streams.integers(k if self.own_k is None else self.own_k, b)
        towards = torch.take(self.neighbours, index * k + choice)
        both = embedding(torch.cat([index, towards], dim=1), self.rows)
        row, view = both[:, :b], both[:, b:]
        view.sub_(row).mul_(streams.uniform(b, 1)).add_(row)
        if self.categorical is not None and self.majority is not None:
            own = self.majority.ndim == 3
            view[..., self.categorical] = (
                torch.take_along_dim(self.majority, index[..., None], dim=1) if own else embedding(index, self.majority)
            )
        return both


def majority_categories(rows: Tensor, neighbours: Tensor, groups: Tensor, categorical: Tensor) -> Tensor:
    """Most frequent category among each row's neighbours, block by block.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
    neighbours : Tensor of shape (n, k), int64
    groups : Tensor of shape (d,), int64
        Source column of each column; the categorical columns of one group are one block.
    categorical : Tensor of shape (d,), bool

    Returns
    -------
    Tensor of shape (n, number of categorical columns)
        Encoded categories, in the order of the categorical columns. Which of equally frequent categories wins is
        arbitrary but fixed.
    """
    columns = categorical.nonzero()[:, 0]
    majority = empty_for((rows.shape[0], columns.shape[0]), rows)
    for group in groups[columns].unique():
        block = (groups[columns] == group).nonzero()[:, 0]
        majority[:, block] = _majority_in_block(rows[:, columns[block]], neighbours)
    return majority


def _majority_in_block(block: Tensor, neighbours: Tensor) -> Tensor:
    """Majority for the columns of one block, (n, width) to (n, width)."""
    # One random projection tells categories apart: sorting numbers is far cheaper than sorting lines of a matrix.
    generator = torch.Generator(device=block.device).manual_seed(0)
    weights = torch.rand(block.shape[1], generator=generator, device=block.device, dtype=torch.float64)
    # Not a matrix product: its last rows may round differently, and would seem to be of another category.
    _, codes = torch.unique((block * weights).sum(dim=1), return_inverse=True)
    first = torch.empty(int(codes.max()) + 1, dtype=torch.int64, device=block.device)
    first[codes] = torch.arange(block.shape[0], device=block.device)
    winners = torch.cat([codes[near].mode(dim=1).values for near in neighbours.split(65_536)])
    return block[first[winners]]
