"""From a complete table to a task: which classes are known, which rows are labelled, which rows remain."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from newfound.incontext import ALL_NOVEL, MIXED, UNKNOWN
from newfound_lab.prior.source import CLASSES, Source, ranks
from newfound_lab.prior.table import Tables

_FEW = 3  # a novel class of fewer rows is not counted
_SMALL_SHARES = 0.45  # of the tasks have few known classes


class Labelled(NamedTuple):
    """Rows with roles.

    Attributes
    ----------
    tables : Tables
        The rows that remain, with classes in a random order, the known ones first.
    labelled : Tensor of shape (B, N), bool
    mode : Tensor of shape (B,), int64
        What is told about the unlabelled rows.
    """

    tables: Tables
    labelled: Tensor
    mode: Tensor


def count_rows(classes: Tensor, rows: Tensor) -> Tensor:
    """Count the marked rows of each class; (B, N) and (B, N) to (B, 40)."""
    return torch.zeros(len(classes), CLASSES, device=classes.device).scatter_add_(1, classes, rows.float())


def label(source: Source, tables: Tables, rows: int) -> Labelled:
    """Choose known classes, labelled rows, and ``rows`` of the rows.

    A tenth to 85 % of the classes are known. In pure tasks all their rows are labelled, down to three a class;
    in mixed ones up to nine tenths of them are among the unlabelled rows. Some tasks have nothing novel. In some, the
    labelled rows are no fair sample of their class.
    """
    batch = len(tables.classes)
    classes, n_known, nothing_novel = _name_classes(source, tables)
    known = classes < n_known[:, None]
    mixed = source.chance(0.42, batch) | nothing_novel

    everyone = torch.ones_like(known)
    sizes = count_rows(classes, everyone)
    key = source.uniform(*classes.shape)
    column = tables.values.gather(
        2, source.integers(0, tables.values.shape[2] - 1, batch, 1, 1).expand(-1, key.shape[1], 1)
    )
    biased = 0.7 * ranks(column[..., 0] + 1e-3 * key) + 0.3 * key
    key = torch.where(source.chance(0.12, batch, 1), biased, key).clamp(0, 0.999)
    place = (classes + key).argsort(1).argsort(1) - (sizes.cumsum(1) - sizes).gather(1, classes)

    few = source.chance(0.35, batch, 1)
    most = torch.where(few, source.integers(3, 25, batch, CLASSES).float(), 1e6)
    hidden = source.uniform(batch, 1, high=0.9) * mixed[:, None]
    most = torch.minimum(most, (sizes * (1 - hidden)).round()).clamp(min=3)
    labelled = known & (place < most.gather(1, classes))

    surplus = known & ~labelled & ~mixed[:, None]
    order = source.uniform(*classes.shape) - 2.0 * (labelled & few) + 4.0 * surplus
    kept = order.argsort(1)[:, :rows]
    labelled = (labelled | surplus).gather(1, kept)
    values = tables.values.gather(1, kept[..., None].expand(-1, -1, tables.values.shape[2]))
    told = torch.where(mixed, MIXED, ALL_NOVEL)
    mode = torch.where(source.chance(0.3, batch), UNKNOWN, told)
    values = _shift(source, values, labelled, mixed & ~tables.recorded)
    return Labelled(Tables(values, tables.categorical, classes.gather(1, kept), tables.recorded), labelled, mode)


def _name_classes(source: Source, tables: Tables) -> tuple[Tensor, Tensor, Tensor]:
    """Put classes into a random order: names (B, N), the number of known ones (B,), and where nothing is novel."""
    batch = len(tables.classes)
    everyone = torch.ones_like(tables.classes)
    several = (count_rows(tables.classes, everyone) > 1).sum(1, keepdim=True) > 1
    halves = (ranks(tables.values[..., 0]) > 0.5).long()
    classes = torch.where(several, tables.classes, halves)
    present = count_rows(classes, everyone) > 0
    order = source.uniform(batch, CLASSES).masked_fill(~present, 2.0).argsort(1).argsort(1)
    count = present.sum(1)
    share = _known_shares(source, batch)
    n_known = torch.maximum((share * count).round(), torch.where(source.chance(0.93, batch), 2, 1))
    at_most = count - torch.where(source.chance(0.75, batch) & (count > 3), 2, 1)  # one novel class teaches little
    n_known = torch.minimum(n_known, at_most).clamp(min=1)
    nothing_novel = source.chance(0.06, batch)
    return order.gather(1, classes), torch.where(nothing_novel, count, n_known), nothing_novel


def _known_shares(source: Source, batch: int) -> Tensor:
    """Draw shares of known classes, often small ones; (B,).

    With even shares, two known classes would go with one or two novel ones nearly always, and a network would count by
    that instead of by the rows.
    """
    anywhere, small = source.uniform(batch, low=0.1, high=0.85), source.uniform(batch, low=0.1, high=0.3)
    return torch.where(source.chance(_SMALL_SHARES, batch), small, anywhere)


def _shift(source: Source, values: Tensor, labelled: Tensor, allowed: Tensor) -> Tensor:
    """Move the unlabelled rows of some tables a little along some columns."""
    batch, _, columns = values.shape
    moved = 0.4 * source.normal(batch, 1, columns) * source.chance(0.4, batch, 1, columns)
    moved = moved * (source.chance(0.15, batch) & allowed)[:, None, None]
    return values + moved * ~labelled[..., None]


def truth(labelled: Labelled) -> tuple[Tensor, Tensor]:
    """Which rows are of novel classes (B, N), and the number of novel classes among the unlabelled rows (B,)."""
    classes = labelled.tables.classes
    known = count_rows(classes, labelled.labelled) > 0
    seen = count_rows(classes, ~labelled.labelled)
    return ~known.gather(1, classes), ((seen >= _FEW) & ~known).sum(1)
