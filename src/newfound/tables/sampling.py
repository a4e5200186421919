"""Samples of rows where all of them are too many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]


def sample(index: NDArray[np.intp], most: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw at most so many of the row numbers, in ascending order."""
    return index if len(index) <= most else np.sort(rng.choice(index, most, replace=False))


def sample_of_each(codes: Codes, most: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Row numbers of at most ``most`` labelled and ``most`` unlabelled rows, in ascending order."""
    labelled, unlabelled = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    return np.sort(np.concatenate([sample(labelled, most, rng), sample(unlabelled, most, rng)]))


def sample_in_proportion(codes: Codes, most: int, fewest: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Row numbers of about ``most`` rows, in ascending order.

    Every class, and the rows without one, has its share, but at least ``fewest`` rows where it has so many.
    """
    parts = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    share = min(1.0, most / len(codes))
    return np.sort(np.concatenate([sample(rows, max(fewest, round(share * len(rows))), rng) for rows in parts]))
