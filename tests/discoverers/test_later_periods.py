"""Batches of a later period: a date or number that only grows makes no class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import newfound as nf


def period(n: int, start: float, seed: int, *, with_new: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Round classes in four columns, and a fifth that says when a row was collected."""
    rng = np.random.default_rng(seed)
    centres = 6 * np.random.default_rng(0).normal(size=(6, 4))
    truth = rng.integers(6 if with_new else 5, size=n)
    when = np.sort(rng.uniform(start, start + 100, size=n))
    return np.column_stack([centres[truth] + rng.normal(size=(n, 4)), when]), truth


def fitted(kind: type) -> Any:
    X, truth = period(500, 0, 1)
    y = np.where(truth < 3, truth, -1)
    return kind(2, random_state=0).fit(X, y)


@pytest.mark.parametrize("kind", [nf.AutoDiscoverer, nf.WhitenedKMeans])
def test_a_later_period_is_no_class_and_is_told(kind: type) -> None:
    model = fitted(kind)
    X, truth = period(300, 200, 2)
    update = model.update(X)
    assert update.new_classes == []
    assert len(update.doubts) == 1
    assert "'x4'" in update.doubts[0]
    assert update.to_dict()["doubts"] == list(update.doubts)
    assert update.doubts[0] in str(update)
    known = truth < 3
    assert (update.labels[known] == truth[known]).mean() > 0.95


def test_a_class_that_is_new_in_a_later_period_is_found() -> None:
    X, truth = period(300, 200, 2, with_new=True)
    update = fitted(nf.AutoDiscoverer).update(X)
    assert len(update.new_classes) == 1
    inside = update.labels == update.new_classes[0]
    assert (truth[inside] == 5).mean() > 0.9
    assert inside[truth == 5].mean() > 0.9


def test_a_batch_of_the_same_period_has_no_doubt() -> None:
    assert fitted(nf.WhitenedKMeans).update(period(300, 0, 2)[0]).doubts == ()
