from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newfound.clustering.spectral_space import _ALONE, SpectralSpace
from tests.oracles import graphs as oracle


def learn(
    rows: np.ndarray, codes: np.ndarray, n_components: int = 2, n_neighbors: int = 5, seed: int = 0
) -> SpectralSpace:
    n_known = int(codes.max(initial=-1)) + 1
    rng = np.random.RandomState(seed)
    return SpectralSpace.learn(rows, codes.astype(np.int64), n_known, n_components, n_neighbors, 0.01, rng)


def line(n_each: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Five touching groups on a line: unlabelled, known 0, unlabelled, known 1, unlabelled; the group of each row."""
    group = np.repeat(np.arange(5), n_each)
    rng = np.random.default_rng(seed)
    return np.column_stack([group + rng.random(len(group)), rng.random(len(group))]), group


def codes_of(group: np.ndarray) -> np.ndarray:
    return np.array([-1, 0, -1, 1, -1])[group]


def test_known_rows_in_between_keep_the_unlabelled_ones_apart() -> None:
    rows, group = line()
    space = learn(rows, codes_of(group), 3)
    directions = space.place(rows[codes_of(group) < 0])[1]
    cosines = np.abs(directions @ directions.T)
    same = np.equal.outer(*[group[codes_of(group) < 0]] * 2)
    assert cosines[same].min() > 0.9
    assert np.median(cosines[~same]) < 0.2


def test_shares_are_those_of_the_neighbours() -> None:
    rows, group = line()
    shares, directions = learn(rows, codes_of(group)).place(np.array([[1.5, 0.5], [2.5, 0.5], [3.0, 0.5], [4.5, 0.5]]))
    assert shares.shape == (4, 3)
    np.testing.assert_allclose(shares[[0, 1, 3]], [[1, 0, 0], [0, 0, 1], [0, 0, 1]], atol=1e-12)
    assert 0 < shares[2, 1] < 1
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1)


@given(st.integers(2, 30), st.integers(1, 8), st.integers(1, 3), st.integers(0, 2**31))
@settings(max_examples=40)
def test_place_equals_a_loop_over_the_neighbours(n: int, n_neighbors: int, n_components: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 2))
    codes = np.concatenate([[-1, 0], rng.integers(-1, 3, n - 2)])
    space = learn(rows, codes, n_components, n_neighbors, seed % 100)
    new = rng.normal(size=(3, 2))
    shares, directions = space.place(new)
    unlabelled = [i for i, code in enumerate(space.codes) if code < 0]
    place_of = {anchor: place for place, anchor in enumerate(unlabelled)}
    for row, share, direction in zip(new, shares, directions, strict=True):
        weights = oracle.weights_to(row, space.anchors, range(len(space.anchors)), n_neighbors)
        sums = space.weak.copy()
        expected = np.zeros(space.n_known + 1)
        for anchor, weight in weights.items():
            expected[space.codes[anchor]] += weight / sum(weights.values())  # -1 is the last
            if space.codes[anchor] < 0:
                sums += weight * space.coordinates[place_of[anchor]]
        for anchor, weight in oracle.weights_to(row, space.anchors, unlabelled, n_neighbors).items():
            sums += _ALONE * weight * space.coordinates[place_of[anchor]]
        np.testing.assert_allclose(share, expected, atol=1e-5)
        np.testing.assert_allclose(direction, sums / np.linalg.norm(sums), atol=1e-4)


def test_coordinates_are_eigenvectors_of_the_cut_graph() -> None:
    rows, group = line(10)
    codes = codes_of(group)
    space = learn(rows, codes, 4)
    unlabelled = np.flatnonzero(space.codes < 0)
    together = oracle.fuzzy_graph(*map(np.array, oracle.nearest(space.anchors, 5)))[np.ix_(unlabelled, unlabelled)]
    alone = oracle.fuzzy_graph(*map(np.array, oracle.nearest(space.anchors[unlabelled], 5)))
    adjacency = together + _ALONE * alone
    tau = 0.01 * adjacency.sum(axis=1).mean()
    vectors = space.coordinates * np.sqrt(adjacency.sum(axis=1) + tau)[:, None]
    matrix = oracle.regularised_matrix(adjacency, 0.01)
    values = np.linalg.eigvalsh(matrix)[::-1][:4]
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-4)
    np.testing.assert_allclose(space.weak, tau * space.coordinates.mean(axis=0), atol=1e-6)


def test_equal_rows_count_once() -> None:
    rows, group = line(10)
    codes = codes_of(group)
    once, often = learn(rows, codes), learn(np.repeat(rows, 40, axis=0), np.repeat(codes, 40))
    np.testing.assert_array_equal(often.anchors, once.anchors)
    np.testing.assert_allclose(often.coordinates, once.coordinates)


def test_a_row_that_is_known_and_unlabelled_is_both() -> None:
    rows = np.array([[0.0], [0.0], [1.0], [1.1]])
    space = learn(rows, np.array([0, -1, -1, 0]), 1, 2)
    assert sorted(zip(space.anchors[:, 0].tolist(), space.codes.tolist(), strict=True)) == [
        (0.0, -1),
        (0.0, 0),
        (1.0, -1),
        (1.1, 0),
    ]
    assert space.place(rows[:1])[0][0, 0] == pytest.approx(0.5)


def test_without_unlabelled_rows_there_are_shares_only() -> None:
    rows, group = line(5)
    shares, directions = learn(rows, group).place(rows)
    assert directions.shape == (25, 0)
    assert shares.shape == (25, 6)
    np.testing.assert_allclose(shares[:, :5].sum(axis=1), 1)


def test_without_known_classes_there_are_directions_only() -> None:
    rows, group = line(5)
    shares, directions = learn(rows, np.full(len(group), -1)).place(rows)
    np.testing.assert_array_equal(shares, np.ones((25, 1)))
    assert directions.shape == (25, 2)


@pytest.mark.parametrize("n_unlabelled", [1, 2, 3])
def test_few_unlabelled_rows_far_amid_known_ones_have_a_place(n_unlabelled: int) -> None:
    rows = np.random.default_rng(0).random((60, 2))
    codes = np.where(np.arange(60) < n_unlabelled, -1, 0)
    space = learn(rows, codes, 3)
    assert space.coordinates.shape == (n_unlabelled, n_unlabelled)
    directions = space.place(rows)[1]
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1)


def test_a_known_class_of_which_no_row_was_drawn_has_no_share() -> None:
    rows, group = line(5)
    codes = np.where(group == 1, 0, -1)
    space = SpectralSpace.learn(rows, codes, 3, 2, 4, 0.01, np.random.RandomState(0))
    shares = space.place(rows)[0]
    assert shares.shape == (25, 4)
    assert not shares[:, 1:3].any()
