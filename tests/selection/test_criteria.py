from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics import silhouette_samples

from newfound.selection import criteria
from newfound.selection.criteria import criteria_curves, edge_statistics, partitions, silhouettes
from tests.oracles import criteria as oracle


def groups(k: int, n: int, d: int = 4, apart: float = 8.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """K round groups of n rows each, with their codes."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(k), n)
    return apart * rng.normal(size=(k, d))[codes] + rng.normal(size=(k * n, d)), codes


@st.composite
def labelled_rows(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    n = draw(st.integers(3, 12))
    k = draw(st.integers(1, n))
    labels = np.array([*range(k), *draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))])
    rows = np.array(draw(st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=n, max_size=n)), dtype=float)
    return rows, labels


@given(labelled_rows(), st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_statistics_are_those_of_the_slow_twins(case: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    rows, labels = case
    neighbours = np.random.RandomState(seed).randint(len(rows), size=(len(rows), 3))
    assert edge_statistics(neighbours, labels) == pytest.approx(oracle.edge_statistics(neighbours, labels.tolist()))


@given(labelled_rows())
@settings(max_examples=60, deadline=None)
def test_silhouettes_are_those_of_scikit_learn(case: tuple[np.ndarray, np.ndarray]) -> None:
    rows, labels = case
    mean, worst = silhouettes(cdist(rows, rows), labels)
    if labels.max() == 0:
        assert np.isnan(mean)
        assert np.isnan(worst)
    elif labels.max() + 1 < len(rows):
        width = silhouette_samples(rows, labels)
        assert mean == pytest.approx(width.mean())
        assert worst == pytest.approx(min(width[labels == label].mean() for label in np.unique(labels)))


def test_partitions_have_the_asked_number_of_classes_and_find_far_groups() -> None:
    rows, codes = groups(4, 30)
    found = partitions(rows, np.arange(1, 9))
    assert [len(np.unique(labels)) for labels in found] == list(range(1, 9))
    assert [labels.max() + 1 for labels in found] == list(range(1, 9))
    assert len(np.unique(found[3] * 4 + codes)) == 4


def test_equal_rows_are_never_split() -> None:
    found = partitions(np.repeat(np.eye(3), 5, axis=0), np.arange(1, 8))
    assert [labels.max() + 1 for labels in found] == [1, 2, 3, 3, 3, 3, 3]


def test_curves_are_finite_and_named() -> None:
    curves = criteria_curves(groups(3, 40)[0], np.arange(1, 13))
    assert set(curves) == {"linked", "modularity", "silhouette", "clear gaps"}
    assert all(curve.shape == (12,) and np.isfinite(curve).all() for curve in curves.values())


def test_curves_are_best_at_the_number_of_far_groups() -> None:
    curves = criteria_curves(groups(3, 40)[0], np.arange(1, 13))
    assert {int(curves[name].argmax()) + 1 for name in ("modularity", "silhouette")} == {3}


def test_more_classes_to_count_change_no_value_of_fewer() -> None:
    rows, _ = groups(3, 40)
    few, many = (criteria_curves(rows, np.arange(1, k)) for k in (21, 31))
    assert few["linked"] == pytest.approx(many["linked"][:20])


def test_two_classes_are_clear_only_if_nothing_else_explains_the_gap() -> None:
    assert criteria._clear(np.array([np.nan, 0.85, 0.7, 0.5])) == pytest.approx([0, 0, 0.1, 0])
    assert criteria._clear(np.array([np.nan, 0.95, 0.7, 0.5])) == pytest.approx([0, 0.35, 0.1, 0])


def test_flat_curves_say_nothing() -> None:
    flat = np.full(6, 0.3)
    assert not criteria._standardised(flat).any()
    assert not criteria._nearness_to_the_best(flat).any()
