from __future__ import annotations

import json
from pathlib import Path

import pytest

from newfound.cli.app import run
from newfound.cli.evaluate import Confusion, _print_confusion
from newfound.cli.output import Output
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
    assert sorted(scores["matching"].values()) == ["emu", "fox"]
    confusion = scores["confusion"]
    assert confusion["true"] == ["cat", "dog", "emu", "fox"]
    rows = dict(zip(confusion["true"], confusion["rows"], strict=True))
    assert sum(map(sum, confusion["rows"])) == 47
    assert rows["dog"][confusion["found"].index("cat")] == 1
    for found, true in scores["matching"].items():
        assert rows[true][confusion["found"].index(found)] == sum(rows[true])
    lines = [line.split() for line in printed.out.splitlines()]
    assert ["dog", "13", "1", "12", ".", "."] in lines
    sizes = {found: str(sum(rows[true])) for found, true in scores["matching"].items()}
    for found, true in scores["matching"].items():
        assert [found, true, sizes[found], "100.0", "%", "100.0", "%"] in lines


def test_many_classes_are_told_by_those_that_got_most(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    true, found = [f"c{i % 3}" for i in range(60)], [f"c{i % 20:02}" for i in range(60)]
    confusion = Confusion.of(true, found, sorted(set(found)))
    _print_confusion(confusion, Output())
    printed = capsys.readouterr().out
    assert [sum(row) for row in confusion.rows] == [20, 20, 20]
    assert "and 16 more classes" in " ".join(printed.split())


@pytest.mark.parametrize("width", [80, 120, 300])
def test_names_of_true_classes_are_readable_whatever_their_length(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    names = [f"a-class-with-a-long-name-{letter}" for letter in "abcdefgh"]
    confusion = Confusion.of(names * 2, [*names, *reversed(names)], names)
    _print_confusion(confusion, Output())
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    for name in names:
        assert sum(line.startswith(f" {name} ") for line in lines) == 1
    assert (" ".join(names) in " ".join(" ".join(lines).split())) == (width == 300)  # side by side where there is room


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
