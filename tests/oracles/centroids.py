"""Slow, obvious twins of newfound.clustering.centroids: one row at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

Row = Sequence[float]


def seed_probabilities(rows: Sequence[Row], taken: Sequence[Row]) -> list[float]:
    """Chance of each row to be the next seed: its share of the squared distances to the nearest point taken."""
    squared = [min(math.dist(row, point) ** 2 for point in taken) for row in rows]
    total = sum(squared)
    return [value / total for value in squared] if total else [1 / len(rows)] * len(rows)


def lloyd(rows: Sequence[Row], centroids: Sequence[Row], steps: int = 300) -> tuple[list[Row], float]:
    """Move centroids to the means of the rows nearest to them until they rest; returns them and the inertia."""
    for _ in range(steps):
        nearest = [min(range(len(centroids)), key=lambda j: math.dist(row, centroids[j])) for row in rows]
        means = []
        for j in range(len(centroids)):
            own = [row for row, its in zip(rows, nearest, strict=True) if its == j]
            means.append([sum(column) / len(own) for column in zip(*own, strict=True)])
        if all(math.dist(a, b) < 1e-12 for a, b in zip(means, centroids, strict=True)):
            break
        centroids = means
    return list(centroids), sum(min(math.dist(row, point) ** 2 for point in centroids) for row in rows)
