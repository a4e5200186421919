from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from pathlib import Path

import pytest

DATA = os.environ.get("NEWFOUND_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="NEWFOUND_DATA does not name the folder with the benchmark files")


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that NEWFOUND_DATA names; the cache is empty too."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("NEWFOUND_DATA", str(folder))
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def sha256() -> Callable[[Path], str]:
    return lambda path: hashlib.sha256(path.read_bytes()).hexdigest()


class _Refuse(MetaPathFinder):
    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname == self.package:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


@pytest.fixture
def uninstall(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make a package impossible to import; a plain None in sys.modules would trip scikit-learn's own look-up."""

    def hide(package: str) -> None:
        monkeypatch.delitem(sys.modules, package, raising=False)
        monkeypatch.setattr(sys, "meta_path", [_Refuse(package), *sys.meta_path])

    return hide
