"""Which rows train and test, and which classes are known and novel."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TEST_SHARE", "Rows", "hide", "split_classes", "stratified_split", "take_rows"]

Rows = NDArray[np.intp]
TEST_SHARE = 0.3


def stratified_split(rows: Rows, target: NDArray[Any], seed: int) -> tuple[Rows, Rows]:
    """Draw rows for training and testing, 70 % and 30 % of each class.

    Parameters
    ----------
    rows : ndarray of shape (m,)
        Row numbers to draw from.
    target : ndarray of shape (n,)
        Class of every row of the table.
    seed : int

    Returns
    -------
    train, test : ndarray of shape (n_train,), ndarray of shape (n_test,)
    """
    # scikit-learn takes a second to import, which what only lists or downloads benchmarks does without
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(rows, random_state=seed, test_size=TEST_SHARE, stratify=target[rows])
    return train, test


def split_classes(
    name: str, known: Sequence[Any], novel: Sequence[Any], number: int
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Draw other known and novel classes for a dataset, as many of each as it has.

    Parameters
    ----------
    name : str
        Name of the dataset.
    known, novel : sequence of int or sequence of str
        Its own classes.
    number : int
        0 for the dataset's own classes; every other number stands for a draw of its own, which depends on the name of
        the dataset alone.

    Returns
    -------
    known, novel : tuple of int or tuple of str
        Sorted, but for number 0.

    Raises
    ------
    InputError
        For a number that is negative, or larger than there are ways to choose the known classes.
    """
    classes, n_known = sorted([*known, *novel]), len(known)
    n_ways = comb(len(classes), n_known)
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < n_ways:
        raise InputError(
            f"Got number={number!r} for the class split of {name!r}, but expected a whole number from 0 to "
            f"{n_ways - 1}: so many ways there are to choose {n_known} of its {len(classes)} classes.",
            parameter="number",
            value=number,
            expected=f"a whole number from 0 to {n_ways - 1}",
        )
    if number == 0:
        return tuple(known), tuple(novel)
    # numpy promises the same draws of a RandomState for ever
    rng = np.random.RandomState(crc32(name.encode()))
    drawn = {frozenset(known)}
    while len(drawn) <= number:
        chosen = frozenset(classes[i] for i in rng.permutation(len(classes))[:n_known])
        drawn.add(chosen)
    return tuple(sorted(chosen)), tuple(label for label in classes if label not in chosen)


def hide(truth: NDArray[Any], novel: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Replace labels of novel classes by -1, or by None where labels are strings; shape (n,)."""
    labels = truth.copy()
    labels[np.isin(truth, np.array(novel, dtype=truth.dtype))] = None if truth.dtype == object else -1
    return labels


def take_rows(features: pd.DataFrame | NDArray[Any], rows: Rows) -> pd.DataFrame | NDArray[Any]:
    """Rows of a table, numbered from 0 on; shape (m, d)."""
    return features[rows] if isinstance(features, np.ndarray) else features.iloc[rows].reset_index(drop=True)
