"""NCDSpectral beyond what all discoverers promise."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from newfound import InputError, NCDSpectral
from newfound.clustering.centroids import centroid_proba
from newfound.metrics import clustering_accuracy
from tests.discoverers.common import NOVEL, TRUTH, integer_labels, ncd_spectral, numbers


def rings(n_each: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two novel rings with a known ring between them, and a known disc far away; rows and truth (2 and 3 are novel)."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([2, 0, 3], n_each)
    radius = np.repeat([1.0, 2.0, 3.0], n_each) + rng.normal(0, 0.2, 3 * n_each)
    angle = rng.uniform(0, 2 * np.pi, 3 * n_each)
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    disc = rng.normal(0, 0.3, (n_each, 2)) + 9
    return np.concatenate([ring, disc]), np.concatenate([truth, np.full(n_each, 1)])


def test_a_known_class_keeps_two_novel_ones_apart() -> None:
    rows, truth = rings()
    y = np.where(truth < 2, truth, -1)
    model = NCDSpectral(2, n_neighbors=10, random_state=0).fit(rows, y)
    assert clustering_accuracy(truth[truth > 1], model.labels_[truth > 1]) > 0.95
    new, new_truth = rings(seed=1)
    novel = new_truth > 1
    assert clustering_accuracy(new_truth[novel], model.predict_novel(new[novel])) > 0.95
    predicted = model.predict(new)
    assert np.mean(np.isin(predicted, model.novel_classes_) == novel) > 0.9
    assert np.mean(predicted[~novel] == new_truth[~novel]) > 0.9


def test_training_rows_are_predicted_as_they_were_found() -> None:
    model = ncd_spectral().fit(numbers(), integer_labels())
    assert_array_equal(model.predict_novel(numbers()[NOVEL]), model.labels_[NOVEL])


def test_probabilities_follow_from_the_coordinates() -> None:
    model = ncd_spectral(n_components=3).fit(numbers(), integer_labels())
    coordinates, proba = model.transform(numbers(1)), model.predict_proba(numbers(1))
    assert coordinates.shape == (len(TRUTH), 2 + 3)
    assert_array_equal(coordinates[:, :2], proba[:, :2])
    novel = np.linalg.norm(coordinates[:, 2:], axis=1)
    assert_allclose(novel, proba[:, 2:].sum(axis=1), atol=1e-12)
    has_some = novel > 0
    directions = coordinates[has_some, 2:] / novel[has_some, None]
    expected = novel[has_some, None] * centroid_proba(directions, model.centroids_, model._state.variance)
    assert_allclose(proba[has_some, 2:], expected, atol=1e-9)


def test_a_sample_of_many_rows_makes_up_the_graph() -> None:
    model = ncd_spectral(max_rows=20).fit(numbers(), integer_labels())
    assert len(model._state.space.anchors) == 40
    assert clustering_accuracy(TRUTH[NOVEL], model.labels_[NOVEL]) > 0.9
    with pytest.raises(InputError, match=r"max_rows=3.*too few for 5 novel classes"):
        ncd_spectral(max_rows=3, n_novel_classes=5).fit(numbers(), integer_labels())


def test_tables_of_few_different_rows() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 800)
    rows = np.column_stack([np.eye(4)[truth], rng.integers(0, 2, (800, 2))])  # each of 16 different rows 50 times
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NCDSpectral(2, n_neighbors=3, random_state=0).fit(rows, np.where(truth < 2, truth, -1))
    assert clustering_accuracy(truth[truth > 1], model.labels_[truth > 1]) == 1
    assert len(model._state.space.anchors) == 16


def test_novel_classes_are_ordered_by_size() -> None:
    keep = np.r_[0:30, 30:38, 45:60]  # class 2 has fewer rows than class 3
    model = ncd_spectral().fit(numbers()[keep], integer_labels()[keep])
    assert set(model.labels_[TRUTH[keep] == 3]) == {model.novel_classes_[0]}


@pytest.mark.filterwarnings("ignore:.*have no rows")  # one eigenvector cannot tell two classes apart
@pytest.mark.parametrize("n_components", [1, 2, 50])
def test_any_number_of_eigenvectors(n_components: int) -> None:
    model = ncd_spectral(n_components=n_components).fit(numbers(), integer_labels())
    assert model.centroids_.shape == (2, min(n_components, 30))


def test_many_novel_classes_need_no_more_than_a_hundred_eigenvectors() -> None:
    rows = np.random.default_rng(0).normal(size=(300, 2))
    y = np.where(np.arange(300) < 20, np.arange(300) % 2, -1)
    model = NCDSpectral(150, n_init=1, random_state=0).fit(rows, y)
    assert model.centroids_.shape == (150, 100)
    assert len(np.unique(model.labels_[20:])) > 100


def test_search_space_names_parameters_with_their_defaults_inside() -> None:
    space, defaults = NCDSpectral().search_space(), NCDSpectral().get_params()
    for name in ("n_neighbors", "n_components", "regularisation"):
        assert space[name].holds(defaults[name])
