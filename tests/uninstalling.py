"""Tests of what happens where a package is not installed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder

import pytest


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
