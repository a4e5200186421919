from __future__ import annotations

import io
import json
import math
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from newfound.cli.output import Output, folded, printable
from newfound.errors import LABELS, TABLE, InputError, Message, TrainingInterrupted, warn_user
from newfound.tables.cells import kind_setting


@pytest.mark.parametrize(
    ("message", "translated"),
    [
        (Message(TABLE, " lacks column 'X'."), "a/table.csv lacks column 'X'."),
        (Message(LABELS, " has one class; y is a name."), "column 'kind' has one class; y is a name."),
        (Message("name it: ", kind_setting("zip", "date"), "."), "name it: --kind zip=date."),
    ],
)
def test_messages_of_the_library_are_put_into_the_words_of_the_user(message: str, translated: str) -> None:
    output = Output(as_json=True)
    with output.speaking_of(Path("a/table.csv"), "kind"):
        warn_user(message)
        warn_user(message)
        warnings.warn("of another library", RuntimeWarning, stacklevel=1)
    assert output.notes == [translated]
    with pytest.raises(InputError) as refused, output.speaking_of(Path("a/table.csv"), "kind"):
        raise InputError(message)
    assert str(refused.value) == translated


def test_an_interrupted_training_is_no_result() -> None:
    with pytest.raises(TrainingInterrupted), Output().speaking_of(Path("table.csv")):
        warn_user("kept the best state", TrainingInterrupted)


def test_names_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()
    output.say("a\x1b[31m\rred")
    output.table(("class",), [("[bold]b\x1b[2J",)])
    output.note("c\nd")
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err
    assert "\r" not in printed.out
    assert "[bold]b" in printed.out
    assert printed.err == "note: c d\n"
    assert printable("größe ✓") == "größe ✓"


def test_json_has_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    scores = {"a": np.float64("nan"), "b": [math.inf, np.float32(0.5)], "c": {np.int64(1): (Path("x"), None, True)}}
    Output(as_json=True).finish(scores)
    printed = json.loads(capsys.readouterr().out)
    assert printed == {"a": None, "b": [None, 0.5], "c": {"1": ["x", None, True]}, "notes": []}


def test_a_spinner_leaves_when_a_progress_bar_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    output = Output()
    assert output.shows_progress
    with output.busy("Looking"):
        print("the bar")
        print("goes on")
    shown = terminal.getvalue()
    assert shown.index("Looking") < shown.index("the bar") < shown.index("goes on")
    assert "Looking" not in shown[shown.index("the bar") :]


def test_progress_never_reaches_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    with Output(as_json=True).busy("Looking"):
        print("the bar")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "the bar\n")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("short", ["short"]),
        ("a sentence that does not fit", ["a sentence that", "does not fit"]),
        ("- a bullet that does not fit", ["- a bullet that", "  does not fit"]),
        ("  file  what it is good for", ["  file  what it is", "        good for"]),
        ("    far inside and too long", ["    far inside and", "    too long"]),
        ("aVeryLongNameOfSomeFile.csv", ["aVeryLongNameOfSomeFile.csv"]),
    ],
)
def test_lines_are_folded_between_words(line: str, shown: list[str]) -> None:
    assert folded(line, 19).split("\n") == shown


def test_only_a_terminal_gets_folded_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    long = "word " * 60 + "end"
    Output().say(long)
    assert capsys.readouterr().out == long + "\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    Output().say(long)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5
    assert max(map(len, lines)) <= 40
