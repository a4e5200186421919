from __future__ import annotations

import pytest

from newfound.progress import ProgressBar, Step, watched_by


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def test_nothing_is_shown_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar(5, shown=False) as bar:
        bar.show("tuning", done=1, detail="best 0.5")
        bar.advance(2.5)
    assert capsys.readouterr() == ("", "")


def test_what_is_done_and_what_goes_on_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar(5, shown=True, unit="trials") as bar:
        bar.show("tuning", done=0)
        bar.advance()
        bar.show(done=2, detail="best 0.512 [b]of all[/b]")
    shown = capsys.readouterr().out
    for part in ("tuning", "2/5 trials", "left", "best 0.512 [b]of all[/b]"):
        assert part in shown
    assert "starting" not in shown


def test_a_time_limit_bounds_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar(5, shown=True, time_limit=90.0) as bar:
        bar.show("tuning")
    assert "0:01:30 left" in capsys.readouterr().out


def test_a_total_may_come_later(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar(None, shown=True, unit="files", stderr=True) as bar:
        bar.show(done=2)
    assert "2/? files" in capsys.readouterr().err
    with ProgressBar(None, shown=True, unit="files", stderr=True) as bar:
        bar.show(done=2, total=4)
        bar.say("one [b]failed[/b]")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "2/4 files" in shown.err
    assert "one [b]failed[/b]" in shown.err


def test_time_and_count_may_be_said_by_the_caller(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar(1.0, shown=True, time_text=lambda: "soon") as bar:
        bar.show(done=0.3, count="7 of 9 trials")
    assert "7 of 9 trials soon" in capsys.readouterr().out


def test_a_detail_is_cut_off_where_the_terminal_is_narrow(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    with ProgressBar(2, shown=True) as bar:
        bar.show("training", detail="loss " * 40)
        bar.advance(2)
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert "2/2" in line
    assert "…" in line


def test_the_bar_ends_with_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        with ProgressBar(3, shown=True):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        fail()
    with ProgressBar(3, shown=True) as bar:  # a bar that still ran would forbid another
        bar.advance(3)
    assert "3/3" in capsys.readouterr().out


def test_who_watches_is_told_and_nothing_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    seen = []

    def watch(step: Step) -> None:
        seen.append((step.text, step.done, step.total, step.record))

    with watched_by(watch):
        with ProgressBar(4, shown=True, start="begin") as bar:
            bar.show("work", done=1)
            bar.advance(2)
            bar.record({"epoch": 1})
        with ProgressBar(4, shown=False) as silent:
            silent.show("nothing")
    ProgressBar(4, shown=False).show("nobody watches")
    assert seen == [("begin", 0, 4, None), ("work", 1, 4, None), ("work", 3, 4, None), ("work", 3, 4, {"epoch": 1})]
    assert capsys.readouterr() == ("", "")
