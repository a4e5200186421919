"""Small tables that are made up, for the tests of the choice and of its confidence."""

from __future__ import annotations

from functools import cache

import numpy as np

from newfound.incontext import ALL_NOVEL
from newfound.incontext.look import Look, look_at
from newfound.tables import Layout
from newfound.tables.task import DiscoveryTask

Table = tuple[np.ndarray, np.ndarray]


def rng() -> np.random.RandomState:
    return np.random.RandomState(0)


def blobs(spread: float, sizes: tuple[int, ...] = (40,) * 6) -> Table:
    """Round classes of some spread in four columns; rows and classes."""
    generator = np.random.default_rng(0)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    rows = 6 * generator.normal(size=(len(sizes), 4))[truth] + spread * generator.normal(size=(len(truth), 4))
    return rows, truth


def spirals(n_each: int = 200) -> Table:
    """Six arms of a spiral, which graphs of neighbours follow and centres of classes do not; rows and classes."""
    generator = np.random.default_rng(0)
    arm, way = np.repeat(np.arange(6), n_each), generator.uniform(0, 1, 6 * n_each)
    angle = 2 * np.pi * arm / 6 + 5 * way
    places = (0.3 + way)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return places + 0.01 * generator.normal(size=places.shape), np.array([0, 3, 1, 4, 2, 5])[arm]


def task_of(table: Table, n_known: int = 3, n_novel: int = 3) -> DiscoveryTask:
    """A task whose first classes are known."""
    rows, truth = table
    d = rows.shape[1]
    layout = Layout(tuple(f"c{i}" for i in range(d)), np.arange(d), np.zeros(d, dtype=bool))
    scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    return DiscoveryTask(scaled, np.where(truth < n_known, truth, -1).astype(np.int64), n_known, n_novel, layout)


def seen(task: DiscoveryTask) -> Look:
    """What the network says of a task of which all unlabelled rows are novel."""
    found = look_at(task, rng(), unlabelled=ALL_NOVEL)
    assert found is not None
    return found


@cache
def clear() -> tuple[DiscoveryTask, Look]:
    """A task of clear classes, and what the network says of it."""
    task = task_of(blobs(1.0))
    return task, seen(task)
