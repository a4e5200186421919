"""Rows to label next."""

from __future__ import annotations

import json

import numpy as np
import pytest

import newfound as nf
from newfound import InputError
from newfound.suggestions.labels import spread_rows, unsureness, usefulness
from tests.discoverers.test_living import fitted, rows_of


def test_rows_come_from_all_regions_and_carry_a_reason() -> None:
    model = fitted()
    table, truth = rows_of({"ant": 40, "bee": 40, "fly": 40, "gnat": 40}, seed=1)
    chosen = nf.suggest_labels(model, table, n=6)
    assert len(chosen) == 6
    assert {"fly", "gnat"} <= set(truth[chosen.rows])
    assert (np.isin(truth[chosen.rows], ["fly", "gnat"])).mean() > 0.5  # what is known for sure need not be asked
    assert np.array_equal(np.asarray(chosen), chosen.rows)
    assert list(chosen) == chosen.rows.tolist()
    assert sum(record["stands_for"] for record in chosen.table) == 160
    assert all(record["reason"] for record in chosen.table)
    assert json.loads(json.dumps(chosen.to_dict()))["rows"] == list(chosen)
    assert str(chosen).startswith("row")


def test_labelled_rows_are_left_out() -> None:
    model = fitted()
    table, truth = rows_of({"ant": 20, "fly": 20}, seed=1)
    y = np.where(truth == "ant", truth, None)
    assert set(truth[nf.suggest_labels(model, table, n=10, y=y).rows]) == {"fly"}
    with pytest.raises(InputError, match="label in every row"):
        nf.suggest_labels(model, table, y=truth)


def test_equal_rows_are_suggested_once() -> None:
    model = fitted()
    table = rows_of({"ant": 1}, seed=1)[0].loc[[0] * 9]
    assert len(nf.suggest_labels(model, table, n=5)) == 1


def test_unsure_rows_are_asked_about_more_often() -> None:
    latent = np.concatenate([np.random.default_rng(0).normal(0, 1, (200, 2)), np.full((200, 2), 50.0)])
    latent[200:] += np.random.default_rng(1).normal(0, 1, (200, 2))
    weights = usefulness(np.repeat([[0.99, 0.01], [0.52, 0.48]], 200, axis=0), 2)
    chosen, sizes = spread_rows(latent, weights, 12, np.random.RandomState(0))
    assert (chosen >= 200).sum() > (chosen < 200).sum()
    assert sizes.sum() == 400


def test_unsureness_is_that_of_the_two_first_classes() -> None:
    assert unsureness(np.array([[0.5, 0.5, 0], [0.8, 0.1, 0.1]])).tolist() == pytest.approx([1.0, 0.3])
    assert unsureness(np.ones((2, 1))).tolist() == [0, 0]


def test_answers_name_what_was_found() -> None:
    model = fitted()
    table, truth = rows_of({"ant": 40, "fly": 40}, seed=1)
    chosen = nf.suggest_labels(model, table, n=6)
    y = np.full(80, None, dtype=object)
    y[chosen.rows] = truth[chosen.rows]
    model.update(table, y)
    assert np.mean(model.predict(table) == truth) > 0.95
