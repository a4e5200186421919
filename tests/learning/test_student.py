"""What networks of AutoDiscoverer that an earlier version saved see of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from newfound.errors import ModelFileError
from newfound.learning.student import InputMap


def made() -> InputMap:
    rng = np.random.default_rng(0)
    return InputMap(np.array([False, True, False]), rng.normal(size=3), rng.normal(size=(3, 2)))


def test_heavy_tails_are_squashed_and_the_rest_is_linear() -> None:
    inputs = made()
    rows = np.random.default_rng(1).normal(size=(5, 3)) * 100
    squashed = np.column_stack([rows[:, 0], np.arcsinh(rows[:, 1]), rows[:, 2]])
    before = rows.copy()
    np.testing.assert_allclose(inputs.transform(rows), (squashed - inputs.centre) @ inputs.projection)
    np.testing.assert_array_equal(rows, before)


def test_arrays_bring_the_same_map_back() -> None:
    rows = np.random.default_rng(1).normal(size=(5, 3))
    again = InputMap.restore(made().arrays(), 3)
    np.testing.assert_array_equal(again.transform(rows), made().transform(rows))


@pytest.mark.parametrize("name", ["heavy", "centre", "projection"])
def test_arrays_of_another_table_are_refused(name: str) -> None:
    with pytest.raises(ModelFileError, match=name):
        InputMap.restore({**made().arrays(), f"input.{name}": np.zeros(4)}, 3)
