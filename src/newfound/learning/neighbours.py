"""Nearest neighbours within groups of rows, in chunks that bound the memory."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

MAX_POOL = 8_192
"""Rows among which one row's neighbours are sought while training; larger groups are cut into parts."""

# Distances that are held at once: on a CPU as many as its cache holds, elsewhere enough to keep it busy.
_CHUNK_BYTES = {"cpu": 4 * 1024 * 1024}
_OTHER_CHUNK_BYTES = 64 * 1024 * 1024
_RUN = 16  # columns of the distance matrix of which only the smallest is looked at first
_MANY = 64  # rows a neighbour, from which on that pays
_POWER_STEPS = 4
_POWER_ROWS = 4_096
_COPIED = 65_536  # rows that are copied at a time


def nearest_neighbours(rows: Tensor, k: int, *, chunk_bytes: int | None = None) -> Tensor:
    """Find each row's k nearest other rows by Euclidean distance, exactly.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
    k : int
        Number of neighbours, at most n - 1.
    chunk_bytes : int, optional
        Bound on the size of the distance matrix that is held at once.

    Returns
    -------
    Tensor of shape (n, k), int64
        Row numbers, nearest first.
    """
    n = rows.shape[0]
    if chunk_bytes is None:
        chunk_bytes = _CHUNK_BYTES.get(rows.device.type, _OTHER_CHUNK_BYTES)
    centred = rows - rows.mean(dim=0)  # smaller norms lose fewer digits in |x|² - 2xy
    squares = centred.square().sum(dim=1)
    in_runs = n >= _MANY * k
    if in_runs:
        # Columns that are infinitely far away, so that every run is full.
        missing = -n % _RUN
        squares = torch.cat([squares, squares.new_full((missing,), torch.inf)])
        centred = torch.cat([centred, centred.new_zeros(missing, centred.shape[1])])
    step = max(1, chunk_bytes // (squares.shape[0] * rows.element_size()))
    found = torch.empty(n, k, dtype=torch.int64, device=rows.device)
    for start in range(0, n, step):
        stop = min(n, start + step)
        # The query's own norm shifts a whole line of the matrix and cannot change which rows are nearest.
        distances = torch.addmm(squares, centred[start:stop], centred.T, alpha=-2.0)
        own = torch.arange(start, stop, device=rows.device)
        distances[own - start, own] = torch.inf
        found[start:stop] = _smallest_in_runs(distances, k) if in_runs else _smallest(distances, k)
    return found


def _smallest(numbers: Tensor, k: int) -> Tensor:
    """Places of the k smallest numbers of each line, the smallest first."""
    return numbers.topk(k, dim=1, largest=False).indices


def _smallest_in_runs(numbers: Tensor, k: int) -> Tensor:
    """Do the same for lines that consist of many runs.

    The k smallest numbers lie in the k runs with the smallest minima. Finding minima takes a fraction of the time of
    sorting, and little is left to be sorted.
    """
    n_runs = numbers.shape[1] // _RUN
    # A run is every n_runs-th number: minima over the first of two axes are found several at a time.
    best = _smallest(numbers.view(-1, _RUN, n_runs).amin(dim=1), k)
    places = (best[:, :, None] + n_runs * torch.arange(_RUN, device=numbers.device)).flatten(1)
    return places.gather(1, _smallest(numbers.gather(1, places), k))


def neighbours_within(
    rows: Tensor,
    codes: Tensor,
    k: int,
    *,
    max_pool: int = MAX_POOL,
    seen_as: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
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
        Larger groups are halved across their widest direction until no part has more than this many rows. Each part is
        searched exactly, so that the cost grows linearly with the number of rows; a row at the edge of a part may miss
        some of its nearest.
    seen_as : callable, optional
        Maps rows (m, d) to those between which distances are taken, few at a time, so that no second table is held.

    Returns
    -------
    Tensor of shape (n, k), int64
        Row numbers. A row with fewer than k neighbours repeats them; a row alone in its group is its own neighbour.
    """

    def picked(pool: Tensor) -> Tensor:
        return rows[pool] if seen_as is None else seen_as(rows[pool])

    found = torch.arange(rows.shape[0], device=rows.device)[:, None].repeat(1, k)
    generator = torch.Generator(device=rows.device).manual_seed(0)
    pools = [(codes == code).nonzero()[:, 0] for code in codes.unique()]
    while pools:
        pool = pools.pop()
        reachable = min(k, pool.shape[0] - 1)
        if pool.shape[0] > max_pool:
            pools += _halves(pool, picked, generator)
        elif reachable > 0:
            near = pool[nearest_neighbours(picked(pool), reachable)]
            found[pool] = near.repeat(1, -(-k // reachable))[:, :k]
    return found


def _halves(pool: Tensor, picked: Callable[[Tensor], Tensor], generator: torch.Generator) -> list[Tensor]:
    """Cut a pool of row numbers into two that lie on the two sides of the middle of its widest direction."""
    n = pool.shape[0]
    sample = picked(pool[torch.randint(n, (min(n, _POWER_ROWS),), generator=generator, device=pool.device)])
    centred = sample - sample.mean(dim=0)
    direction = torch.randn(sample.shape[1], generator=generator, device=pool.device, dtype=sample.dtype)
    for _ in range(_POWER_STEPS):  # of the power method, which need not be exact here
        direction = centred.T @ (centred @ direction)
        direction /= direction.norm().clamp_min(torch.finfo(sample.dtype).tiny)
    place = torch.cat([picked(part) @ direction for part in pool.split(_COPIED)])
    # Equal places, of which some tables have many, are cut at random and not by their order in the table.
    shuffled = torch.randperm(n, generator=generator, device=pool.device)
    order = shuffled[place[shuffled].argsort(stable=True)]
    return [pool[order[: n // 2]], pool[order[n // 2 :]]]
