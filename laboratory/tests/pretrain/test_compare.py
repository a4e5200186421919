"""Discoverers are compared on development problems, with rows held out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from newfound_lab.pretrain.compare import main, measure
from newfound_lab.pretrain.problems import Problem, save_problems


def make_problem(mode: str) -> Problem:
    """Four classes far apart, two of them known; a column of levels, and a column that is constant."""
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(4), 50)
    points = 8 * rng.normal(size=(4, 3))[classes] + rng.normal(size=(200, 3))
    values = np.column_stack([points, rng.integers(0, 3, 200), np.ones(200)]).astype(np.float32)
    values[::17, 1] = np.nan
    labelled = (classes < 2) & (rng.random(200) < (0.5 if mode == "mixed" else 1.1))
    return Problem(f"toy/0/{mode}", values, np.array([False, False, False, True, False]), classes, labelled)


@pytest.mark.parametrize(
    ("mode", "method"),
    [
        ("pure", "k-means"),
        ("pure", "auto"),
        ("mixed", "whitened, finds out"),
        ("mixed", "auto, oracle router"),
    ],
)
def test_classes_far_apart_are_found_in_all_rows(mode: str, method: str) -> None:
    line = measure(make_problem(mode), method)
    assert line["novel_acc"] > 0.9
    assert line["new_all_acc"] > 0.9
    assert (line["known_acc"] is None) == (mode == "pure")
    assert ("confidence" in line) == (method == "auto")


def test_the_command_writes_a_line_for_each_problem_and_method(tmp_path: Path) -> None:
    save_problems(tmp_path / "problems.npz", [make_problem("pure"), make_problem("mixed")])
    main([str(tmp_path / "problems.npz"), str(tmp_path / "out.jsonl"), "--processes", "1", "--methods", "k-means"])
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(line["problem"], line["method"]) for line in lines] == [("toy/0/pure", "k-means")]
