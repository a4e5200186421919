"""Slow, obvious twins of newfound.clustering.partitions: one edge after the other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np


def edge_information(partition: Sequence[int], neighbours: np.ndarray) -> tuple[float, float]:
    """Mutual information of the classes at both ends, and the share of edges within a class."""
    ends = [(partition[i], partition[j]) for i, near in enumerate(neighbours) for j in near]
    ends += [(b, a) for a, b in ends]  # an edge has no direction
    pairs, singles = Counter(ends), Counter(a for a, _ in ends)
    n = len(ends)
    information = sum(
        count / n * math.log((count / n) / (singles[a] / n * singles[b] / n)) for (a, b), count in pairs.items()
    )
    return information, sum(a == b for a, b in ends) / n


def entropy(partition: Sequence[int]) -> float:
    return -sum(m / len(partition) * math.log(m / len(partition)) for m in Counter(partition).values())
