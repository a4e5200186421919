"""Slow, obvious twins of the statistics of a partition."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np


def edge_statistics(neighbours: np.ndarray, labels: Sequence[int]) -> dict[str, float]:
    # every edge counts once in each direction
    ends = [(labels[i], labels[j]) for i, near in enumerate(neighbours) for j in near]
    ends += [(b, a) for a, b in ends]
    classes = sorted(set(labels))

    def between(a: int, b: int) -> float:
        return ends.count((a, b)) / len(ends)

    def at(a: int) -> float:
        return sum(between(a, b) for b in classes)

    return {
        "modularity": sum(between(a, a) - at(a) ** 2 for a in classes),
        "linked": max((between(a, b) / (at(a) * at(b)) for a, b in permutations(classes, 2)), default=0.0),
    }
