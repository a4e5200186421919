from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.spatial import cKDTree
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_info, threadpool_limits

from newfound.deadline import Deadline
from newfound.reporting import layout
from newfound.reporting.layout import drawn_rows, middle_of, place_all, place_rows

NONE = np.empty(0, dtype=np.int64)


def generator() -> np.random.RandomState:
    return np.random.RandomState(0)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=8), st.integers(1, 500), st.integers(0, 99))
def test_drawn_rows_are_few_and_of_every_class(sizes: list[int], most: int, seed: int) -> None:
    codes = np.random.RandomState(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    rows = drawn_rows(codes, most, NONE, generator())
    assert_array_equal(rows, np.unique(rows))
    assert len(rows) <= most
    counts = np.bincount(codes[rows], minlength=len(sizes))
    fewest = min(40, most // len(sizes))
    assert (counts >= np.minimum(sizes, fewest)).all()


def test_drawn_rows_keep_the_proportions_of_large_classes() -> None:
    codes = np.repeat([0, 1, 2], [60_000, 30_000, 5])
    counts = np.bincount(codes[drawn_rows(codes, 3_000, NONE, generator())])
    assert counts[2] == 5
    assert counts[0] / counts[1] == pytest.approx(2, rel=0.05)


def test_drawn_rows_hold_those_that_are_asked_for() -> None:
    codes = np.zeros(1_000, dtype=np.int64)
    rows = drawn_rows(codes, 10, np.array([3, 997]), generator())
    assert {3, 997} <= set(rows.tolist())
    assert 10 <= len(rows) <= 12


def test_all_rows_are_drawn_where_there_are_few() -> None:
    assert_array_equal(drawn_rows(np.zeros(7, dtype=np.int64), 7, NONE, generator()), np.arange(7))


@pytest.mark.parametrize(
    ("n", "d", "method"),
    [
        (1, 3, "its only direction"),
        (2, 3, "its only direction"),
        (9, 1, "its only direction"),
        (5, 2, "the first two principal components"),
        (60, 40, "the first two principal components"),
        (61, 4, "t-SNE"),
    ],
)
def test_places_are_in_the_unit_square(n: int, d: int, method: str) -> None:
    latent = np.random.RandomState(1).normal(size=(n, d))
    places = place_rows(latent, generator())
    assert places.method == method
    assert places.points.shape == (n, 2)
    assert places.points.min() >= 0
    assert places.points.max() <= 1
    assert_array_equal(places.points, place_rows(latent, generator()).points)


def test_rows_that_are_all_alike_lie_in_the_middle() -> None:
    assert_array_equal(place_rows(np.ones((80, 3)), generator()).points, np.full((80, 2), 0.5))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_clusters_stay_together(scale: float) -> None:
    codes = np.repeat([0, 1, 2], 40)
    latent = scale * (np.random.RandomState(2).normal(size=(120, 5)) + 20 * np.eye(3, 5)[codes])
    points = place_rows(latent, generator()).points
    distances = np.linalg.norm(points[:, None] - points[None], axis=2) + np.eye(120) * 9
    assert (codes[distances.argmin(axis=1)] == codes).all()


def test_the_middle_is_where_a_class_is_densest() -> None:
    far = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    dense = 0.5 + 0.01 * np.random.RandomState(3).normal(size=(20, 2))
    assert middle_of(np.concatenate([far, dense])) >= 3
    assert middle_of(far[:1]) == 0


@pytest.mark.parametrize(("n", "d"), [(80, 4), (70, 1_500), (30, 3)])
def test_the_map_is_made_in_one_thread_from_a_bounded_number_of_columns(
    monkeypatch: pytest.MonkeyPatch, n: int, d: int
) -> None:
    seen = []

    def look(pca: PCA, rows: np.ndarray) -> np.ndarray:
        seen.append((max(pool["num_threads"] for pool in threadpool_info()), rows.shape[1]))
        return rows[:, : pca.n_components]

    monkeypatch.setattr(PCA, "fit_transform", look)
    monkeypatch.setattr(TSNE, "fit_transform", lambda tsne, rows: rows[:, :2])
    with threadpool_limits(2):
        place_rows(np.random.RandomState(0).normal(size=(n, d)), generator())
    assert seen == [(1, min(d, 1_000))]


def test_rows_beyond_the_landmarks_lie_among_their_like(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newfound.reporting.layout._LANDMARKS", 150)
    codes = np.repeat(np.arange(3), 200)
    latent = np.random.RandomState(0).normal(size=(600, 5)) + 20 * np.eye(5)[codes]
    places = place_all(latent, codes, np.random.RandomState(0))
    assert places.points.shape == (600, 2)
    assert places.points.min() >= 0
    assert places.points.max() <= 1
    assert "of 150 rows" in places.method
    near = np.array([np.argsort(np.square(places.points - point).sum(axis=1))[1:6] for point in places.points])
    assert (codes[near] == codes[:, None]).mean() > 0.95
    few = place_all(latent[:100], codes[:100], np.random.RandomState(0))
    np.testing.assert_array_equal(few.points, place_rows(latent[:100], np.random.RandomState(0)).points)


def test_more_rows_than_landmarks_lie_with_their_like() -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(400) % 4
    latent = 8 * rng.normal(size=(4, 6))[truth] + rng.normal(size=(400, 6))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_PLACED_FIRST", 120)
        points = place_rows(latent, generator()).points
    assert points.min() >= 0
    assert points.max() <= 1
    near = cKDTree(points).query(points, k=6)[1][:, 1:]
    assert (truth[near] == truth[:, None]).mean() > 0.95
    assert len(np.unique(points.round(6), axis=0)) > 300  # and not upon each other


def test_without_time_principal_components_place_the_rows() -> None:
    latent = np.random.default_rng(0).normal(size=(200, 5))
    assert place_rows(latent, generator(), Deadline(-np.inf)).method == "the first two principal components"
