from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from newfound import __version__
from newfound.cli import demo as demo_module
from newfound.cli import main
from newfound.cli.app import run

START = "from newfound.cli import main; main()"


def test_help_answers_at_once() -> None:
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", START, "--help"], capture_output=True, text=True, check=True)
        seconds.append(time.perf_counter() - start)
    assert "demo" in done.stdout
    assert "info" in done.stdout
    # the fastest of five: others may be using this machine as well
    assert min(seconds) < 0.3


@pytest.mark.parametrize("command", [[], ["bench"], ["bench", "run"], ["bench", "page"]])
def test_help_imports_nothing_heavy(command: list[str]) -> None:
    code = (
        f"import sys; from newfound.cli.app import run; run({[*command, '--help']});"
        "heavy = {'torch', 'sklearn', 'numpy', 'scipy', 'pandas', 'rich', 'matplotlib'} & set(sys.modules);"
        "print('heavy:', sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "heavy: []"


def test_main_leaves_with_the_exit_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["newfound", "--version"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    assert capsys.readouterr().out == f"newfound {__version__}\n"


@pytest.mark.parametrize(
    ("group", "commands"),
    [
        ([], ["demo", "info", "bench"]),
        (["bench"], ["run", "status", "list", "tables", "figures", "page"]),
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


def test_a_mistake_of_ours_has_a_traceback_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(out: Path) -> None:
        raise RuntimeError("we did not think of this")

    monkeypatch.setattr(demo_module, "_make_folder", fail)
    assert run(["demo"]) == 1
    printed = capsys.readouterr().err
    assert "Traceback" in printed
    assert "we did not think of this" in printed
    assert printed.splitlines()[-1].endswith("please report it.")


def test_ctrl_c_is_no_mistake(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(out: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_module, "_make_folder", interrupt)
    assert run(["demo"]) == 130
    assert "Traceback" not in capsys.readouterr().err
