from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from newfound import __version__
from newfound.cli import demo as demo_module
from newfound.cli import main
from newfound.cli.app import app, run
from newfound.cli.writing import new_folder
from newfound.errors import InputError, warn_user

START = "from newfound.cli import main; main()"


def test_help_answers_at_once() -> None:
    seconds = []
    for _ in range(3):
        before = os.times()
        done = subprocess.run([sys.executable, "-c", START, "--help"], capture_output=True, text=True, check=True)
        after = os.times()
        # what the process used, not what it waited for while others used the machine
        seconds.append(after.children_user + after.children_system - before.children_user - before.children_system)
    assert "demo" in done.stdout
    assert "info" in done.stdout
    assert min(seconds) < 0.3


def test_the_package_can_be_run() -> None:
    done = subprocess.run([sys.executable, "-m", "newfound", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith(__version__)


@pytest.mark.parametrize(
    "command", [[], ["bench"], ["bench", "run"], ["bench", "page"], ["discover"], ["predict"], ["merge"]]
)
def test_help_imports_nothing_heavy(command: list[str]) -> None:
    code = (
        f"import sys; from newfound.cli.app import run; run({[*command, '--help']});"
        "heavy = {'torch', 'sklearn', 'numpy', 'scipy', 'pandas', 'rich', 'matplotlib'} & set(sys.modules);"
        "print('heavy:', sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "heavy: []"


def commands_of(app: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, command in getattr(app, "commands", {}).items():
        yield from commands_of(command, (*path, name))


@pytest.mark.parametrize("command", list(commands_of(typer.main.get_command(app))))
def test_every_command_answers_to_h(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command, "-h"]) == 0
    short = capsys.readouterr().out
    assert run([*command, "--help"]) == 0
    assert short == capsys.readouterr().out
    assert short.startswith("Usage: ")


def test_a_program_complains_under_its_own_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", "--nothing"], name="newfound-lab") == 2
    assert capsys.readouterr().err.startswith("newfound-lab: ")


def test_main_leaves_with_the_exit_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["newfound", "--version"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    assert capsys.readouterr().out == f"newfound {__version__}\n"


@pytest.mark.parametrize(
    ("group", "commands"),
    [
        (
            [],
            [
                "discover",
                "predict",
                "evaluate",
                "explain",
                "estimate",
                "tune",
                "update",
                "suggest",
                "rename",
                "merge",
                "split",
                "to-labels",
                "serve",
                "demo",
                "info",
                "bench",
            ],
        ),
        (["bench"], ["run", "status", "list", "tables", "figures", "page", "benchmark", "research", "pretrain"]),
    ],
)
def test_help_names_every_command_in_full(
    group: list[str], commands: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*group, "--help"]) == 0
    shown = capsys.readouterr().out.partition("Commands:")[2]
    assert [line.split()[0] for line in shown.splitlines() if line] == commands
    assert "..." not in shown


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["demos"], "No such command 'demos'"),
        (["demo", "--seeds", "1"], "No such option"),
        (["demo", "--seed", "one"], "--seed"),
        (["demo", "--seed", "-1"], "--seed"),
    ],
)
def test_misspelt_commands_exit_with_2(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert complaint in capsys.readouterr().err


def test_a_users_mistake_is_one_line_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert run(["demo", "--out", str(tmp_path / "file" / "demo")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("newfound: Got --out ")
    assert printed.err.endswith("Choose another folder.\n")
    assert printed.err.count("\n") == 1


def test_a_mistake_of_ours_is_one_line_and_a_log_and_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(out: Path) -> None:
        raise RuntimeError("we did not think of this")

    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(demo_module, "_make_folder", fail)
    assert run(["demo", "--out", "here"]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith(
        "newfound: RuntimeError: we did not think of this. This is a mistake in newfound, not yours"
    )
    assert printed.count("\n") == 1
    log = Path(printed.split()[-1])
    assert log.parent == tmp_path / "cache"
    assert "newfound demo --out here" in log.read_text()
    assert "Traceback" in log.read_text()


def test_a_log_that_cannot_be_written_lies_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(out: Path) -> None:
        raise RuntimeError("we did not think of this")

    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(demo_module, "_make_folder", fail)
    assert run(["demo"]) == 1
    log = Path(capsys.readouterr().err.split()[-1])
    assert log.parent == tmp_path
    assert "Traceback" in log.read_text()


def test_ctrl_c_is_no_mistake(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(out: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_module, "_make_folder", interrupt)
    assert run(["demo"]) == 130
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="Windows ends programs otherwise")
def test_who_ends_a_command_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def end() -> None:
        with new_folder(tmp_path / "out", ["a"], force=False) as fresh:
            assert fresh.is_dir()
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("newfound.cli.app.run", end)
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with pytest.raises(SystemExit) as left:
            main()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert left.value.code == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_a_warning_that_no_command_takes_up_is_a_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def warn(out: Path) -> None:
        warn_user("a class is called \x1b[31m\nforged")
        warnings.warn("of another library", DeprecationWarning, stacklevel=1)
        raise InputError("enough")

    monkeypatch.setattr(demo_module, "_make_folder", warn)
    assert run(["demo"]) == 2
    assert capsys.readouterr().err == "note: a class is called  [31m forged\nnewfound: enough\n"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "There is not enough memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to"), "There is not enough memory"),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files. Allow more"),
        (OSError(errno.EIO, "Input/output error"), "The system refuses to go on: Input/output error"),
        (OSError(errno.ENOSPC, "No space left on device"), "Cannot write: No space left"),
    ],
)
def test_what_the_machine_lacks_is_no_mistake_of_ours(
    error: Exception, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(out: Path) -> None:
        raise error

    monkeypatch.setattr(demo_module, "_make_folder", fail)
    assert run(["demo"]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"newfound: {line}")
    assert printed.count("\n") == 1
