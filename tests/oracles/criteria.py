"""Slow, obvious twins of the statistics of a partition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

import numpy as np


def log_within(rows: np.ndarray, labels: Sequence[int]) -> float:
    total = 0.0
    for row, label in zip(rows, labels, strict=True):
        mean = np.mean([other for other, its in zip(rows, labels, strict=True) if its == label], axis=0)
        total += sum((row - mean) ** 2)
    return math.log(max(total / len(rows), 1e-12))


def edge_statistics(neighbours: np.ndarray, labels: Sequence[int]) -> dict[str, float]:
    # every edge counts once in each direction
    ends = [(labels[i], labels[j]) for i, near in enumerate(neighbours) for j in near]
    ends += [(b, a) for a, b in ends]
    classes = sorted(set(labels))

    def between(a: int, b: int) -> float:
        return ends.count((a, b)) / len(ends)

    def at(a: int) -> float:
        return sum(between(a, b) for b in classes)

    def most(values: list[float]) -> float:
        return max(values, default=0.0)

    return {
        "modularity": sum(between(a, a) - at(a) ** 2 for a in classes),
        "leaving": float(np.mean([1 - between(a, a) / at(a) for a in classes])),
        "crossing": float(
            np.mean([most([between(a, b) / min(at(a), at(b)) for b in classes if b != a]) for a in classes])
        ),
        "linked": most([between(a, b) / (at(a) * at(b)) for a, b in permutations(classes, 2)]),
    }
