"""The progress bar of everything that takes time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

_NOTEBOOK_WIDTH = 100  # characters
_SECONDS_BETWEEN_DRAWINGS = 0.2  # in a notebook, where each drawing is a message to the browser


@dataclass
class Step:
    """What a progress bar would show just now, for programs.

    Attributes
    ----------
    text : str
        What is going on.
    done : float
    total : float or None
        How much is done, and how much there is to do; None as long as that is not known.
    record : mapping or None
        Of an epoch that has just ended: its stage, number and losses.
    networks : callable or None
        Returns a copy of the networks that are being trained as they are now, where any are.
    """

    text: str
    done: float = 0.0
    total: float | None = None
    record: Mapping[str, Any] | None = None
    networks: Callable[[], Any] | None = None


Watcher = Callable[[Step], None]
"""Called at each step of a progress bar."""

_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Within this, progress bars that are asked for are not drawn: the watcher is told of their steps."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


class ProgressBar:
    """A bar with what is going on, how much is done, the time left and a detail; nothing unless asked for.

    Parameters
    ----------
    total : float or None
        How much there is to do; None as long as that is not known.
    shown : bool
        Whether there is a bar at all; without one, every method does nothing.
    unit : str, default=""
        What is counted, such as "trials".
    start : str, default="starting"
        What is going on at first.
    time_limit : float, optional
        Seconds after which the work ends, done or not.
    memory : float, default=30
        Seconds of the past that the speed is estimated from: more where a step takes minutes.
    time_text : callable, optional
        Says how much time is left, where somebody knows better than by the speed so far.
    stderr : bool, default=False
        Whether the bar goes to standard error.
    """

    def __init__(
        self,
        total: float | None,
        *,
        shown: bool,
        unit: str = "",
        start: str = "starting",
        time_limit: float | None = None,
        memory: float = 30.0,
        time_text: Callable[[], str] | None = None,
        stderr: bool = False,
    ) -> None:
        self._bar: Any = None
        self._watcher = _WATCHER.get() if shown else None
        self._step = Step(start, 0.0, total)
        if self._watcher is not None:
            self._watcher(self._step)
        elif shown:
            self._bar = _rich_bar(unit, time_text or time_limit, memory, stderr)
            self._task = self._bar.add_task(start, total=total, count="", detail="")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(
        self,
        text: str | None = None,
        *,
        done: float | None = None,
        total: float | None = None,
        count: str | None = None,
        detail: str | None = None,
    ) -> None:
        """Show what is going on, how much is done of how much, that in words, and a detail; what is None stays."""
        if self._bar is not None:
            said = {name: value for name, value in {"count": count, "detail": detail}.items() if value is not None}
            self._bar.update(self._task, description=text, completed=done, total=total, **said)
        given = {
            name: value for name, value in {"text": text, "done": done, "total": total}.items() if value is not None
        }
        self._tell(**given)

    def say(self, text: str) -> None:
        """Print a line that stays above the bar."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)

    def advance(self, amount: float = 1.0) -> None:
        """Show that some more is done."""
        if self._bar is not None:
            self._bar.update(self._task, advance=amount)
        self._tell(done=self._step.done + amount)

    def record(self, epoch: Mapping[str, Any]) -> None:
        """Tell who watches of an epoch: its stage, number and losses."""
        self._tell(record=epoch)

    def offer(self, networks: Callable[[], Any]) -> None:
        """Let who watches have a copy of the networks that are being trained."""
        self._step.networks = networks

    def _tell(self, **changed: Any) -> None:
        vars(self._step).update({"record": None, **changed})
        if self._watcher is not None:
            self._watcher(self._step)


def _rich_bar(unit: str, limit: Callable[[], str] | float | None, memory: float, stderr: bool) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
    from rich.table import Column
    from rich.text import Text

    class CountColumn(ProgressColumn):
        def render(self, task: Any) -> Text:
            total = "?" if task.total is None else f"{task.total:.0f}"
            return Text(task.fields["count"] or f"{task.completed:.0f}/{total} {unit}".rstrip())

    class TimeColumn(ProgressColumn):
        # drawn anew several times a second, so that it counts down during a long step
        def render(self, task: Any) -> Text:
            if callable(limit):
                return Text(limit())
            elapsed = task.elapsed or 0.0
            if task.finished:
                return Text(str(timedelta(seconds=int(task.finished_time or elapsed))))
            left = [] if task.time_remaining is None else [task.time_remaining]
            if limit is not None:
                left.append(max(0.0, limit - elapsed))
            return Text(f"{timedelta(seconds=math.ceil(min(left)))} left" if left else "-:--:-- left")

    class NotebookProgress(Progress):
        """Draws the bar as a text below the cell, which replaces itself; rich itself would need ipywidgets."""

        _drawn, _place = 0.0, None

        def start(self) -> None:
            from IPython.display import display

            self._place = display({"text/plain": self._text()}, raw=True, display_id=True)

        def update(self, *args: Any, **kwargs: Any) -> None:
            super().update(*args, **kwargs)
            if time.monotonic() >= self._drawn + _SECONDS_BETWEEN_DRAWINGS:
                self.refresh()

        def refresh(self) -> None:
            self._drawn = time.monotonic()
            if self._place is not None:  # once it has started
                self._place.update({"text/plain": self._text()}, raw=True)

        def stop(self) -> None:
            self.refresh()

        def _text(self) -> str:
            with self.console.capture() as drawn:
                self.console.print(self.get_renderable())
            return drawn.get().rstrip()

    console = Console(stderr=stderr)
    kind = Progress
    if console.is_jupyter:
        console, kind = Console(stderr=stderr, force_jupyter=False, width=_NOTEBOOK_WIDTH), NotebookProgress
    return kind(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        CountColumn(),
        TimeColumn(),
        # last and cut off where the terminal is narrow: it is the least of what is said
        TextColumn(
            "{task.fields[detail]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)
        ),
        console=console,
        expand=True,
        speed_estimate_period=memory,
    )
