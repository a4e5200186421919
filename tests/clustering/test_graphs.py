from __future__ import annotations

import tracemalloc
import warnings
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import block_diag, csr_array

from newfound.clustering import graphs
from newfound.clustering.graphs import (
    fuzzy_graph,
    fuzzy_weights,
    leading_eigenpairs,
    nearest,
    regularised_eigenvectors,
)
from tests.oracles import graphs as oracle

SIZES = st.integers(2, 25)
SEEDS = st.integers(0, 2**31)


def table(n: int, d: int, seed: int, *, steps: int = 0) -> np.ndarray:
    """Random rows; with steps, on a grid, so that many are equal."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, steps, (n, d)).astype(float) if steps else rng.normal(size=(n, d))


def graph_of(rows: np.ndarray, k: int) -> Any:
    return fuzzy_graph(*nearest(rows, k))


def blobs(n_blobs: int, n_each: int, d: int = 4, distance: float = 8.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    blob = np.repeat(np.arange(n_blobs), n_each)
    centres = distance * np.eye(n_blobs, max(d, n_blobs))
    return centres[blob] + rng.normal(size=(len(blob), max(d, n_blobs))), blob


# ---- neighbours


@given(SIZES, st.integers(1, 4), st.integers(1, 30), SEEDS)
@settings(max_examples=40)
def test_nearest_equals_sorting_all_distances(n: int, d: int, k: int, seed: int) -> None:
    rows = table(n, d, seed)
    indices, distances = nearest(rows, k)
    expected_indices, expected_distances = oracle.nearest(rows, k)
    assert indices.shape == distances.shape == (n, min(k, n - 1))
    assert indices.dtype == np.int64
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(distances, expected_distances, rtol=1e-12)


@given(SIZES, st.integers(1, 8), SEEDS)
@settings(max_examples=40)
def test_nearest_of_equal_rows_are_other_rows_at_the_right_distances(n: int, k: int, seed: int) -> None:
    rows = table(n, 2, seed, steps=3)
    indices, distances = nearest(rows, k)
    np.testing.assert_allclose(distances, oracle.nearest(rows, k)[1])
    assert (indices != np.arange(n)[:, None]).all()
    assert all(len(set(line)) == len(line) for line in indices.tolist())


def test_nearest_first_even_where_single_precision_cannot_tell() -> None:
    rows = 1e4 + 1e-4 * table(40, 3, 0)
    distances = nearest(rows, 10)[1]
    assert (np.diff(distances, axis=1) >= 0).all()


def test_a_single_row_has_no_neighbours_and_no_edges() -> None:
    indices, distances = nearest(np.ones((1, 3)), 5)
    assert indices.shape == distances.shape == (1, 0)
    assert fuzzy_graph(indices, distances).toarray().tolist() == [[0.0]]


# ---- weights


@given(st.integers(1, 12), SEEDS, st.sampled_from([0, 2, 3]), st.floats(1e-6, 1e6))
@settings(max_examples=60)
def test_weights_equal_those_of_a_root_finder(k: int, seed: int, steps: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    distances = unit * np.sort(rng.integers(0, steps, (3, k)) if steps else rng.exponential(size=(3, k)), axis=1)
    weights = fuzzy_weights(distances)
    for line, found in zip(distances.tolist(), weights, strict=True):
        np.testing.assert_allclose(found, oracle.fuzzy_weights(line), atol=2e-6)


def test_weights_do_not_depend_on_the_scale_and_fall_with_the_distance() -> None:
    distances = np.sort(np.random.default_rng(0).exponential(size=(20, 15)), axis=1)
    weights = fuzzy_weights(distances)
    np.testing.assert_allclose(fuzzy_weights(1000 * distances), weights, rtol=1e-6)
    np.testing.assert_allclose(weights.sum(axis=1), np.log2(15), rtol=1e-5)
    assert (np.diff(weights, axis=1) <= 0).all()
    assert (weights[:, 0] == 1).all()


def test_equal_rows_keep_an_edge_to_the_nearest_that_differs() -> None:
    weights = fuzzy_weights(np.array([[0.0] * 9 + [2.0], [0.0] * 10]))
    np.testing.assert_array_equal(weights, 1)


@given(SIZES, st.integers(1, 10), SEEDS, st.sampled_from([0, 3]))
@settings(max_examples=40)
def test_graph_equals_the_dense_one(n: int, k: int, seed: int, steps: int) -> None:
    indices, distances = nearest(table(n, 2, seed, steps=steps), k)
    graph = fuzzy_graph(indices, distances)
    dense = graph.toarray()
    np.testing.assert_allclose(dense, oracle.fuzzy_graph(indices, distances), atol=5e-6)
    np.testing.assert_allclose(dense, dense.T)
    assert 0 <= dense.min() <= dense.max() <= 1 + 1e-12
    assert (dense.diagonal() == 0).all()
    assert graph.nnz <= 2 * n * k


def test_weights_of_wild_distances_are_quiet_and_finite() -> None:
    distances = np.array([[1e-300, 1e-200, 1.0], [0.0, 0.0, 1e150], [1.0, 1.0, 1.0], [3.0, 1.0, 2.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weights = fuzzy_weights(distances)
    assert ((weights >= 0) & (weights <= 1)).all()


# ---- eigenvectors


def assert_eigenvectors(graph: Any, vectors: np.ndarray, regularisation: float, atol: float = 1e-5) -> None:
    """The vectors span what the dense matrix's leading eigenvectors span, one eigenvalue after the other."""
    n_components = vectors.shape[1]
    matrix = oracle.regularised_matrix(graph.toarray(), regularisation)
    values = np.linalg.eigvalsh(matrix)[::-1][:n_components]
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_components), atol=1e-6)
    np.testing.assert_allclose(vectors.T @ matrix @ vectors, np.diag(values), atol=atol)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=30 * atol)


@given(st.integers(2, 60), st.integers(1, 8), st.integers(1, 70), st.floats(0.001, 3), SEEDS, st.booleans())
@settings(max_examples=80)
def test_eigenvectors_equal_those_of_the_dense_matrix(
    n: int, k: int, n_components: int, regularisation: float, seed: int, dense: bool
) -> None:
    graph = graph_of(table(n, 3, seed), k)
    with mock.patch.object(graphs, "_DENSE_ROWS", 60 if dense else 0):  # small graphs are iterated on as well
        vectors = regularised_eigenvectors(graph, min(n_components, n), regularisation, np.random.RandomState(seed))
    assert vectors.shape == (n, min(n_components, n))
    assert_eigenvectors(graph, vectors, regularisation)


@pytest.mark.parametrize("regularisation", [0.01, 0.3])
@pytest.mark.parametrize("n_components", [1, 5, 30])
def test_eigenvectors_of_larger_graphs(n_components: int, regularisation: float) -> None:
    graph = graph_of(blobs(4, 90)[0], 10)
    vectors = regularised_eigenvectors(graph, n_components, regularisation, np.random.RandomState(0))
    assert_eigenvectors(graph, vectors, regularisation)


@pytest.mark.parametrize("seed", range(4))
def test_no_piece_of_many_equal_ones_is_passed_over(seed: int) -> None:
    piece = graph_of(table(60, 2, seed), 6)
    graph = csr_array(block_diag([piece] * 6))
    vectors = regularised_eigenvectors(graph, 6, 0.001, np.random.RandomState(seed))
    assert_eigenvectors(graph, vectors, 0.001)
    sizes = [np.linalg.matrix_rank(vectors[60 * p : 60 * (p + 1)], tol=0.05) for p in range(6)]
    assert np.linalg.matrix_rank(vectors, tol=0.5) == 6
    assert sizes == [1] * 6, "each piece lies on a line of its own"


def test_small_pieces_take_no_eigenvector() -> None:
    rows, blob = blobs(2, 80, distance=3.0)
    strays = [graph_of(table(4, 3, seed), 3) for seed in range(5)]
    graph = csr_array(block_diag([graph_of(rows, 12), *strays]))
    plain, regularised = (
        regularised_eigenvectors(graph, 2, regularisation, np.random.RandomState(0))[:, 1]
        for regularisation in (1e-6, 0.3)
    )
    assert np.sum(plain[160:] ** 2) > 0.5
    assert np.sum(regularised[160:] ** 2) < 0.01
    agree = np.mean((regularised[:160] > 0) == (blob == 1))
    assert max(agree, 1 - agree) > 0.95


def test_pairs_tell_the_eigenvalues_the_scales_and_tau() -> None:
    graph = graph_of(table(90, 3, 2), 7)
    pairs = leading_eigenpairs(graph, 4, 0.2, np.random.RandomState(0))
    degrees = graph.toarray().sum(axis=1)
    assert pairs.tau == pytest.approx(0.2 * degrees.mean())
    np.testing.assert_allclose(pairs.scales, (degrees + pairs.tau) ** -0.5)
    matrix = oracle.regularised_matrix(graph.toarray(), 0.2)
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(matrix)[::-1][:4], atol=1e-8)
    assert pairs.values[0] == pytest.approx(1)


@pytest.mark.parametrize("n", [1, 3, 200])
def test_a_graph_without_edges_gives_orthonormal_vectors(n: int) -> None:
    vectors = regularised_eigenvectors(csr_array((n, n)), min(n, 3), 0.1, np.random.RandomState(0))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(min(n, 3)), atol=1e-12)


def test_the_same_state_gives_the_same_vectors_and_the_global_one_is_left_alone() -> None:
    graph = graph_of(table(150, 3, 0), 8)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (regularised_eigenvectors(graph, 5, 0.1, np.random.RandomState(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_no_dense_matrix_is_held() -> None:
    rows = table(4000, 3, 0)
    graph_of(rows[:100], 10)  # what is loaded once does not count
    tracemalloc.start()
    regularised_eigenvectors(graph_of(rows, 10), 5, 0.1, np.random.RandomState(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4000 * 4000 * 8 / 4
