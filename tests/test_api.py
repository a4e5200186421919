"""What the package shows to its users: light imports, public names, signatures, docstrings and their examples."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import newfound
from newfound import registry
from tests.discoverers.conftest import keep_small_forests

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "newfound"
SOURCES = sorted(PACKAGE.rglob("*.py"))
ESTIMATORS = [
    newfound.TabularNCD,
    newfound.ClassifierProjection,
    newfound.KMeansDiscoverer,
    newfound.SpectralDiscoverer,
    newfound.PBN,
    newfound.WhitenedKMeans,
    newfound.NCDKMeans,
    newfound.NCDSpectral,
    newfound.AutoDiscoverer,
    newfound.InContextDiscoverer,
    newfound.TableEncoder,
]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(newfound.__path__, "newfound.")
    if not module.name.endswith("__main__")
)


def run(*command: str) -> str:
    """Run a command in a process of its own and return what it prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# ---- imports


def test_import_is_light() -> None:
    code = (
        "import sys, time; start = time.process_time(); import newfound; seconds = time.process_time() - start;"
        "heavy = {'torch', 'sklearn', 'numpy', 'scipy', 'pandas', 'narwhals', 'rich'} & set(sys.modules);"
        "print(seconds, *sorted(heavy))"
    )
    attempts = [run(sys.executable, "-c", code).split() for _ in range(3)]
    assert [heavy for _, *heavy in attempts] == [[], [], []]
    assert min(float(seconds) for seconds, *_ in attempts) < 0.3


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_optional_packages_are_imported_where_they_are_used(path: Path) -> None:
    imports = [node for node in ast.parse(path.read_text()).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {alias.name for node in imports for alias in node.names if isinstance(node, ast.Import)}
    names |= {node.module or "" for node in imports if isinstance(node, ast.ImportFrom)}
    rooms = {name.partition(".")[0] for name in names}
    assert not rooms & {"pandas", "polars", "pyarrow", "narwhals", "rich", "matplotlib", "onnx"}


@pytest.mark.parametrize("name", newfound.__all__)
def test_public_names_exist(name: str) -> None:
    assert getattr(newfound, name) is not None
    assert name in dir(newfound)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'TabularNCDs'"):
        _ = newfound.TabularNCDs


def test_star_import_gives_the_public_names() -> None:
    names: dict[str, Any] = {}
    exec("from newfound import *", names)
    assert set(newfound.__all__) <= set(names)


def test_lower_rooms_never_import_upper_ones() -> None:
    code = "from importlinter.cli import lint_imports_command as lint; lint(['--no-cache'])"
    assert "Lower rooms never import upper ones KEPT" in run(sys.executable, "-c", code)


# ---- signatures and docstrings


def test_signature_of_tabular_ncd() -> None:
    parameters = inspect.signature(newfound.TabularNCD).parameters
    names = "n_novel_classes top_k w1 w2 lr_classification lr_clustering k_neighbors dropout activation hidden_layers"
    names += " epochs pretrain_epochs batch_size n_members device random_state verbose"
    assert [name for name in parameters if name in names.split()] == names.split()
    fixed = {
        "n_novel_classes": "auto",
        "hidden_layers": None,
        "epochs": 30,
        "pretrain_epochs": 30,
        "batch_size": 512,
        "n_members": 1,
        "device": "auto",
        "random_state": None,
        "verbose": 0,
    }
    assert {name: parameters[name].default for name in fixed} == fixed
    kinds = [parameter.kind for parameter in parameters.values()]
    assert kinds[0] == inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert set(kinds[1:]) == {inspect.Parameter.KEYWORD_ONLY}


def documented_parameters(docstring: str) -> dict[str, str]:
    """The parameters that a numpydoc docstring describes, each with its line."""
    section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n?\w[\w ]*\n-+\n|\Z)", inspect.cleandoc(docstring), re.DOTALL)
    assert section is not None
    lines = [line for line in section[1].splitlines() if re.match(r"\w[\w, ]* : ", line)]
    return {name: line for line in lines for name in line.partition(" : ")[0].split(", ")}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_docstring_describes_the_parameters(estimator: type[Any]) -> None:
    parameters = inspect.signature(estimator).parameters
    described = documented_parameters(estimator.__doc__)
    assert list(described) == list(parameters)
    for name, line in described.items():
        stated = re.search(r"default=(.+)$", line)
        default = parameters[name].default
        if stated is None:
            assert line.endswith("optional")
            assert default is None
        else:
            assert stated[1].replace('"', "'") == repr(default)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_public_methods_have_docstrings_and_types(estimator: type[Any]) -> None:
    for name, method in inspect.getmembers(estimator, inspect.isfunction):
        if method.__module__.startswith("newfound") and not name.startswith("_"):
            assert inspect.getdoc(method), name
            assert "return" in method.__annotations__, name


# ---- examples


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "newfound.discoverers.auto":
        keep_small_forests(monkeypatch)
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))  # an example registers a discoverer
    module: ModuleType = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    for estimator in ESTIMATORS:
        assert any(test.examples for test in finder.find(estimator, estimator.__name__)), estimator.__name__
