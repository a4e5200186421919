"""Inputs that a stranger may bring: each ends in the right result, or in one clear line and exit code 2."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound.cli.app import run
from newfound.persistence import load, save
from tests.cli import tables
from tests.cli.tables import HEADING, TARGET, Rows, as_csv, check_found, rows, with_column, write
from tests.processes import interrupt_when

FILES = ["labels.csv", "model.newfound", "report.html", "run.json"]
Prepare = Callable[[Path], Rows | None]


def discover(table: str = "table.csv", *options: str, target: str = TARGET) -> list[str]:
    return ["discover", table, "--target", target, "--method", "kmeans", "--novel-classes", "2", *options]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
    return here


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A model file, made once."""
    place = tmp_path_factory.mktemp("model")
    write(place / "table.csv")
    assert run([*discover(str(place / "table.csv")), "--out", str(place / "out")]) == 0
    return (place / "out" / "model.newfound").read_bytes()


def everything(folder: Path) -> dict[str, bytes | str]:
    """All that lies in a folder, with what is in it."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    } | {f"{path.relative_to(folder)}/": "" for path in sorted(folder.rglob("*")) if path.is_dir()}


def check_refused(arguments: list[str], complaint: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(folder)
    capsys.readouterr()
    code = run(arguments)
    printed = capsys.readouterr()
    *notes, line = printed.err.splitlines()
    assert code == 2, printed.err
    assert line.startswith("newfound: ")
    assert complaint in line
    assert all(note.startswith("note: ") for note in notes)
    assert "Traceback" not in printed.err + printed.out
    assert everything(folder) == before


# ---- tables that are read; each is made by a function that may return the rows as the labels should have them


def encoded(encoding: str, delimiter: str = ",") -> Prepare:
    def prepare(folder: Path) -> None:
        text = as_csv(rows(), ["größe", *HEADING[1:]], delimiter)
        (folder / "table.csv").write_bytes(text.encode(encoding))

    return prepare


def compressed(folder: Path) -> None:
    (folder / "table.csv.gz").write_bytes(gzip.compress(as_csv(rows()).encode()))


def linked(folder: Path) -> None:
    write(folder / "real.csv")
    (folder / "table.csv").symlink_to("real.csv")


def added(folder: Path, name: str, cells: list[str], file: str = "table.csv") -> Rows:
    body, heading = with_column(name, cells)
    write(folder / file, body, heading)
    return body


def mixed_types(folder: Path) -> Rows:
    return added(folder, "mixed", [["12", "many", "", "3.5", "x", "7"][i % 6] for i in range(48)])


def marked(*marks: str) -> Prepare:
    """Unlabelled rows say so in words."""

    def prepare(folder: Path) -> Rows:
        body = rows()
        for i, row in enumerate(row for row in body if not row[-1]):
            row[-1] = marks[i % len(marks)]
        write(folder / "table.csv", body)
        return body

    return prepare


def numbered(folder: Path) -> None:
    codes = {"cat": "0", "dog": "1.0", "": "-1"}
    write(folder / "table.csv", [[*row[:-1], codes[row[-1]]] for row in rows()])


def dates(written: str) -> Prepare:
    def prepare(folder: Path) -> Rows:
        return added(folder, "seen", [written.format(day=1 + i % 28, month=1 + i % 12) for i in range(48)])

    return prepare


def huge_numbers(folder: Path) -> Rows:
    return added(folder, "grains", [f"{1 + i % 5}e150" for i in range(48)])


def many_columns(folder: Path, n_that_vary: int) -> None:
    noise = np.random.default_rng(0).integers(0, 2, (16, 10_000)) * (np.arange(10_000) < n_that_vary)
    body = [[*map(str, cells), *row] for cells, row in zip(noise.tolist(), rows(16), strict=True)]
    write(folder / "table.csv", body, [f"c{j}" for j in range(10_000)] + HEADING)


def non_ascii(folder: Path) -> Rows:
    return added(folder, "温度 °C", ["ヒョウ", "émeu"] * 24, "таблица.csv")


def quoted(folder: Path) -> Rows:
    return added(folder, "note", ['two\nlines, "quoted"', "semi; colon"] * 24)


def decimal_commas(folder: Path) -> Rows:
    body = [[row[0].replace(".", ","), row[1].replace(".", ","), *row[2:]] for row in rows()]
    write(folder / "table.csv", body, delimiter=";")
    return body


def blank_lines(folder: Path) -> None:
    lines = as_csv(rows()).splitlines()
    (folder / "table.csv").write_text("\r\n\r\n".join(["sep=,", *lines]) + "\r\n\r\n")


def missing_cells(folder: Path) -> Rows:
    body = rows()
    for i in range(0, 48, 8):
        body[i][0] = ["", "NA", "?"][i % 3]
    write(folder / "table.csv", body)
    return body


def json_lines(folder: Path) -> None:
    records = [dict(zip(HEADING, [float(row[0]), *row[1:3], row[3] or None], strict=True)) for row in rows()]
    (folder / "table.jsonl").write_text("\n".join(map(json.dumps, records)))


def parquet(folder: Path) -> None:
    _typed().to_parquet(folder / "table.parquet")


def feather(folder: Path) -> None:
    _typed().to_feather(folder / "table.feather")


def excel(folder: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(HEADING)
    for row in rows():
        sheet.append([float(row[0]), float(row[1]), row[2], row[3] or None])
    book.save(folder / "table.xlsx")


def _typed() -> Any:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows(), columns=HEADING)
    return frame.astype({"size": float, "weight": np.float32, TARGET: object}).replace({TARGET: {"": None}})


TYPED = (json_lines, parquet, feather, excel)  # which do not keep how a number was written


@pytest.mark.parametrize(
    ("prepare", "table"),
    [
        pytest.param(encoded("utf-16"), "table.csv", id="UTF-16"),
        pytest.param(encoded("utf-16-le", "\t"), "table.csv", id="UTF-16 without a mark, tabs"),
        pytest.param(encoded("utf-8-sig", ";"), "table.csv", id="BOM, semicolons"),
        pytest.param(encoded("cp1252", "|"), "table.csv", id="cp1252, pipes"),
        pytest.param(compressed, "table.csv.gz", id="gz"),
        pytest.param(linked, "table.csv", id="symlink"),
        pytest.param(mixed_types, "table.csv", id="mixed types"),
        pytest.param(marked("nan", "", "NaN", "None", "NA", "null"), "table.csv", id="target says nan"),
        pytest.param(dates("2024-{month:02}-{day:02}"), "table.csv", id="ISO dates"),
        pytest.param(dates("{day}.{month}.2024 7:05"), "table.csv", id="dates of other order"),
        pytest.param(huge_numbers, "table.csv", id="huge numbers"),
        pytest.param(non_ascii, "таблица.csv", id="non-ASCII names"),
        pytest.param(quoted, "table.csv", id="quoted line ends"),
        pytest.param(decimal_commas, "table.csv", id="decimal commas"),
        pytest.param(blank_lines, "table.csv", id="blank lines"),
        pytest.param(missing_cells, "table.csv", id="missing cells"),
        pytest.param(json_lines, "table.jsonl", id="JSON lines"),
        pytest.param(parquet, "table.parquet", id="Parquet"),
        pytest.param(feather, "table.feather", id="Feather"),
        pytest.param(excel, "table.xlsx", id="Excel"),
    ],
)
def test_a_table_that_is_read(folder: Path, prepare: Prepare, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = prepare(folder)
    before = everything(folder)
    assert run(discover(table, "--out", "out")) == 0, capsys.readouterr().err
    assert sorted(path.name for path in (folder / "out").iterdir()) == FILES
    assert {name: content for name, content in everything(folder).items() if not name.startswith("out")} == before
    printed = capsys.readouterr()
    assert "2 novel classes:" in printed.out
    assert "Traceback" not in printed.err
    delimiter = json.loads((folder / "out" / "run.json").read_text())["table"]["delimiter"] or ","
    check_found(folder / "out" / "labels.csv", expected, delimiter, exact=prepare not in TYPED)


@pytest.mark.parametrize("n_that_vary", [2, pytest.param(10_000, marks=pytest.mark.slow)])
def test_ten_thousand_columns(folder: Path, n_that_vary: int, capsys: pytest.CaptureFixture[str]) -> None:
    many_columns(folder, n_that_vary)
    assert run(discover("table.csv", "--out", "out")) == 0, capsys.readouterr().err
    heading, _ = tables.read(folder / "out" / "labels.csv")
    assert len(heading) == 10_000 + len(HEADING) + 4


def test_one_known_class_is_learned_from_with_a_warning(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = [row for i, row in enumerate(rows()) if i % 4 != 1]
    write(folder / "table.csv", body)
    assert run(["discover", "table.csv", "--target", TARGET, "-m", "whitened_kmeans", "-k", "2"]) == 0
    assert "note: column 'animal' has one class" in capsys.readouterr().err


def test_numbers_as_classes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbered(folder)
    assert run(discover()) == 0
    printed = capsys.readouterr()
    assert "note: rows with '-1' (24) in 'animal' are taken as unlabelled." in printed.err
    _, found = tables.read(folder / "newfound-table" / "labels.csv")
    assert {row[-4] for row in found} == {"0", "1", "novel_0", "novel_1"}


def test_a_class_may_sound_as_if_it_were_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marked("unknown")(folder)
    check_refused(discover(), "Every one of the 48 rows of table.csv has a label", folder, capsys)
    assert run(discover("table.csv", "--unlabelled", "unknown")) == 0
    body = [[*row[:-1], row[-1] or "unknown"] for row in rows()]
    check_found(folder / "newfound-table" / "labels.csv", body)


# ---- tables that are refused


def ragged(folder: Path) -> None:
    (folder / "table.csv").write_text(as_csv(rows()) + "1,2\n")


def unclosed(folder: Path) -> None:
    (folder / "table.csv").write_text(as_csv(rows()) + '1,2,red,"cat\n')


def overflowing(folder: Path) -> None:
    write(folder / "table.csv", *with_column("grains", ["1e999", *("7" for _ in range(47))]))


def twice(folder: Path) -> None:
    write(folder / "table.csv", heading=["size", "size", "colour", TARGET])


def labels(label: str) -> Prepare:
    def prepare(folder: Path) -> None:
        write(folder / "table.csv", [[*row[:-1], label] for row in rows()])

    return prepare


def text(content: str | bytes) -> Prepare:
    def prepare(folder: Path) -> None:
        (folder / "table.csv").write_bytes(content if isinstance(content, bytes) else content.encode())

    return prepare


def good(folder: Path) -> None:
    write(folder / "table.csv")


def cut_gzip(folder: Path) -> None:
    (folder / "table.csv").write_bytes(gzip.compress(as_csv(rows()).encode())[:-30])


def cut_parquet(folder: Path) -> None:
    parquet(folder)
    whole = (folder / "table.parquet").read_bytes()
    (folder / "table.csv").write_bytes(whole[: len(whole) // 2])
    (folder / "table.parquet").unlink()


def folder_instead(folder: Path) -> None:
    (folder / "table.csv").mkdir()
    (folder / "table.csv" / "part.csv").write_text("a\n1\n")


def broken_link(folder: Path) -> None:
    (folder / "table.csv").symlink_to("gone.csv")


def nothing(folder: Path) -> None:
    """There is no file."""


BINARY = bytes(range(256)) * 40


@pytest.mark.parametrize(
    ("prepare", "options", "complaint"),
    [
        pytest.param(good, ["--target", "animals"],
                     "Got --target animals, but table.csv has no such column; it has the columns 'size', 'weight', "
                     "'colour', 'animal'. Did you mean 'animal'?", id="wrong column"),
        pytest.param(good, ["--delimiter", ";"], "It was read with the delimiter ';'; try --delimiter comma.",
                     id="wrong delimiter"),
        pytest.param(good, ["--delimiter", "ab"], "Got --delimiter 'ab', but expected one", id="no delimiter"),
        pytest.param(good, ["--encoding", "utf-99"], "Got --encoding utf-99, but there is no such", id="no encoding"),
        pytest.param(encoded("cp1252"), ["--encoding", "utf-8"], "cannot be read as utf-8", id="wrong encoding"),
        pytest.param(good, ["--method", "k-means"], "Did you mean kmeans?", id="no method"),
        pytest.param(good, ["--novel-classes", "none"], "Got --novel-classes none, but expected a whole number",
                     id="no number"),
        pytest.param(good, ["--novel-classes", "25"], "there are only 24 unlabelled rows", id="too many classes"),
        pytest.param(good, ["--ignore", "sise"], "Got --ignore sise, but table.csv has no such column", id="ignore"),
        pytest.param(good, ["--kind", "size=nice"], "Got --kind size=nice, but expected COLUMN=KIND", id="no kind"),
        pytest.param(good, ["--kind", "colour=numeric"], "column 'colour' is used as numbers but holds text",
                     id="wrong kind"),
        pytest.param(good, ["--sheet", "one"], "is not an Excel file", id="sheet of CSV"),
        pytest.param(good, ["--seed", "-1"], "--seed", id="seed"),
        pytest.param(good, ["--time-limit", "9"], "only the method auto has a limit", id="time limit"),
        pytest.param(good, ["--settings", "table.csv"], "expected one that `newfound tune` wrote", id="settings"),
        pytest.param(nothing, [], "There is no file table.csv; check the name", id="no file"),
        pytest.param(text(""), [], "table.csv is empty", id="empty file"),
        pytest.param(text(" \n\n"), [], "table.csv is empty", id="blank file"),
        pytest.param(text("size,animal\n"), [], "has names of columns but no rows", id="header only"),
        pytest.param(text(BINARY), [], "table.csv is a binary file", id="binary file"),
        pytest.param(text(b"\x89PNG\r\n\x1a\n" + BINARY[::-1]), [], "table.csv is a binary file", id="picture"),
        pytest.param(text(b"PK\x03\x04" + BINARY), [], "is a zip archive, but not a whole Excel file", id="zip"),
        pytest.param(text(b"\xd0\xcf\x11\xe0" + BINARY), [], "save it as .xlsx or CSV", id="old Excel"),
        pytest.param(cut_gzip, [], "compressed by gzip, but cannot be unpacked", id="truncated gz"),
        pytest.param(cut_parquet, [], "is a broken Parquet file", id="truncated Parquet"),
        pytest.param(text('{"size": 1}\n{"size": }\n'), [], "table.csv, line 2 is not JSON", id="broken JSON"),
        pytest.param(text("1,2\n3,4\n5,6\n"), [], "The first line must hold the names of the columns.", id="no names"),
        pytest.param(twice, [], "table.csv has duplicate column names: column 'size'", id="duplicate columns"),
        pytest.param(labels(""), ["--method", "auto"], "No row of table.csv has a label in 'animal', and auto learns",
                     id="all labels missing"),
        pytest.param(labels("cat"), [], "Every one of the 48 rows of table.csv has a label in 'animal'",
                     id="no label missing"),
        pytest.param(text("size,animal\n1,\n"), [], "table.csv has 1 row", id="1 row"),
        pytest.param(good, ["--target", "size"], "expected classes, which repeat", id="measurements as target"),
        pytest.param(text("animal\ncat\n\n\"\"\n,\n"), [], "table.csv, line 5 has 2 cells", id="too many cells"),
        pytest.param(text("animal\ncat\nNA\n"), [], "has no column but column 'animal'", id="only the target"),
        pytest.param(ragged, [], "table.csv, line 50 has 2 cells, but the first line has 4, separated", id="ragged"),
        pytest.param(unclosed, [], "line 50: the row that begins here has a quote (\") that is never", id="quote"),
        pytest.param(overflowing, [], "in column 'grains'; the first in row 1. Correct or blank such cells, or leave "
                     "the column out: --ignore grains", id="numbers beyond all bounds"),
        pytest.param(folder_instead, [], "table.csv is a folder, but expected a file with a table; name a file in it, "
                     "such as table.csv/part.csv", id="directory instead of file"),
        pytest.param(broken_link, [], "is a link to gone.csv, where there is no file", id="broken link"),
        pytest.param(good, ["--out", "table.csv"], "Got --out table.csv, which is a file", id="output is a file"),
        pytest.param(good, ["--out", "table.csv/below"], "but table.csv is a file, not a folder",
                     id="unwritable output"),
        pytest.param(good, ["--out", "/proc/out"], "Cannot write to /proc/out", id="unwritable folder"),
    ],
)  # fmt: skip
def test_a_table_that_is_refused(
    folder: Path, prepare: Prepare, options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(folder)
    check_refused(discover("table.csv", *options), complaint, folder, capsys)


def test_what_is_there_is_replaced_only_by_force(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "table.csv")
    out = folder / "newfound-table"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    assert run(discover()) == 0  # there is nothing to replace
    (out / "labels.csv").write_text("edited")
    check_refused(discover(), "newfound-table has results already (labels.csv, model.newfound, report", folder, capsys)
    assert run([*discover(), "--force"]) == 0
    check_found(out / "labels.csv")
    assert sorted(path.name for path in out.iterdir()) == sorted([*FILES, "mine.txt"])


def test_a_full_disk_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    write(folder / "table.csv")
    monkeypatch.setattr("newfound.cli.tasks.write_labels", fail)
    check_refused(discover("table.csv", "--out", "deep/down/out"), "No space left on device", folder, capsys)


def test_a_mistake_of_ours_leaves_a_log_and_nothing_else(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("we did not think of this")

    write(folder / "table.csv")
    before = everything(folder)
    monkeypatch.setattr("newfound.cli.tasks.write_labels", fail)
    assert run(discover()) == 1
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "RuntimeError: we did not think of this" in line
    (log,) = (tmp_path / "cache").glob("error-*.log")
    assert str(log) in line
    assert "Traceback" in log.read_text()
    assert everything(folder) == before


# ---- models and other tables


def predict(table: str = "table.csv", *options: str) -> list[str]:
    return ["predict", "model.newfound", table, "--out", "labels.csv", *options]


def reordered(folder: Path) -> None:
    write(folder / "table.csv", [row[::-1] for row in rows(truth=True)], HEADING[::-1])


def extra(folder: Path) -> None:
    body, heading = with_column("more", ["x"] * 48)
    write(folder / "table.csv", body, heading)


def lacking(folder: Path) -> None:
    write(folder / "table.csv", [[row[0], row[2]] for row in rows()], ["Size", "colour"])


def other_types(folder: Path) -> None:
    body = [[f"{float(row[0]):.2e}", f"{float(row[1]):.0f}", row[2], row[3]] for row in rows()]
    write(folder / "table.csv", body)


def wrong_types(folder: Path) -> None:
    write(folder / "table.csv", [["large", *row[1:]] for row in rows()])


@pytest.mark.parametrize("prepare", [good, reordered, extra, other_types], ids=lambda prepare: prepare.__name__)
def test_a_table_that_is_predicted(folder: Path, model: bytes, prepare: Prepare) -> None:
    (folder / "model.newfound").write_bytes(model)
    prepare(folder)
    assert run(predict()) == 0
    heading, found = tables.read(folder / "labels.csv")
    assert heading[-3:] == ["class", "probability", "is_novel"]
    assert [row[-1] for row in found] == ["false", "false", "true", "true"] * 12


@pytest.mark.parametrize(
    ("prepare", "change", "options", "complaint"),
    [
        pytest.param(lacking, None, [], "table.csv lacks columns 'size', 'weight', seen at fit of KMeansDiscoverer. "
                     "Columns of similar names: for 'size', did you mean 'Size'?", id="table lacking a column"),
        pytest.param(wrong_types, None, [], "column 'size' is used as numbers but holds text such as 'large'",
                     id="different dtypes"),
        pytest.param(good, lambda content: content[: len(content) // 2], [], "Cannot load model.newfound", id="cut"),
        pytest.param(good, lambda content: content[:5], [], "Cannot load model.newfound", id="cut short"),
        pytest.param(good, lambda _: b"", [], "Cannot load model.newfound", id="empty model"),
        pytest.param(good, lambda _: as_csv(rows()).encode(), [], "Cannot load model.newfound", id="a table as model"),
        pytest.param(good, lambda content: content.replace(b'format_version\\":2', b'format_version\\":9'), [],
                     "version 9", id="model of another version"),
        pytest.param(good, None, ["--abstain", "2"], "Got --abstain 2, but expected a probability", id="abstain"),
        pytest.param(good, None, ["--out", "table.csv"], "table.csv is there already; add --force",
                     id="existing output"),
        pytest.param(good, None, ["--out", "."], "which is a folder; name a file in it", id="output is a folder"),
        pytest.param(good, None, ["--out", "no/such.csv"], "the folder no is not there", id="no folder"),
    ],
)  # fmt: skip
def test_a_prediction_that_is_refused(
    folder: Path,
    model: bytes,
    prepare: Prepare,
    change: Callable[[bytes], bytes] | None,
    options: list[str],
    complaint: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    changed = model if change is None else change(model)
    assert change is None or changed != model
    (folder / "model.newfound").write_bytes(changed)
    prepare(folder)
    check_refused(predict("table.csv", *options), complaint, folder, capsys)


@pytest.mark.parametrize(
    ("model_path", "complaint"),
    [("out", "is a folder, but expected a model file; did you mean out/model.newfound?"), ("gone", "Cannot load gone")],
)
def test_a_model_that_is_none(
    folder: Path, model: bytes, model_path: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / "table.csv")
    (folder / "out").mkdir()
    (folder / "out" / "model.newfound").write_bytes(model)
    check_refused(["predict", model_path, "table.csv"], complaint, folder, capsys)
    check_refused(["predict", "table.csv", "out/model.newfound"], "Cannot load table.csv", folder, capsys)
    check_refused(["predict", "out/model.newfound", "out/model.newfound"], "is a model file, but expec", folder, capsys)


# ---- Ctrl-C


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_ctrl_c_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the middle of a training, which would keep its best state and go on if it were not the command line's."""
    settings = {"method": "tabular_ncd", "settings": {"epochs": 100_000, "pretrain_epochs": 1}}
    (folder / "settings.json").write_text(json.dumps(settings))
    write(folder / "table.csv")
    before = everything(folder)
    codes: list[int] = []
    stages: list[str] = []
    monkeypatch.setattr("newfound.learning.progress.Progress.announce", lambda _, text: stages.append(text))
    command = ["discover", "table.csv", "-t", TARGET, "-k", "2", "--settings", "settings.json", "--out", "deep/out"]
    interrupt_when(lambda: any("/100000" in stage for stage in stages), lambda: codes.append(run(command)))
    assert codes == [130]
    assert everything(folder) == before
    assert "Traceback" not in capsys.readouterr().err


def test_models_can_be_loaded_by_the_library(folder: Path, model: bytes) -> None:
    (folder / "model.newfound").write_bytes(model)
    found = load(folder / "model.newfound")
    assert found.known_classes_.tolist() == tables.KNOWN
    save(found, folder / "again.newfound")
    assert (folder / "again.newfound").read_bytes() == model
