"""The table encoder as a graph: numbers and texts come in, encoded rows go out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.export.graph import Graph, Value
from newfound.tables import TableEncoder, cells
from newfound.tables.blocks import NEUTRAL_BOOLEAN, CategoryBlock, NumberBlock
from newfound.tables.frame import Table
from newfound.tables.scaling import MAX_DEVIATION, MAX_UNSCALED, UNIFORM_SCALE, NumberScaler

NUMBERS, TEXTS = "numbers", "texts"
"""Names of the two inputs; a model without columns of a kind has no such input."""

MISSING_TEXT = ""
"""What stands for a missing cell among texts, unless it is a category itself."""

Placed = tuple[Value, list[int]]
"""Output columns, and their places in the encoded rows."""


def missing_text(block: CategoryBlock) -> str:
    """Return what stands for a missing cell of a column: a text that is none of its categories."""
    text = MISSING_TEXT
    while text in block.categories:
        text = "<missing>" if text == MISSING_TEXT else f"{text}_"
    return text


def columns_of(encoder: TableEncoder) -> dict[str, list[dict[str, str]]]:
    """Return what the columns of the two inputs are, in order, as JSON can hold it."""
    found: dict[str, list[dict[str, str]]] = {NUMBERS: [], TEXTS: []}
    for block in encoder._blocks:
        if isinstance(block, CategoryBlock):
            found[TEXTS].append({"name": block.column.name, "missing": missing_text(block)})
        else:
            found[NUMBERS].append({"name": block.column.name, "kind": block.column.kind})
    return found


def encode(graph: Graph, encoder: TableEncoder) -> Value:
    """Add the inputs, and what encodes them; returns encoded rows (n, d)."""
    widths = [len(block.names) for block in encoder._blocks]
    starts = (np.cumsum(widths) - widths).tolist()
    placed = list(zip(encoder._blocks, starts, strict=True))
    numeric = [(block, start) for block, start in placed if not isinstance(block, CategoryBlock)]
    categorical = [(block, start) for block, start in placed if isinstance(block, CategoryBlock)]
    parts: list[Placed] = []
    if numeric:
        parts += _numbers(graph, numeric)
    if categorical:
        parts.append(_categories(graph, categorical))
    places = np.array([place for _, some in parts for place in some])
    rows = graph.joined([value for value, _ in parts])
    if (np.diff(places) < 0).any():
        rows = rows.take(np.argsort(places))
    shift, scale = encoder._shift, encoder._scale
    return (rows - shift) / scale if shift.any() or (scale != 1).any() else rows


# ---- numbers, booleans, dates and times


def _numbers(graph: Graph, blocks: list[tuple[Any, int]]) -> list[Placed]:
    numbers = graph.input(NUMBERS, np.dtype(np.float64), len(blocks))
    groups: dict[str, list[int]] = {}
    for column, (block, _) in enumerate(blocks):
        kind: str = block.scaler.scaling if isinstance(block, NumberBlock) else "boolean"
        groups.setdefault("time" if block.column.kind == "time" else kind, []).append(column)
    parts = []
    for kind, columns in groups.items():
        own = numbers if len(columns) == len(blocks) else numbers.take(columns)
        if kind == "boolean":
            scaled = graph.op("Clip", own, 0.0, 1.0)
            neutral = np.full(len(columns), NEUTRAL_BOOLEAN)
        else:
            scalers = [blocks[column][0].scaler for column in columns]
            if kind == "time":
                own = _since(own, np.array([blocks[column][0].start for column in columns]))
            scaled = _scaled(own, scalers)
            neutral = np.array([scaler.neutral for scaler in scalers])
        filled = graph.op("Where", graph.op("IsNaN", own), neutral, scaled)
        parts.append((filled, [blocks[column][1] for column in columns]))
    indicators = [(column, start + 1) for column, (block, start) in enumerate(blocks) if block.indicator]
    if indicators:
        some = graph.op("IsNaN", numbers.take([column for column, _ in indicators])).to(np.float64)
        parts.append((some, [place for _, place in indicators]))
    return parts


def _since(hours: Value, start: NDArray[np.float64]) -> Value:
    """Count hours of the day (n, m) from where the day of each column begins (m,)."""
    graph, since = hours.graph, hours - start
    since = graph.op("Where", graph.op("Less", since, 0.0), since + 24.0, since)
    return graph.op("Where", graph.op("GreaterOrEqual", since, 24.0), since - 24.0, since)


def _scaled(numbers: Value, scalers: list[NumberScaler]) -> Value:
    """Scale columns (n, m) by scalers of one kind, in the same steps as `NumberScaler`."""
    graph, scaling = numbers.graph, scalers[0].scaling
    unit, centre, spread = (np.array([getattr(s, name) for s in scalers]) for name in ("unit", "centre", "spread"))
    if scaling == "none":
        return graph.op("Clip", numbers, -MAX_UNSCALED, MAX_UNSCALED)
    if scaling == "quantile":
        return (_levels(numbers / unit, scalers) - 0.5) * UNIFORM_SCALE
    if scaling == "signed_log":
        numbers = graph.op("Abs", numbers).log1p() * graph.op("Sign", numbers)
    return graph.op("Clip", (numbers / unit - centre) / spread, -MAX_DEVIATION, MAX_DEVIATION)


def _levels(numbers: Value, scalers: list[NumberScaler]) -> Value:
    """Interpolate between the quantiles of each column, as `numpy.interp` does; (n, m) to (n, m)."""
    graph = numbers.graph
    lengths = [len(scaler.references) for scaler in scalers]
    width = 1 << (max(lengths) - 1).bit_length()
    references = np.full((len(scalers), width), np.inf)
    levels, slopes = np.zeros_like(references), np.zeros_like(references)
    for row, (scaler, length) in enumerate(zip(scalers, lengths, strict=True)):
        references[row, :length], levels[row, :length] = scaler.references, scaler.levels
        slopes[row, : length - 1] = np.diff(scaler.levels) / np.diff(scaler.references)
    first, last = references[:, 0], references[np.arange(len(scalers)), np.array(lengths) - 1]
    within = graph.op("Min", graph.op("Max", numbers, first), last)
    # A missing number is compared with nothing and stays at the first quantile.
    flat = graph.constant(references.ravel())
    place = graph.op("Expand", np.arange(len(scalers)) * width, graph.op("Shape", within))
    step = width // 2
    while step:
        ahead = place + np.int64(step)
        passed = graph.op("GreaterOrEqual", within, graph.op("Gather", flat, ahead, axis=0))
        place = graph.op("Where", passed, ahead, place)
        step //= 2
    below, level, slope = (
        graph.op("Gather", values, place, axis=0) for values in (flat, levels.ravel(), slopes.ravel())
    )
    return slope * (within - below) + level


# ---- categories


def _categories(graph: Graph, blocks: list[tuple[CategoryBlock, int]]) -> Placed:
    """One-hot columns of all categories; a cell of no category leaves its columns 0."""
    texts = graph.input(TEXTS, np.dtype(object), len(blocks))
    codes = [
        graph.codes_of(texts.take([column]) if len(blocks) > 1 else texts, *_codes(block))
        for column, (block, _) in enumerate(blocks)
    ]
    widths = [len(block.names) for block, _ in blocks]
    wanted = np.concatenate([np.arange(width) for width in widths])
    found = graph.joined(codes).take(np.repeat(np.arange(len(blocks)), widths))
    places = [start + place for (_, start), width in zip(blocks, widths, strict=True) for place in range(width)]
    return graph.op("Equal", found, wanted).to(np.float64), places


def _codes(block: CategoryBlock) -> tuple[dict[str, int], int]:
    """Return the output column of each text, and that of all others; -1 for none."""
    n_known = len(block.categories)
    codes = {text: place for place, text in enumerate(block.categories)}
    codes[missing_text(block)] = n_known + block.other if block.missing else -1
    # Programs that read a column of whole numbers as floats spell 1 as "1.0".
    for text in block.categories:
        if text.removeprefix("-").isdigit():
            codes.setdefault(f"{text}.0", codes[text])
    return codes, n_known if block.other else -1


# ---- the inputs of a table


def inputs_of(encoder: TableEncoder, table: Table, estimator_name: str) -> dict[str, NDArray[Any]]:
    """Return what a table is for the graph: numbers (n, n_numbers) and texts (n, n_texts)."""
    columns = encoder.used_columns(table, estimator_name=estimator_name)
    numbers, texts = [], []
    for block in encoder._blocks:
        name, kind, values = block.column.name, block.column.kind, columns[block.column.name]
        if isinstance(block, CategoryBlock):
            spelled = cells.as_texts(values)
            texts.append(np.where(cells.missing_mask(spelled), missing_text(block), spelled))
        else:
            read = {"boolean": cells.as_booleans, "date": cells.as_days, "time": cells.as_hours}.get(
                kind, cells.as_numbers
            )
            numbers.append(read(values, name))
    found = {}
    if numbers:
        found[NUMBERS] = np.column_stack(numbers)
    if texts:
        found[TEXTS] = np.column_stack(texts).astype(object)
    return found
