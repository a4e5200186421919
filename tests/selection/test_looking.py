"""Partitions by the in-context network, of which it sees a sample."""

from __future__ import annotations

import numpy as np
import pytest

from newfound.incontext import look
from newfound.incontext.look import is_in_time, seconds_for
from newfound.metrics import clustering_accuracy
from newfound.selection import looking
from newfound.selection.looking import can_look, network_partition, spread
from newfound.tables.task import DiscoveryTask
from tests.selection.made_up import LAYOUT, N_KNOWN, N_NOVEL, rng, table


def make_task(n_each: int = 25) -> tuple[DiscoveryTask, np.ndarray]:
    rows, codes, truth = table(n_each=n_each)
    return DiscoveryTask(rows, codes.astype(np.int64), N_KNOWN, N_NOVEL, LAYOUT), truth[codes < 0]


def test_clear_classes_are_found() -> None:
    task, truth = make_task()
    partition = network_partition(task, rng())
    assert partition is not None
    assert clustering_accuracy(truth, partition) > 0.95
    np.testing.assert_array_equal(partition, network_partition(task, rng()))  # the same seed, the same classes


def test_rows_that_were_not_shown_get_their_class_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "_FEWEST_ROWS", 120)
    monkeypatch.setattr(look, "_MOST_ROWS", 120)
    task, truth = make_task(60)
    partition = network_partition(task, rng())
    assert partition is not None
    assert len(partition) == len(truth) == 180
    assert clustering_accuracy(truth, partition) > 0.9


def test_too_few_rows_for_the_classes() -> None:
    task, _ = make_task(2)
    few = task.take(np.flatnonzero(task.codes >= 0).tolist() + [len(task.codes) - 1] * 3)
    assert network_partition(few, rng()) is None


def test_rows_beyond_the_time_by_rounding_do_not_matter() -> None:
    task, _ = make_task()
    assert is_in_time(500, task.layout, seconds_for(450, task.layout))
    assert not is_in_time(500, task.layout, seconds_for(350, task.layout))
    assert not is_in_time(100, task.layout, seconds_for(99, task.layout))


def test_who_can_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    task, _ = make_task()
    assert can_look(task)
    assert not can_look(task.take(np.flatnonzero(task.codes < 0)))  # nothing labelled
    monkeypatch.setattr(looking, "MAX_CLASSES", N_KNOWN - 1)
    assert not can_look(task)


def test_what_was_told_is_kept() -> None:
    task, truth = make_task(40)
    free = np.flatnonzero(task.codes < 0)
    told = np.eye(N_NOVEL)[truth - N_KNOWN]
    everywhere = spread(task, free[::2], told[::2], 0)
    np.testing.assert_array_equal(everywhere[::2], told[::2])
    assert clustering_accuracy(truth, everywhere.argmax(axis=1)) > 0.9
    assert spread(task, free, told, 0) is told
