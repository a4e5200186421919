from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from newfound.cli.app import run
from newfound.errors import TrainingInterrupted, warn_user
from tests.cli import tables
from tests.cli.tables import TARGET


@pytest.fixture
def table(folder: Path) -> Path:
    """With four known classes, of which some can be hidden."""
    body = [[float(row[0]) + 20 * (i % 8 >= 4), *row[1:]] for i, row in enumerate(tables.rows(96, truth=True))]
    for i, row in enumerate(body):
        row[-1] = {4: "gnu", 5: "hen"}.get(i % 8, row[-1] if i % 8 < 4 else "")
    return tables.write(folder / "many.csv", body)


def tune(*options: str) -> list[str]:
    return ["tune", "many.csv", "--target", TARGET, "--method", "kmeans", "-k", "2", "--trials", "2", *options]


def test_settings_are_found_written_and_used(table: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tune()) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("2 trials; the best, and the method as it is (trial 0):")
    rows = [line.split() for line in printed.splitlines()]
    assert {row[0]: len(row) for row in rows if row and row[0].endswith(("score", "scaling"))} == {
        "score": 3,
        "numeric_scaling": 3,
        "categorical_scaling": 3,
    }
    tuned = json.loads((folder / "tuned-kmeans.json").read_text())
    assert tuned["method"] == "kmeans"
    assert set(tuned["settings"]) == {"encoder__numeric_scaling", "encoder__categorical_scaling"}
    assert tuned["score"] >= tuned["score_as_given"]
    assert run(tune()) == 2
    assert "tuned-kmeans.json is there already" in capsys.readouterr().err
    assert run(tune("--force", "--json")) == 0  # the trials are kept
    again = json.loads(capsys.readouterr().out)
    assert {**tuned, "file": again["file"], "kept_in": again["kept_in"], "notes": []} == again
    command = shlex.split(printed.partition("use it: newfound ")[2])
    assert command == [
        "discover",
        "many.csv",
        "--target",
        TARGET,
        "--settings",
        "tuned-kmeans.json",
        "--novel-classes",
        "2",
    ]
    assert run(command) == 0


def test_the_command_to_go_on_reads_the_table_in_the_same_way(
    table: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table.write_text(table.read_text().replace(",\n", ",not yet\n").replace(",", ";"))
    given = ["--unlabelled", "not yet", "--ignore", "size", "--kind", "colour=categorical", "--delimiter", ";"]
    assert run(tune(*given)) == 0
    command = shlex.split(capsys.readouterr().out.partition("use it: newfound ")[2])
    assert command[8:] == given
    assert run(command) == 0


def test_what_cannot_be_tuned(table: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for method in ("auto", "in_context"):
        assert run(["tune", "many.csv", "--target", TARGET, "--method", method]) == 2
        assert f"Got --method {method}, which has nothing to tune" in capsys.readouterr().err
    assert run(["tune", "table.csv", "--target", TARGET, "--method", "kmeans", "-k", "2"]) == 2  # two known classes
    assert "newfound: " in capsys.readouterr().err
    assert not list(folder.glob("tuned-*"))


def test_ctrl_c_says_how_to_go_on(
    table: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        warn_user("Tuning was interrupted", TrainingInterrupted)

    monkeypatch.setattr("newfound.selection.tune.tune", interrupted)
    assert run(tune()) == 130
    assert "the same command continues" in capsys.readouterr().err
    assert not (folder / "tuned-kmeans.json").exists()
