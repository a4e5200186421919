from __future__ import annotations

import json
from pathlib import Path

import pytest

from newfound.cli.app import run
from tests.cli.tables import TARGET


def test_novel_classes_in_the_words_of_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "model.newfound", "table.csv"]) == 0
    printed = capsys.readouterr()
    assert "novel_0" in printed.out
    assert "size is" in printed.out
    assert printed.out.splitlines()[-1] == "Rows are counted from 0: row 0 is the first below the heading."
    assert printed.err == ""


def test_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--html", "page.html", "--report", "report.html"]
    assert run(["explain", "model.newfound", "table.csv", *files, "--target", TARGET, "--json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    assert [class_["name"] for class_ in explained["classes"]] == ["novel_0", "novel_1"]
    for name in ("page.html", "report.html"):
        text = (folder / name).read_text(encoding="utf-8")
        assert text.lower().startswith("<!doctype html>")
        assert "novel_0" in text
    assert run(["explain", "model.newfound", "table.csv", *files]) == 2
    assert "page.html is there already; add --force to replace it, or name another file with --html." in (
        capsys.readouterr().err
    )
