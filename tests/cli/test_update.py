from __future__ import annotations

import json
from pathlib import Path

import pytest

from newfound import load
from newfound.cli.app import run
from tests.cli import tables


def test_a_batch_changes_the_model_and_labels_the_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["update", "model.newfound", "truth.csv", "--target", tables.TARGET, "--out", "next.newfound"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Batch 1: 48 rows, ")
    assert "Model written to next.newfound" in printed
    model = load(folder / "next.newfound")
    heading, rows = tables.read(folder / "truth-labels.csv")
    assert len(rows) == 48
    assert {row[heading.index("class")] for row in rows} <= {*map(str, model.classes_.tolist()), ""}
    assert len(load(folder / "model.newfound").batches_) == 0


def test_the_model_itself_is_changed_only_by_force(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "model.newfound").read_bytes()
    assert run(["update", "model.newfound", "table.csv"]) == 2
    assert "add --force" in capsys.readouterr().err
    assert (folder / "model.newfound").read_bytes() == before
    assert run(["update", "model.newfound", "table.csv", "--force", "--json", "--labels", "rows.csv"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["batch"] == 1
    assert told["labels_file"] == "rows.csv"
    assert sum(class_["rows"] for class_ in told["classes"]) <= told["n_rows"]
    assert (folder / "model.newfound").read_bytes() != before


def test_rows_to_label(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["suggest", "model.newfound", "table.csv", "-n", "3", "--json", "--merges", "--out", "ask.csv"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["rows"]) == 3
    assert told["merges"]["classes"] == ["novel_0", "novel_1"]
    heading, rows = tables.read(folder / "ask.csv")
    assert heading[0] == "row"
    assert heading[-1] == "label"
    everything = tables.read(folder / "table.csv")[1]
    assert [row[1:-1] for row in rows] == [everything[row - 1] for row in told["rows"]]
    assert run(["suggest", "model.newfound", "table.csv", "-n", "3", "--merges"]) == 0
    assert "reason" in capsys.readouterr().out


@pytest.mark.parametrize("own", [["label"], ["row"], ["row", "label"], ["label", "newfound_label"], ["Label"]])
@pytest.mark.parametrize("target", [None, "label"])
def test_update_reads_what_suggest_wrote_whatever_columns_the_table_has(
    folder: Path, own: list[str], target: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    body = [[*(f"{name} {i}" for name in own), *row] for i, row in enumerate(tables.rows(seed=3))]
    heading = [*own, *tables.HEADING]
    if target in own:
        for row in body[::2]:
            row[own.index("label")] = ""
    tables.write(folder / "batch.csv", body, heading)
    asked = ["suggest", "model.newfound", "batch.csv", "-n", "4", "--json", "--out", "ask.csv"]
    assert run(asked + (["--target", "label"] if target in own else [])) == 0
    told = json.loads(capsys.readouterr().out)
    names, rows = tables.read(folder / "ask.csv")
    assert names[1:-1] == heading
    assert [row[1:-1] for row in rows] == [[str(cell) for cell in body[row - 1]] for row in told["rows"]]
    assert [row[0] for row in rows] == [str(row) for row in told["rows"]]
    assert told["label_column"] == names[-1]
    assert len(set(names)) == len(names)
    for row in rows:
        row[-1] = "gnu"
    tables.write(folder / "answered.csv", rows, names)
    given = ["update", "model.newfound", "answered.csv", "--target", names[-1], "--out", "next.newfound"]
    assert run(given) == 0, capsys.readouterr().err
    assert "gnu" in load(folder / "next.newfound").classes_.tolist()


@pytest.mark.parametrize("number", ["0", "-1"])
def test_a_number_of_rows_that_cannot_be(folder: Path, number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["suggest", "model.newfound", "table.csv", "--number", number]) == 2
    assert "--number" in capsys.readouterr().err
