from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from newfound.selection import n_classes
from newfound.selection.n_classes import silhouette_n_classes


def blobs(k: int, n: int, spread: float = 0.05, seed: int = 0) -> np.ndarray:
    """K round blobs on a circle of radius k, n rows each."""
    rng = np.random.default_rng(seed)
    angles = np.repeat(2 * np.pi * np.arange(k) / k, n)
    return k * np.stack([np.cos(angles), np.sin(angles)], axis=1) + rng.normal(scale=spread, size=(k * n, 2))


@pytest.mark.parametrize("k", [2, 3, 5, 9])
def test_far_blobs_are_counted(k: int) -> None:
    assert silhouette_n_classes(blobs(k, 15), 0) == k


def test_the_count_is_that_of_the_best_silhouette() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 2))
    scores = {k: silhouette_score(rows, KMeans(k, n_init=3, random_state=7).fit_predict(rows)) for k in range(2, 16)}
    assert silhouette_n_classes(rows, 7) == max(scores, key=lambda k: scores[k])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (np.ones((30, 2)), 1),
        (np.repeat(np.eye(3), 10, axis=0), 1),  # three distinct rows tell nothing about clusters
        (np.zeros((1, 2)), 1),
        (np.array([[0.0], [0.1], [9.0], [9.1]]), 2),
    ],
)
def test_few_distinct_rows(rows: np.ndarray, expected: int) -> None:
    assert silhouette_n_classes(rows, 0) == expected


def test_large_tables_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(n_classes, "_MAX_ROWS", 60)
    seen = []

    def spy(rows: np.ndarray, labels: np.ndarray) -> float:
        seen.append(len(rows))
        return float(silhouette_score(rows, labels))

    monkeypatch.setattr(n_classes, "silhouette_score", spy)
    assert silhouette_n_classes(blobs(4, 100), 0) == 4
    assert set(seen) == {60}


def test_the_same_seed_gives_the_same_count() -> None:
    rows = np.random.default_rng(1).normal(size=(50, 3))
    assert silhouette_n_classes(rows, 5) == silhouette_n_classes(rows, 5)
