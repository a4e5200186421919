from __future__ import annotations

import math

import pytest

from newfound import deadline as module
from newfound.deadline import NEVER, Deadline


class Clock:
    """A machine on which others work: every second of work takes ``busy`` seconds."""

    def __init__(self, busy: float) -> None:
        self.busy, self.worked = busy, 5.0

    def monotonic(self) -> float:
        return 100.0 + self.busy * self.worked

    def thread_time(self) -> float:
        return self.worked


@pytest.fixture(params=[1.0, 3.0])
def clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(request.param)
    monkeypatch.setattr(module, "time", clock)
    return clock


def test_time_runs_out(clock: Clock) -> None:
    whole = Deadline.after(12.0)
    assert (whole.left, whole.passed, whole.is_set, whole.slowness) == (12.0, False, True, 1.0)
    clock.worked += 2.0
    assert whole.left == 12.0 - 2.0 * clock.busy
    assert whole.slowness == clock.busy
    assert whole.room == whole.left / clock.busy
    clock.worked += 12.0
    assert (whole.left, whole.room, whole.passed) == (0.0, 0.0, True)


def test_parts_are_of_what_is_left(clock: Clock) -> None:
    whole = Deadline.after(30.0)
    clock.worked += 2.0
    left = whole.left
    part = whole.part(0.5)
    assert part.left == left / 2
    assert part.slowness == whole.slowness
    assert part.part(0.5).left == left / 4
    assert whole.before(2.0).left == pytest.approx(left - 2.0 * clock.busy)


def test_a_pause_is_not_taken_for_a_slow_machine(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Deadline.after(1e6)
    clock.worked += 1.0
    monkeypatch.setattr(clock, "monotonic", lambda: 1e5)
    assert 1 < whole.slowness <= 16


def test_without_a_limit_there_is_no_end() -> None:
    for never in (NEVER, Deadline.after(None), NEVER.part(0.1), NEVER.before(1e9)):
        assert not never.is_set
        assert not never.passed
        assert never.left == never.room == math.inf
