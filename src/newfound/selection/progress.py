"""How far a search is, its best score, and the time left."""

from __future__ import annotations

import math
from datetime import timedelta
from types import TracebackType
from typing import Any


class SearchProgress:
    """A progress bar on request.

    Parameters
    ----------
    n_trials : int
        Trials in all.
    time_limit : float or None
        Seconds.
    verbose : int
        0 shows nothing.
    """

    def __init__(self, n_trials: int, time_limit: float | None, verbose: int = 0) -> None:
        self._bar: Any = None
        if verbose:
            self._bar = _rich_bar(time_limit)
            self._task = self._bar.add_task("preparing", total=n_trials, best="")

    def __enter__(self) -> SearchProgress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, n_done: int, best: float | None) -> None:
        """Show how many trials are done, and the best score so far."""
        if self._bar is not None:
            shown = "" if best is None else f"best {best:.3f}"
            self._bar.update(self._task, description="tuning", completed=n_done, best=shown)

    def advance(self, trials: float) -> None:
        """Show that some more of the work is done, in trials."""
        if self._bar is not None:
            self._bar.update(self._task, advance=trials)


def _rich_bar(time_limit: float | None) -> Any:
    from rich.progress import BarColumn, ProgressColumn, TextColumn
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    class LeftColumn(ProgressColumn):
        def render(self, task: Any) -> Text:
            seconds = [] if task.time_remaining is None else [task.time_remaining]
            if time_limit is not None:
                seconds.append(max(0.0, time_limit - (task.elapsed or 0.0)))
            return Text(f"{timedelta(seconds=math.ceil(min(seconds)))} left" if seconds else "time left not known yet")

    return RichProgress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:.0f}/{task.total} trials"),
        TextColumn("{task.fields[best]}"),
        LeftColumn(),
        speed_estimate_period=3600,  # a trial may take minutes
    )
