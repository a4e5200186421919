"""Temperatures tried one by one, and probabilities raised to a power in the plainest way."""

from __future__ import annotations

import math
from collections.abc import Sequence


def at_temperature(proba: Sequence[Sequence[float]], temperature: float) -> list[list[float]]:
    raised = [[p ** (1 / temperature) for p in row] for row in proba]
    return [[p / sum(row) for p in row] for row in raised]


def misfit(proba: Sequence[Sequence[float]], codes: Sequence[int], temperature: float) -> float:
    """Negative log-likelihood, and the prior that weighs like a row."""
    corrected = at_temperature(proba, temperature)
    surprise = -sum(math.log(row[code]) for row, code in zip(corrected, codes, strict=True))
    return surprise + math.log(temperature) ** 2 / 2


def best_temperature(proba: Sequence[Sequence[float]], codes: Sequence[int], tried: Sequence[float]) -> float:
    return min(tried, key=lambda temperature: misfit(proba, codes, temperature))
