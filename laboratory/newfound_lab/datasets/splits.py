"""Which rows train and test, and which classes are known and novel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.datasets.splits import TEST_SHARE, Rows, stratified_split
from newfound_lab.datasets.files import Folder, find_file
from newfound_lab.datasets.registry import (
    Benchmark,
    CappedSplit,
    ColumnSplit,
    FirstRowsSplit,
    IndexSplit,
    RandomSplit,
    SizedSplit,
)

__all__ = ["split_rows"]


def split_rows(
    benchmark: Benchmark, target: NDArray[Any], split_column: NDArray[Any] | None, data_dir: Folder | None = None
) -> tuple[Rows, Rows]:
    """Row numbers of the training and of the test part, without rows of classes that are neither known nor novel.

    Parameters
    ----------
    benchmark : Benchmark
    target : ndarray of shape (n,)
        Class of every row of the raw table.
    split_column : ndarray of shape (n,) or None
        "train" or "test" for every row, where the raw table says so.
    data_dir : str or path, optional
        The data folder, for a split that is a file of row numbers.

    Returns
    -------
    train, test : ndarray of shape (n_train,), ndarray of shape (n_test,)
        In the order in which the rows are to be used.
    """
    novel = np.isin(target, np.array(benchmark.novel, dtype=target.dtype))
    listed = novel | np.isin(target, np.array(benchmark.known, dtype=target.dtype))
    match benchmark.split:
        case ColumnSplit():
            assert split_column is not None, f"{benchmark.file} has no split column"
            train, test = np.flatnonzero(split_column == "train"), np.flatnonzero(split_column == "test")
        case FirstRowsSplit(train=n_train, test=n_test):
            rows = np.arange(len(target))
            train, test = rows[:n_train], rows[n_train : n_train + n_test]
        case IndexSplit() as split:
            train, test = _indices(benchmark.name, split, data_dir)
        case SizedSplit(train=n_train, test=n_test, seed=seed):
            train, test = _random(np.flatnonzero(listed), seed, train_size=n_train, test_size=n_test)
        case RandomSplit(seed=seed, max_per_class=most):
            # classes that are left out must not take part in the draw
            rows = _first_of_each_class(np.flatnonzero(listed), target, most)
            return stratified_split(rows, target, seed)
        case CappedSplit() as split:
            train, test = _random(np.flatnonzero(listed), split.seed, test_size=TEST_SHARE)
            return _capped_train(train, novel, split), test[: split.test]
    return train[listed[train]], test[listed[test]]


def _indices(name: str, split: IndexSplit, data_dir: Folder | None) -> tuple[Rows, Rows]:
    path = find_file(split.file, split.sha256, benchmark=name, data_dir=data_dir)
    with np.load(path, allow_pickle=False) as arrays:
        return arrays[split.train].astype(np.intp), arrays[split.test].astype(np.intp)


def _random(rows: Rows, seed: int, **sizes: Any) -> tuple[Rows, Rows]:
    # scikit-learn takes a second to import, which what only lists or downloads benchmarks does without
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(rows, random_state=seed, **sizes)
    return train, test


def _first_of_each_class(rows: Rows, target: NDArray[Any], most: int | None) -> Rows:
    if most is None:
        return rows
    firsts: list[Rows] = [np.flatnonzero(target[rows] == label)[:most] for label in np.unique(target[rows])]
    return rows[np.sort(np.concatenate(firsts))]


def _capped_train(train: Rows, novel: NDArray[np.bool_], split: CappedSplit) -> Rows:
    known_positions = np.flatnonzero(~novel[train])[: split.known]
    novel_positions = np.flatnonzero(novel[train])[: split.novel]
    kept: Rows = train[np.sort(np.concatenate([known_positions, novel_positions]))]
    return kept
