"""Classes as a dict from names to probabilities, on which people's steps are done one row at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Row = dict[Any, float]


def merge(row: Row, classes: Sequence[Any], name: Any) -> Row:
    merged = {class_: p for class_, p in row.items() if class_ not in classes}
    merged[name] = sum(row[class_] for class_ in classes)
    return merged


def split(row: Row, class_: Any, names: Sequence[Any], place: Sequence[float], centroids: Any, variance: float) -> Row:
    distances = [math.dist(place, centroid) ** 2 / (2 * variance) for centroid in centroids]
    weights = [math.exp(min(distances) - distance) for distance in distances]
    parts = {name: row[class_] * weight / sum(weights) for name, weight in zip(names, weights, strict=True)}
    return {other: p for other, p in row.items() if other != class_} | parts


def rename(row: Row, names: Mapping[Any, Any]) -> Row:
    return {names.get(name, name): p for name, p in row.items()}
