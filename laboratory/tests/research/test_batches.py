"""Streams of batches, and what is said of rules for answers."""

from __future__ import annotations

import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from newfound import datasets
from newfound_lab.pretrain.problems import Problem
from newfound_lab.research import answers, batches
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


@pytest.mark.slow
def test_costs_are_those_of_a_history_and_then_of_sizes() -> None:
    digits = mock.patch.object(batches, "load", return_value=datasets.load("digits"))
    with digits, mock.patch.object(batches, "_MOST_FITTED", 200), warnings.catch_warnings(action="ignore"):
        records = batches.measure_costs("digits", 60, 2, (30, 10**6))
    assert [(record["earlier"], record["rows"]) for record in records] == [(0, 60), (1, 60), (2, 30)]
    assert all(record["cpu_seconds"] > 0 and record["kept"] > 0 for record in records)


def test_only_the_wanted_splits_are_asked_about() -> None:
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1], 120)
    problems = [
        Problem(
            f"{table}/{split}/{mode}",
            rng.normal(size=(240, 2)).astype(np.float32) + 9 * classes[:, None],
            np.zeros(2, dtype=bool),
            classes,
            classes == 0,
        )
        for table in ("a", "b")
        for split in range(3)
        for mode in ("pure", "mixed")
    ]
    with (
        mock.patch.object(answers, "load_problems", return_value=problems),
        mock.patch.object(answers, "_measured", side_effect=lambda problem, n, rows, seed: {"problem": problem.name}),
    ):
        names = [line["problem"] for line in answers.measure_answers(Path("problems.npz"), seeds=2, first=1, tables=1)]
    assert names == ["a/1/pure", "a/2/pure", "a/1/mixed", "a/2/mixed"]


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
