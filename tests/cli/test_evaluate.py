from __future__ import annotations

import json
from pathlib import Path

import pytest

from newfound.cli.app import run
from tests.cli import tables
from tests.cli.tables import TARGET


def test_scores(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = tables.rows(truth=True, seed=1)
    body[0][-1] = "dog"  # looks like a cat
    body[2][-1] = ""
    tables.write(folder / "truth.csv", body)
    assert run(["evaluate", "model.newfound", "truth.csv", "--target", TARGET]) == 0
    printed = capsys.readouterr()
    table = {line.split("  ")[0].strip(): line.split()[-5:] for line in printed.out.splitlines() if "100.0" in line}
    assert printed.err == "note: 1 row without a class in 'animal' left out.\n"
    assert table["novel classes"] == ["23", "100.0", "100.0", "100.0", "100.0"]
    assert "AUROC 100.0" in printed.out
    assert run(["evaluate", "model.newfound", "truth.csv", "--target", TARGET, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["known"]["acc"] == pytest.approx(23 / 24)
    assert scores["known"]["bacc"] == pytest.approx((11 / 11 + 12 / 13) / 2)
    assert scores["all"]["acc"] == pytest.approx(46 / 47)
    assert scores["auroc"] == scores["told_novel"]["acc"] == 1


def test_a_table_of_known_classes_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables.write(folder / "truth.csv", [row for row in tables.rows() if row[-1]])
    assert run(["evaluate", "model.newfound", "truth.csv", "--target", TARGET]) == 0
    printed = capsys.readouterr().out
    assert "known classes" in printed
    assert "novel classes" not in printed
    assert "AUROC" not in printed


def test_a_table_without_truth(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables.write(folder / "truth.csv", [[*row[:-1], ""] for row in tables.rows()])
    assert run(["evaluate", "model.newfound", "truth.csv", "--target", TARGET]) == 2
    assert "No row of truth.csv has a class in 'animal'" in capsys.readouterr().err
