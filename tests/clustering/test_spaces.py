"""Columns as a space: centred, and cut to principal components where there are many."""

from __future__ import annotations

import numpy as np
import pytest

from newfound.clustering import spaces


def test_columns_are_centred() -> None:
    rows = np.random.default_rng(0).normal(3, 1, size=(50, 4))
    np.testing.assert_allclose(spaces.compact(rows), rows - rows.mean(axis=0))


def test_rows_stay_as_they_are() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 150))
    before = rows.copy()
    spaces.compact(rows)
    np.testing.assert_array_equal(rows, before)


def test_wide_tables_are_cut_to_principal_components() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 150))
    compact = spaces.compact(rows)
    assert compact.shape == (60, 100)
    centred = rows - rows.mean(axis=0)
    np.testing.assert_allclose(compact @ compact.T, centred @ centred.T, atol=1e-8)  # distances stay


@pytest.mark.parametrize("n", [60, 400])
def test_wide_tables_have_the_axes_of_narrow_ones(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 20)) * np.linspace(5, 1, 20) @ rng.normal(size=(20, 220))
    rows -= rows.mean(axis=0)
    plain = rows @ spaces.principal_axes(rows)
    monkeypatch.setattr(spaces, "_WIDE", 50)  # the smaller product, or a randomised decomposition
    axes = spaces.principal_axes(rows)
    assert axes.shape[1] <= 100
    np.testing.assert_allclose(rows @ axes @ (rows @ axes).T, plain @ plain.T, atol=1e-6 * np.abs(plain).max() ** 2)


def test_axes_of_many_rows_are_those_of_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(600, 120)) * np.linspace(3, 0.1, 120)
    monkeypatch.setattr(spaces, "_MOST_PRODUCTS", 200 * 120 * 120)
    np.testing.assert_array_equal(spaces.principal_axes(rows), spaces.principal_axes(rows[::3]))


def test_equal_rows_of_a_wide_table_have_an_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spaces, "_WIDE", 50)
    assert np.isfinite(spaces.principal_axes(np.zeros((10, 200)))).all()
