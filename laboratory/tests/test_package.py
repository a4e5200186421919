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
    assert project["dependencies"] == [f"newfound[plot,data,tune]=={newfound.__version__}"]


@pytest.mark.parametrize("folder", [Path(__file__).parents[1], Path(__file__).parents[2]])
def test_a_source_archive_holds_nothing_of_the_other_package(folder: Path) -> None:
    hatch = tomllib.loads(folder.joinpath("pyproject.toml").read_text())["tool"]["hatch"]
    # without the slash a pattern holds in every folder, so that "tests" is also laboratory/tests
    assert all(pattern.startswith("/") for pattern in hatch["build"]["targets"]["sdist"]["include"])


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
