"""Batches of tasks from all families."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from newfound.incontext import Context
from newfound_lab.prior.categories import latent_classes, rules
from newfound_lab.prior.functions import causal_graph, class_functions
from newfound_lab.prior.labelling import label, truth
from newfound_lab.prior.mixtures import factor_modes, normal_classes
from newfound_lab.prior.recording import record
from newfound_lab.prior.source import Source
from newfound_lab.prior.table import Tables, join
from newfound_lab.prior.wide import curves, images, low_rank, sheets

PRIOR_VERSION = 3  # raise it with every change of what is drawn

Family = Callable[[Source, int, int, int], Tables]


class Entry(NamedTuple):
    """A family: how it is made, how often, and from how many columns on."""

    make: Family
    weight: float
    columns: int = 2


FAMILIES: Mapping[str, Entry] = {
    "factor_modes": Entry(factor_modes, 3.0),
    "normal_classes": Entry(normal_classes, 2.5),
    "class_functions": Entry(class_functions, 1.5),
    "causal_graph": Entry(causal_graph, 1.5),
    "rules": Entry(rules, 1.0, 3),
    "latent_classes": Entry(latent_classes, 1.4, 3),
    "curves": Entry(curves, 0.8, 10),
    "images": Entry(images, 0.8, 16),
    "low_rank": Entry(low_rank, 0.8, 10),
    "sheets": Entry(sheets, 1.0, 8),
}
_WIDE = ("curves", "images", "low_rank", "sheets")
_MUCH = {28: 2.0, 56: 4.0}  # from so many columns on, tables of these families are so many times as frequent


class Tasks(NamedTuple):
    """A batch of tasks.

    Attributes
    ----------
    context : Context
        What the network sees.
    classes : Tensor of shape (B, N), int64
        True class of each row, from 0 to 39; equal to ``context.labels`` where labelled.
    novel : Tensor of shape (B, N), bool
        Rows of classes without any labelled row.
    n_novel : Tensor of shape (B,), int64
        Novel classes with at least three unlabelled rows.
    """

    context: Context
    classes: Tensor
    novel: Tensor
    n_novel: Tensor


def _weights(columns: int, weights: Mapping[str, float] | None) -> dict[str, float]:
    """Weights of the families that can make so many columns."""
    given = {name: entry.weight for name, entry in FAMILIES.items()} if weights is None else dict(weights)
    fitting = {name: weight for name, weight in given.items() if columns >= FAMILIES[name].columns}
    much = max((factor for least, factor in _MUCH.items() if columns >= least), default=1.0)
    return {name: weight * (much if name in _WIDE else 1.0) for name, weight in fitting.items()}


def sample_tasks(
    source: Source, batch: int, rows: int, columns: int, *, weights: Mapping[str, float] | None = None, parts: int = 4
) -> Tasks:
    """Draw tasks of one size.

    Parameters
    ----------
    source : Source
        Its device is where the tasks are made.
    batch, rows, columns : int
    weights : mapping of family to weight, optional
        Families to draw from; all of `FAMILIES` by default. Families that need more columns are left out.
    parts : int, default=4
        The batch is divided among so many draws of a family.

    Returns
    -------
    Tasks
    """
    usable = _weights(columns, weights)
    parts = min(parts, batch)
    names = source.host.choices(list(usable), list(usable.values()), k=parts)
    sizes = [(batch + place) // parts for place in range(parts)]
    more = rows + rows // 3  # some rows are dropped when labels are given out
    tables = join([FAMILIES[name].make(source, size, more, columns) for name, size in zip(names, sizes, strict=True)])
    chosen = label(source, tables, rows)
    recorded = record(source, chosen.tables)
    novel, n_novel = truth(chosen)
    labels = torch.where(chosen.labelled, chosen.tables.classes, -1)
    context = Context(recorded.values, recorded.categorical, recorded.missing, labels, chosen.mode)
    return Tasks(context, chosen.tables.classes, novel, n_novel)
