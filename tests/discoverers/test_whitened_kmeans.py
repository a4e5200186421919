"""What is particular to WhitenedKMeans."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from newfound import KMeansDiscoverer, TableEncoder, WhitenedKMeans
from newfound.metrics import clustering_accuracy
from tests.discoverers.common import NOVEL, TRUTH, integer_labels, numbers


def stretched(seed: int = 0, n_each: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Six classes along the second column, all of them far wider along the first."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(6), n_each)
    return np.column_stack([rng.normal(0, 30, len(truth)), 4 * truth + rng.normal(0, 0.5, len(truth))]), truth


def test_what_varies_within_the_known_classes_counts_less() -> None:
    X, truth = stretched()
    y, novel = np.where(truth < 4, truth, -1), truth >= 4
    whitened = WhitenedKMeans(2, ridge=0.05, random_state=0).fit(X, y)
    plain = KMeansDiscoverer(2, random_state=0).fit(X, y)
    assert clustering_accuracy(truth[novel], whitened.labels_[novel]) > 0.95
    assert clustering_accuracy(truth[novel], plain.labels_[novel]) < 0.7
    X_new, truth_new = stretched(1)
    novel = truth_new >= 4
    assert clustering_accuracy(truth_new[novel], whitened.predict_novel(X_new[novel])) > 0.95


def test_the_unit_of_the_table_does_not_matter() -> None:
    encoder = TableEncoder(numeric_scaling="none")
    labels = [
        WhitenedKMeans(2, encoder=encoder, random_state=0).fit(scale * numbers(), integer_labels()).labels_
        for scale in (1e-6, 1.0, 1e6)
    ]
    assert_array_equal(labels[0], labels[1])
    assert_array_equal(labels[2], labels[1])


def test_the_larger_the_ridge_the_nearer_to_no_whitening() -> None:
    X, truth = stretched()
    y = np.where(truth < 4, truth, -1)
    latents = [WhitenedKMeans(2, ridge=ridge, random_state=0).fit_transform(X, y) for ridge in (0, 0.5, 10, 1e9)]
    # The spread along the first column, in units of that along the second, grows to what it is in the table.
    shares = [latent[:, 0].std() / latent[:, 1].std() for latent in latents]
    assert shares == sorted(shares)
    assert shares[0] < 0.5
    assert shares[-1] == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_fewer_labelled_rows_than_columns(ridge: float) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([3 * numbers(), rng.normal(0, 0.1, (len(TRUTH), 80))])
    y = np.full(len(TRUTH), -1)
    y[[0, 1, 2, 15, 16, 17]] = TRUTH[[0, 1, 2, 15, 16, 17]]
    model = WhitenedKMeans(4, ridge=ridge, random_state=0).fit(X, y)
    assert np.isfinite(model.transform(X)).all()
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_categories_and_columns_that_no_known_class_varies_in() -> None:
    X = np.empty((len(TRUTH), 4), dtype=object)
    X[:, :2] = numbers()
    X[:, 2] = np.where(NOVEL, np.where(TRUTH == 2, "round", "square"), "flat")
    X[:, 3] = np.where(NOVEL, TRUTH, 0.0)
    model = WhitenedKMeans(2, random_state=0).fit(X, integer_labels())
    assert clustering_accuracy(TRUTH[NOVEL], model.labels_[NOVEL]) == 1


def test_one_labelled_row_is_enough() -> None:
    y = np.full(len(TRUTH), -1)
    y[0] = 7
    with pytest.warns(UserWarning, match="one known class"):
        model = WhitenedKMeans(4, random_state=0).fit(numbers(), y)
    assert clustering_accuracy(TRUTH[1:], model.labels_[1:]) > 0.9
