"""A frozen forest predicts what scikit-learn's trees predict, and is read back from a file only as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesRegressor

from newfound.errors import ModelFileError
from newfound.routing import Forest


def make(n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(120, 4))
    targets = rng.dirichlet(np.ones(n_classes), size=120)
    return rows, targets


@pytest.mark.parametrize("n_classes", [1, 2, 5])
def test_proba_is_the_mean_of_the_trees(n_classes: int) -> None:
    rows, targets = make(n_classes)
    forest = Forest.grow(rows, targets, 3)
    trees = ExtraTreesRegressor(100, min_samples_leaf=1, max_leaf_nodes=512, max_features="sqrt", random_state=3)
    # One more column, as in the forest: scikit-learn chooses splits by all of them.
    expected = trees.fit(rows, np.hstack([targets, np.zeros((120, 1))])).predict(rows)[:, :-1]
    np.testing.assert_allclose(forest.proba(rows), expected, atol=1e-12)
    np.testing.assert_allclose(forest.proba(rows).sum(axis=1), 1.0)


def test_no_rows_have_no_probabilities() -> None:
    forest = Forest.grow(*make(3), 0)
    assert forest.proba(np.empty((0, 4))).shape == (0, 3)


def test_arrays_bring_the_same_forest_back() -> None:
    rows, targets = make(3)
    forest = Forest.grow(rows, targets, 0)
    again = Forest.restore(forest.arrays("f."), "f.", 4, 3)
    np.testing.assert_array_equal(again.proba(rows), forest.proba(rows))


@settings(max_examples=60)
@given(st.data())
def test_hostile_arrays_are_refused_or_end(data: st.DataObject) -> None:
    """Whatever integers are changed, either the file is refused or every walk through the trees ends inside them."""
    rows, targets = make(2)
    arrays = Forest.grow(rows[:30], targets[:30], 0).arrays("f.")
    name = data.draw(st.sampled_from(["f.starts", "f.columns", "f.children"]))
    changed = arrays[name].copy()
    place = data.draw(st.integers(0, changed.size - 1))
    changed.flat[place] = data.draw(st.integers(-3, 10_000))
    try:
        forest = Forest.restore({**arrays, name: changed}, "f.", 4, 2)
    except ModelFileError:
        return
    assert np.isfinite(forest.proba(rows)).all()


@pytest.mark.parametrize("name", ["starts", "columns", "cuts", "children", "leaves"])
def test_missing_arrays_are_refused(name: str) -> None:
    arrays = Forest.grow(*make(2), 0).arrays("f.")
    del arrays[f"f.{name}"]
    with pytest.raises(ModelFileError, match=name):
        Forest.restore(arrays, "f.", 4, 2)
