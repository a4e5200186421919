"""What the networks of AutoDiscoverer see of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from newfound.learning.student import InputMap
from newfound.tables import Layout
from newfound.tables.task import DiscoveryTask


def task_of(rows: np.ndarray, codes: np.ndarray, categorical: list[bool] | None = None) -> DiscoveryTask:
    d = rows.shape[1]
    marks = np.zeros(d, dtype=bool) if categorical is None else np.array(categorical)
    return DiscoveryTask(rows, codes, int(codes.max()) + 1, 1, Layout(tuple(map(str, range(d))), np.arange(d), marks))


def test_input_is_of_moderate_size() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, -1], 40)
    for rows in (rng.normal(size=(120, 5)) * 1e4, rng.normal(size=(120, 150)), np.ones((120, 3))):
        mapped = InputMap.fit(task_of(rows, codes)).transform(rows)
        assert mapped.shape == (120, min(100, rows.shape[1]))
        assert np.isfinite(mapped).all()
        assert np.ptp(rows) == 0 or mapped.std() == pytest.approx(1.0)


def test_categories_are_never_squashed() -> None:
    rows = np.zeros((500, 2))
    rows[0] = 1.0  # one row in five hundred: 22 standard deviations from the mean
    assert InputMap.fit(task_of(rows, np.arange(500) % 2 - 1, [False, True])).heavy.tolist() == [True, False]
