"""The memory: bounded, a fair sample of each class, and the same after a model file."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from newfound import ModelFileError
from newfound.discoverers.memory import MOST_OF_CLASS, Memory, most_of_class


@given(sizes=st.lists(st.lists(st.integers(0, 700), min_size=3, max_size=3), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_every_class_keeps_rows_and_no_class_too_many(sizes: list[list[int]]) -> None:
    rng = np.random.RandomState(0)
    memory = Memory.of(np.zeros((0, 2)), np.zeros(0, dtype=np.int64), 3, rng)
    total = np.zeros(3, dtype=np.int64)
    for batch, counts in enumerate(sizes):
        codes = np.repeat(np.arange(3), counts)
        rows = np.stack([codes, np.full(len(codes), batch)], axis=1).astype(float)
        memory = memory.joined(rows, codes, 3, rng)
        total += counts
        assert_array_equal(memory.seen, total)
        assert_array_equal(np.bincount(memory.codes, minlength=3), np.minimum(total, MOST_OF_CLASS))
        assert_array_equal(memory.rows[:, 0], memory.codes)  # rows stay with their classes


def test_every_row_ever_seen_is_as_likely_to_be_kept() -> None:
    rng = np.random.RandomState(0)
    memory = Memory.of(np.zeros((900, 1)), np.zeros(900, dtype=np.int64), 1, rng)
    for batch in (1.0, 2.0):
        memory = memory.joined(np.full((900, 1), batch), np.zeros(900, dtype=np.int64), 1, rng)
    shares = np.bincount(memory.rows[:, 0].astype(int)) / len(memory.rows)
    assert np.abs(shares - 1 / 3).max() < 0.1


def test_rows_of_no_class_are_those_of_the_last_batch() -> None:
    rng = np.random.RandomState(0)
    memory = Memory.of(np.zeros((5, 1)), np.full(5, -1), 1, rng)
    assert_array_equal(memory.codes, np.full(5, -1))
    memory = memory.joined(np.ones((2, 1)), np.full(2, -1), 1, rng)
    assert_array_equal(memory.rows, np.ones((2, 1)))


def test_the_memory_is_bounded_in_rows_and_numbers() -> None:
    assert most_of_class(2, 10) == MOST_OF_CLASS
    assert most_of_class(200, 10) == 100
    assert most_of_class(10, 4_000) == 100
    assert most_of_class(100_000, 10) == 20


def test_relabelled_classes_keep_their_rows() -> None:
    memory = Memory.of(np.arange(4.0)[:, None], np.array([0, 1, 1, -1]), 2, np.random.RandomState(0))
    moved = memory.relabelled(np.array([2, 0]))
    assert moved.codes.tolist() == [2, 0, 0, -1]
    assert moved.seen.tolist() == [2, 0, 1]


def test_arrays_are_checked() -> None:
    memory = Memory.of(np.arange(4.0)[:, None], np.array([0, 1, 1, 1]), 2, np.random.RandomState(0))
    assert_array_equal(Memory.restore(memory.arrays(), 1, 2).rows, memory.rows)
    for change in ({"codes": memory.codes + 1}, {"rows": memory.rows[:2]}, {"seen": -memory.seen}):
        with pytest.raises(ModelFileError):
            Memory.restore(memory.arrays() | change, 1, 2)
