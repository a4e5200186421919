from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newfound.clustering import partitions as cuts
from newfound.metrics import clustering_accuracy
from tests.oracles import partitions as oracle

SEEDS = st.integers(0, 2**31 - 1)


def cut(rows: np.ndarray, n_classes: int, seed: int = 0) -> dict[str, np.ndarray]:
    """K-means and every cut of the graph; a warning is an error."""
    rng = np.random.RandomState(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = list(cuts.spectral_cuts(cuts.neighbour_graph(rows), n_classes, rng))
        found.append(("k-means", cuts.kmeans(rows, n_classes, rng)))
    assert len(dict(found)) == len(found) == len(cuts.SPECTRAL) + 1
    return dict(found)


def blobs(sizes: tuple[int, ...] = (40, 40, 40), seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    truth = np.repeat(np.arange(len(sizes)), sizes)
    centres = 8 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=float)
    return centres[truth] + np.random.default_rng(seed).normal(size=(len(truth), 2)), truth


def test_every_method_finds_clear_classes() -> None:
    rows, truth = blobs()
    found = cut(rows, 3)
    for method, partition in found.items():
        assert partition.dtype == np.int64
        if "more" not in method:  # an eigenvector beyond the classes may tear one of them
            assert clustering_accuracy(truth, partition) == 1.0, method


def test_the_same_seed_gives_the_same_partitions() -> None:
    rows = np.random.default_rng(0).normal(size=(80, 3))
    first, other = cut(rows, 4), cut(rows, 4)
    assert all(np.array_equal(first[method], other[method]) for method in first)


@pytest.mark.parametrize(
    ("rows", "n_classes"),
    [
        (np.ones((30, 1)), 3),
        (np.ones((30, 3)), 3),
        (np.full((30, 2), 0.1), 3),
        (np.zeros((30, 2)), 2),
        (np.zeros((30, 6)), 3),  # as many pieces as columns
        (np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0), 4),
        (1e6 + np.random.default_rng(0).normal(size=(30, 3)), 3),
        (1e150 * np.random.default_rng(0).normal(size=(30, 2)), 3),
        (1e-200 * np.random.default_rng(0).normal(size=(30, 2)), 3),
        (np.random.default_rng(0).normal(size=(4, 2)), 3),
        (np.random.default_rng(0).normal(size=(6, 2)), 5),
        (np.random.default_rng(0).normal(size=(20, 5)), 19),
        (np.random.default_rng(0).normal(size=(3, 1)), 2),
    ],
    ids=[
        "equal, one column",
        "equal",
        "equal but for rounding",
        "zeros",
        "zeros, square",
        "two distinct rows",
        "far from 0",
        "huge",
        "tiny",
        "3 of 4",
        "5 of 6",
        "19 of 20",
        "2 of 3",
    ],
)
def test_degenerate_rows(rows: np.ndarray, n_classes: int) -> None:
    found = cut(rows, n_classes)
    for method, partition in found.items():
        assert partition.shape == (len(rows),), method
        assert partition.min() >= 0, method
        assert partition.max() < n_classes, method


def partition_and_graph(n: int, k: int, n_classes: int, seed: int) -> tuple[np.ndarray, Any]:
    rng = np.random.default_rng(seed)
    return rng.integers(n_classes, size=n), rng.integers(n, size=(n, k))


@given(st.integers(1, 30), st.integers(1, 5), st.integers(1, 6), SEEDS)
@settings(max_examples=60)
def test_edge_information_counts_the_edges(n: int, k: int, n_classes: int, seed: int) -> None:
    partition, neighbours = partition_and_graph(n, k, n_classes, seed)
    expected = oracle.edge_information(partition.tolist(), neighbours)
    assert cuts.edge_information(partition, neighbours, n_classes) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
@settings(max_examples=60)
def test_entropy_of_the_shares(partition: list[int]) -> None:
    assert cuts.entropy(np.array(partition)) == pytest.approx(oracle.entropy(partition), abs=1e-12)


def test_edges_tell_most_about_the_true_classes() -> None:
    rows, truth = blobs()
    neighbours = cuts.neighbour_graph(rows)[0]
    information, within = cuts.edge_information(truth, neighbours, 3)
    assert information == pytest.approx(np.log(3))
    assert within == 1.0
    shuffled = np.random.default_rng(0).permutation(truth)
    assert cuts.edge_information(shuffled, neighbours, 3)[0] < 0.1
