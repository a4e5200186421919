"""Slow, obvious twins of newfound.explanation: one row, one pair or one set at a time."""

from __future__ import annotations

import itertools
from collections.abc import Sequence


def rule_figures(matched: Sequence[bool], inside: Sequence[bool]) -> tuple[float | None, float | None]:
    both = sum(1 for is_matched, other in zip(matched, inside, strict=True) if is_matched and other)
    precision = both / sum(matched) if sum(matched) else None
    coverage = both / sum(inside) if sum(inside) else None
    return precision, coverage


def cliffs_delta(ours: Sequence[float], theirs: Sequence[float]) -> float:
    signs = [(a > b) - (a < b) for a in ours for b in theirs]
    return sum(signs) / len(signs)


def best_run(gains: Sequence[float]) -> float:
    """Largest sum of a run of at least one."""
    n = len(gains)
    return max(sum(gains[i : j + 1]) for i in range(n) for j in range(i, n))


def best_names(named: Sequence[float], rare: float, most: int) -> float:
    """Largest sum of up to ``most`` categories, or of all, with the rare ones, but fewer than ``most``."""
    subsets = [subset for n in range(most + 1) for subset in itertools.combinations(range(len(named)), n)]
    naming = [sum(named[j] for j in subset) for subset in subsets]
    excluding = [sum(named) + rare - sum(named[j] for j in subset) for subset in subsets if len(subset) < most]
    return max(naming + excluding)


def overlap(ours: set[int], theirs: set[int], weights: Sequence[float]) -> float:
    either = sum(weights[row] for row in ours | theirs)
    return sum(weights[row] for row in ours & theirs) / either if either else 1.0
