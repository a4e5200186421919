"""`newfound-lab pretrain` trains, judges and draws, with the options of the modules."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from newfound.cli.app import run as run_program
from newfound_lab.cli import app
from newfound_lab.pretrain import train, validate
from newfound_lab.pretrain.problems import Problem, save_problems
from newfound_lab.pretrain.ship import PACKAGE, WEIGHTS

run = partial(run_program, commands=app, name="newfound-lab")


def test_train_validate_and_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "ROWS", {32: 1.0})
    monkeypatch.setattr(train, "COLUMNS", {4: 1.0})
    monkeypatch.setattr(train, "_LOG_EVERY", 1)
    monkeypatch.setattr(validate, "synthetic", lambda network: {"all": 1.0})
    options = ["--seconds", "0.5", "--cells", "500", "--compile", "nothing", "--plan", "cr"]
    assert run(["pretrain", "train", str(tmp_path), *options]) == 0

    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(4), 10)
    values = rng.normal(size=(40, 3)).astype(np.float32)
    scores = {name: {"acc": 0.5, "bacc": 0.5} for name in ("KMeansDiscoverer", "WhitenedKMeans")}
    problem = Problem("toy/0/pure", values, np.zeros(3, dtype=bool), classes, classes < 2, scores)
    save_problems(tmp_path / "problems.npz", [problem])
    files = [str(tmp_path / name) for name in ("average.safetensors", "problems.npz", "validation.jsonl")]
    assert run(["pretrain", "validate", *files, "--views", "1"]) == 0

    assert run(["pretrain", "curves", str(tmp_path), str(tmp_path / "curves.svg")]) == 0
    assert "WhitenedKMeans" in (tmp_path / "curves.svg").read_text()


@pytest.mark.parametrize("command", ["train", "validate", "problems", "router", "confidence"])
def test_help_shows_the_options_of_the_module(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["pretrain", command, "--help"]) == 0
    assert "usage:" in capsys.readouterr().out


def test_a_wrong_option_is_refused() -> None:
    assert run(["pretrain", "train", "folder", "--no-such-option"]) == 2


def test_ship_writes_weights_and_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["pretrain", "ship", str(PACKAGE / WEIGHTS), str(tmp_path)]) == 0
    assert "5,278,204 parameters after 63,789 steps" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["weights.json", "weights.safetensors"]
