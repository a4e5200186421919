"""How columns end up in a table: warped, rounded, cut into levels, copied, with outliers and holes."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from newfound_lab.prior.source import Source, ranks, standardise
from newfound_lab.prior.table import Tables

_LEVELS = 40
_PIECES = 24  # a scrambled category is a union of these


class Recorded(NamedTuple):
    """Final columns: ``values`` (B, N, D), ``categorical`` (B, D) and ``missing`` (B, N, D)."""

    values: Tensor
    categorical: Tensor
    missing: Tensor


def record(source: Source, tables: Tables) -> Recorded:
    """Record tables; those that are `recorded` already only get useless columns, doubled rows and holes."""
    raw = ~tables.recorded
    values = tables.values
    values = torch.where(raw[:, None, None], _copy_columns(source, values), values)
    values = _useless_columns(source, values)
    numbers = _outliers(source, _round(source, _warp(source, standardise(values))))
    levels, as_levels, as_categories = _levels(source, values)
    numbers = torch.where(as_levels[:, None], levels, numbers)
    values = torch.where(raw[:, None, None], numbers, values)
    categorical = torch.where(raw[:, None], as_categories, tables.categorical)
    values = _double_rows(source, values, tables.classes)
    missing = _holes(source, values)
    return Recorded(values.masked_fill(missing, 0.0), categorical, missing)


def _some(source: Source, batch: int, columns: int, tables: float, share: float) -> Tensor:
    """Mark some columns of some tables: (B, 1, D)."""
    return source.chance(share * source.chance(tables, batch, 1, 1), batch, 1, columns)


def _copy_columns(source: Source, values: Tensor) -> Tensor:
    """Replace some columns by noisy copies of others."""
    batch, rows, columns = values.shape
    other = values.gather(2, source.integers(0, columns - 1, batch, 1, columns).expand(-1, rows, -1))
    noise = source.log_normal(batch, 1, 1, median=0.2, spread=0.8) * source.normal(batch, rows, columns)
    return torch.where(_some(source, batch, columns, 0.15, 0.35), other + noise, values)


def _useless_columns(source: Source, values: Tensor) -> Tensor:
    """Shuffle the rows of some columns, each on its own: they keep their looks and say nothing."""
    batch, rows, columns = values.shape
    useless = source.chance(0.5 * source.uniform(batch, 1, 1) * source.chance(0.35, batch, 1, 1), batch, 1, columns)
    order = source.uniform(batch, rows, columns).argsort(1)
    return torch.where(useless, values.gather(1, order), values)


def _warp(source: Source, x: Tensor) -> Tensor:
    """Skew, squash or cut off some columns of some tables."""
    batch, _, columns = x.shape
    kind = source.uniform(batch, 1, columns) + 10.0 * ~source.chance(0.6, batch, 1, 1)
    power = source.uniform(batch, 1, columns, low=0.3, high=1.5)
    bounded = x.clamp(-5, 5)
    x = torch.where(kind < 0.2, torch.exp(power * bounded), x)
    x = torch.where((kind >= 0.2) & (kind < 0.35), torch.sign(x) * bounded.abs() ** (1 + power), x)
    x = torch.where((kind >= 0.35) & (kind < 0.45), torch.sigmoid(2 * power * bounded), x)
    return torch.where((kind >= 0.45) & (kind < 0.6), torch.relu(bounded - power + 0.6), x)  # mostly zeros


def _round(source: Source, x: Tensor) -> Tensor:
    """Round some columns to a grid."""
    batch, _, columns = x.shape
    steps = source.integers(1, 10, batch, 1, columns).float()
    return torch.where(_some(source, batch, columns, 0.35, 0.6), (standardise(x) * steps).round() / steps, x)


def _outliers(source: Source, x: Tensor) -> Tensor:
    """Throw few cells far out."""
    batch, rows, columns = x.shape
    rate = 0.03 * source.uniform(batch, 1, 1) * source.chance(0.15, batch, 1, 1)
    far = source.log_normal(batch, rows, columns, median=6.0, spread=0.7) * source.normal(batch, rows, columns).sign()
    return torch.where(source.chance(rate, batch, rows, columns), x + far, x)


def _levels(source: Source, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Cut columns into levels.

    Returns
    -------
    levels : Tensor of shape (B, N, D)
        Codes of levels: even, random or with a long tail; 2 to 10 of them, or up to 40.
    as_levels, as_categories : Tensor of shape (B, D), bool
        Which columns are to be shown by their levels, and which of these have no order.
    """
    batch, rows, columns = x.shape
    device = source.device
    steps = torch.arange(1, _LEVELS + 1, device=device)
    count = source.integers(2, 10, batch, columns)
    many = source.chance(0.3 * source.chance(0.3, batch, 1), batch, columns)
    count = torch.where(many, source.integers(10, _LEVELS, batch, columns), count)
    kind = source.uniform(batch, 1)  # of table: numbers, mixed, categories, ordered levels, two levels
    two = source.chance(0.3, batch, columns) | (kind > 0.92)
    count = torch.where(two, 2, count)

    even = steps / count[..., None]
    anywhere = source.uniform(batch, columns, _LEVELS)
    tail = 1 - source.uniform(batch, columns, 1, low=0.3, high=0.8) ** steps
    style = source.uniform(batch, columns, 1)
    cuts = torch.where(style < 0.4, even, torch.where(style < 0.8, anywhere, tail))
    inside = torch.arange(_LEVELS, device=device) < (count - 1)[..., None]
    cuts = cuts.masked_fill(~inside, 2.0).sort(2).values.contiguous()
    position = ranks(x).transpose(1, 2).contiguous()
    codes = torch.searchsorted(cuts, position)

    pieces = (source.uniform(batch, columns, _PIECES) * count[..., None]).long()
    scrambled = pieces.gather(2, (position * _PIECES).long().clamp(max=_PIECES - 1))
    codes = torch.where(source.chance(0.25, batch, columns, 1), scrambled, codes)
    wrong = source.chance(0.1 * source.chance(0.2, batch, columns, 1), batch, columns, rows)
    codes = torch.where(wrong, (source.uniform(batch, columns, rows) * count[..., None]).long(), codes)

    share = torch.where(kind < 0.5, 0.0, torch.where(kind < 0.75, source.uniform(batch, 1), 1.0))
    ordered = (kind > 0.85) & source.chance(0.7, batch, 1)
    as_levels = source.chance(share, batch, columns)
    as_categories = as_levels & ~ordered & ~source.chance(0.15, batch, columns)
    return codes.transpose(1, 2).float(), as_levels, as_categories


def _double_rows(source: Source, values: Tensor, classes: Tensor) -> Tensor:
    """Make some rows of some tables equal to another row of their class."""
    batch, rows, _ = values.shape
    order = (classes + source.uniform(batch, rows)).argsort(1)
    before = order.roll(1, 1)
    other = torch.empty_like(order).scatter_(1, order, before)  # of each row: the one before it in its class
    same = classes.gather(1, other) == classes
    doubled = same & source.chance(0.4 * source.uniform(batch, 1) * source.chance(0.1, batch, 1), batch, rows)
    copies = values.gather(1, other[..., None].expand_as(values))
    return torch.where(doubled[..., None], copies, values)


def _holes(source: Source, values: Tensor) -> Tensor:
    """Cells that are missing at random, or the more often the larger the value or that of another column is."""
    batch, rows, columns = values.shape
    rate = 0.4 * source.uniform(batch, 1, columns) ** 2 * source.chance(0.25, batch, 1, 1)
    high = ranks(values)
    high = torch.where(source.chance(0.5, batch, 1, 1), high, high.roll(1, 2))
    leaning = torch.where(source.chance(0.4, batch, 1, columns), 2 * high, 1.0)
    return source.chance(rate * leaning, batch, rows, columns)
