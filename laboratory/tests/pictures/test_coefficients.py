from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from newfound_lab.pictures.coefficients import most_telling, write_coefficients
from tests.pictures.common import Catcher, assert_readable, catcher, words_in

__all__ = ["catcher"]


@given(st.data())
def test_the_largest_weights_of_either_kind_are_chosen(data: st.DataObject) -> None:
    d, n, most = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 4)), 2 * data.draw(st.integers(1, 10))
    weights = st.floats(0, 100)
    known, novel = data.draw(arrays(float, d, elements=weights)), data.draw(arrays(float, (n, d), elements=weights))
    chosen = most_telling(known, novel, most)
    assert len(set(chosen)) == len(chosen) <= min(d, most)
    assert (np.diff(known[chosen]) <= 0).all()
    left = np.setdiff1d(np.arange(d), chosen)
    for weight in (known, novel.max(axis=0)):
        assert (weight[chosen] >= max(weight[left], default=0)).sum() >= min(d, most // 2)
    assert len(left) == 0 or d > most


def test_every_attribute_and_class_is_named(tmp_path: Path) -> None:
    paths = [tmp_path / "c.png", tmp_path / "c.svg"]
    weights = {"novel class 1": np.array([0.5, 3.0]), "novel class 2": np.array([1.0, 0.0])}
    write_coefficients(
        paths, ["x-box", "y-box"], np.array([2.0, 1.0]), weights, title="T", x_label="weight", known_name="known"
    )
    assert {"x-box", "y-box", "novel class 1", "novel class 2", "known", "T", "weight"} <= words_in(paths[1])


def test_forty_long_names_are_readable(catcher: Catcher) -> None:
    rng = np.random.default_rng(0)
    names = [f"fBodyBodyGyroJerkMag-std()-{i}" for i in range(40)]
    novel = {f"novel class WALKING_DOWNSTAIRS_{i}": rng.random(40) for i in range(7)}
    write_coefficients(
        [Path("c.png")], names, rng.random(40), novel, title="Title", x_label="x", known_name="known classes, sum"
    )
    assert_readable(catcher.texts["c.png"], catcher.sizes["c.png"])
