"""What the package shows: its version, and the examples in its docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import tomllib
from pathlib import Path

import pytest

import newfound
import newfound_lab

MODULES = sorted(module.name for module in pkgutil.walk_packages(newfound_lab.__path__, "newfound_lab."))


def test_both_packages_have_one_version() -> None:
    project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())["project"]
    assert project["version"] == newfound_lab.__version__ == newfound.__version__


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
