"""Models of strangers: whatever their classes are called, names stay names."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import torch

import newfound as nf
from newfound import persistence
from newfound.cli.app import run
from tests.cli import tables

FORGED = "forged line"
KNOWN = [f"cat\n{FORGED}\x1b]0;title\x07", "=cmd|' /C calc'!A0"]
NOVEL = [f"@SUM(1)\r{FORGED}\u202e", f"\x9b31m\u2028{FORGED}\u2029\x85{FORGED}"]


@pytest.fixture
def stranger(folder: Path) -> Path:
    """The folder of the tables, with a model whose classes have hostile names."""
    model = nf.load("model.newfound")
    names = dict(zip(tables.KNOWN, KNOWN, strict=True))
    X, y = nf.read_table("table.csv", target=tables.TARGET)
    model = nf.KMeansDiscoverer(2, random_state=0).fit(X, [None if code is None else names[code] for code in y])
    model.rename(dict(zip(["novel_0", "novel_1"], NOVEL, strict=True)))
    nf.save(model, "stranger.newfound")
    return folder


COMMANDS = [
    ["info", "stranger.newfound"],
    ["predict", "stranger.newfound", "table.csv"],
    ["predict", "stranger.newfound", "table.csv", "--out", "-"],
    ["predict", "stranger.newfound", "table.csv", "--json"],
    ["update", "stranger.newfound", "truth.csv", "--out", "next.newfound"],
    ["suggest", "stranger.newfound", "table.csv", "-n", "4", "--merges"],
    ["explain", "stranger.newfound", "table.csv", "--html", "page.html", "--report", "report.html"],
    ["evaluate", "stranger.newfound", "truth.csv", "--target", tables.TARGET],
    ["to-labels", "stranger.newfound", "table.csv", "--target", tables.TARGET],
    ["rename", "stranger.newfound", "nothing=else"],
    ["merge", "stranger.newfound", "a", "b"],
]


def test_names_forge_no_line_and_steer_no_terminal(stranger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        run(command)
        printed = capsys.readouterr()
        text = printed.out + printed.err
        assert text.replace("\n", "").replace("\xa0", " ").isprintable(), command
        assert not any(line.strip().startswith(FORGED) for line in text.splitlines()), command
    for page in ("page.html", "report.html"):
        shown = (stranger / page).read_text(encoding="utf-8")
        assert FORGED in shown
        assert not set(shown) & {"\x1b", "\x07", "\x9b", "\x85", "\u202e"}


def test_what_is_told_of_a_table_is_safe_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = [KNOWN[0].replace("\x07", ""), KNOWN[1]]  # with it, the file is taken for a binary one
    names = dict(zip(tables.KNOWN, known, strict=True))
    tables.write(folder / "own.csv", [[*row[:3], names.get(row[3], "")] for row in tables.rows()])
    assert run(["discover", "own.csv", "--target", tables.TARGET, "-m", "kmeans", "-k", "2", "--out", "out"]) == 0
    assert not any(line.strip().startswith(FORGED) for line in capsys.readouterr().out.splitlines())
    spelled = (folder / "out" / "run.json").read_text(encoding="utf-8")
    assert spelled.replace("\n", "").isprintable()
    assert list(json.loads(spelled)["known_classes"]) == sorted(known)
    heading, rows = tables.read(folder / "out" / "labels.csv")
    assert {row[heading.index("class")] for row in rows} == {*known, "novel_0", "novel_1"}  # they are the user's own
    options = ["--out", "out", "--force", "--names", "safe"]
    assert run(["discover", "own.csv", "--target", tables.TARGET, "-m", "kmeans", "-k", "2", *options]) == 0
    assert "'=cmd|' /C calc'!A0" in {
        row[heading.index("class")] for row in tables.read(folder / "out" / "labels.csv")[1]
    }


COMMANDS_WITH_NAMES = [["predict"], ["predict", "--names", "exact"], ["update", "--out", "next.newfound"]]


@pytest.mark.parametrize("command", COMMANDS_WITH_NAMES)
def test_names_of_a_model_are_no_formulas(
    stranger: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    exact = "exact" in command
    assert run([command[0], "stranger.newfound", "table.csv", *command[1:]]) == 0
    assert ("--names exact writes names as they are" in capsys.readouterr().err) != exact
    with (stranger / "table-labels.csv").open(encoding="utf-8", newline="") as stream:
        heading, *rows = csv.reader(stream)
    written = {row[heading.index("class")] for row in rows} - {""}
    assert written == {*KNOWN, *NOVEL} if exact else not any(name.startswith(("=", "@")) for name in written)
    assert len(written) == 4


def test_labels_of_the_own_table_stay_as_they_are(stranger: Path) -> None:
    rows = [[*row[:3], KNOWN[1] if row[3] == tables.KNOWN[1] else ""] for row in tables.rows()]
    tables.write(stranger / "own.csv", rows)
    assert run(["to-labels", "stranger.newfound", "own.csv", "--target", tables.TARGET]) == 0
    labels = {row[3] for row in tables.read(stranger / "own-next.csv")[1]}
    assert KNOWN[1] in labels
    assert f"'@SUM(1) {FORGED} " in labels
    assert run(["to-labels", "stranger.newfound", "own.csv", "--target", tables.TARGET, "--names", "loud"]) == 2


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_a_model_from_a_gpu_is_worth_a_note(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    load = persistence.load

    def from_gpu(path: Path) -> object:
        persistence._device_here("cuda:1")
        return load(path)

    monkeypatch.setattr(persistence, "load", from_gpu)
    for command in (["info", "model.newfound"], ["predict", "model.newfound", "table.csv"]):
        assert run(command) == 0
        notes = capsys.readouterr().err.splitlines()
        assert notes == ["note: The model was saved with device='cuda:1', which is not here; it now has device='auto'."]
    assert run(["info", "model.newfound", "--json"]) == 0
    assert "saved with device" in json.loads(capsys.readouterr().out)["notes"][0]
