"""Rows are judged by trees that have not seen them."""

from __future__ import annotations

import numpy as np

from newfound.routing.out_of_bag import out_of_bag, quietly


def test_codes_that_mean_nothing_are_not_learned_by_heart() -> None:
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(200, 3)), rng.integers(2, size=200)
    forest, honest = out_of_bag(rows, codes, 50, 0)
    right, by_heart = (honest.argmax(axis=1) == codes).mean(), (forest.predict(rows) == codes).mean()
    assert right < 0.65 < by_heart


def test_codes_that_mean_something_are_found_again() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 2], 100)
    rows = 6 * codes[:, None] + rng.normal(size=(200, 2))
    forest, honest = out_of_bag(rows, codes, 50, 0)
    assert forest.classes_.tolist() == [0, 2]
    assert (forest.classes_[honest.argmax(axis=1)] == codes).all()
    np.testing.assert_allclose(honest.sum(axis=1), 1.0)


def test_a_row_that_all_trees_have_seen_gets_the_shares() -> None:
    rows, codes = np.arange(4.0)[:, None], np.array([0, 0, 0, 1])
    with quietly():
        _, honest = out_of_bag(rows, codes, 1, 0)
    assert np.isfinite(honest).all()
    seen = (honest == [0.75, 0.25]).all(axis=1)
    assert seen.any()
