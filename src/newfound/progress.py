"""The progress bar of everything that takes time."""

from __future__ import annotations

import math
from datetime import timedelta
from types import TracebackType
from typing import Any, Self


class ProgressBar:
    """A bar with what is going on, how much is done, the time left and a detail; nothing unless asked for.

    Parameters
    ----------
    total : float
        How much there is to do.
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
    """

    def __init__(
        self,
        total: float,
        *,
        shown: bool,
        unit: str = "",
        start: str = "starting",
        time_limit: float | None = None,
        memory: float = 30.0,
    ) -> None:
        self._bar: Any = None
        if shown:
            self._bar = _rich_bar(unit, time_limit, memory)
            self._task = self._bar.add_task(start, total=total, detail="")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, text: str | None = None, *, done: float | None = None, detail: str | None = None) -> None:
        """Show what is going on, how much is done in all, and a detail; what is None stays."""
        if self._bar is not None:
            fields = {} if detail is None else {"detail": detail}
            self._bar.update(self._task, description=text, completed=done, **fields)

    def advance(self, amount: float = 1.0) -> None:
        """Show that some more is done."""
        if self._bar is not None:
            self._bar.update(self._task, advance=amount)


def _rich_bar(unit: str, time_limit: float | None, memory: float) -> Any:
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
    from rich.table import Column
    from rich.text import Text

    class TimeColumn(ProgressColumn):
        def render(self, task: Any) -> Text:
            elapsed = task.elapsed or 0.0
            if task.finished:
                return Text(str(timedelta(seconds=int(task.finished_time or elapsed))))
            left = [] if task.time_remaining is None else [task.time_remaining]
            if time_limit is not None:
                left.append(max(0.0, time_limit - elapsed))
            return Text(f"{timedelta(seconds=math.ceil(min(left)))} left" if left else "-:--:-- left")

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn(" ".join(["{task.completed:.0f}/{task.total:.0f}", *([unit] if unit else [])])),
        TimeColumn(),
        # last and cut off where the terminal is narrow: it is the least of what is said
        TextColumn(
            "{task.fields[detail]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)
        ),
        expand=True,
        speed_estimate_period=memory,
    )
