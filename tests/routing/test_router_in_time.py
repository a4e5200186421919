"""The router where there is little time, and what it leaves undone."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from newfound.deadline import NEVER, Deadline
from newfound.incontext.look import look_at
from newfound.routing import evidence, router
from newfound.tables import TableEncoder, as_table
from newfound.tables.task import DiscoveryTask


def mixture(n: int = 1_500, n_known: int = 3) -> tuple[DiscoveryTask, np.ndarray]:
    """A task with half of its known rows unlabelled, and the true classes."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % (n_known + 2)
    X = 6 * rng.normal(size=(n_known + 2, 4))[truth] + rng.normal(size=(n, 4))
    encoder = TableEncoder().fit_table(as_table(X))
    codes = np.where((truth < n_known) & (rng.random(n) < 0.5), truth, -1)
    return DiscoveryTask(encoder.transform_table(as_table(X)), codes, n_known, 0, encoder.layout_), truth


def test_without_time_a_sample_is_routed_and_a_forest_tells_of_the_others() -> None:
    task, truth = mixture()
    routing = router.route(task, None, "mixed", np.random.RandomState(0), Deadline(-math.inf))
    assert len(routing.proba) < (task.codes < 0).sum() / 2
    found = routing.forest.proba(task.unlabelled_rows)
    assert np.mean((found[:, -1] > 0.5) == (truth[task.codes < 0] >= 3)) > 0.9
    known = truth[task.codes < 0] < 3
    assert np.mean(found[known, :-1].argmax(axis=1) == truth[task.codes < 0][known]) > 0.9


def test_every_known_class_is_in_the_sample() -> None:
    task, _ = mixture()
    task.codes[task.codes == 2] = -1
    task.codes[:3] = 2
    routing = router.route(task, None, "mixed", np.random.RandomState(0), Deadline(-math.inf))
    assert routing.forest.n_classes == 4


def test_what_the_network_says_of_rows_outside_the_sample_is_left_out() -> None:
    task, truth = mixture()
    rng = np.random.RandomState(0)
    routing = router.route(task, look_at(task, rng), "mixed", rng, Deadline(-math.inf))
    assert len(routing.proba) < (task.codes < 0).sum() / 2
    found = routing.forest.proba(task.unlabelled_rows)
    assert np.mean((found[:, -1] > 0.5) == (truth[task.codes < 0] >= 3)) > 0.9


def test_where_the_network_was_not_asked_it_says_nothing() -> None:
    task, _ = mixture(300)
    found = evidence.gather_evidence(task, None, 0)
    assert not found.novelty.any()
    assert len(set(found.n_novel.tolist())) == 1


def test_what_the_network_said_of_some_rows_is_spread_over_all() -> None:
    task, truth = mixture(600)
    rng = np.random.RandomState(0)
    look = look_at(task, rng)
    assert look is not None
    kept = np.arange(0, 600, 2)
    some = replace(look.of(kept), places=kept)  # as if the others had not been shown
    found = evidence.gather_evidence(task, some, 0)
    np.testing.assert_array_equal(found.novelty[kept], look.novelty[kept])
    free = (task.codes < 0) & (np.arange(600) % 2 == 1)
    assert np.mean((found.novelty[free] > 0) == (truth[free] >= 3)) > 0.9


def test_no_forest_is_grown_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    task, _ = mixture(300)
    grown = []
    grow = router.Forest.grow
    monkeypatch.setattr(router.Forest, "grow", lambda *args: (grown.append(args), grow(*args))[1])
    routing = router.route(task, None, "novel", np.random.RandomState(0), NEVER)
    assert not grown
    assert routing.forest is routing.forest
    assert len(grown) == 1
