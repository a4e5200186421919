from __future__ import annotations

from pathlib import Path

import pytest

from newfound.cli.app import run
from tests.cli import tables


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with table.csv, truth.csv, and the results of a discovery in out; not to be changed."""
    place = tmp_path_factory.mktemp("results")
    table = tables.write(place / "table.csv")
    tables.write(place / "truth.csv", tables.rows(truth=True, seed=1))
    options = ["--target", tables.TARGET, "--method", "kmeans", "--novel-classes", "2", "--out", str(place / "out")]
    assert run(["discover", str(table), *options]) == 0
    return place


@pytest.fixture
def folder(tmp_path: Path, results: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder to work in, with a copy of the tables and of the model."""
    here = tmp_path / "here"
    here.mkdir()
    for path in (results / "table.csv", results / "truth.csv", results / "out" / "model.newfound"):
        (here / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(here)
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
    return here
