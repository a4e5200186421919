"""The share of known rows: a number with an interval, and the largest that scores allow for."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from newfound.routing import KnownShare
from newfound.routing.share import largest_share


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
def test_the_largest_share_is_near_the_truth_where_classes_are_apart(truth: float) -> None:
    rng = np.random.default_rng(0)
    n = 4000
    known = rng.normal(4, 1, n + int(truth * n))
    unlabelled = np.append(known[n:], rng.normal(0, 1, n - int(truth * n)))
    assert abs(largest_share(known[:n], unlabelled) - truth) < 0.05


def test_scores_that_say_nothing_allow_for_everything() -> None:
    assert largest_share(np.zeros(50), np.zeros(80)) == 1.0
