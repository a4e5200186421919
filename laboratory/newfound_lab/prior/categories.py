"""Tables of categories: rules of few columns as in car or nursery, and classes with levels of their own."""

from __future__ import annotations

import torch
from torch import Tensor

from newfound_lab.prior.functions import tree_cells, winners
from newfound_lab.prior.source import (
    CLASSES,
    Source,
    class_weights,
    draw_codes,
    mix,
    number_of_classes,
    slices,
    standardise,
    take,
)
from newfound_lab.prior.table import Tables

_LEVELS = 12


def _finish(source: Source, codes: Tensor, classes: Tensor) -> Tables:
    """Show codes (B, N, D) as categories, as ordered integers, or both within a table."""
    batch, _, columns = codes.shape
    share = source.uniform(batch, 1)
    share = torch.where(share < 0.5, 1.0, torch.where(share > 0.8, 0.0, source.uniform(batch, 1)))
    categorical = source.chance(share, batch, columns)
    shuffled = source.uniform(batch, _LEVELS, columns).argsort(1).gather(1, codes)
    values = torch.where(categorical[:, None], shuffled, codes).float()
    return Tables(values, categorical, classes, torch.ones(batch, dtype=torch.bool, device=codes.device))


def rules(source: Source, batch: int, rows: int, columns: int) -> Tables:
    """Classes follow rules of few columns of levels that are drawn on their own, or with some dependence.

    A rule is a cell of a tree, a slice of a sum of ordered levels, or the winner among random functions of levels.
    """
    levels = source.integers(2, source.host.choice((2, 4, 6)), batch, columns)
    levels = torch.where(source.chance(0.3, batch, 1), levels[:, :1], levels)
    common = source.normal(batch, rows, 3) @ source.normal(batch, 3, columns)
    strength = source.uniform(batch, 1, 1) * source.chance(0.4, batch, 1, 1)
    position = source.uniform(batch, rows, columns)
    leaning = torch.special.ndtr(standardise(common + source.normal(batch, rows, columns)))
    position = torch.where(source.chance(strength, batch, 1, columns), leaning, position)
    skew = torch.where(
        source.chance(0.3, batch, 1, columns), source.log_normal(batch, 1, columns, median=1.0, spread=0.5), 1.0
    )
    codes = (position.clamp(0, 0.9999) ** skew * levels[:, None]).long().clamp(0, _LEVELS - 1)

    few = min(columns, source.host.randint(2, 7))
    acting = codes[..., :few].float() / (levels[:, None, :few] - 1).clamp(min=1) * 2 - 1
    acting = acting + 0.01 * source.normal(batch, 1, few)
    count = number_of_classes(source, batch, rows).clamp(max=12)
    jitter = 0.02 * source.normal(batch, rows)
    total = (acting * source.log_normal(batch, 1, few, median=1.0, spread=0.6)).sum(2) + jitter
    bent = standardise(mix(source, acting, 8, 0.6).square()) + mix(source, acting, 8, 0.6)
    kind = source.uniform(batch, 1)
    cells = tree_cells(source, acting, count, source.host.randint(2, 6))
    classes = torch.where(
        kind < 0.4, slices(source, total, count), torch.where(kind < 0.7, cells, winners(source, bent, count))
    )
    wrong = source.chance(0.1 * source.chance(0.3, batch, 1) * source.uniform(batch, 1), batch, rows)
    classes = torch.where(wrong, (source.uniform(batch, rows) * count[:, None]).long(), classes)
    order = source.uniform(batch, columns).argsort(1)[:, None].expand(-1, rows, -1)
    return _finish(source, codes.gather(2, order), classes)


def latent_classes(source: Source, batch: int, rows: int, columns: int) -> Tables:
    """Each class has its own distribution over the levels of each column, which are independent within a class.

    Symptoms, votes, features of animals. Levels may be two throughout or many with long tails; some columns say
    nothing about the class, and some follow a grouping that is no class. In some tables each class is a pattern with
    mistakes.
    """
    count = number_of_classes(source, batch, rows)
    classes = draw_codes(source, class_weights(source, count), rows)
    most = source.host.choice((2, 2, 3, 5, _LEVELS))
    levels = source.integers(2, most, batch, columns)
    allowed = torch.arange(_LEVELS, device=source.device) < levels[..., None]
    tail = (
        torch.arange(_LEVELS, device=source.device)
        * source.uniform(batch, columns, 1)
        * source.chance(0.5, batch, 1, 1)
    )
    base = 0.7 * source.normal(batch, 1, columns, _LEVELS) - tail[:, None]
    sharp = source.log_normal(batch, 1, 1, 1, median=1.8, spread=0.5)
    speaks = source.chance(0.2 + 0.8 * source.uniform(batch, 1, 1, 1), batch, 1, columns, 1)
    kinds = 5
    nuisance = source.integers(0, kinds - 1, batch, rows)
    own = source.normal(batch, CLASSES, columns, _LEVELS) * sharp * speaks
    other = source.normal(batch, kinds, columns, _LEVELS) * sharp * ~speaks * source.chance(0.5, batch, 1, 1, 1)

    def shown(logits: Tensor, code: Tensor) -> Tensor:
        return take(logits.flatten(2), code).view(batch, rows, columns, _LEVELS)

    gumbel = -(-source.uniform(batch, rows, columns, _LEVELS).clamp(1e-6, 1 - 1e-6).log()).log()
    logits = base + shown(own, classes) + shown(other, nuisance) + gumbel
    codes = logits.masked_fill(~allowed[:, None], -1e4).argmax(3)
    codes = torch.where(source.chance(0.3, batch, 1, 1), _templates(source, classes, levels), codes)
    return _finish(source, codes, classes)


def _templates(source: Source, classes: Tensor, levels: Tensor) -> Tensor:
    """Give each class a pattern of levels that its rows repeat, apart from cells that went wrong; (B, N, D).

    Displays, fault codes, checklists: no cell says much, and all of them together nearly everything.

    Parameters
    ----------
    source : Source
    classes : Tensor of shape (B, N)
    levels : Tensor of shape (B, D)
        Levels of each column.
    """
    batch, columns = levels.shape
    rows = classes.shape[1]
    usual = (source.uniform(batch, 1, columns) * levels[:, None]).long()
    own = (source.uniform(batch, CLASSES, columns) * levels[:, None]).long()
    altered = source.chance(0.15 + 0.75 * source.uniform(batch, 1, 1), batch, CLASSES, columns)
    wrong = source.chance(0.35 * source.uniform(batch, 1, 1), batch, rows, columns)
    anything = (source.uniform(batch, rows, columns) * levels[:, None]).long()
    return torch.where(wrong, anything, take(torch.where(altered, own, usual), classes))
