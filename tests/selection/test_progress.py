from __future__ import annotations

import pytest

from newfound.selection.progress import SearchProgress


def test_nothing_is_shown_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    with SearchProgress(5, None) as progress:
        progress.begin(1, 0.5)
        progress.advance(2.5)
    assert capsys.readouterr().out == ""


def test_trials_the_best_score_and_the_time_left_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with SearchProgress(5, None, verbose=1) as progress:
        progress.begin(0, None)
        progress.advance(1.0)
        progress.begin(2, 0.51234)
    shown = capsys.readouterr().out
    assert "2/5 trials" in shown
    assert "best 0.512" in shown
    assert "left" in shown


def test_a_time_limit_bounds_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    with SearchProgress(5, 90.0, verbose=1) as progress:
        progress.begin(0, None)
    assert "0:01:30 left" in capsys.readouterr().out
