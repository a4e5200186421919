from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from newfound.clustering.centroids import centroid_proba, class_means, fit_centroids, seeds_around
from tests.oracles import centroids as oracle


def blobs(sizes: list[int], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows round far corners, and the blob of each row."""
    rng = np.random.default_rng(seed)
    blob = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=(len(blob), 3)) + 20 * np.eye(len(sizes), 3)[blob] * (1 + blob[:, None]), blob


def test_centroids_are_class_means_then_novel_means_by_size() -> None:
    rows, blob = blobs([12, 9, 20, 15])
    codes = np.where(blob == 0, 0, -1).astype(np.int64)
    centroids, _ = fit_centroids(rows, codes, 3, 10, np.random.RandomState(0))
    np.testing.assert_allclose(centroids, [rows[blob == c].mean(axis=0) for c in (0, 2, 3, 1)])


def test_variance_is_the_mean_squared_distance_per_dimension() -> None:
    rows, blob = blobs([30, 20, 10])
    codes = np.where(blob == 0, 0, -1).astype(np.int64)
    centroids, variance = fit_centroids(rows, codes, 2, 5, np.random.RandomState(0))
    nearest = [min(math.dist(row, centre) ** 2 for centre in centroids) for row in rows]
    assert variance == pytest.approx(sum(nearest) / rows.size)
    assert (codes == np.where(blob == 0, 0, -1)).all(), "the codes given are left alone"


def test_without_novel_classes_only_the_known_means_are_there() -> None:
    rows, blob = blobs([5, 6])
    centroids, variance = fit_centroids(rows, blob.astype(np.int64), 0, 5, np.random.RandomState(0))
    means = np.stack([rows[blob == c].mean(axis=0) for c in (0, 1)])
    np.testing.assert_allclose(centroids, means)
    assert variance == pytest.approx(np.mean((rows - means[blob]) ** 2))


def test_without_known_classes_there_are_only_novel_ones() -> None:
    rows, blob = blobs([20, 10])
    centroids, _ = fit_centroids(rows, np.full(30, -1), 2, 5, np.random.RandomState(0))
    np.testing.assert_allclose(centroids, [rows[blob == c].mean(axis=0) for c in (0, 1)])


def test_equal_rows_give_no_warning_and_a_positive_variance() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        centroids, variance = fit_centroids(np.ones((8, 2)), np.full(8, -1), 3, 2, np.random.RandomState(0))
    assert (centroids == 1).all()
    assert variance > 0
    assert np.isfinite(centroid_proba(np.ones((2, 2)), centroids, variance)).all()


def test_the_same_state_gives_the_same_centroids() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 2))
    first, second = (fit_centroids(rows, np.full(60, -1), 5, 1, np.random.RandomState(3))[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)


@given(st.lists(st.integers(-1, 2), min_size=3, max_size=20), st.integers(0, 2**31))
@settings(max_examples=40)
def test_class_means_equal_a_loop(codes: list[int], seed: int) -> None:
    codes = [0, 1, 2, *codes]
    rows = np.random.default_rng(seed).normal(size=(len(codes), 2))
    means = class_means(rows, np.array(codes, dtype=np.int64))
    for c in range(3):
        own = [row for row, code in zip(rows.tolist(), codes, strict=True) if code == c]
        np.testing.assert_allclose(means[c], [sum(column) / len(own) for column in zip(*own, strict=True)])


def test_no_labelled_row_gives_no_mean() -> None:
    assert class_means(np.ones((4, 3)), np.full(4, -1)).shape == (0, 3)


@given(st.integers(1, 10), st.integers(1, 5), st.floats(0.1, 10), st.integers(0, 2**31))
@settings(max_examples=40)
def test_proba_equals_bayes_rule_with_round_gaussians(n: int, k: int, variance: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, centroids = rng.normal(size=(n, 2)), rng.normal(size=(k, 2))
    proba = centroid_proba(rows, centroids, variance)
    for i in range(n):
        density = [math.exp(-(math.dist(rows[i], centre) ** 2) / (2 * variance)) for centre in centroids]
        np.testing.assert_allclose(proba[i], [value / sum(density) for value in density])


def test_proba_of_far_rows_sums_to_one_and_the_nearest_centroid_wins() -> None:
    rows, centroids = np.array([[1e6, 0.0], [-1e6, 3.0], [0.1, 0.0]]), np.array([[0.0, 0.0], [5.0, 0.0]])
    proba = centroid_proba(rows, centroids, 1e-12)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert proba.argmax(axis=1).tolist() == [1, 0, 0]


# ---- around the known classes


class Recorder(np.random.RandomState):
    """A generator that notes with which probabilities it was asked to choose."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.probabilities: list[np.ndarray] = []

    def choice(self, a: int, size: None = None, replace: bool = True, p: np.ndarray | None = None) -> int:  # type: ignore[override]
        assert p is not None
        self.probabilities.append(p.copy())
        return int(super().choice(a, p=p))


@given(st.integers(3, 12), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2**31 - 1))
@settings(max_examples=40)
def test_seeds_are_drawn_by_squared_distance(n: int, n_known: int, n_seeds: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, known = rng.normal(size=(n, 2)), rng.normal(size=(n_known, 2))
    recorder = Recorder(seed)
    seeds = seeds_around(rows, known, n_seeds, recorder)
    assert seeds.shape == (n_seeds,)
    for i, probabilities in enumerate(recorder.probabilities):
        taken = [*known.tolist(), *rows[seeds[:i]].tolist()]
        np.testing.assert_allclose(probabilities, oracle.seed_probabilities(rows.tolist(), taken), atol=1e-12)


def test_no_seed_is_drawn_twice_or_on_a_known_centroid() -> None:
    rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    for seed in range(20):
        assert set(seeds_around(rows, rows[:1], 3, np.random.RandomState(seed))) == {1, 2, 3}


def test_rows_that_are_all_taken_still_give_seeds() -> None:
    seeds = seeds_around(np.ones((4, 2)), np.ones((1, 2)), 3, np.random.RandomState(0))
    assert ((seeds >= 0) & (seeds < 4)).all()


@pytest.mark.parametrize("seed", range(5))
def test_k_means_around_the_known_classes_equals_a_loop(seed: int) -> None:
    rows, blob = blobs([10, 8, 12, 9], seed)
    rows += np.random.default_rng(seed).normal(0, 6, rows.shape)  # far from perfect, so that starts differ
    codes = np.where(blob == 0, 0, -1).astype(np.int64)
    found, _ = fit_centroids(rows, codes, 3, 4, np.random.RandomState(seed), around_known=True)
    unlabelled, rng = rows[codes < 0], np.random.RandomState(seed)
    starts = [unlabelled[seeds_around(unlabelled, class_means(rows, codes), 3, rng)] for _ in range(4)]
    best, _ = min((oracle.lloyd(unlabelled.tolist(), start.tolist()) for start in starts), key=lambda end: end[1])
    np.testing.assert_allclose(found[0], rows[codes == 0].mean(axis=0))
    np.testing.assert_allclose(sorted(found[1:].tolist()), sorted(map(list, best)))


def test_k_means_around_the_known_classes_leaves_the_global_generator_alone() -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    rows, blob = blobs([5, 6, 7])
    fit_centroids(rows, np.where(blob == 0, 0, -1), 2, 2, np.random.RandomState(0), around_known=True)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
