"""Slow, obvious twins of the rules in newfound_lab.datasets.splits: walk over the rows and count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence


def first_of_each_class(rows: Sequence[int], target: Sequence[Hashable], most: int) -> list[int]:
    seen: Counter[Hashable] = Counter()
    kept = []
    for row in rows:
        seen[target[row]] += 1
        if seen[target[row]] <= most:
            kept.append(row)
    return kept


def capped_train(
    train: Sequence[int], target: Sequence[Hashable], novel: Collection[Hashable], most_known: int, most_novel: int
) -> list[int]:
    n_known = n_novel = 0
    kept = []
    for row in train:
        if target[row] in novel:
            n_novel += 1
            keep = n_novel <= most_novel
        else:
            n_known += 1
            keep = n_known <= most_known
        if keep:
            kept.append(row)
    return kept
