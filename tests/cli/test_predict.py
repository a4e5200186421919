from __future__ import annotations

import contextlib
import csv
import json
import os
from pathlib import Path

import pytest

from newfound import load
from newfound.cli.app import run
from tests.cli import tables


def test_new_rows_get_a_class(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", "model.newfound", "truth.csv"]) == 0
    tables.check_found(folder / "truth-labels.csv", tables.rows(truth=True, seed=1))
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0] == "48 rows, 24 of them of novel classes:"
    assert printed.out.splitlines()[-1] == "Written to truth-labels.csv"
    assert printed.err == ""


@pytest.mark.parametrize("mark", [",", "."])
def test_probabilities_are_written_like_the_other_numbers(folder: Path, mark: str) -> None:
    body = [[size.replace(".", mark), weight.replace(".", mark), *rest, "x"] for size, weight, *rest in tables.rows()]
    body[0][-1] = "1,5"  # one text that looks like a number says nothing
    tables.write(folder / "semicolons.csv", body, [*tables.HEADING, "remark"], delimiter=";")
    assert run(["predict", "model.newfound", "semicolons.csv"]) == 0
    _, found = tables.read(folder / "semicolons-labels.csv", ";")
    assert all(row[-2][1] == mark and float(row[-2].replace(mark, ".")) > 0.5 for row in found)


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", "model.newfound", "truth.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["novel_rows"], found["unsure_rows"]) == (48, 24, 0)
    assert [(class_["name"], class_["is_novel"], class_["rows"]) for class_ in found["classes"]] == [
        ("cat", False, 12),
        ("dog", False, 12),
        ("novel_0", True, 12),
        ("novel_1", True, 12),
    ]


def test_rows_can_be_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", "model.newfound", "truth.csv", "--out", "-"]) == 0
    printed = capsys.readouterr().out
    assert run(["predict", "model.newfound", "truth.csv", "--out", "same.csv"]) == 0
    assert printed == (folder / "same.csv").read_text()
    assert run(["predict", "model.newfound", "truth.csv", "--out", "-", "--json"]) == 2


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no device that is always full")
def test_standard_output_may_lead_to_a_full_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.suppress(OSError), Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert run(["predict", "model.newfound", "truth.csv", "--out", "-"]) == 2
    said = "newfound: Cannot write: No space left on device. Make room, or write to another place.\n"
    assert capsys.readouterr().err == said


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_only_files_are_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    for option in ([], ["--force"]):
        assert run(["predict", "model.newfound", "truth.csv", "--out", "pipe", *option]) == 2
        assert "Got --out pipe, which is not a file that can be replaced" in capsys.readouterr().err
    assert (folder / "pipe").is_fifo()


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "model.newfound", "truth.csv", "--out", "x" * 300],
        ["predict", "x" * 300, "truth.csv"],
        ["explain", "model.newfound", "truth.csv", "--html", "x" * 300],
        ["discover", "table.csv", "--target", tables.TARGET, "--out", "x" * 300],
    ],
    ids=lambda arguments: arguments[0],
)
def test_names_that_the_system_refuses(arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert "File name too long" in capsys.readouterr().err


def test_cells_with_ends_of_lines_are_quoted(folder: Path) -> None:
    body, heading = tables.with_column("note", ["a\rb", "a\nb", 'a"b', "a,b", "a\r\nb", "ab"])
    with (folder / "notes.csv").open("w", newline="") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([heading, *body])
    assert run(["predict", "model.newfound", "notes.csv"]) == 0
    with (folder / "notes-labels.csv").open(newline="") as stream:
        assert [row[:-3] for row in csv.reader(stream)] == [heading, *body]


def test_rows_without_a_class_where_the_model_is_unsure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    between = [["3.0", "0.0", "red", ""], *tables.rows(8)]
    tables.write(folder / "new.csv", between)
    proba = load("model.newfound").predict_proba(_columns(between))
    limit = (proba.max(axis=1)[0] + proba.max(axis=1)[1:].min()) / 2
    assert run(["predict", "model.newfound", "new.csv", "--abstain", f"{limit:.12f}"]) == 0
    _, found = tables.read(folder / "new-labels.csv")
    assert found[0][-3] == found[0][-1] == ""
    assert all(row[-3] and row[-1] for row in found[1:])
    assert "1 row without a class" in capsys.readouterr().out


def _columns(rows: tables.Rows) -> object:
    import pandas

    frame = pandas.DataFrame(rows, columns=tables.HEADING)
    return frame.astype({"size": float, "weight": float}).drop(columns=[tables.TARGET])


def test_rows_that_are_known_to_be_novel(folder: Path) -> None:
    assert run(["predict", "model.newfound", "truth.csv", "--only-novel"]) == 0
    _, found = tables.read(folder / "truth-labels.csv")
    assert {row[-3] for row in found} == {"novel_0", "novel_1"}
    assert all(row[-1] == "true" for row in found)
