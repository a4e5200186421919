"""The classes of unlabelled rows are planted where only a leak would find them: no discoverer may change by a bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from newfound.metrics import clustering_accuracy
from newfound.tables.labels import read_labels
from tests.discoverers.common import (
    DISCOVERERS,
    NOVEL,
    PLAIN,
    SMALL,
    TRUTH,
    Maker,
    beneath_a_mask,
    frame,
    integer_labels,
    numbers,
)
from tests.discoverers.test_common import assert_same_model

pytestmark = SMALL


def beneath_missing_cells() -> pd.Series:
    return pd.Series(pd.arrays.IntegerArray(TRUTH.astype(np.int64), NOVEL.copy()))


def beneath_nulls() -> pa.Array:
    is_there = pa.array(~NOVEL).buffers()[1]
    return pa.Array.from_buffers(pa.int64(), len(TRUTH), [is_there, pa.py_buffer(TRUTH.astype(np.int64).tobytes())])


def by_different_marks() -> np.ndarray:
    """One novel class is marked with None, the other one with NaN."""
    cells = TRUTH.astype(object)
    cells[TRUTH == 2] = None
    cells[TRUTH == 3] = np.nan
    return cells


PLANTED: dict[str, Callable[[], Any]] = {
    "beneath a mask": beneath_a_mask,
    "beneath missing cells": beneath_missing_cells,
    "beneath nulls": beneath_nulls,
    "beneath nulls of polars": lambda: pl.Series(beneath_nulls()),
    "by different marks": by_different_marks,
    "in the index": lambda: pd.Series(integer_labels(), index=TRUTH, name="truth"),
    "among the categories": lambda: pd.Categorical.from_codes(integer_labels(), categories=[0, 1, 2, 3]),
}


def test_what_is_planted_can_be_found() -> None:
    """Otherwise the other tests would prove nothing."""
    assert_array_equal(np.asarray(beneath_a_mask()), TRUTH)
    assert_array_equal(beneath_missing_cells().array._data, TRUTH)
    assert_array_equal(np.frombuffer(beneath_nulls().buffers()[1], dtype=np.int64), TRUTH)


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_planted_classes_are_not_read(plant: Callable[[], Any]) -> None:
    labels = read_labels(plant(), len(TRUTH))
    assert_array_equal(labels.codes, integer_labels())
    assert labels.known_classes.tolist() == [0, 1]
    assert_same_model(PLAIN().fit(frame(), plant()), PLAIN().fit(frame(), integer_labels()), frame(1))


@pytest.mark.parametrize("make", DISCOVERERS)
def test_planted_classes_never_reach_training(make: Maker) -> None:
    planted = make().fit(frame().set_index(TRUTH), beneath_a_mask())
    assert_same_model(planted, make().fit(frame(), integer_labels()), frame(1))


@pytest.mark.parametrize("make", DISCOVERERS)
def test_the_order_of_the_rows_tells_nothing(make: Maker) -> None:
    """Elsewhere in these tests the rows lie in the order of their classes."""
    order = np.random.default_rng(0).permutation(len(TRUTH))
    novel = NOVEL[order]
    model = make().fit(numbers()[order], integer_labels()[order])
    assert clustering_accuracy(TRUTH[order][novel], model.labels_[novel]) > 0.9
