"""Slow, obvious twins of newfound.learning.neighbours, augmentation and pseudo labels."""

from __future__ import annotations

import math
from collections.abc import Sequence

Row = Sequence[float]


def distance(a: Row, b: Row) -> float:
    return math.dist(a, b)


def sorted_distances(rows: Sequence[Row], i: int, among: Sequence[int]) -> list[float]:
    """Distances of row i to the other rows among those given, nearest first."""
    return sorted(distance(rows[i], rows[j]) for j in among if j != i)


def majorities(rows: Sequence[Row], neighbours: Sequence[int], columns: Sequence[int]) -> list[tuple[float, ...]]:
    """Every most frequent category among the neighbours; more than one where there is a tie."""
    categories = [tuple(rows[j][c] for c in columns) for j in neighbours]
    most = max(categories.count(category) for category in categories)
    return [category for category in set(categories) if categories.count(category) == most]


def cosine(a: Row, b: Row) -> float:
    norms = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / norms if norms else 0.0


def top_k_positives(similarities: Sequence[Row], k: int, rounding: float = 1e-12) -> list[list[int]]:
    """1 where either row counts the other among its k most similar ones (or as similar as the k-th of them)."""
    b = len(similarities)
    chosen = [[0] * b for _ in range(b)]
    for i in range(b):
        others = sorted((similarities[i][j] for j in range(b) if j != i), reverse=True)
        for j in range(b):
            if j != i and similarities[i][j] >= others[k - 1] - rounding:
                chosen[i][j] = 1
    return [[max(chosen[i][j], chosen[j][i]) for j in range(b)] for i in range(b)]


def threshold_positives(similarities: Sequence[Row], threshold: float) -> list[list[int]]:
    b = len(similarities)
    return [[int(i != j and similarities[i][j] >= threshold) for j in range(b)] for i in range(b)]
