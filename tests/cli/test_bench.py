"""`newfound bench` itself; what it hands over to is tested with the laboratory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import typer

from newfound.cli.app import run


@pytest.fixture
def laboratory(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], None]:
    """Install a laboratory with a command line of our own."""

    def install(app: Callable[..., Any]) -> None:
        module = ModuleType("newfound_lab.cli")
        vars(module)["app"] = app
        monkeypatch.setitem(sys.modules, "newfound_lab", ModuleType("newfound_lab"))
        monkeypatch.setitem(sys.modules, "newfound_lab.cli", module)

    return install


@pytest.mark.parametrize("arguments", [[], ["run", "--help"], ["--help"], ["run", "--out", "x", "-5", "--", "y"]])
def test_all_arguments_are_handed_over(arguments: list[str], laboratory: Callable[[Callable[..., Any]], None]) -> None:
    given: list[list[str]] = []
    laboratory(lambda args, **_: given.append(args))
    assert run(["bench", *arguments]) == 0
    assert given == [arguments]


def test_the_exit_code_is_the_laboratorys(laboratory: Callable[[Callable[..., Any]], None]) -> None:
    app = typer.Typer()

    @app.command()
    def leave(code: int) -> None:
        raise typer.Exit(code)

    laboratory(app)
    assert [run(["bench", str(code)]) for code in (0, 1, 2, 130)] == [0, 1, 2, 130]


def test_a_mistake_in_the_arguments_names_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("newfound_lab")
    assert run(["bench", "run", "--sweets", "3"]) == 2
    printed = capsys.readouterr().err
    assert printed.endswith("See: newfound bench run --help\n")
    assert printed.count("\n") == 1


def test_without_the_laboratory_one_line_says_how_to_install_it(
    uninstall: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "newfound_lab"]:
        monkeypatch.delitem(sys.modules, module)
    uninstall("newfound_lab")
    assert run(["bench", "run", "--suite", "paper"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "pip install newfound-lab" in printed.err
    assert printed.err.count("\n") == 1
