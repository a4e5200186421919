from __future__ import annotations

from pathlib import Path

import pytest

from newfound import __version__
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
