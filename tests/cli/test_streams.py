"""Parquet that is read piece by piece: `discover` and `predict` find and write what they do in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from newfound import load
from newfound.cli.app import run
from newfound.tables.streams import source, summary
from tests.cli import tables
from tests.cli.tables import HEADING, TARGET

N = 400
KMEANS = ["--target", TARGET, "--method", "kmeans", "--novel-classes", "2"]


def written(path: Path, body: tables.Rows, heading: list[str] = HEADING, **labels: Any) -> Path:
    """Write rows as Parquet; numbers are numbers, and unlabelled cells are missing."""
    cells = {name: [row[place] for row in body] for place, name in enumerate(heading)} | labels
    numbers = {name: [float(cell) for cell in cells[name]] for name in ("size", "weight")}
    missing = {name: [cell or None for cell in cells[name]] for name in (TARGET, *labels)}
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(cells | numbers | missing), path)
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of a table in rows/, and the same as one file; batches are small."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(source, "BATCH_ROWS", 70)
    body = tables.rows(N)
    written(tmp_path / "whole.parquet", body)
    for place, start in enumerate(range(0, N, 150)):
        written(tmp_path / "rows" / f"{place}.parquet", body[start : start + 150])
    return tmp_path


def lines(text: str) -> list[str]:
    """What is printed, but for places and times."""
    return [line for line in text.splitlines()[1:] if not line.startswith(("Results in", "  "))]


@pytest.mark.parametrize("where", [["rows"], ["rows/*.parquet"], ["whole.parquet", "--stream"]])
def test_a_table_that_is_streamed_ends_as_one_in_memory(
    where: list[str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["discover", "whole.parquet", *KMEANS, "--out", "memory"]) == 0
    in_memory = capsys.readouterr().out
    assert run(["discover", *where, *KMEANS, "--out", "streamed"]) == 0
    streamed = capsys.readouterr().out
    assert lines(streamed) == lines(in_memory)
    assert f"{where[0]}: 400 rows, 3 columns; 200 rows of 2 known classes, 200 unlabelled." in streamed
    assert "  labels.parquet  the rows in order, with class, probability, is_novel and doubt" in streamed
    found, (heading, body) = pq.read_table("streamed/labels.parquet"), tables.read(here / "memory" / "labels.csv")
    assert found.column_names == heading
    assert found.drop_columns(heading[4:]).equals(pq.read_table("whole.parquet"))
    expected = dict(zip(heading, map(list, zip(*body, strict=True)), strict=True))
    assert found["class"].to_pylist() == expected["class"]
    assert [f"{share:.4f}" for share in found["probability"].to_pylist()] == expected["probability"]
    assert [str(novel).lower() for novel in found["is_novel"].to_pylist()] == expected["is_novel"]
    assert [doubt or "" for doubt in found["doubt"].to_pylist()] == expected["doubt"]
    first, second = (json.loads(Path(name, "run.json").read_text()) for name in ("memory", "streamed"))
    assert second["table"]["files"] == (1 if "--stream" in where else 3)
    for name in ("novel_classes", "known_classes", "unlabelled_rows_of_known_classes", "doubted_rows", "settings"):
        told = json.dumps(second[name]).replace("labels.parquet", "labels.csv")
        assert json.loads(told) == pytest.approx(first[name]) if name == "settings" else json.loads(told) == first[name]
    assert second["meanings"]["labels.parquet"] == first["meanings"]["labels.csv"]
    report = Path("streamed/report.html").read_text()
    assert "400 rows" in report
    assert "sample of" not in report
    np.testing.assert_array_equal(load("streamed/model.newfound").labels_, load("memory/model.newfound").labels_)


def test_the_report_explains_a_sample(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(summary, "SAMPLE_ROWS", 160)
    assert run(["discover", "rows", *KMEANS, "--out", "out"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    n_sample = len(load("out/model.newfound").labels_)
    assert n_sample < N
    assert f"what marks a class are those of a random sample of {n_sample} rows" in printed
    facts = json.loads(Path("out/run.json").read_text())
    assert facts["explained_rows"] == n_sample
    assert [class_["rows"] for class_ in facts["novel_classes"]] == [100, 100]
    assert [class_["share"] for class_ in facts["novel_classes"]] == [0.25, 0.25]
    report = Path("out/report.html").read_text()
    assert f"2 novel classes in a sample of {n_sample} rows" in report
    assert "The table has 400 rows. This report counts and explains a random sample of" in report
    assert "nf.read_table(&#x27;rows/0.parquet&#x27;" in report


def test_options_that_read_the_table_hold_for_streams(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = [[*row[:3], row[3] or "open"] for row in tables.rows(N)]
    extra = ["1" if place % 3 else "2" for place in range(N)]
    written(here / "marked" / "0.parquet", body, code=extra)
    options = ["--unlabelled", "Open", "--ignore", "colour", "--kind", "code=categorical", "--no-report"]
    assert run(["discover", "marked", *KMEANS, *options, "--out", "out"]) == 0
    assert "marked: 400 rows, 3 columns; 200 rows of 2 known classes, 200 unlabelled." in capsys.readouterr().out
    model = load("out/model.newfound")
    kinds = {column.name: column.kind for column in model.encoder_.schema_.columns}
    assert kinds == {"size": "numeric", "weight": "numeric", "colour": "ignored", "code": "categorical"}
    assert model.known_classes_.tolist() == tables.KNOWN
    assert not Path("out/report.html").exists()
    pq.write_table(pq.read_table("marked").drop_columns(["colour"]), "plain.parquet")
    assert run(["predict", "out/model.newfound", "plain.parquet", "--stream"]) == 0
    assert pq.read_table("plain-labels.parquet").column_names == [
        *HEADING[:2],
        TARGET,
        "code",
        "class",
        "probability",
        "is_novel",
    ]


def test_a_column_of_lists_can_be_left_out(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = pq.read_table("whole.parquet")
    (here / "lists").mkdir()
    pq.write_table(whole.append_column("tags", pa.array([["a", "b"]] * N)), "lists/0.parquet")
    assert run(["discover", "lists", *KMEANS, "--out", "out"]) == 2
    assert "nested cells are not supported: column 'tags'" in capsys.readouterr().err
    options = ["--ignore", "tags", "--kind", f"{TARGET}=categorical"]  # what is said of the labels has no effect
    assert run(["discover", "lists", *KMEANS, *options, "--out", "out"]) == 0
    assert pq.read_table("out/labels.parquet")["tags"].to_pylist() == [["a", "b"]] * N
    assert run(["discover", "whole.parquet", *KMEANS, "--out", "memory"]) == 0
    np.testing.assert_array_equal(load("out/model.newfound").labels_, load("memory/model.newfound").labels_)


def test_results_within_the_folder_of_a_table_are_not_read_with_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for _ in range(2):
        assert run(["discover", "rows", *KMEANS, "--no-report", "--out", "rows/found", "--force"]) == 0
        found.append(pq.read_table("rows/found/labels.parquet"))
    assert found[1].equals(found[0])
    assert (
        "1 file of classes that newfound wrote, such as rows/found/labels.parquet, not read" in capsys.readouterr().err
    )
    assert (
        run(["predict", "rows/found/model.newfound", "rows/found", "--out", "again.parquet"]) == 0
    )  # there is no other
    assert pq.read_table("again.parquet").num_rows == N


def test_labels_that_are_numbers_and_columns_of_our_names(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    codes = [{"cat": 7, "dog": 8, "": -1}[row[3]] for row in tables.rows(N)]
    table = pq.read_table("whole.parquet").drop_columns([TARGET])
    table = table.append_column("class", pa.array(codes)).append_column("doubt", pa.array(["x"] * N))
    (here / "numbers").mkdir()
    pq.write_table(table, "numbers/0.parquet")
    options = ["--target", "class", "--method", "kmeans", "--novel-classes", "2", "--out", "out"]
    assert run(["discover", "numbers", *options]) == 0
    printed = capsys.readouterr()
    assert "200 rows of 2 known classes, 200 unlabelled" in printed.out
    assert "the table has a column 'class', 'doubt' of its own, so ours are called newfound_class" in printed.err
    found = pq.read_table("out/labels.parquet")
    assert found["class"].to_pylist() == codes
    assert set(found["newfound_class"].to_pylist()) == {"7", "8", "novel_0", "novel_1"}


def test_predictions_of_a_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["discover", "rows", *KMEANS, "--no-report", "--out", "out"]) == 0
    assert run(["predict", "out/model.newfound", "whole.parquet", "--abstain", "0.6"]) == 0
    in_memory = capsys.readouterr().out.split("in memory", 1)[-1]
    assert run(["predict", "out/model.newfound", "rows/*.parquet", "--abstain", "0.6"]) == 0
    streamed = capsys.readouterr().out
    assert streamed.splitlines()[-1] == "Written to rows-labels.parquet"
    assert streamed.splitlines()[:-1] == in_memory.splitlines()[-len(streamed.splitlines()) : -1]
    found, (_, body) = pq.read_table("rows-labels.parquet"), tables.read(here / "whole-labels.csv")
    assert [name or "" for name in found["class"].to_pylist()] == [row[4] for row in body]
    assert [novel is None for novel in found["is_novel"].to_pylist()] == [not row[6] for row in body]
    assert run(["predict", "out/model.newfound", "rows", "--only-novel", "--out", "novel.parquet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["novel_rows"] == N
    assert set(pq.read_table("novel.parquet")["is_novel"].to_pylist()) == {True}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["discover", "rows", "--target", "aminal"], "Got --target aminal, but rows has no such column"),
        (["discover", "rows", *KMEANS, "--ignore", "x"], "Got --ignore x, but rows has no such column"),
        (["discover", "rows", *KMEANS, "--kind", "x=date"], "Got --kind x=date, but rows has no such column"),
        (["discover", "none/*.parquet", *KMEANS], "Got TABLE 'none/*.parquet', which names no file"),
        (["discover", "rows", "--target", "colour", "-m", "kmeans"], "Every one of the 400 rows of rows has a label"),
        (["discover", "rows", "--target", TARGET, "--time-limit", "9"], "Got --time-limit 9 for a table that is read"),
        (["discover", "rows", "--target", "size", "-m", "kmeans"], "different values such as"),
        (["discover", "whole.parquet", *KMEANS, "--max-memory", "3KB"], "piece by piece with --stream."),
        (["discover", "again", *KMEANS, "--out", "again", "--force"], "again/labels.parquet is a file of the table"),
        (
            ["discover", "empty", *KMEANS, "--stream"],
            "Got TABLE empty, which is a folder without a file that ends in .parquet",
        ),
        (["discover", "row*", *KMEANS], "Got TABLE 'row*', which matches folders only; add /*.parquet"),
        (["predict", "model.newfound", "whole.parquet", "--out", "x.parquet"], "ending .csv, or add --stream to have"),
        (
            ["discover", "again/labels.parquet", *KMEANS, "--stream", "-o", "again", "--force"],
            "so that nothing is lost",
        ),
        (["discover", "csv/labels.csv", *KMEANS, "--out", "csv", "--force"], "labels.csv is a file of the table"),
        (["predict", "model.newfound", "rows", "--out", "-"], "Got --out -, but the rows of a table that is read"),
        (["predict", "model.newfound", "rows", "--out", "rows/0.parquet", "--force"], "one of the files that are read"),
        (["predict", "model.newfound", "torn", "--out", "found.parquet"], "torn/0.parquet cannot be read as a Parquet"),
    ],
)
def test_mistakes_are_told_in_one_line_and_nothing_is_lost(
    arguments: list[str], problem: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["discover", "rows", *KMEANS, "--no-report", "--out", "out"]) == 0
    Path("out/model.newfound").rename("model.newfound")
    for folder in ("torn", "again", "empty", "csv"):
        (here / folder).mkdir()
    written(here / "again" / "labels.parquet", tables.rows(N))
    tables.write(here / "csv" / "labels.csv", tables.rows(N))
    Path("torn/0.parquet").write_bytes(Path("rows/0.parquet").read_bytes()[:-9])
    before = {path: path.read_bytes() for path in here.rglob("*.*") if path.is_file()}
    capsys.readouterr()
    assert run(arguments) == 2
    printed = capsys.readouterr().err
    assert problem in printed
    assert printed.count("\n") == 1
    assert {path: path.read_bytes() for path in here.rglob("*.*") if path.is_file()} == before


def test_too_many_different_labels_are_refused_early(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("newfound.cli.tasks._MOST_DISTINCT", 100)
    assert run(["discover", "rows", "--target", "size"]) == 2
    assert "Got --target size, but that column of rows holds more than 100 different values" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["discover", "predict"])
def test_a_full_disk_leaves_nothing_behind(
    command: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["discover", "rows", *KMEANS, "--no-report", "--out", "out"]) == 0
    capsys.readouterr()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    options = [*KMEANS, "--out", "new"] if command == "discover" else ["--out", "new.parquet"]
    model = [] if command == "discover" else ["out/model.newfound"]
    assert run([command, *model, "rows", *options]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert sorted(path.name for path in here.iterdir()) == ["out", "rows", "whole.parquet"]
