from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from newfound import datasets
from newfound.datasets.registry import (
    BENCHMARKS,
    Benchmark,
    CappedSplit,
    ColumnSplit,
    FirstRowsSplit,
    IndexSplit,
    RandomSplit,
)
from newfound.datasets.splits import hide, split_classes, split_rows
from newfound.errors import InputError
from tests.oracles import splits as oracle

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

SEVEN = replace(ANY, known=(7, 2, 4), novel=(1, 3, 5, 6))


def test_class_split_0_is_the_benchmarks_own() -> None:
    assert split_classes(SEVEN, 0) == (SEVEN.known, SEVEN.novel)


@given(st.sets(st.text(max_size=3), min_size=3, max_size=8), st.data())
def test_class_splits_are_as_large_as_the_benchmarks_own_and_all_differ(names: set[str], data: st.DataObject) -> None:
    labels = data.draw(st.permutations(sorted(names)))
    n_known = data.draw(st.integers(1, len(labels) - 1))
    benchmark = replace(ANY, known=tuple(labels[:n_known]), novel=tuple(labels[n_known:]))
    n_ways = comb(len(labels), n_known)
    drawn = [split_classes(benchmark, number) for number in range(min(n_ways, 6))]
    assert len({frozenset(known) for known, _ in drawn}) == len(drawn)
    for known, novel in drawn:
        assert len(known) == n_known
        assert sorted([*known, *novel]) == sorted(labels)
    with pytest.raises(InputError, match=f"from 0 to {n_ways - 1}"):
        split_classes(benchmark, n_ways)


def test_class_splits_never_change() -> None:
    """Results on them are kept, so these are for ever."""
    assert [split_classes(BENCHMARKS["pendigits"], number)[1] for number in range(1, 5)] == [
        (1, 5, 6, 7, 8),
        (2, 3, 4, 6, 8),
        (0, 4, 6, 8, 9),
        (0, 1, 3, 6, 8),
    ]
    assert split_classes(BENCHMARKS["dermatology"], 4)[1] == ("4", "5", "6")


def test_class_splits_depend_on_the_name_and_not_on_the_order_of_the_classes() -> None:
    other = replace(SEVEN, known=SEVEN.known[::-1], novel=SEVEN.novel[::-1])
    assert split_classes(other, 3) == split_classes(SEVEN, 3)
    drawn = {split_classes(replace(SEVEN, name=name), 1) for name in "abcdefgh"}
    assert len(drawn) > 3


@pytest.mark.parametrize("number", [-1, 35, True, 1.0, "1", None])
def test_a_class_split_that_is_not_there(number: object) -> None:
    with pytest.raises(InputError, match="expected a whole number from 0 to 34"):
        split_classes(SEVEN, number)  # type: ignore[arg-type]


def test_labels_of_novel_classes_are_hidden() -> None:
    truth = np.array(["a", "b", "c", "a"], dtype=object)
    assert hide(truth, ("a", "c")).tolist() == [None, "b", None, None]
    assert hide(np.array([3, 4, 5]), (4,)).tolist() == [3, -1, 5]
    assert truth.tolist() == ["a", "b", "c", "a"]


def test_a_dataset_keeps_its_rows_and_changes_its_classes() -> None:
    data = datasets.load("digits")
    other = data.resplit(3)
    assert data.resplit(0) is data
    assert other.X_train is data.X_train
    assert other.X_test is data.X_test
    assert other.y_train_truth is data.y_train_truth
    assert sorted([*other.known_classes, *other.novel_classes]) == list(range(10))
    assert set(other.novel_classes) != set(data.novel_classes)
    labelled = np.isin(other.y_train_truth, other.known_classes)
    np.testing.assert_array_equal(other.y_train, np.where(labelled, other.y_train_truth, -1))
    np.testing.assert_array_equal(other.train_novel, ~labelled)
    assert other.benchmark.novel == tuple(other.novel_classes)
    assert (other.benchmark.regime, other.name) == ("class split 3", "digits")
    assert "class split 3" in repr(other)
    assert data.benchmark.regime == "demo"
