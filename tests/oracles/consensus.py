"""Slow, obvious twins of newfound.clustering: try every renaming of the classes, count every vote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

Labels = Sequence[int]


def renamings(labels: Labels, n_classes: int) -> Iterator[list[int]]:
    """The labels under every one-to-one renaming of the classes."""
    for new_names in permutations(range(n_classes)):
        yield [new_names[label] for label in labels]


def agreement(first: Labels, second: Labels) -> int:
    return sum(a == b for a, b in zip(first, second, strict=True))


def best_agreement(labels: Labels, reference: Labels, n_classes: int) -> int:
    return max(agreement(renamed, reference) for renamed in renamings(labels, n_classes))


def vote(members: Sequence[Labels], n_classes: int) -> list[int]:
    """Class with the most votes for each row, the first of equals."""
    winners = []
    for row in zip(*members, strict=True):
        counts = [row.count(c) for c in range(n_classes)]
        winners.append(counts.index(max(counts)))
    return winners


def renamed(labels: Labels, order: Sequence[int]) -> list[int]:
    """Labels after class ``order[j]`` became class ``j``."""
    return [list(order).index(label) for label in labels]
