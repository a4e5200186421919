"""How far a benchmark is, and how long it will still take."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from newfound.progress import ProgressBar
from newfound_lab.runner.workers import Outcome
from newfound_lab.suites.trials import Trial

__all__ = ["BarProgress", "LineProgress", "RunProgress", "TimeLeft", "name_of", "progress_for_terminal"]


class TimeLeft:
    """Estimates the time left from rough costs, corrected by what was observed.

    Costs compare packs of one kind well and packs of two kinds badly, so each kind has its own rate once one of its
    packs has ended; until then it has that of all packs.

    Parameters
    ----------
    costs : iterable of (str, float)
        Kind (method and dataset) and relative cost of every pack.
    jobs : int
        How many packs are measured at a time.
    clock : function
        Says the time in seconds.

    Examples
    --------
    >>> now = 0.0
    >>> left = TimeLeft([("kmeans", 1.0), ("kmeans", 3.0)], jobs=1, clock=lambda: now)
    >>> left.seconds() is None
    True
    >>> now = 2.0
    >>> left.ended("kmeans", 1.0, seconds=2.0)
    >>> left.seconds(), left.share()
    (6.0, 0.25)
    """

    def __init__(
        self, costs: Iterable[tuple[str, float]], jobs: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ahead: defaultdict[str, float] = defaultdict(float)
        for kind, cost in costs:
            self._ahead[kind] += cost
        self._ended: defaultdict[str, float] = defaultdict(float)
        self._spent: defaultdict[str, float] = defaultdict(float)
        self._jobs = jobs
        self._clock = clock
        self._last = clock()  # when a pack ended

    def ended(self, kind: str, cost: float, seconds: float) -> None:
        """Take into account how long a pack took."""
        self._ahead[kind] -= cost
        self._ended[kind] += cost
        self._spent[kind] += seconds
        self._last = self._clock()

    def seconds(self) -> float | None:
        """Seconds left, or None before the first pack has ended."""
        ahead = self._seconds_ahead()
        if ahead is None:
            return None
        # since then, the packs being measured have taken time, and still count as ahead
        return max(ahead / self._jobs - (self._clock() - self._last), 0.0)

    def share(self) -> float:
        """Share of the work of the packs that have ended, from 0 to 1."""
        ahead, spent = self._seconds_ahead(), sum(self._spent.values())
        return 0.0 if ahead is None or not spent else spent / (spent + ahead)

    def _seconds_ahead(self) -> float | None:
        ended = sum(self._ended.values())
        if not ended:
            return None
        overall = sum(self._spent.values()) / ended
        return sum(
            max(cost, 0.0) * (self._spent[kind] / self._ended[kind] if self._ended[kind] else overall)
            for kind, cost in self._ahead.items()
        )


def name_of(pack: Sequence[Trial]) -> str:
    """Say in a few words what a pack measures.

    Examples
    --------
    >>> name_of([Trial("main", "digits", "kmeans", "default", "label-free", "inductive", seed) for seed in range(3)])
    'main: digits, kmeans, default, inductive, 3 trials'
    """
    first = pack[0]
    split = f"class split {first.class_split}" if first.class_split else ""
    parts = [first.dataset, first.method, first.variant, first.protocol, split]
    which = f"{len(pack)} trials" if len(pack) > 1 else f"seed {first.seed}"
    return f"{first.experiment}: {', '.join(part for part in (*parts, which) if part)}"


class RunProgress:
    """Shows nothing; what shows something overrides this."""

    def start(self, n_done: int, n_planned: int, left: TimeLeft) -> None:
        """Begin with so many trials done of those planned."""

    def ended(self, pack: Sequence[Trial], outcome: Outcome, n_done: int) -> None:
        """Show that a pack has ended, and how many trials are done now; ``left`` has taken it into account."""

    def stop(self) -> None:
        """Show nothing any more."""


class LineProgress(RunProgress):
    """One line on standard error for each pack, for logs."""

    def start(self, n_done: int, n_planned: int, left: TimeLeft) -> None:
        """Begin with so many trials done of those planned."""
        self._planned, self._left = n_planned, left

    def ended(self, pack: Sequence[Trial], outcome: Outcome, n_done: int) -> None:
        """Print a line."""
        how = f"failed: {outcome.error}" if outcome.error else f"{outcome.seconds:.1f} s"
        print(
            f"[{n_done}/{self._planned}] {name_of(pack)}: {how}; {_time_left(self._left)}",
            file=sys.stderr,
            flush=True,
        )


class BarProgress(RunProgress):
    """A bar with the time left on standard error, for terminals."""

    def start(self, n_done: int, n_planned: int, left: TimeLeft) -> None:
        """Draw the bar: it grows by work, and counts trials."""
        self._left, self._planned = left, n_planned
        self._bar = ProgressBar(1.0, shown=True, start="", time_text=lambda: _time_left(left), stderr=True)
        self._bar.show(count=self._count(n_done))
        self._bar.__enter__()

    def ended(self, pack: Sequence[Trial], outcome: Outcome, n_done: int) -> None:
        """Move the bar; a failure also stays above it."""
        if outcome.error:
            self._bar.say(f"{name_of(pack)} failed: {outcome.error}")
        self._bar.show(done=self._left.share(), count=self._count(n_done), detail=f"last {name_of(pack)}")

    def stop(self) -> None:
        """Leave the bar as it is."""
        self._bar.__exit__(None, None, None)

    def _count(self, n_done: int) -> str:
        return f"{n_done}/{self._planned} trials"


def progress_for_terminal() -> RunProgress:
    """Choose a bar where standard error is a terminal, else lines."""
    return BarProgress() if sys.stderr.isatty() else LineProgress()


def _time_left(left: TimeLeft) -> str:
    seconds = left.seconds()
    return "time left not known yet" if seconds is None else f"{_in_words(seconds)} left"


def _in_words(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
