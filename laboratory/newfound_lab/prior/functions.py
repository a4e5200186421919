"""Classes as functions of what the columns show: winners, slices, trees, and nodes of causal graphs."""

from __future__ import annotations

import torch
from torch import Tensor

from newfound_lab.prior.source import (
    CLASSES,
    Source,
    activate,
    below,
    groups,
    mix,
    number_of_classes,
    slices,
    spread_over_columns,
    standardise,
    take,
)
from newfound_lab.prior.table import Tables, numeric


def _inputs(source: Source, batch: int, rows: int, width: int) -> Tensor:
    """Factors without classes: normal, uniform or in groups; (B, N, width)."""
    even = source.uniform(batch, rows, width, low=-1.7, high=1.7)
    plain = torch.where(source.chance(0.5, batch, 1, 1), source.normal(batch, rows, width), even)
    grouped = standardise(groups(source, batch, rows, width, source.log_normal(batch, 1, 1, median=1.2, spread=0.6)))
    return torch.where(source.chance(0.5, batch, 1, 1), plain, grouped)


def _hidden(source: Source, inputs: Tensor, layers: int) -> Tensor:
    """Send (B, N, q) through a random network; unchanged with no layers."""
    for _ in range(layers):
        shifted = mix(source, inputs, 24, 0.4) + 0.5 * source.normal(inputs.shape[0], 1, 24)
        inputs = standardise(activate(source, shifted))
    return inputs


def winners(source: Source, hidden: Tensor, count: Tensor) -> Tensor:
    """Class of the largest of ``count`` (B,) random functions; (B, N)."""
    scores = standardise(mix(source, hidden, CLASSES, 0.5)) + 0.4 * source.normal(len(count), 1, CLASSES)
    return scores.masked_fill(~below(count, CLASSES)[:, None], -1e4).argmax(2)


def tree_cells(source: Source, hidden: Tensor, count: Tensor, depth: int) -> Tensor:
    """Class of a cell of a random tree whose cells have random classes; (B, N)."""
    batch = len(count)
    cuts = mix(source, hidden, depth, 0.02) > 0.6 * source.normal(batch, 1, depth)
    cell = (cuts * 2 ** torch.arange(depth, device=hidden.device)).sum(2)
    classes = (source.uniform(batch, 2**depth) * count[:, None]).long()
    return classes.gather(1, cell)


def class_functions(source: Source, batch: int, rows: int, columns: int) -> Tables:
    """Classes are a function of few factors that form no groups: a winner, slices of one function, cells of a tree."""
    width = max(3, min(columns, source.host.choice((3, 6, 10, 16))))
    factors = _inputs(source, batch, rows, width)
    count = number_of_classes(source, batch, rows)
    matter = source.integers(1, min(8, width), batch)
    shown = factors * below(matter, width)[:, None]
    hidden = _hidden(source, shown, source.host.choice((0, 0, 1, 2)))
    score = standardise(mix(source, hidden, 1, 0.7))[..., 0]
    classes = [
        winners(source, hidden, count),
        slices(source, score, count),
        tree_cells(source, hidden, count, source.host.randint(2, 6)),
    ]
    kind = source.uniform(batch, 1)
    chosen = torch.where(kind < 0.45, classes[0], torch.where(kind < 0.7, classes[1], classes[2]))
    return numeric(spread_over_columns(source, factors, columns, direct=0.6), chosen)


def causal_graph(source: Source, batch: int, rows: int, columns: int) -> Tables:
    """Columns are nodes of a layered causal graph; the class is a node amid them, with causes and with effects."""
    hidden = max(16, columns // 2)
    layers = source.host.randint(2, 4)
    where = source.host.randint(0, layers - 1)
    count = number_of_classes(source, batch, rows)
    layer = _inputs(source, batch, rows, hidden // 2)
    nodes, classes = [layer], None
    for place in range(layers):
        if place == where:
            cause = standardise(mix(source, layer, 6, 0.4))
            sliced = slices(source, cause[..., 0] + 0.1 * source.normal(batch, rows), count)
            classes = torch.where(source.chance(0.6, batch, 1), winners(source, cause, count), sliced)
        moved = mix(source, layer, hidden, 0.05 + 0.3 * source.host.random())
        if classes is not None:
            effect = source.normal(batch, CLASSES, hidden) * source.chance(0.4, batch, 1, hidden)
            moved = moved + take(effect, classes) * source.log_normal(batch, 1, 1, median=1.5, spread=0.5)
        noise = source.log_normal(batch, 1, hidden, median=0.2, spread=1.0).clamp(max=2.0)
        layer = standardise(activate(source, moved + 0.3 * source.normal(batch, 1, hidden)))
        layer = layer + noise * source.normal(batch, rows, hidden)
        nodes.append(layer)
    assert classes is not None
    everything = torch.cat(nodes, 2)
    while everything.shape[2] < columns:
        everything = torch.cat([everything, mix(source, everything, columns, 0.1)], 2)
    late = torch.arange(everything.shape[2], device=source.device) >= nodes[0].shape[2]
    weights = torch.where(source.chance(0.5, batch, 1), 0.2 + late, torch.ones_like(late, dtype=torch.float))
    chosen = source.pick(weights, columns)
    return numeric(standardise(everything.gather(2, chosen[:, None].expand(-1, rows, -1))), classes)
