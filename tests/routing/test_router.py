"""The router tells known rows from novel ones, decides what a table is, and says why."""

from __future__ import annotations

import numpy as np
import pytest

from newfound.incontext.look import look_at
from newfound.routing import Routing, route
from newfound.tables import Layout
from newfound.tables.task import DiscoveryTask


def make_task(known: float, *, n: int = 300, novel: bool = True, seed: int = 0) -> tuple[DiscoveryTask, np.ndarray]:
    """Four classes of which two are known, and a share of the known rows that is unlabelled; also the true classes."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(4 if novel else 2, size=n)
    rows = rng.normal(size=(n, 4)) + 7 * np.eye(4)[classes]
    codes = np.where((classes < 2) & (rng.random(n) >= known), classes, -1).astype(np.int64)
    return DiscoveryTask(rows, codes, 2, 0, Layout(tuple("abcd"), np.arange(4), np.zeros(4, dtype=bool))), classes


def routed(task: DiscoveryTask, mode: str = "auto") -> Routing:
    rng = np.random.RandomState(0)
    return route(task, look_at(task, rng), mode, rng)  # type: ignore[arg-type]


def test_a_mixed_table() -> None:
    task, classes = make_task(0.5)
    found = routed(task)
    free = task.codes < 0
    truth = classes[free]
    assert found.unlabelled == "mixed"
    assert "look like the labelled rows" in found.reason
    assert (found.is_novel == (truth >= 2)).mean() > 0.97
    assert (found.proba[truth < 2, :-1].argmax(axis=1) == truth[truth < 2]).all()
    assert abs(found.known_share - (truth < 2).mean()) < 0.07
    np.testing.assert_allclose(found.proba.sum(axis=1), 1.0)
    fresh, fresh_classes = make_task(0.5, seed=1)
    predicted = found.forest.proba(fresh.rows).argmax(axis=1)
    assert (predicted == np.minimum(fresh_classes, 2)).mean() > 0.95


def test_a_pure_table_is_taken_for_pure() -> None:
    task, _ = make_task(0.0)
    found = routed(task)
    assert found.unlabelled == "novel"
    assert found.is_novel.all()
    assert found.known_share.interval[0] == 0


def test_nothing_novel() -> None:
    task, _ = make_task(0.5, novel=False)
    found = routed(task)
    assert found.unlabelled == "mixed"
    assert not found.is_novel.any()
    assert found.known_share == 1
    assert "cannot be told apart" in found.reason


def test_what_is_asked_for_is_done() -> None:
    task, _ = make_task(0.0)
    found = routed(task, "mixed")
    assert found.unlabelled == "mixed"
    assert found.reason == "as asked for"


@pytest.mark.parametrize("n_known", [1, 2, 70])
def test_few_rows_and_many_classes(n_known: int) -> None:
    """One labelled row a class, one known class, or more classes than the network takes: it answers all the same."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n_known + 5, 3))
    codes = np.concatenate([np.arange(n_known), np.full(5, -1)])
    task = DiscoveryTask(rows, codes, n_known, 0, Layout(tuple("abc"), np.arange(3), np.zeros(3, dtype=bool)))
    found = routed(task, "mixed")
    assert found.proba.shape == (5, n_known + 1)
    assert np.isfinite(found.proba).all()
    assert np.isfinite(found.forest.proba(rows)).all()
