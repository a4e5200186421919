from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound import datasets
from newfound.datasets.splits import hide, split_classes
from newfound.errors import InputError

KNOWN, NOVEL = (7, 2, 4), (1, 3, 5, 6)


def test_class_split_0_is_the_datasets_own() -> None:
    assert split_classes("any", KNOWN, NOVEL, 0) == (KNOWN, NOVEL)


@given(st.sets(st.text(max_size=3), min_size=3, max_size=8), st.data())
def test_class_splits_are_as_large_as_the_datasets_own_and_all_differ(names: set[str], data: st.DataObject) -> None:
    labels = data.draw(st.permutations(sorted(names)))
    n_known = data.draw(st.integers(1, len(labels) - 1))
    own = labels[:n_known], labels[n_known:]
    n_ways = comb(len(labels), n_known)
    drawn = [split_classes("any", *own, number) for number in range(min(n_ways, 6))]
    assert len({frozenset(known) for known, _ in drawn}) == len(drawn)
    for known, novel in drawn:
        assert len(known) == n_known
        assert sorted([*known, *novel]) == sorted(labels)
    with pytest.raises(InputError, match=f"from 0 to {n_ways - 1}"):
        split_classes("any", *own, n_ways)


def test_class_splits_never_change() -> None:
    """Results on them are kept, so these are for ever."""
    assert [split_classes("pendigits", range(5), range(5, 10), number)[1] for number in range(1, 5)] == [
        (1, 5, 6, 7, 8),
        (2, 3, 4, 6, 8),
        (0, 4, 6, 8, 9),
        (0, 1, 3, 6, 8),
    ]
    assert split_classes("dermatology", "124", "356", 4)[1] == ("4", "5", "6")


def test_class_splits_depend_on_the_name_and_not_on_the_order_of_the_classes() -> None:
    assert split_classes("any", KNOWN[::-1], NOVEL[::-1], 3) == split_classes("any", KNOWN, NOVEL, 3)
    drawn = {split_classes(name, KNOWN, NOVEL, 1) for name in "abcdefgh"}
    assert len(drawn) > 3


@pytest.mark.parametrize("number", [-1, 35, True, 1.0, "1", None])
def test_a_class_split_that_is_not_there(number: object) -> None:
    with pytest.raises(InputError, match="expected a whole number from 0 to 34"):
        split_classes("any", KNOWN, NOVEL, number)  # type: ignore[arg-type]


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
    assert (other.regime, other.name) == ("class split 3", "digits")
    assert "class split 3" in repr(other)
    assert data.regime == "demo"
