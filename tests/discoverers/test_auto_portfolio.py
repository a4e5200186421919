"""AutoDiscoverer with its whole portfolio; the other tests have a small one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import newfound as nf
from newfound.clustering import partitions
from newfound.metrics import balanced_clustering_accuracy, clustering_accuracy
from newfound.selection import chooser as module
from newfound.selection.learned_chooser import LearnedChooser
from tests.discoverers.common import auto
from tests.discoverers.test_auto import blobs


@pytest.fixture(scope="module", autouse=True)
def small_portfolio() -> Iterator[None]:
    """Take the place of the fixture that makes it small; the portfolio is that of large tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LearnedChooser, "choose", lambda *args: None)
        yield


def test_a_small_table_of_mixed_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "N_TASKS", 2)
    data = nf.datasets.make_table(290, separation=6.0, missing=0.02, random_state=1)
    assert 195 < len(data.y_train) < 210
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model: Any = auto(n_novel_classes=3, n_members=2, training_steps=100).fit(data.X_train, data.y_train)
    tried = [(record["representation"], record["method"]) for record in model.leaderboard_]
    assert {"columns", "forest leaves", "class mix of each value"} < {space for space, _ in tried}
    assert {method for _, method in tried} == set(partitions.METHODS)
    novel = ~np.isin(data.y_test, model.known_classes_)
    assert clustering_accuracy(data.y_test[novel], model.predict_novel(data.X_test)[novel]) > 0.9


def test_novel_classes_of_very_different_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "N_TASKS", 2)
    X, y, truth = blobs(sizes=(1000, 100, 20))
    model = auto(n_novel_classes=3, training_steps=300).fit(X, y)
    assert balanced_clustering_accuracy(truth[y < 0], model.labels_[y < 0]) > 0.95
