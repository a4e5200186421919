"""The study trains one network for each question, and judges all of them alike."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from laboratory.tests.pretrain.test_compare import make_problem
from newfound.incontext import NetworkShape
from newfound_lab.pretrain import study, train
from newfound_lab.pretrain.problems import save_problems
from newfound_lab.prior import FAMILIES

SHAPE = NetworkShape(cell_width=16, cell_heads=2, inducing=4, row_heads=2, plan="cr")


def test_every_family_is_left_out_once() -> None:
    found = study.variants()
    assert {variant.settings.without for variant in found} == {"", *FAMILIES}
    assert len({variant.name for variant in found}) == len(found)
    assert len({variant.settings.seed for variant in found if variant.name.startswith("all")}) == 3


def test_a_family_that_is_left_out_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(train, "sample_tasks", lambda *args, weights: asked.append(set(weights)))
    with pytest.raises(AttributeError):  # there are no tasks to go on with
        train.draw_step(0, 0, train.Settings(without="rules"), study.torch.device("cpu"))
    assert asked == [set(FAMILIES) - {"rules"}]


def test_a_variant_is_trained_and_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "ROWS", {32: 1.0})
    monkeypatch.setattr(train, "COLUMNS", {10: 1.0})
    monkeypatch.setattr(study.os, "nice", lambda _: 0)
    monkeypatch.setattr(study, "_TASKS", 1)
    monkeypatch.setattr(study, "_ROWS", 60)
    settings = replace(study.variants()[0].settings, cells=800)
    study.train(study.Variant("all, seed 9", SHAPE, settings), tmp_path, 0.5)
    save_problems(tmp_path / "problems.npz", [make_problem("pure")])
    line = study.judged(tmp_path / "all_seed_9.safetensors", tmp_path / "problems.npz")
    assert json.loads(json.dumps(line)) == line
    assert line["variant"] == "all, seed 9"
    assert line["step"] > 0
    assert set(line["families"]) == set(FAMILIES)
    assert all(0 < score <= 1 for score in (line["acc"], line["bacc"], *line["families"].values()))
