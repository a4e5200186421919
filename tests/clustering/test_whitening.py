from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newfound.clustering.whitening import WhitenedSpace, shrinkage_ridge, whitening_map, within_class_covariance
from tests.oracles import whitening as oracle


def labelled_rows(n: int, d: int, seed: int, n_known: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose columns depend on each other, of which some are of known classes and some unlabelled."""
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(n_known), rng.integers(-1, n_known, size=n - n_known))
    rows = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3 * rng.normal(size=(n_known + 1, d))[codes]
    return rows, codes.astype(np.int64)


@given(st.integers(3, 20), st.integers(1, 4), st.integers(0, 2**31))
@settings(max_examples=40)
def test_covariance_equals_a_loop(n: int, d: int, seed: int) -> None:
    rows, codes = labelled_rows(n, d, seed)
    expected = oracle.within_class_covariance(rows.tolist(), codes.tolist())
    np.testing.assert_allclose(within_class_covariance(rows, codes), expected, atol=1e-10)


def test_unlabelled_rows_do_not_count() -> None:
    rows, codes = labelled_rows(30, 3, 0)
    rows[codes < 0] *= 1000
    np.testing.assert_array_equal(
        within_class_covariance(rows, codes), within_class_covariance(rows[codes >= 0], codes[codes >= 0])
    )


@given(st.integers(1, 5), st.floats(0, 100), st.integers(0, 2**31))
@settings(max_examples=40)
def test_map_equals_the_formula(d: int, ridge: float, seed: int) -> None:
    root = np.random.default_rng(seed).normal(size=(d, d + 3))
    covariance = root @ root.T
    np.testing.assert_allclose(whitening_map(covariance, ridge), oracle.whitening_map(covariance, ridge), rtol=1e-5)


def test_without_a_ridge_the_known_classes_become_round() -> None:
    rows, codes = labelled_rows(200, 4, 1)
    mapped = rows @ whitening_map(within_class_covariance(rows, codes), 0.0)
    np.testing.assert_allclose(within_class_covariance(mapped, codes), np.eye(4), atol=1e-8)


@pytest.mark.parametrize("ridge", [0.0, 0.5, np.inf])
@pytest.mark.parametrize("values", [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1e-300, 4e-300, 0.0], [1e200, 1.0, 0.0]])
def test_directions_without_spread_stay_finite(values: list[float], ridge: float) -> None:
    assert np.isfinite(whitening_map(np.diag(values), ridge)).all()


def test_an_infinite_ridge_keeps_all_directions() -> None:
    np.testing.assert_allclose(whitening_map(np.diag([1.0, 9.0, 2.0]), np.inf), np.eye(3) / 2)
    np.testing.assert_allclose(whitening_map(np.diag([1.0, 9.0, 2.0]), 1e12), np.eye(3) / 2)


@given(st.integers(6, 30), st.integers(2, 5), st.integers(0, 2**31))
@settings(max_examples=40)
def test_shrinkage_equals_ledoit_and_wolf(n: int, d: int, seed: int) -> None:
    rows, codes = labelled_rows(n, d, seed)
    share = oracle.shrinkage(np.array(oracle.around_class_means(rows.tolist(), codes.tolist())))
    expected = share / (1 - share) if share < 1 else np.inf
    assert shrinkage_ridge(rows, codes) == pytest.approx(expected, rel=1e-6)


def test_the_fewer_rows_the_larger_the_ridge() -> None:
    rows, codes = labelled_rows(3000, 10, 2)
    ridges = [shrinkage_ridge(rows[:n], codes[:n]) for n in (10, 100, 3000)]
    assert ridges[0] > ridges[1] > ridges[2]
    assert ridges[2] < 0.05


@pytest.mark.parametrize("codes", [[0, -1, -1], [0, 1, -1], [0, 0, -1]], ids=["one", "one each", "equal"])
def test_known_classes_without_spread_leave_the_rows_as_they_are(codes: list[int]) -> None:
    rows = np.array([[1.0, 2.0], [1.0, 2.0], [4.0, 9.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        space = WhitenedSpace.learn(rows, np.array(codes), 0.5)
    np.testing.assert_array_equal(space.mapping, np.eye(2))
    assert np.isfinite(space.place(rows)).all()


@given(st.integers(8, 20), st.integers(2, 4), st.floats(0, 10), st.integers(0, 2**31))
@settings(max_examples=30)
def test_place_equals_the_formulas(n: int, d: int, ridge: float, seed: int) -> None:
    rows, codes = labelled_rows(n, d, seed)
    if np.isinf(shrinkage_ridge(rows, codes)):
        return
    new = np.random.default_rng(seed).normal(size=(3, d)) * 4
    space = WhitenedSpace.learn(rows, codes, ridge)
    expected = [oracle.placed(rows, codes.tolist(), ridge, 3.0, row) for row in new.tolist()]
    np.testing.assert_allclose(space.place(new), expected, rtol=1e-4, atol=1e-6)


def test_the_space_has_no_scale_and_no_origin() -> None:
    rows, codes = labelled_rows(50, 3, 3)
    placed = WhitenedSpace.learn(rows, codes, 0.5).place(rows)
    moved = 1e4 * rows + 7
    np.testing.assert_allclose(WhitenedSpace.learn(moved, codes, 0.5).place(moved), placed, atol=1e-9)


def test_far_rows_keep_their_direction_only() -> None:
    rows, codes = labelled_rows(50, 3, 4)
    space = WhitenedSpace.learn(rows, codes, 0.5)
    far = space.centre + np.outer([1e6, 1e7], rows[0] - space.centre)
    lengths = np.linalg.norm(space.place(np.concatenate([rows, far])), axis=1)
    assert (lengths < 1).all()
    np.testing.assert_allclose(*space.place(far), rtol=1e-6)
    np.testing.assert_array_equal(space.place(space.centre[None]), [[0, 0, 0]])


def test_equal_rows_have_a_place() -> None:
    space = WhitenedSpace.learn(np.ones((4, 2)), np.array([0, 0, -1, -1]), 0.5)
    np.testing.assert_array_equal(space.place(np.ones((1, 2))), [[0, 0]])
