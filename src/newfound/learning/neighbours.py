"""Exact nearest neighbours within groups of rows, in chunks that bound the memory."""

from __future__ import annotations

import torch
from torch import Tensor

MAX_POOL = 32_768
"""Rows among which one row's neighbours are sought while training; larger groups are cut at random."""

_CHUNK_BYTES = 64 * 1024 * 1024


def nearest_neighbours(rows: Tensor, k: int, *, chunk_bytes: int = _CHUNK_BYTES) -> Tensor:
    """Find each row's k nearest other rows by Euclidean distance, exactly.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
    k : int
        Number of neighbours, at most n - 1.
    chunk_bytes : int
        Bound on the size of the distance matrix that is held at once.

    Returns
    -------
    Tensor of shape (n, k), int64
        Row numbers, nearest first.
    """
    n = rows.shape[0]
    centred = rows - rows.mean(dim=0)  # smaller norms lose fewer digits in |x|² - 2xy
    squares = centred.square().sum(dim=1)
    step = max(1, chunk_bytes // (n * rows.element_size()))
    found = torch.empty(n, k, dtype=torch.int64, device=rows.device)
    for start in range(0, n, step):
        stop = min(n, start + step)
        # The query's own norm shifts a whole line of the matrix and cannot change which rows are nearest.
        distances = torch.addmm(squares, centred[start:stop], centred.T, alpha=-2.0)
        own = torch.arange(start, stop, device=rows.device)
        distances[own - start, own] = torch.inf
        found[start:stop] = distances.topk(k, dim=1, largest=False).indices
    return found


def neighbours_within(rows: Tensor, codes: Tensor, k: int, *, max_pool: int = MAX_POOL) -> Tensor:
    """Find each row's nearest neighbours among the rows of the same code.

    Known classes are searched apart, and so are the unlabelled rows (code -1): a row's neighbours share its class
    where the class is known, and are unlabelled where the row is.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
    codes : Tensor of shape (n,), int64
        Class of each row, -1 where unlabelled.
    k : int
        Number of neighbours.
    max_pool : int
        Larger groups are cut at random into pools of at most this many rows, each searched exactly, so that the cost
        grows linearly with the number of rows.

    Returns
    -------
    Tensor of shape (n, k), int64
        Row numbers. A row with fewer than k neighbours repeats them; a row alone in its group is its own neighbour.
    """
    found = torch.arange(rows.shape[0], device=rows.device)[:, None].repeat(1, k)
    generator = torch.Generator(device=rows.device).manual_seed(0)
    for code in codes.unique():
        members = (codes == code).nonzero()[:, 0]
        n_pools = -(-members.shape[0] // max_pool)
        if n_pools > 1:
            members = members[torch.randperm(members.shape[0], generator=generator, device=rows.device)]
        for pool in members.chunk(n_pools):
            reachable = min(k, pool.shape[0] - 1)
            if reachable > 0:
                near = pool[nearest_neighbours(rows[pool], reachable)]
                found[pool] = near.repeat(1, -(-k // reachable))[:, :k]
    return found
