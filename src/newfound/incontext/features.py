"""From a context to what the network reads: features of cells, rows as points, names of known classes.

Nothing here is learned. Numbers are shown standardised, as ranks and as waves of both; levels of categories by their
random vectors; and every cell with what the labelled rows of the same level, or of the same sixteenth of a column, say:
the mean of their classes' vectors, and how many there are against how many were to be expected.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from newfound.incontext.context import LABEL_WIDTH, MAX_CLASSES, MAX_LEVELS, TAG_WIDTH, Context, Draws
from newfound.incontext.geometry import place_rows, principal_columns

MAX_CELLS = 64  # columns of a row that become cells; of wider tables some, and principal directions
_FEW_COLUMNS = 6  # below, principal directions add nothing
_BINS = 16
_WAVES = 4

CELL_WIDTH = 2 + TAG_WIDTH + LABEL_WIDTH + 2 + 3  # numbers or level; neighbours' classes; counts; flags


def _principal(columns: int) -> int:
    """Return how many principal directions join so many columns."""
    return 0 if columns < _FEW_COLUMNS else 8 if columns <= MAX_CELLS - 8 else 32


def cell_columns(columns: int) -> int:
    """Return how many cells a row of so many columns has, principal directions included."""
    return min(MAX_CELLS, columns + _principal(columns))


class Prepared(NamedTuple):
    """What the network reads.

    Attributes
    ----------
    cells : Tensor of shape (B, N, C, CELL_WIDTH)
        Features of cells; C is at most 64.
    tags : Tensor of shape (B, C, 16)
        Names of the columns of the cells.
    points : Tensor of shape (B, N, 514)
        Rows as points: plain, whitened, and their logarithmic lengths.
    names : Tensor of shape (B, N, 32)
        Vector of the class of a labelled row, 0 for unlabelled rows.
    labels : Tensor of shape (B, N), int64
    unlabelled : Tensor of shape (B,), int64
    """

    cells: Tensor
    tags: Tensor
    points: Tensor
    names: Tensor
    labels: Tensor
    unlabelled: Tensor


@torch.no_grad()
def prepare(context: Context, draws: Draws) -> Prepared:
    """Prepare a context for the network.

    Parameters
    ----------
    context : Context
    draws : Draws
        On the same device, for as many tables and columns.

    Returns
    -------
    Prepared
    """
    with torch.autocast(context.values.device.type, enabled=False):  # whitening needs single precision
        return _prepare(context, draws)


def _prepare(context: Context, draws: Draws) -> Prepared:
    """Prepare a context; see `prepare`."""
    labelled = context.labels >= 0
    index = context.labels.clamp(min=0)[..., None].expand(-1, -1, LABEL_WIDTH)
    names = draws.classes.gather(1, index) * labelled[..., None]
    scores = standardise(context.values, context.missing)
    ranks, ties = rank(context.values, context.missing)
    codes = context.values.round().long().clamp(0, MAX_LEVELS - 1) * context.categorical[:, None]
    geometry = place_rows(scores, ranks, codes, context.categorical, context.missing, context.labels, draws)

    bins = ((ranks + 1) * (_BINS / 2)).long().clamp(0, _BINS - 1)
    codes = torch.where(context.categorical[:, None], codes, bins)
    columns = scores.shape[2]
    extra = _principal(columns)
    chosen = draws.keys.argsort(1)[:, : MAX_CELLS - extra] if columns > MAX_CELLS - extra else None
    tags, levels, categorical, missing = draws.columns, draws.levels, context.categorical, context.missing
    if chosen is not None:
        scores, ranks, ties, codes, missing = (_pick(x, chosen, 2) for x in (scores, ranks, ties, codes, missing))
        tags, levels, categorical = (_pick(x, chosen, 1) for x in (tags, levels, categorical))
    own = torch.zeros(1, 1, 1, 1, device=tags.device).expand(*codes.shape, 1)
    level = levels.gather(2, codes.transpose(1, 2)[..., None].expand(-1, -1, -1, TAG_WIDTH)).transpose(1, 2)
    shown = torch.where(categorical[:, None, :, None], level, _waves(scores, ranks))
    numbers = torch.stack([scores, ranks], -1) * ~categorical[:, None, :, None]
    flags = torch.stack([categorical[:, None].expand_as(missing).float(), ties], -1)
    cells = torch.cat([numbers, shown, flags, own], -1)
    if extra:
        found = [principal_columns(p, draws.directions[..., : extra // 2]) for p in geometry]
        scores = standardise(torch.cat(found, 2), None, floor=1e-3)
        ranks, ties = rank(scores, None)
        numbers = torch.stack([scores, ranks], -1)
        flags = torch.stack([torch.zeros_like(ties), ties, torch.ones_like(ties)], -1)
        cells = torch.cat([cells, torch.cat([numbers, _waves(scores, ranks), flags], -1)], 2)
        codes = torch.cat([codes, ((ranks + 1) * (_BINS / 2)).long().clamp(0, _BINS - 1)], 2)
        tags = torch.cat([tags, draws.principal[:, :extra]], 1)
        missing = torch.cat([missing, torch.zeros_like(scores, dtype=torch.bool)], 2)
    cells = cells * ~missing[..., None]
    cells = torch.cat([cells, _evidence(codes, missing, names, labelled)], -1)

    squares = [points.square().sum(2, keepdim=True) for points in geometry]
    lengths = [(square + 1e-4).log().clamp(-5, 5) for square in squares]
    near = [points * (2 / (square + 1)).sqrt() for points, square in zip(geometry, squares, strict=True)]
    points = torch.cat([*near, *lengths], 2)
    return Prepared(cells, tags, points, names, context.labels, context.unlabelled)


def standardise(values: Tensor, missing: Tensor | None, floor: float = 1e-6) -> Tensor:
    """Centre and scale columns of (B, N, D) and bound what is far out; missing cells become 0."""
    keep = torch.ones_like(values) if missing is None else (~missing).float()
    n = keep.sum(1, keepdim=True).clamp(min=1)
    centred = (values - (values * keep).sum(1, keepdim=True) / n) * keep
    spread = (centred.square().sum(1, keepdim=True) / n).sqrt()
    scaled = centred / (spread + floor * (spread.amax(2, keepdim=True) if missing is None else 1.0) + 1e-12)
    return 4 * torch.tanh(scaled / 4)


def rank(values: Tensor, missing: Tensor | None) -> tuple[Tensor, Tensor]:
    """Ranks of cells in their columns, between -1 and 1, and the share of rows with the very same value.

    Parameters
    ----------
    values : Tensor of shape (B, N, D)
    missing : Tensor of shape (B, N, D), bool, or None

    Returns
    -------
    ranks, ties : Tensor of shape (B, N, D)
        0 where missing.
    """
    by_column = values.transpose(1, 2).contiguous()
    if missing is not None:
        by_column = by_column.masked_fill(missing.transpose(1, 2), math.inf)
    ordered = by_column.sort(2).values
    below, upto = torch.searchsorted(ordered, by_column), torch.searchsorted(ordered, by_column, right=True)
    n = by_column.isfinite().sum(2, keepdim=True).clamp(min=1)
    ranks = ((below + upto) / n - 1).clamp(-1, 1).transpose(1, 2)
    ties = ((upto - below) / n).clamp(0, 1).transpose(1, 2)
    if missing is not None:
        ranks, ties = ranks.masked_fill(missing, 0.0), ties.masked_fill(missing, 0.0)
    return ranks, ties


def _pick(x: Tensor, chosen: Tensor, dim: int) -> Tensor:
    """Keep the chosen (B, C) columns of x along its dimension ``dim``."""
    shape = [1] * x.ndim
    shape[0], shape[dim] = chosen.shape
    target = list(x.shape)
    target[dim] = chosen.shape[1]
    return x.gather(dim, chosen.view(shape).expand(target))


def _waves(scores: Tensor, ranks: Tensor) -> Tensor:
    """Sines and cosines of scores and ranks; (B, N, D) to (B, N, D, 16)."""
    steps = torch.pi / 2 * 2.0 ** torch.arange(_WAVES, device=scores.device)
    angles = torch.cat([scores[..., None] * steps / 4, ranks[..., None] * steps], -1)
    return torch.cat([angles.sin(), angles.cos()], -1)


def _evidence(codes: Tensor, missing: Tensor, names: Tensor, labelled: Tensor) -> Tensor:
    """Gather what the other labelled rows with the same code in a column say about a cell.

    Parameters
    ----------
    codes : Tensor of shape (B, N, C), int64
        Level or bin of each cell.
    missing : Tensor of shape (B, N, C), bool
    names : Tensor of shape (B, N, 32)
    labelled : Tensor of shape (B, N), bool

    Returns
    -------
    Tensor of shape (B, N, C, 34)
        Mean of the classes' vectors of the others, drawn towards 0 where they are few; how many they are, and how
        many against what the rows with this code let expect (both logarithmic).
    """
    batch, _, columns = codes.shape
    by_column = codes.transpose(1, 2)
    keep = (~missing).float()
    each = torch.cat([names, labelled[..., None].float(), torch.ones_like(names[..., :1])], 2)
    each = each[:, None] * keep.transpose(1, 2)[..., None]  # (B, C, N, 34)
    index = by_column[..., None].expand_as(each)
    sums = torch.zeros(batch, columns, MAX_LEVELS, each.shape[3], device=names.device).scatter_add_(2, index, each)
    others = sums.gather(2, index) - each
    known, seen = others[..., -2:-1], others[..., -1:]
    share = labelled.float().mean(1)[:, None, None, None]
    ratio = ((known + 0.5) / (seen * share + 0.5)).log()
    told = torch.cat([others[..., :-2] / (known + 1), known.log1p() / 4, ratio], -1)
    return (told * keep.transpose(1, 2)[..., None]).transpose(1, 2)


def class_members(labels: Tensor) -> Tensor:
    """One-hot known classes of rows; (B, N) to (B, N, 64), 0 for unlabelled rows."""
    classes = torch.arange(MAX_CLASSES, device=labels.device)
    return (labels[..., None] == classes).float()
