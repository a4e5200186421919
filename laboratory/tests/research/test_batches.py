"""Streams of batches, and what is said of rules for answers."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from newfound import datasets
from newfound_lab.research import batches
from newfound_lab.research.answers import RULES, summarise


def test_every_batch_has_its_new_class_and_only_earlier_ones() -> None:
    with mock.patch.object(batches, "load", return_value=datasets.load("digits")):
        stream = batches.Stream.draw("digits", 60, 30, 0)
    there = set(stream.truth[stream.fitted])
    assert len(stream.batches) == 6
    for rows, new in zip(stream.batches, stream.new, strict=True):
        classes = set(stream.truth[rows])
        assert classes <= there | {new}
        if new is not None:
            assert new not in there
            assert (stream.truth[rows] == new).sum() == 30
            there.add(new)
        assert not set(rows) & set(stream.fitted)


def test_the_lead_is_that_over_random_rows_by_tables() -> None:
    rng = np.random.default_rng(0)
    lines = [
        {
            "problem": f"t{i}/{s}/pure",
            "before": 0.5,
            **dict.fromkeys(RULES, 0.6),
            "suggested": 0.7 + 0.01 * rng.normal(),
        }
        for i in range(9)
        for s in range(2)
    ]
    found = {record["rule"]: record for record in summarise(lines)}
    assert found["random"]["lead"] == 0
    assert found["suggested"]["lead"] == pytest.approx(0.1, abs=0.01)
    assert found["suggested"]["low"] > 0
    assert found["suggested"]["tables"] == 9
