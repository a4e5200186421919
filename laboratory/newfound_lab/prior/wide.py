"""Tables of many columns in an order: curves, spectra, images, curved sheets; and factors of low rank."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from newfound_lab.prior.source import (
    CLASSES,
    Source,
    activate,
    class_weights,
    draw_codes,
    groups,
    mix,
    number_of_classes,
    standardise,
    take,
)
from newfound_lab.prior.table import Tables, numeric


def _classes(source: Source, batch: int, rows: int) -> Tensor:
    """Classes drawn by random shares; (B, N)."""
    count = number_of_classes(source, batch, rows)
    return draw_codes(source, class_weights(source, count), rows)


def curves(source: Source, batch: int, rows: int, columns: int) -> Tables:
    """Columns are places along a curve: each class a sum of waves or peaks, each row shifted, stretched and scaled.

    Spectra, time series, outlines, hand movements. Nuisance waves are shared by all classes.
    """
    classes = _classes(source, batch, rows)
    parts = source.host.choice((2, 4, 6))
    place = torch.linspace(0, 1, columns, device=source.device)
    # every class alters some of the parts that all classes share
    alters = source.chance(0.3 + 0.6 * source.uniform(batch, 1, 1), batch, CLASSES, parts)

    def part(low: float, high: float) -> Tensor:
        shared = source.uniform(batch, 1, parts, low=low, high=high)
        return take(torch.where(alters, source.uniform(batch, CLASSES, parts, low=low, high=high), shared), classes)

    shift = 0.06 * source.normal(batch, rows, 1) * source.uniform(batch, 1, 1)
    stretch = 1 + 0.1 * source.normal(batch, rows, 1) * source.uniform(batch, 1, 1)
    centre, width = part(0.0, 1.0) * stretch + shift, part(0.02, 0.2) * source.uniform(batch, 1, 1, low=0.3, high=1.5)
    height = part(0.2, 1.5) * torch.exp(0.25 * source.normal(batch, rows, parts) * source.uniform(batch, 1, 1))
    frequency, phase = part(0.3, 4.0), part(0.0, 6.3) + 4 * shift
    waves = source.host.random() < 0.4
    table = torch.zeros(batch, rows, columns, device=source.device)
    for p in range(parts):
        if waves:
            angle = 2 * math.pi * frequency[..., p, None] * place * stretch + phase[..., p, None]
            table = table + height[..., p, None] * angle.sin()
        else:
            far = (place - centre[..., p, None]) / width[..., p, None]
            table = table + height[..., p, None] * torch.exp(-0.5 * far.square())
    baseline = source.normal(batch, rows, 4) * source.uniform(batch, 1, 1)
    smooth = torch.stack([torch.cos(math.pi * k * place) for k in range(4)])
    table = table + 0.5 * baseline @ smooth
    noise = source.log_normal(batch, 1, 1, median=0.07, spread=1.0)
    return numeric(standardise(table + noise * source.normal(*table.shape)), classes)


def images(source: Source, batch: int, rows: int, columns: int) -> Tables:
    """Columns are pixels: each class a drawing of a few strokes, each row moved, turned, scaled and thickened.

    Pixels are often empty, and some are counted in small integers as scanned digits are.
    """
    classes = _classes(source, batch, rows)
    strokes = source.host.choice((2, 3, 4))
    height = max(1, math.isqrt(columns))
    index = torch.arange(columns, device=source.device)
    across = -(-columns // height)
    pixel = torch.stack([index % across, index // across]).float() / max(across, 2) * 2 - 1  # (2, D)
    alters = source.chance(0.4 + 0.6 * source.uniform(batch, 1, 1), batch, CLASSES, strokes)[..., None]
    ends = torch.where(
        alters,
        source.uniform(batch, CLASSES, strokes, 4, low=-0.8, high=0.8),
        source.uniform(batch, 1, strokes, 4, low=-0.8, high=0.8),
    )
    ends = take(ends.flatten(2), classes).view(batch, rows, strokes * 2, 2)
    wobble = source.uniform(batch, 1, 1, 1, high=0.16)
    ends = ends + wobble * source.normal(batch, rows, strokes * 2, 2)
    turn = 0.25 * source.normal(batch, rows, 1) * source.uniform(batch, 1, 1)
    x, y = ends[..., 0], ends[..., 1]
    ends = torch.stack([x * turn.cos() - y * turn.sin(), x * turn.sin() + y * turn.cos()], 3)
    ends = ends * (1 + 0.12 * source.normal(batch, rows, 1, 1)) + 0.08 * source.normal(batch, rows, 1, 2)
    thick = source.log_normal(batch, rows, 1, median=0.2, spread=0.2)
    table = torch.zeros(batch, rows, columns, device=source.device)
    for s in range(strokes):
        start, stop = ends[:, :, 2 * s, :, None], ends[:, :, 2 * s + 1, :, None]
        along = stop - start
        where = ((pixel - start) * along).sum(2) / along.square().sum(2).clamp(min=1e-4)
        gap = (pixel - start - where.clamp(0, 1)[:, :, None] * along).square().sum(2)
        table = torch.maximum(table, torch.exp(-gap / thick.square()))
    noise = source.log_normal(batch, 1, 1, median=0.03, spread=1.0)
    table = (table + noise * source.normal(*table.shape)).clamp(0, 1)
    steps = source.host.choice((16.0, 255.0))
    table = torch.where(source.chance(0.5, batch, 1, 1), (table * steps).round(), table)
    tables = numeric(table, classes)
    return tables._replace(recorded=source.chance(0.7, batch))


def low_rank(source: Source, batch: int, rows: int, columns: int) -> Tables:
    """Many columns of few factors, some of which tell the classes apart; neighbours may be alike.

    Sensor statistics, gene groups: the nuisance factors explain most of the variance.
    """
    classes = _classes(source, batch, rows)
    telling, others = source.host.choice((2, 4, 8)), source.host.choice((2, 6, 12))
    separation = source.log_normal(batch, 1, 1, median=2.6, spread=0.5)
    signal = take(source.normal(batch, CLASSES, telling), classes) * separation + source.normal(batch, rows, telling)
    nuisance = groups(
        source, batch, rows, others, source.uniform(batch, 1, 1, high=3.0) * source.chance(0.5, batch, 1, 1)
    )
    strength = source.log_normal(batch, 1, 1, median=1.5, spread=0.8)
    factors = torch.cat([signal, nuisance * strength], 2)
    density = source.host.choice((0.1, 0.4, 1.0))
    table = mix(source, factors, columns, density)
    if source.host.random() < 0.5:  # neighbouring columns alike
        window = source.host.choice((3, 5, 9))
        smooth = torch.nn.functional.avg_pool1d(table.flatten(0, 1)[:, None], window, 1, window // 2)
        table = smooth[:, 0, :columns].view_as(table)
    if source.host.random() < 0.4:
        table = table.tanh() if source.host.random() < 0.5 else table.abs()
    noise = source.log_normal(batch, 1, 1, median=0.25, spread=1.1)
    table = standardise(table)
    return numeric(standardise(table + noise * source.normal(*table.shape)), classes)


def _bumps(source: Source, batch: int, width: int, columns: int) -> Tensor:
    """Smooth random functions of the columns' places on a line or in a square; (B, width, columns)."""
    across = max(1, math.isqrt(columns)) if source.host.random() < 0.5 else columns
    index = torch.arange(columns, device=source.device)
    place = torch.stack([index % across, index // across], 1).float() / across  # (D, 2)
    lengths = source.log_normal(batch, 1, 1, median=0.15 if across < columns else 0.08, spread=0.6)
    centres = source.uniform(batch, width, 2) * place.amax(0)
    far = (place - centres[:, :, None]).square().sum(3) / lengths.square()  # (B, width, D)
    ripple = torch.cos(2 * math.pi * (source.normal(batch, width, 2) @ place.T) / (4 * lengths)) + 1
    bumps = torch.where(source.chance(0.7, batch, 1, 1), torch.exp(-0.5 * far), ripple)
    return bumps * source.normal(batch, width, 1)


def sheets(source: Source, batch: int, rows: int, columns: int) -> Tables:
    """Each class is a curved sheet of few dimensions: one random network makes rows from a class and a style.

    Handwriting, movements, textures: neighbouring columns are alike, what varies within a class has the same shape in
    all classes, bent by the class, and little else varies. Styles may have modes of their own.
    """
    classes = _classes(source, batch, rows)
    telling, styles = source.host.choice((3, 6, 12)), source.host.choice((2, 4, 8, 16))
    hidden = source.host.choice((24, 48, 96))
    separation = source.log_normal(batch, 1, 1, median=1.6, spread=0.4)
    code = take(source.normal(batch, CLASSES, telling), classes) * separation
    modes = 2.0 * source.chance(0.25, batch, 1, 1) * source.uniform(batch, 1, 1)
    style = groups(source, batch, rows, styles, modes) * source.log_normal(batch, 1, styles, median=0.6, spread=0.6)
    layer = torch.cat([code, style], 2)
    for _ in range(source.host.randint(1, 2)):
        moved = mix(source, layer, hidden, source.host.choice((0.3, 1.0))) + 0.5 * source.normal(batch, 1, hidden)
        layer = moved.tanh() if source.host.random() < 0.6 else activate(source, moved)
    table = standardise(layer) @ _bumps(source, batch, hidden, columns)
    table = table / (table.square().mean((1, 2), keepdim=True).sqrt() + 1e-6)
    ink = torch.relu(table - source.uniform(batch, 1, 1, low=-0.5, high=0.8))
    table = torch.where(source.chance(0.35, batch, 1, 1), ink, table)
    light = source.log_normal(batch, 1, 1, median=0.7, spread=0.7) * source.chance(0.4, batch, 1, 1)
    light = light * source.normal(batch, rows, 1)  # of the whole row: most of the variance, and says nothing
    table = table * torch.exp(0.3 * light.clamp(-4, 4)) + light * source.uniform(batch, 1, columns, low=0.5, high=1.5)
    noise = source.log_normal(batch, 1, 1, median=0.04, spread=1.2)
    table = table + noise * source.normal(*table.shape)
    counted = (table.clamp(0, 3) * 5).round()
    drawn = torch.where(source.chance(0.2, batch, 1, 1), counted, standardise(table))
    return numeric(drawn, classes)._replace(recorded=source.chance(0.5, batch))
