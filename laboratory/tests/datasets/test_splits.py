from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

import newfound as nf
from laboratory.tests.datasets import oracle
from newfound.datasets.splits import split_classes
from newfound_lab import datasets
from newfound_lab.datasets import BenchmarkDataset
from newfound_lab.datasets.registry import (
    BENCHMARKS,
    Benchmark,
    CappedSplit,
    ColumnSplit,
    FirstRowsSplit,
    IndexSplit,
    RandomSplit,
)
from newfound_lab.datasets.splits import split_rows

KNOWN, NOVEL, OTHER = (1, 2), (3, 4), 5
ANY = Benchmark("any", "any.parquet", "", KNOWN, NOVEL, ColumnSplit(), "extra")
classes = st.lists(st.sampled_from([*KNOWN, *NOVEL, OTHER]), min_size=4, max_size=40)


def test_column_split_keeps_file_order_and_drops_other_parts_and_classes() -> None:
    target = np.array([1, 3, OTHER, 2, 4, 1, 1])
    column = np.array(["test", "train", "train", "train", "test", "valid", "train"], dtype=object)
    train, test = split_rows(ANY, target, column)
    assert (train.tolist(), test.tolist()) == ([1, 3, 6], [0, 4])


def test_first_rows_are_counted_before_other_classes_are_dropped() -> None:
    benchmark = replace(ANY, split=FirstRowsSplit(train=3, test=2))
    train, test = split_rows(benchmark, np.array([1, OTHER, 3, 2, OTHER, 4]), None)
    assert (train.tolist(), test.tolist()) == ([0, 2], [3])


def test_index_split_keeps_the_order_of_the_file(data_folder: Path, sha256: Callable[[Path], str]) -> None:
    path = data_folder / "rows.npz"
    np.savez(path, a=np.array([4, 0, 3]), b=np.array([5, 1]))
    benchmark = replace(ANY, split=IndexSplit("rows.npz", sha256(path), train="a", test="b"))
    train, test = split_rows(benchmark, np.array([1, 2, 3, OTHER, 1, 3]), None)
    assert (train.tolist(), test.tolist()) == ([4, 0], [5, 1])


def test_random_split_is_scikit_learns_on_the_listed_rows() -> None:
    target = np.repeat([OTHER, 4, 2, 1, 3], 20).astype(object)
    benchmark = replace(ANY, split=RandomSplit(seed=3))
    rows = np.flatnonzero(target != OTHER)
    expected = train_test_split(rows, test_size=0.3, random_state=3, stratify=target[rows])
    for ours, theirs in zip(split_rows(benchmark, target, None), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@given(st.lists(st.sampled_from([*KNOWN, *NOVEL, OTHER]), max_size=40), st.integers(2, 6))
def test_random_split_first_cuts_each_class(labels: list[int], most: int) -> None:
    # four rows of each class, so that both parts can hold every class
    target = np.array([*labels, *[*KNOWN, *NOVEL] * 4])
    benchmark = replace(ANY, split=RandomSplit(max_per_class=most + 2))
    train, test = split_rows(benchmark, target, None)
    listed = [row for row in range(len(target)) if target[row] != OTHER]
    assert sorted([*train, *test]) == oracle.first_of_each_class(listed, target.tolist(), most + 2)


@given(classes, st.integers(0, 10), st.integers(0, 10), st.integers(0, 10))
def test_capped_split_keeps_the_first_rows_of_each_part(labels: list[int], known: int, novel: int, most: int) -> None:
    target = np.array([*KNOWN, *NOVEL, *labels])
    benchmark = replace(ANY, split=CappedSplit(known=known, novel=novel, test=most))
    train, test = split_rows(benchmark, target, None)
    whole_train, whole_test = train_test_split(np.flatnonzero(target != OTHER), test_size=0.3, random_state=0)
    assert train.tolist() == oracle.capped_train(whole_train, target.tolist(), NOVEL, known, novel)
    assert test.tolist() == whole_test[:most].tolist()


@pytest.mark.parametrize("split", [RandomSplit(), CappedSplit(known=50, novel=50, test=50)], ids=repr)
def test_random_splits_are_the_same_every_time(split: RandomSplit | CappedSplit) -> None:
    target = np.tile([*KNOWN, *NOVEL], 20)
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state is what must stay as it was
    first, second = (split_rows(replace(ANY, split=split), target, None) for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    assert not set(first[0]) & set(first[1])
    np.testing.assert_array_equal(state, np.random.get_state()[1])  # noqa: NPY002


# ---- known and novel classes


@pytest.mark.parametrize(
    ("name", "number", "novel"), [("pendigits", 2, (2, 3, 4, 6, 8)), ("dermatology", 4, ("4", "5", "6"))]
)
def test_class_splits_of_benchmarks_never_change(name: str, number: int, novel: tuple[object, ...]) -> None:
    """Results on them are kept, so these are for ever."""
    benchmark = BENCHMARKS[name]
    assert split_classes(name, benchmark.known, benchmark.novel, number)[1] == novel


def test_a_class_split_changes_the_benchmark_as_well() -> None:
    data = datasets.load("digits")
    other = data.resplit(3)
    assert data.resplit(0) is data
    assert isinstance(other, BenchmarkDataset)
    assert other.benchmark.known == tuple(other.known_classes)
    assert other.benchmark.novel == tuple(other.novel_classes)
    assert (other.benchmark.regime, other.regime, other.name) == ("class split 3", "class split 3", "digits")
    assert data.benchmark == BENCHMARKS["digits"]
    assert other.novel_classes.tolist() == nf.datasets.load("digits").resplit(3).novel_classes.tolist()
