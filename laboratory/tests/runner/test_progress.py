from __future__ import annotations

import io

import pytest

from laboratory.tests import fakes
from newfound_lab.runner import progress as module
from newfound_lab.runner.progress import BarProgress, LineProgress, TimeLeft, progress_for_terminal
from newfound_lab.runner.workers import Outcome


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_time_left_follows_what_was_observed() -> None:
    clock = Clock()
    left = TimeLeft([("a", 1.0), ("a", 2.0), ("b", 3.0)], jobs=1, clock=clock)
    assert left.seconds() is None
    assert left.share() == 0
    clock.now += 10
    left.ended("a", 1.0, 10.0)
    assert left.seconds() == pytest.approx(50)  # ten seconds for each unit, also of b
    clock.now += 15
    assert left.seconds() == pytest.approx(35)  # and it counts down
    clock.now += 5
    left.ended("a", 2.0, 20.0)
    clock.now += 1
    left.ended("b", 3.0, 1.0)  # far cheaper than its weight
    assert left.seconds() == 0
    assert left.share() == 1


def test_each_kind_has_its_own_rate() -> None:
    clock = Clock()
    left = TimeLeft([("a", 1.0), ("a", 1.0), ("b", 1.0), ("b", 1.0)], jobs=2, clock=clock)
    clock.now += 8
    left.ended("a", 1.0, 8.0)
    left.ended("b", 1.0, 2.0)
    assert left.seconds() == pytest.approx((8 + 2) / 2)
    clock.now += 100
    assert left.seconds() == 0  # late, and never negative


def test_processes_that_take_long_to_start_do_not_shorten_the_rest() -> None:
    clock = Clock()
    left = TimeLeft([("a", 1.0)] * 24, jobs=2, clock=clock)
    clock.now += 20
    left.ended("a", 1.0, 0.5)
    assert left.seconds() == pytest.approx(23 * 0.5 / 2)


def test_lines_for_logs(capsys: pytest.CaptureFixture[str]) -> None:
    left = TimeLeft([("kmeans", 1.0), ("kmeans", 9.0)], jobs=1, clock=Clock())
    shown = LineProgress()
    shown.start(3, 7, left)
    left.ended("kmeans", 1.0, 30.0)
    shown.ended([fakes.trial(0), fakes.trial(1)], Outcome([], seconds=30.0), 5)
    shown.ended([fakes.trial(5)], Outcome(error="no data"), 5)
    shown.stop()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "[5/7] main: digits, kmeans, default, inductive, 2 trials: 30.0 s; 4 min left",
        "[5/7] main: digits, kmeans, default, inductive, seed 5: failed: no data; 4 min left",
    ]


def test_a_bar_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    left = TimeLeft([("kmeans", 1.0), ("kmeans", 300.0)], jobs=1, clock=Clock())
    shown = progress_for_terminal()
    assert isinstance(shown, BarProgress)
    shown.start(0, 2, left)
    left.ended("kmeans", 1.0, 30.0)
    shown.ended([fakes.trial(0)], Outcome([], seconds=30.0), 1)
    shown.ended([fakes.trial(1)], Outcome(error="[no] data"), 1)
    shown.stop()
    drawn = terminal.getvalue()
    assert "0/2 trials time left not known yet" in drawn
    assert "1/2 trials 2 h 30 min left" in drawn
    assert "main: digits, kmeans, default, inductive, seed 1 failed: [no] data" in drawn


def test_no_bar_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert isinstance(progress_for_terminal(), LineProgress)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59.4, "59 s"), (61, "1 min"), (3600, "1 h 00 min"), (5400, "1 h 30 min")]
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert module._in_words(seconds) == words
