from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from laboratory.tests.benchmark.made import made_rows
from laboratory.tests.benchmark.test_methods import ADAPTER
from newfound.cli.app import run as run_program
from newfound_lab.cli import app

run = partial(run_program, commands=app, name="newfound-lab")


def test_measuring_and_showing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "fresh29").mkdir()
    for name in ("a", "b"):
        frame, classes = made_rows()
        frame.assign(target=classes).to_parquet(tmp_path / "fresh29" / f"{name}.parquet")
    options = ["--sets", "fresh", "--modes", "pure", "--splits", "1", "--methods", f"by hand, {ADAPTER}"]
    places = ["--data-dir", str(tmp_path), "--out", str(tmp_path / "out")]
    assert run(["benchmark", *options, *places]) == 0
    printed = capsys.readouterr()
    assert "fresh b, split 0, pure, adapter:nearest_centroids: " in printed.err
    lines = str(tmp_path / "out" / "results.jsonl")
    assert printed.out == f"4 measured now. Next: newfound-lab benchmark table {lines}\n"
    assert run(["benchmark", *options, *places, "--tables", "a"]) == 0
    assert "0 measured now." in capsys.readouterr().out
    assert run(["benchmark", "table", lines]) == 0
    assert "| adapter:nearest_centroids | " in capsys.readouterr().out


def test_mistakes_and_failures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "fresh29").mkdir()
    frame, classes = made_rows()
    frame.assign(target=classes).to_parquet(tmp_path / "fresh29" / "a.parquet")
    places = ["--sets", "fresh", "--data-dir", str(tmp_path), "--out", str(tmp_path / "out")]
    assert run(["benchmark", *places, "--methods", "magic"]) == 2
    (tmp_path / "mine.py").write_text("def answer(*given):\n    return 1 / 0\n")
    assert run(["benchmark", *places, "--splits", "1", "--methods", f"{tmp_path / 'mine.py'}:answer"]) == 1
    printed = capsys.readouterr()
    assert "Failed: fresh a, split 0, pure, mine:answer: ZeroDivisionError" in printed.err
    assert "0 measured now, 2 failed." in printed.out
