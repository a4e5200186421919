"""Labels: every type and missing mark that users bring, and names for novel classes in that type."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from newfound.errors import InputError, ModelFileError
from newfound.tables.labels import (
    all_classes,
    classes_from_json,
    classes_to_json,
    mark_unlabelled,
    novel_class_names,
    read_labels,
)

NAN = float("nan")

INTEGERS = [
    [5, -1, 3],
    [5, None, 3],
    [5, NAN, 3],
    (5, pd.NA, 3),
    np.array([5, -1, 3]),
    np.array([5, -1, 3], dtype=np.int8),
    np.array([5, None, 3], dtype=object),
    np.ma.masked_array([5, 7, 3], mask=[False, True, False]),
    pd.Series([5, -1, 3], index=[9, 8, 7]),
    pd.Series([5, None, 3], dtype="Int64"),
    pd.Series([5, None, 3], dtype="int64[pyarrow]"),
    pd.Series([5, None, 3], dtype="Int64").astype("category"),
    pd.Categorical([5, None, 3], categories=[3, 4, 5]),
    pl.Series([5, None, 3]),
    pl.Series([5, -1, 3], dtype=pl.Int8),
    pa.array([5, None, 3]),
    pa.chunked_array([[5, None], [3]]),
]
STRINGS = [
    ["b", None, "a"],
    ["b", -1, "a"],
    ["b", NAN, "a"],
    np.array(["b", None, "a"], dtype=object),
    np.array(["b", -1, "a"], dtype=object),
    pd.Series(["b", None, "a"]),
    pd.Series(["b", None, "a"], dtype=object),
    pd.Series(["b", None, "a"], dtype="string"),
    pd.Series(["b", None, "a"], dtype="category"),
    pl.Series(["b", None, "a"]),
    pl.Series(["b", None, "a"], dtype=pl.Categorical),
    pa.array(["b", None, "a"]),
    pa.array(["b", None, "a"]).dictionary_encode(),
]
BOOLEANS = [
    [True, None, False],
    [True, -1, False],
    np.array([True, NAN, False], dtype=object),
    pd.Series([True, None, False], dtype="boolean"),
    pl.Series([True, None, False]),
    pa.array([True, None, False]),
]
FLOATS = [
    [5.0, -1.0, 3.0],
    np.array([5, NAN, 3]),
    np.array([5, -1, 3], dtype=np.float32),
    pd.Series([5, None, 3]),
    pl.Series([5.0, None, 3.0]),
]


def assert_identical(actual: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    expected = expected.astype(object) if expected.dtype.kind == "U" else expected
    np.testing.assert_array_equal(actual, expected)
    assert actual.dtype.kind == expected.dtype.kind
    assert actual.dtype == expected.dtype


@pytest.mark.parametrize(
    ("y", "known", "novel", "every"),
    [
        *((y, [3, 5], [6, 7], [3, 5, 6, 7]) for y in INTEGERS),
        *((y, ["a", "b"], ["novel_0", "novel_1"], ["a", "b", "novel_0", "novel_1"]) for y in STRINGS),
        *((y, [False, True], [2, 3], [0, 1, 2, 3]) for y in BOOLEANS),
        *((y, [3.0, 5.0], [6.0, 7.0], [3.0, 5.0, 6.0, 7.0]) for y in FLOATS),
    ],
)
def test_types_and_missing_marks(y: Any, known: Any, novel: Any, every: Any) -> None:
    labels = read_labels(y, 3)
    assert labels.codes.tolist() == [1, -1, 0]
    assert labels.codes.dtype == np.int64
    assert labels.n_known == 2
    assert labels.unlabelled.tolist() == [False, True, False]
    assert labels.labelled.tolist() == [True, False, True]
    assert_identical(labels.known_classes, known)
    names = novel_class_names(labels.known_classes, 2)
    assert_identical(names, novel)
    assert_identical(all_classes(labels.known_classes, names), every)
    assert_identical(all_classes(labels.known_classes, names[:0]), known)


@pytest.mark.parametrize(
    "y", [None, [None] * 3, np.full(3, NAN), -np.ones(3, dtype=int), pd.Series([None] * 3), [-1, NAN, None]]
)
def test_without_a_label_novel_classes_are_numbered(y: Any) -> None:
    labels = read_labels(y, 3)
    assert labels.codes.tolist() == [-1, -1, -1]
    assert_identical(labels.known_classes, np.empty(0, dtype=np.int64))
    assert_identical(all_classes(labels.known_classes, novel_class_names(labels.known_classes, 2)), [0, 1])


def test_full_arrays() -> None:
    assert read_labels(np.array(["b", "a", "b"]), 3).codes.tolist() == [1, 0, 1]
    assert read_labels(np.array([True, False, True]), 3).codes.tolist() == [1, 0, 1]
    assert read_labels(range(3), 3).codes.tolist() == [0, 1, 2]
    assert_identical(read_labels(np.array([7, 9], dtype=np.uint8), 2).known_classes, [7, 9])


@given(st.lists(st.none() | st.integers(-5, 5) | st.just(-1), min_size=1), st.integers(0, 4))
def test_codes_and_names_agree_with_the_labels(y: list[int | None], n: int) -> None:
    labels = read_labels(y, len(y))
    present = sorted({label for label in y if label not in (None, -1)})
    assert labels.known_classes.tolist() == present
    for label, code in zip(y, labels.codes, strict=True):
        assert code == -1 if label in (None, -1) else labels.known_classes[code] == label
    every = all_classes(labels.known_classes, novel_class_names(labels.known_classes, n))
    assert len(set(every.tolist())) == len(present) + n
    assert -1 not in every


@given(st.sets(st.integers(0, 6)), st.integers(0, 5))
def test_novel_strings_skip_known_classes(numbers: set[int], n: int) -> None:
    known = np.array(sorted([*(f"novel_{i}" for i in numbers), "z"]))
    novel = novel_class_names(known, n)
    assert len(novel) == n
    assert not set(novel.tolist()) & set(known.tolist())
    free = [i for i in range(20) if i not in numbers]
    assert novel.tolist() == [f"novel_{i}" for i in free[:n]]


def test_novel_integers_are_never_the_missing_mark() -> None:
    assert novel_class_names(np.array([-7, -3]), 2).tolist() == [0, 1]
    assert novel_class_names(np.array([-7.0, -2.0]), 2).tolist() == [0.0, 1.0]


def test_no_room_for_novel_integers() -> None:
    largest = np.iinfo(np.int64).max
    assert novel_class_names(np.array([largest - 1]), 1).tolist() == [largest]
    with pytest.raises(InputError, match="no room for 2 novel classes"):
        novel_class_names(np.array([largest - 1]), 2)
    with pytest.raises(InputError, match="no room for 1 novel classes"):
        novel_class_names(np.array([2.0**53]), 1)


@pytest.mark.parametrize(
    "y",
    [[[1], [2], [-1]], np.array([[1], [2], [-1]]), pd.DataFrame({"y": [1, 2, -1]}), pl.DataFrame({"y": [1, 2, -1]})],
)
def test_a_column_vector_is_flattened_with_a_warning(y: Any) -> None:
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"):
        assert read_labels(y, 3).codes.tolist() == [0, 1, -1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2], "y has 2 labels but X has 3 rows"),
        (np.eye(3), r"y should be a 1d array, got an array of shape \(3, 3\)"),
        (np.array(3), "y should be a 1d array"),
        (7, "y should be a 1d array"),
        ("abc", "y must be a list, an array or a column"),
        ({"a": 1}, "y must be a list, an array or a column"),
        ([1.5, 2.0, 3.0], "Unknown label type: continuous.*1.5.*Turn the labels into"),
        (np.array([0.1, 0.2, 0.3]), "Unknown label type: continuous"),
        ([1.0, float("inf"), 2.0], "y has infinite labels"),
        ([1, "a", 2], "y mixes labels of types int and str"),
        ([True, 2, 3], "y mixes labels of types bool and int"),
        ([dt.date(2020, 1, 1)] * 3, "Unknown label type: date"),
        (pd.to_datetime(["2020", "2021", "2022"]), "Unknown label type: datetime64"),
        ([(1, 2)] * 3, "Unknown label type: tuple"),
        ([[1, 2], [3], [4]], "nested lists|Unknown label type: list"),
        ([1j, 2j, 3j], "Unknown label type: complex"),
        (np.array([1j, 2j, 3j]), "Unknown label type: complex128"),
        ([b"a", b"b", b"c"], "Unknown label type: bytes"),
        ([Decimal(1)] * 3, "Unknown label type: Decimal"),
        ([2**70, 1, 2], "beyond 64-bit integers"),
        (np.array([2**63, 1, 2], dtype=np.uint64), "beyond 64-bit integers"),
    ],
)
def test_refused(y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_labels(y, 3)


@pytest.mark.parametrize("classes", [[3, 2**62], ["a", "é", ""], [False, True], [1.0, 2.0**60], []])
def test_json_round_trip(classes: Any) -> None:
    array = np.array(classes)
    assert_identical(classes_from_json(json.loads(json.dumps(classes_to_json(array)))), array)


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        {"kind": "object", "values": []},
        {"kind": ["int"], "values": []},
        {"kind": "int", "values": 3},
        {"kind": "int", "values": [1, 1]},
        {"kind": "int", "values": [True]},
        {"kind": "int", "values": [2**70]},
        {"kind": "float", "values": [NAN]},
        {"kind": "str", "values": [["a"]]},
        {"kind": "bool", "values": [0, 1]},
    ],
)
def test_bad_json(content: Any) -> None:
    with pytest.raises(ModelFileError):
        classes_from_json(content)


@pytest.mark.parametrize("mark", ["-1", "nan", "None", "<NA>"])
def test_marks_that_numpy_turned_into_text_are_marks(mark: str) -> None:
    with pytest.warns(UserWarning, match="taken as unlabelled"):
        labels = read_labels(np.array(["b", mark, "a"]), 3)
    assert labels.codes.tolist() == [1, -1, 0]
    kept = read_labels(np.array(["b", mark, "a"], dtype=object), 3)
    assert kept.n_known == 3


def test_an_empty_text_is_a_class_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="empty text as a label in 2 rows"):
        assert read_labels(["a", "", ""], 3).n_known == 2


# ---- names that were used, and marks


@pytest.mark.parametrize(
    ("known", "used", "names"),
    [
        (np.array([3, 7]), [8, 10], [9, 11]),
        (np.array([3.0, 7.0]), [8.0, 100.0], [9.0, 10.0]),
        (np.array([False, True]), [2], [3, 4]),
        (np.array(["ant"]), ["novel_1", "wasp"], ["novel_0", "novel_2"]),
        (np.empty(0, dtype=np.int64), [0], [1, 2]),
        (np.array([3]), [2**63 - 1], [4, 5]),
    ],
    ids=["int", "float", "bool", "text", "none", "large"],
)
def test_used_names_are_passed_over(known: np.ndarray, used: list[Any], names: list[Any]) -> None:
    found = novel_class_names(known, 2, used)
    assert found.tolist() == names
    assert found.dtype.kind == novel_class_names(known, 2).dtype.kind


@pytest.mark.parametrize(
    ("labels", "mark", "kind"),
    [
        (np.array([4, 5]), -1, "i"),
        (np.array([4.0, 5.0]), np.nan, "f"),
        (np.array(["a", "b"]), None, "O"),
        (np.array([True, False]), None, "O"),
    ],
    ids=["int", "float", "text", "bool"],
)
def test_marks_are_read_as_unlabelled(labels: np.ndarray, mark: Any, kind: str) -> None:
    before = labels.copy()
    marked = mark_unlabelled(labels, np.array([False, True]))
    assert marked[0] == labels[0]
    assert marked[1] is mark or np.array_equal(marked[1], mark, equal_nan=True)
    assert marked.dtype.kind == kind
    assert read_labels(marked, 2).unlabelled.tolist() == [False, True]
    np.testing.assert_array_equal(labels, before)
