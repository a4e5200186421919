"""Classes as groups of rows: modes of some factors, or normal distributions in the columns themselves."""

from __future__ import annotations

import torch
from torch import Tensor

from newfound_lab.prior.source import (
    CLASSES,
    Source,
    class_weights,
    draw_codes,
    groups,
    number_of_classes,
    spread_over_columns,
    standardise,
    take,
)
from newfound_lab.prior.table import Tables, numeric

_MODES = 3


def _modes_of(source: Source, classes: Tensor) -> Tensor:
    """Give rows of some classes one of three modes; (B, N) codes of class and mode."""
    batch, rows = classes.shape
    several = source.chance(0.5 * source.uniform(batch, 1), batch, CLASSES).gather(1, classes)
    return classes * _MODES + torch.where(several, source.integers(0, _MODES - 1, batch, rows), 0)


def factor_modes(source: Source, batch: int, rows: int, columns: int) -> Tables:
    """Classes are modes of some hidden factors; the others are nuisance, often with stronger groups of their own.

    The columns are nodes of a random network of all factors, or the factors themselves. Which factors matter can be
    told from the known classes alone.
    """
    width = source.host.choice((6, 10, 16, 24))
    count = number_of_classes(source, batch, rows)
    classes = draw_codes(source, class_weights(source, count), rows)
    matters = source.chance(0.15 + 0.7 * source.uniform(batch, 1, 1), batch, 1, width)
    matters[..., 0] = True
    separation = source.log_normal(batch, 1, 1, median=2.6, spread=0.5)
    base = source.normal(batch, CLASSES, 1, width)
    centres = base + source.normal(batch, CLASSES, _MODES, width) * source.uniform(batch, 1, 1, 1)
    centres = centres * source.chance(0.3 + source.uniform(batch, 1, 1, 1), batch, CLASSES, 1, width)
    centres = centres.flatten(1, 2) * separation
    scale = torch.exp(0.5 * source.normal(batch, CLASSES, width) * source.chance(0.5, batch, 1, 1))
    noise = source.normal(batch, rows, width) * take(scale, classes)
    relevant = take(centres, _modes_of(source, classes)) + noise
    strength = source.log_normal(batch, 1, 1, median=1.5, spread=0.7) * source.chance(0.6, batch, 1, 1)
    nuisance = groups(source, batch, rows, width, strength)
    nuisance = nuisance * torch.exp(0.5 * source.normal(batch, 1, width))
    factors = standardise(torch.where(matters, relevant, nuisance))
    factors = factors * torch.exp(0.3 * source.normal(batch, 1, width))
    return numeric(spread_over_columns(source, factors, columns), classes)


def normal_classes(source: Source, batch: int, rows: int, columns: int) -> Tables:
    """Classes are normal in the columns, around centres of low rank, with shared nuisance directions.

    What varies within the known classes varies within the novel ones too: the case for whitening. Some tables have a
    covariance for each class, or tails heavier than normal.
    """
    count = number_of_classes(source, batch, rows)
    classes = draw_codes(source, class_weights(source, count), rows)
    rank = source.host.choice((2, 3, 5, 8, 12))
    own = source.host.choice((1, 3, 8))
    loading = source.normal(batch, rank, columns) * source.chance(
        0.3 + 0.7 * source.uniform(batch, 1, 1), batch, rank, columns
    )
    centres = source.normal(batch, CLASSES * _MODES, rank)
    centres = centres * torch.exp(0.4 * source.normal(batch, 1, rank)) / rank**0.5
    first = centres[:, ::_MODES].repeat_interleave(_MODES, 1)
    centres = first + (centres - first) * source.uniform(batch, 1, 1)
    separation = source.log_normal(batch, 1, 1, median=2.5, spread=0.6)
    signal = take(centres @ loading, _modes_of(source, classes)) * separation

    shared = source.normal(batch, own, columns) * source.log_normal(batch, own, 1, median=1.0, spread=1.0)
    strength = source.log_normal(batch, 1, 1, median=1.0, spread=0.8)
    hidden = groups(source, batch, rows, own, 2.0 * source.chance(0.3, batch, 1, 1) * source.uniform(batch, 1, 1))
    nuisance = hidden @ shared / own**0.5 * strength
    spread = torch.exp(0.6 * source.normal(batch, CLASSES, columns) * source.chance(0.4, batch, 1, 1))
    noise = source.normal(batch, rows, columns) * take(spread, classes)
    tails = source.gamma(source.uniform(batch, 1, 1, low=1.5, high=20.0).expand(batch, rows, 1))
    tails = (tails / tails.mean(1, keepdim=True)).clamp(min=0.05).rsqrt()
    noise = torch.where(source.chance(0.25, batch, 1, 1), noise * tails, noise)
    column_noise = source.log_normal(batch, 1, columns, median=1.0, spread=0.3)
    return numeric(standardise(signal + nuisance + noise * column_noise), classes)
