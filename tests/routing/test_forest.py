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


# ---- rows that a tree has not seen


def judged(classes: np.ndarray, seed: int = 0, informative: bool = False) -> tuple[Forest, np.ndarray, np.ndarray]:
    """A forest of these classes in three columns, what its trees say of rows they have not seen, and the rows."""
    rows = np.random.default_rng(1).normal(size=(len(classes), 3)) + 6.0 * informative * classes[:, None]
    forest, proba = Forest.grow_and_judge(rows, np.eye(int(classes.max()) + 1)[classes], seed)
    assert proba.shape == (len(rows), forest.n_classes)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    return forest, proba, rows


def test_trees_are_not_believed_about_the_rows_they_grew_on() -> None:
    """Labels that are pure noise: learned by heart where a row was seen, guessed where it was not."""
    classes = np.random.default_rng(0).integers(2, size=600)
    forest, proba, rows = judged(classes)
    assert (forest.proba(rows).argmax(axis=1) == classes).mean() > 0.95
    assert abs((proba.argmax(axis=1) == classes).mean() - 0.5) < 0.08
    fresh = np.random.default_rng(2).normal(size=rows.shape)
    assert abs(proba.max(axis=1).mean() - forest.proba(fresh).max(axis=1).mean()) < 0.1


def test_rows_of_clear_classes_are_judged_right() -> None:
    classes = np.arange(300) % 3
    _, proba, _ = judged(classes, informative=True)
    assert (proba.argmax(axis=1) == classes).mean() > 0.98


def test_one_seed_grows_one_forest() -> None:
    classes = np.arange(90) % 3
    (one, judgement, rows), (other, again, _), (another, _, _) = (judged(classes, seed) for seed in (0, 0, 5))
    np.testing.assert_array_equal(judgement, again)
    np.testing.assert_array_equal(one.proba(rows), other.proba(rows))
    assert not np.array_equal(one.proba(rows), another.proba(rows))


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_few_rows_are_judged_by_the_shares_of_the_classes_at_worst(n_rows: int) -> None:
    forest, proba, rows = judged(np.arange(n_rows) % 2)
    assert np.isfinite(proba).all()
    assert np.isfinite(forest.proba(rows)).all()


def test_soft_targets_are_predicted_as_they_are() -> None:
    rows, targets = make(3)
    forest, proba = Forest.grow_and_judge(rows, targets, 0)
    np.testing.assert_allclose(forest.proba(rows).sum(axis=1), 1.0)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_what_leaves_say_is_kept_once() -> None:
    classes = np.arange(300) % 3
    forest, _, _ = judged(classes)
    assert len(np.unique(forest.leaves, axis=0)) == len(forest.leaves)
    assert len(forest.leaves) < (forest.columns < 0).sum() / 10
    np.testing.assert_array_equal(
        Forest.restore(forest.arrays("f."), "f.", 3, 3).proba(np.eye(3)), forest.proba(np.eye(3))
    )


def test_classes_in_another_order() -> None:
    forest, _, rows = judged(np.arange(120) % 4)
    order = np.array([2, 0, 3, 1])
    np.testing.assert_array_equal(forest.reordered(order).proba(rows), forest.proba(rows)[:, order])
