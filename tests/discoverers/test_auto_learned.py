"""AutoDiscoverer on tables that the in-context network can look at: what the learned selector chooses and tells."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

import newfound as nf
from newfound.deadline import NEVER, Deadline
from newfound.discoverers.auto import _enough_steps
from newfound.incontext import look
from newfound.metrics import clustering_accuracy
from newfound.records import Records
from newfound.selection import learned_chooser, looking
from newfound.selection.candidates import CONSENSUS, PAIRS
from newfound.selection.learned_chooser import LearnedChooser
from newfound.selection.selector import load_selector
from newfound.tables import Layout
from newfound.tables.task import DiscoveryTask
from tests.discoverers.common import auto
from tests.discoverers.test_auto import blobs, quiet

COLUMNS = ["rank", "representation", "method", "score", "likelihood", "within", "agreement"]
CPU = torch.device("cpu")


@pytest.fixture(scope="module", autouse=True)
def small_portfolio() -> None:
    """Take the place of the fixture that leaves few candidates."""


@pytest.fixture(scope="module")
def clear() -> Any:
    """Six known and three novel classes that nobody can miss."""
    X, y, _ = blobs()
    return quiet(auto(n_novel_classes=3, n_members=2, training_steps=800), X, y)


def task_of(X: np.ndarray, y: np.ndarray, n_novel: int = 3) -> DiscoveryTask:
    layout = Layout(tuple("abcd"), np.arange(4), np.zeros(4, dtype=bool))
    return DiscoveryTask(X, y.astype(np.int64), int(y.max()) + 1, n_novel, layout)


def test_a_clear_table_is_found_without_a_warning(clear: Any) -> None:
    X, y, truth = blobs()
    assert clustering_accuracy(truth[y < 0], clear.labels_[y < 0]) == 1.0
    assert np.mean(clear.predict(X)[y >= 0] == y[y >= 0]) > 0.95
    assert clear.weaknesses_ == []
    assert clear.confidence_ > 0.8
    assert (clear.class_confidence_ > 0.9).all()
    assert {epoch["stage"] for epoch in clear.history_} == {"imitation"}
    assert len(clear.history_) == 2  # of 50 steps; no more are needed


def test_the_leaderboard(clear: Any) -> None:
    board = clear.leaderboard_
    assert isinstance(board, Records)
    assert board.columns == COLUMNS
    planned = {(space, method) for space, methods in load_selector().plan.items() for method in methods}
    assert {(record["representation"], record["method"]) for record in board} == {*planned, PAIRS, CONSENSUS}
    scores = [record["score"] for record in board]
    assert scores == sorted(scores, reverse=True)
    assert all(type(record[name]) is float for record in board for name in COLUMNS[3:])


def test_the_same_seed_gives_the_same_labels(clear: Any) -> None:
    X, y, _ = blobs()
    again = auto(n_novel_classes=3, n_members=2, training_steps=800).fit(X, y)
    assert_array_equal(again.labels_, clear.labels_)
    assert again.leaderboard_ == clear.leaderboard_
    assert again.confidence_ == clear.confidence_


def test_noise_is_not_trusted() -> None:
    X, y, _ = blobs()
    X[y < 0] = np.random.default_rng(1).normal(4, 8, (int((y < 0).sum()), 4))  # no classes at all
    with pytest.warns(UserWarning, match=r"more than four in five rows are right is (<1|\d+) %, judged by"):
        model = auto(n_novel_classes=8).fit(X, y)
    assert 0 <= model.confidence_ < 0.5


def test_rows_that_were_not_shown_get_their_class_too(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, truth = blobs(sizes=(40, 40, 40))
    monkeypatch.setattr(look, "_FEWEST_ROWS", 150)
    monkeypatch.setattr(look, "_MOST_ROWS", 150)
    chosen = LearnedChooser(CPU, 0, NEVER).choose(task_of(X, y), np.random.RandomState(0))
    assert chosen is not None
    assert len(chosen.compared) == len(chosen.jury.partitions[0]) == 75
    assert (y[chosen.compared] < 0).all()
    assert clustering_accuracy(truth[y < 0], chosen.partition) > 0.95
    assert_array_equal(chosen.partition[chosen.compared - (y >= 0).sum()], chosen.jury.partitions[0])


@pytest.mark.parametrize("why", ["one class", "many rows", "many known classes"])
def test_other_tables_are_left_to_others(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = blobs()
    monkeypatch.setattr(look, "_FEWEST_ROWS", 80 if why == "many rows" else 400)
    monkeypatch.setattr(look, "_MOST_ROWS", 80 if why == "many rows" else 400)
    monkeypatch.setattr(looking, "MAX_CLASSES", 5 if why == "many known classes" else 64)
    rng = np.random.RandomState(0)
    task = task_of(X, y, 1 if why == "one class" else 3)
    assert LearnedChooser(CPU, 0, NEVER).choose(task, rng) is None
    assert rng.randint(1000) == np.random.RandomState(0).randint(1000)  # as if nobody had asked


def test_a_known_class_that_the_sample_misses_is_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, truth = blobs()
    monkeypatch.setattr(learned_chooser, "context_rows", lambda *args, **more: np.flatnonzero(y != 2))
    chosen = LearnedChooser(CPU, 0, NEVER).choose(task_of(X, y), np.random.RandomState(0))
    assert chosen is not None
    assert clustering_accuracy(truth[y < 0], chosen.partition) > 0.95


@pytest.mark.parametrize("equal", ["known", "novel"])
def test_rows_that_are_all_the_same(equal: str) -> None:
    X, y, _ = blobs(4)
    X[(y >= 0) if equal == "known" else (y < 0)] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = auto(n_novel_classes=3).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert 0 <= model.confidence_ <= 1


def test_without_time_it_is_left_to_others() -> None:
    X, y, _ = blobs()
    rng = np.random.RandomState(0)
    assert LearnedChooser(CPU, 0, Deadline(0.0)).choose(task_of(X, y), rng) is None
    assert rng.randint(1000) == np.random.RandomState(0).randint(1000)


def test_mixed_columns_and_missing_cells() -> None:
    data = nf.datasets.make_table(400, n_numeric=4, n_categorical=3, n_dates=1, missing=0.1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model: Any = auto(n_novel_classes=3).fit(data.X_train, data.y_train)
    assert model.leaderboard_.columns == COLUMNS
    assert np.isfinite(model.predict_proba(data.X_test)).all()


@pytest.mark.parametrize(("n_rows", "steps"), [(10, 100), (1_280, 100), (2_560, 200), (6_000, 469)])
def test_larger_tables_are_passed_over_as_often_as_small_ones(n_rows: int, steps: int) -> None:
    assert _enough_steps(n_rows) == steps
