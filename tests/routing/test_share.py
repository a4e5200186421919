"""The share of known rows: a number with an interval, and spies that tell it."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from newfound.routing import KnownShare
from newfound.routing.share import shares_by_spies


def test_a_share_is_a_number_with_an_interval() -> None:
    share = KnownShare(0.25, (0.1, 0.4))
    assert share == 0.25
    assert share.estimate == 0.25
    assert share.interval == (0.1, 0.4)
    assert repr(share) == "KnownShare(0.25, interval=(0.1, 0.4))"
    for again in (copy.copy(share), copy.deepcopy(share), pickle.loads(pickle.dumps(share))):
        assert again == share
        assert again.interval == share.interval


@pytest.mark.parametrize("truth", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_the_share_is_near_the_truth_where_classes_overlap(truth: float) -> None:
    """Probabilities are those of a model that takes a third of the rows for known, whatever the truth is."""
    rng = np.random.default_rng(0)
    n = 4000
    known, novel = rng.normal(0, 1, n + int(truth * n)), rng.normal(3, 1, n - int(truth * n))
    scores = np.sort(np.append(known[n:], novel))
    proba = 1 / (1 + 2 * np.exp(3 * scores - 4.5))
    places = np.searchsorted(scores, known[:n]) / n
    found = shares_by_spies(places, proba, np.array([0.3, 0.5]))
    assert np.abs(found - truth).max() < 0.06
    assert np.abs(found - truth).max() < abs(proba.mean() - truth) + 0.01  # as well as all rows together, or better


def test_spies_before_all_rows_are_of_no_class_among_them() -> None:
    np.testing.assert_array_equal(shares_by_spies(np.zeros(9), np.ones(20), np.array([0.5, 0.8])), [0, 0])


def test_spies_that_look_like_all_rows_leave_it_to_the_probabilities() -> None:
    found = shares_by_spies(np.linspace(0, 1, 101), np.full(1000, 0.4), np.array([0.5, 0.8]))
    np.testing.assert_allclose(found, 0.4)
