from __future__ import annotations

import json
from pathlib import Path

import pytest

from newfound.cli.app import run
from tests.cli.tables import TARGET
from tests.selection.test_one_class import one_mark


def test_a_discoverer_of_the_same_seed_finds_as_many(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["estimate", "table.csv", "--target", TARGET, "--seed", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    options = ["--method", "kmeans", "--seed", "3", "--json"]
    assert run(["discover", "table.csv", "--target", TARGET, *options]) == 0
    discovered = json.loads(capsys.readouterr().out)
    assert discovered["estimate"] == {"n_classes": found["n_classes"], "interval": found["interval"]}
    assert len(discovered["novel_classes"]) == found["n_classes"]


def test_what_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path.name for path in folder.iterdir())
    assert run(["estimate", "table.csv", "--target", TARGET, "--max-classes", "6", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [point["n_classes"] for point in found["curve"]] == [1, 2, 3, 4, 5, 6]
    assert run(["estimate", "table.csv", "--target", TARGET]) == 0
    assert "in 24 unlabelled rows" in capsys.readouterr().out
    assert sorted(path.name for path in folder.iterdir()) == before


def test_one_novel_class_is_doubted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = one_mark()
    X.assign(target=["" if code < 0 else f"class {code}" for code in y]).to_csv("marked.csv", index=False)
    assert run(["estimate", "marked.csv", "--target", "target"]) == 0
    assert "Doubt: the unlabelled rows as a whole look like one class, but column 'mark'" in capsys.readouterr().out
    assert run(["estimate", "marked.csv", "--target", "target", "--ignore", "mark", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_classes"] == 1
    assert found["doubts"][0].startswith("there may be more than one novel class")
