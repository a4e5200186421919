"""`newfound to-labels`: the table of the next round."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from newfound import load
from newfound.cli.app import run
from newfound.tables.files import read_file
from tests.cli import tables

MODEL = "model.newfound"
COMMON = [MODEL, "table.csv", "--target", tables.TARGET]


def labels_of(text: str) -> list[str]:
    return [row[-1] for row in csv.reader(io.StringIO(text))][1:]


def test_rows_get_the_labels_of_the_library(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["to-labels", *COMMON]) == 0
    printed = capsys.readouterr().out
    assert "48 rows: 24 had a label, 24 got one, 0 stay unlabelled." in printed
    assert "Written to table-next.csv" in printed
    before, after = Path("table.csv").read_text(), Path("table-next.csv").read_text()
    table = pd.read_csv("table.csv")
    expected = load(MODEL).to_labels(table.drop(columns=tables.TARGET), table[tables.TARGET])
    assert labels_of(after) == expected.tolist()
    assert {"novel_0", "novel_1"} < set(expected)
    assert [line.rpartition(",")[0] for line in after.splitlines()] == [
        line.rpartition(",")[0] for line in before.splitlines()
    ]


def test_what_was_not_accepted_stays_unlabelled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["to-labels", *COMMON, "--accept", "novel_1", "--out", "next.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = labels_of(Path("next.csv").read_text())
    assert set(found) == {"cat", "dog", "novel_1", ""}
    n_new = found.count("novel_1")
    assert told == {
        "rows": 48,
        "labelled_before": 24,
        "new_labels": {"novel_1": n_new},
        "unlabelled": 24 - n_new,
        "file": "next.csv",
        "notes": told["notes"],
    }


def test_the_next_round_knows_what_was_accepted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rename", MODEL, "novel_0=emu", "--force"]) == 0
    assert run(["to-labels", *COMMON, "--accept", "emu"]) == 0
    assert run(["discover", "table-next.csv", "--target", tables.TARGET, "--method", "kmeans", "-k", "1"]) == 0
    assert load("newfound-table-next/model.newfound").known_classes_.tolist() == ["cat", "dog", "emu"]


def test_unsure_rows_stay_unlabelled(folder: Path) -> None:
    assert run(["to-labels", *COMMON, "--abstain", "1"]) == 0
    table = pd.read_csv("table.csv")
    expected = load(MODEL).to_labels(table.drop(columns=tables.TARGET), table[tables.TARGET], abstain=1)
    assert labels_of(Path("table-next.csv").read_text()) == ["" if label is None else label for label in expected]


def test_marks_of_unlabelled_rows_stay_as_they_are(folder: Path) -> None:
    text = Path("table.csv").read_text()
    Path("marked.csv").write_text("".join(f"{line}?\n" if line.endswith(",") else f"{line}\n" for line in text.split()))
    assert run(["to-labels", MODEL, "marked.csv", "--target", tables.TARGET, "--accept", "novel_1"]) == 0
    assert set(labels_of(Path("marked-next.csv").read_text())) == {"cat", "dog", "novel_1", "?"}


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".parquet", ".feather", ".xlsx"])
def test_the_format_stays(folder: Path, ending: str) -> None:
    table = pd.read_csv("table.csv")
    table.insert(1, "note", ["a, b", 'say "no"', "two\nlines", None] * 12)
    path = Path(f"other{ending}")
    write: dict[str, Any] = {
        ".csv": lambda: table.to_csv(path, index=False, sep=";"),
        ".csv.gz": lambda: table.to_csv(path, index=False),
        ".jsonl": lambda: table.to_json(path, orient="records", lines=True),
        ".parquet": lambda: table.to_parquet(path),
        ".feather": lambda: table.to_feather(path),
        ".xlsx": lambda: table.to_excel(path, index=False),
    }
    write[ending]()
    assert run(["to-labels", MODEL, str(path), "--target", tables.TARGET]) == 0
    before, after = read_file(path), read_file(Path(f"other-next{ending}"))
    assert (after.format, after.names, after.delimiter) == (before.format, before.names, before.delimiter)
    for name in before.names[:-1]:
        assert after.cells(name) == before.cells(name)
    given, labelled = before.cells(tables.TARGET), after.cells(tables.TARGET)
    assert all(new == old for old, new in zip(given, labelled, strict=True) if old)
    assert set(labelled) == {"cat", "dog", "novel_0", "novel_1"}
    assert (Path(f"other-next{ending}").read_bytes()[:2] == b"\x1f\x8b") == ending.endswith(".gz")


def test_row_numbers_of_pandas_stay_nameless(folder: Path) -> None:
    pd.read_csv("table.csv").to_csv("numbered.csv")
    assert run(["to-labels", MODEL, "numbered.csv", "--target", tables.TARGET]) == 0
    assert Path("numbered-next.csv").read_text().startswith(",size,")


def test_labels_that_are_numbers(folder: Path) -> None:
    table = pd.read_csv("table.csv")
    table[tables.TARGET] = table[tables.TARGET].map({"cat": 3, "dog": 4}).astype("Int64")
    table.to_parquet("numbers.parquet")
    options = ["--method", "kmeans", "-k", "2", "--out", "numbers"]
    assert run(["discover", "numbers.parquet", "--target", tables.TARGET, *options]) == 0
    assert run(["to-labels", "numbers/model.newfound", "numbers.parquet", "--target", tables.TARGET]) == 0
    assert set(pd.read_parquet("numbers-next.parquet")[tables.TARGET]) == {"3", "4", "novel_0", "novel_1"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([*COMMON, "--accept", "novel_7"], "no such class; its novel classes are novel_0, novel_1"),
        ([*COMMON, "--accept", "cat"], "Got --accept cat, which is a known class already"),
        ([*COMMON, "--abstain", "1.5"], "--abstain 1.5"),
        ([*COMMON, "--out", "next.parquet"], "name a file that ends in .csv"),
        ([*COMMON, "--out", "table.csv"], "table.csv is there already"),
        ([MODEL, "table.csv", "--target", "beast"], "no such column"),
        ([MODEL, "table.csv"], "Missing option '--target'"),
    ],
)
def test_mistakes(arguments: list[str], complaint: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path.name for path in folder.iterdir())
    assert run(["to-labels", *arguments]) == 2
    assert complaint in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_compressed_copy(folder: Path) -> None:
    assert run(["to-labels", *COMMON, "--out", "next.csv.gz"]) == 0
    assert run(["to-labels", *COMMON, "--out", "next.csv"]) == 0
    assert gzip.decompress(Path("next.csv.gz").read_bytes()) == Path("next.csv").read_bytes()
