"""Spies among the unlabelled rows: labelled rows that are judged as unlabelled rows of their class are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from newfound.routing.evidence import _draw_spies, gather_evidence
from newfound.routing.judgement import places_of_spies
from newfound.tables import Layout
from newfound.tables.task import DiscoveryTask


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=60), st.integers(0, 100))
def test_every_labelled_row_is_a_spy_once_and_classes_are_spread(classes: list[int], seed: int) -> None:
    codes = np.array(classes)
    spy_in = _draw_spies(codes, np.random.RandomState(seed))
    np.testing.assert_array_equal(spy_in < 0, codes < 0)
    for known in range(4):
        sizes = np.bincount(spy_in[codes == known], minlength=5)
        assert sizes.max() - sizes.min() <= 1


def test_spies_look_like_unlabelled_rows_where_nothing_is_novel() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 2))
    codes = np.where(np.arange(200) < 60, 0, -1)
    layout = Layout(("a", "b"), np.arange(2), np.zeros(2, dtype=bool))
    evidence = gather_evidence(DiscoveryTask(rows, codes, 1, 0, layout), None, 0)
    assert evidence.unlike.shape == (5, 200)
    assert abs(places_of_spies(evidence.unlike, evidence.spy_in).mean() - 0.5) < 0.1


def test_a_single_labelled_row() -> None:
    codes = np.array([0, -1, -1, -1])
    layout = Layout(("a",), np.arange(1), np.zeros(1, dtype=bool))
    evidence = gather_evidence(DiscoveryTask(np.arange(4.0)[:, None], codes, 1, 0, layout), None, 0)
    assert np.isfinite(evidence.ratio).all()
    assert (evidence.unlike[evidence.spy_in[0]] == 0).all()
