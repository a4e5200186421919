"""Rows as points: a table of any width in 256 dimensions, as it is and whitened by the known classes.

Distances between rows, and distances after whitening by the known classes, are what classical methods go
by. The network is given both, from all columns, so that it starts from them; and the directions in which either varies
most, as further columns.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from newfound.incontext.context import GEOMETRY_WIDTH, MAX_CLASSES, SLOTS, Draws

_RIDGE = 0.3  # of the mean variance within classes, beside what few labelled rows ask for
_FAR = 3.0  # mean squared lengths beyond which a row counts by its direction


class Geometry(NamedTuple):
    """Rows as points: ``plain`` and ``whitened`` (B, N, 256), with mean squared length 1."""

    plain: Tensor
    whitened: Tensor


def place_rows(
    scores: Tensor, ranks: Tensor, codes: Tensor, categorical: Tensor, missing: Tensor, labels: Tensor, draws: Draws
) -> Geometry:
    """Place the rows of tables.

    Parameters
    ----------
    scores, ranks : Tensor of shape (B, N, D)
        Standardised numbers, and their ranks between -1 and 1.
    codes : Tensor of shape (B, N, D), int64
        Levels of categories.
    categorical : Tensor of shape (B, D), bool
    missing : Tensor of shape (B, N, D), bool
    labels : Tensor of shape (B, N), int64
        Known class, -1 where unlabelled.
    draws : Draws

    Returns
    -------
    Geometry
    """
    batch, rows, columns = scores.shape
    by_row = codes.transpose(1, 2)
    slots = draws.slots.gather(2, by_row).transpose(1, 2)
    signs = draws.signs.gather(2, by_row).transpose(1, 2)
    indicators = functional.one_hot(slots, SLOTS) * signs[..., None]
    numbers = functional.pad(torch.stack([scores, ranks * 3.0**0.5], -1) * 0.5**0.5, (0, SLOTS - 2))
    coded = torch.where(categorical[:, None, :, None], indicators, numbers)
    present = ~missing[..., None]
    mean = (coded * present).sum(1, keepdim=True) / present.sum(1, keepdim=True).clamp(min=1)
    coded = ((coded - mean) * present).view(batch, rows, columns * SLOTS)
    plain = _unit(coded @ draws.projection.view(batch, columns * SLOTS, GEOMETRY_WIDTH))
    used = (coded.square().mean(1) > 1e-8).sum(1).clamp(1, GEOMETRY_WIDTH)
    return Geometry(plain, _unit(_whiten(plain, labels, used)))


def _unit(points: Tensor) -> Tensor:
    """Centre points (B, N, G) and scale them to a mean squared length of 1."""
    centred = points - points.mean(1, keepdim=True)
    return centred / (centred.square().sum(2, keepdim=True).mean(1, keepdim=True) + 1e-12).sqrt()


def _whiten(points: Tensor, labels: Tensor, used: Tensor) -> Tensor:
    """Whiten rows by the known classes, as far as ridge and number of labelled rows allow; (B, N, G) to (B, N, G)."""
    labelled = (labels >= 0).float()[..., None]
    member = functional.one_hot(labels.clamp(min=0), MAX_CLASSES).float() * labelled
    means = (member.transpose(1, 2) @ points) / member.sum(1).clamp(min=1)[..., None]
    within = (points - member @ means) * labelled
    n = labelled.sum((1, 2)).clamp(min=1)
    covariance = within.transpose(1, 2) @ within / n[:, None, None]
    trace = covariance.diagonal(dim1=1, dim2=2).sum(1)
    squared = covariance.square().sum((1, 2))
    fourth = within.square().sum(2).square().sum(1) / n
    spread = (squared - trace.square() / used).clamp(min=1e-12)
    share = ((fourth - squared) / n / spread).clamp(0.0, 0.98)  # Ledoit and Wolf
    ridge = (_RIDGE + share / (1 - share)) * trace / used + 1e-6
    eye = torch.eye(GEOMETRY_WIDTH, device=points.device)
    factor, failed = torch.linalg.cholesky_ex(covariance + ridge[:, None, None] * eye)
    factor = torch.where(failed[:, None, None] == 0, factor, eye)
    whitened = torch.linalg.solve_triangular(factor, points.transpose(1, 2), upper=False).transpose(1, 2)
    mean_square = whitened.square().sum(2, keepdim=True).mean(1, keepdim=True)
    softened: Tensor = whitened / (whitened.square().sum(2, keepdim=True) + _FAR * mean_square + 1e-12).sqrt()
    return softened


def principal_columns(points: Tensor, start: Tensor, steps: int = 6) -> Tensor:
    """Coordinates of points along the directions in which they vary most, by orthogonal iteration.

    Parameters
    ----------
    points : Tensor of shape (B, N, G)
        Centred.
    start : Tensor of shape (B, G, P)
        Random directions to start from.
    steps : int

    Returns
    -------
    Tensor of shape (B, N, P)
        Not standardised, the largest variance first.
    """
    covariance = points.transpose(1, 2) @ points / points.shape[1]
    covariance = covariance / covariance.diagonal(dim1=1, dim2=2).sum(1)[:, None, None].clamp(min=1e-12)
    eye = torch.eye(start.shape[2], device=points.device)
    directions = start
    for _ in range(steps):
        moved = covariance @ directions
        gram = moved.transpose(1, 2) @ moved
        jitter = 1e-6 * gram.diagonal(dim1=1, dim2=2).mean(1)[:, None, None] + 1e-20
        factor, failed = torch.linalg.cholesky_ex(gram + jitter * eye)
        factor = torch.where(failed[:, None, None] == 0, factor, eye)
        directions = torch.linalg.solve_triangular(factor, moved.transpose(1, 2), upper=False).transpose(1, 2)
    return points @ directions
