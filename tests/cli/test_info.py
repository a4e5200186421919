from __future__ import annotations

import json
from pathlib import Path

import pytest

from newfound import KMeansDiscoverer, __version__, save
from newfound.cli.app import run


def shown(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    assert run(["info"]) == 0
    lines = capsys.readouterr().out.splitlines()
    return {name: value.strip() for name, _, value in (line.partition("  ") for line in lines)}


def test_versions_and_device(capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys)
    assert found["newfound"] == __version__
    assert found["torch"][0].isdigit()
    assert found["device"].startswith(("cpu (", "cuda ("))


def test_a_missing_package_is_said_to_be_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("newfound.cli.info._OPTIONAL", ("no-such-package",))
    assert shown(capsys)["no-such-package"] == "not installed"


def test_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NEWFOUND_DATA", str(tmp_path))
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
    found = shown(capsys)
    assert found["data folder"] == str(tmp_path)
    assert found["cache folder"] == f"{tmp_path / 'cache'} (not there yet)"


def test_a_data_folder_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEWFOUND_DATA", str(tmp_path / "gone"))
    assert "there is no such folder" in shown(capsys)["data folder"]
    monkeypatch.delenv("NEWFOUND_DATA")
    assert shown(capsys)["data folder"] == "not set (NEWFOUND_DATA)"


def test_what_a_model_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = KMeansDiscoverer(n_novel_classes=1).fit([[0.0, 1], [1.0, 0], [9.0, 1], [8.0, 0]], ["a", "b", None, None])
    save(model, tmp_path / "model.newfound")
    assert run(["info", str(tmp_path / "model.newfound")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "discoverer     KMeansDiscoverer" in lines
    assert "novel classes  novel_0" in lines
    assert "columns        x0 (numeric), x1 (boolean)" in lines
    assert run(["info", str(tmp_path / "model.newfound"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["known classes"] == ["a", "b"]
