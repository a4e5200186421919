"""Bars over the number of classes, and what speaks for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.pictures.style import (
    FRAME,
    INK,
    KNOWN_COLOUR,
    NOVEL_COLOURS,
    series_styles,
    sheet,
    tidy,
    write_legend,
    write_title,
)

Floats = NDArray[np.float64]

_LINES = 7  # that can be told apart
_TICKS = 25


@dataclass(frozen=True)
class Criterion:
    """What a criterion adds to the log odds of each number of classes 1, 2, ...; shape (K,)."""

    name: str
    evidence: Floats


def draw_counts(
    paths: Sequence[Path],
    probabilities: Sequence[float],
    criteria: Sequence[Criterion],
    *,
    chosen: int,
    interval: tuple[int, int],
) -> Any:
    """Draw the probability of each number of classes, and below it the criteria.

    Parameters
    ----------
    paths : sequence of Path
        Files to write, PNG or SVG; there may be none.
    probabilities : sequence of float, length K
        Of 1, 2, ... classes.
    criteria : sequence of Criterion
        Those without a preference are left out; of many, those with the least say are added up.
    chosen : int
        The estimate: the median of the probabilities, so that a bar beside it may be higher.
    interval : tuple of int
        Its range.

    Returns
    -------
    matplotlib.figure.Figure
    """
    k = np.arange(1, len(probabilities) + 1)
    told = _loudest([criterion for criterion in criteria if np.ptp(criterion.evidence) > 0])
    low, high = interval
    with sheet(paths, 5.2 if told else 2.9) as figure:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch
        from matplotlib.ticker import FixedLocator, MaxNLocator

        likely = f", likely {low} to {high}" if low < high else ""
        write_title(figure, f"{chosen} novel {'class' if chosen == 1 else 'classes'}{likely}")
        places = figure.subplots(2 if told else 1, 1, sharex=True, squeeze=False, height_ratios=[2, 3] if told else [1])
        bars, *lines = places[:, 0]
        colours = [NOVEL_COLOURS[0] if n == chosen else KNOWN_COLOUR if low <= n <= high else FRAME for n in k]
        bars.bar(k, probabilities, color=colours, width=0.8)
        bars.set(ylabel="probability", xlim=(0.4, len(k) + 0.6))
        bars.xaxis.set_major_locator(FixedLocator(k.tolist()) if len(k) <= _TICKS else MaxNLocator(10, integer=True))
        tidy(bars, grid="y")
        handles: list[Any] = [Patch(color=NOVEL_COLOURS[0], label="estimate (median)")]
        if low < high:
            handles.append(Patch(color=KNOWN_COLOUR, label="likely range"))
        for place in lines:
            for criterion, style in zip(told, series_styles(len(told)), strict=True):
                look = {**style, "markersize": 4, "linewidth": 1.3, "markeredgecolor": "white", "markeredgewidth": 0.4}
                place.plot(k, criterion.evidence - criterion.evidence.max(), **look)
                handles.append(Line2D([], [], **look, label=criterion.name))
            place.axvline(chosen, color=INK, linewidth=0.8, linestyle=":", zorder=1)
            place.set(ylabel="log odds")
            tidy(place, "What speaks against each number of classes: weighted criteria, below their best", grid="both")
        places[-1, 0].set_xlabel("number of novel classes")
        write_legend(figure, handles, columns=6)
    return figure


def _loudest(criteria: Sequence[Criterion]) -> list[Criterion]:
    """Keep the order and add up those with the least say."""
    if len(criteria) <= _LINES:
        return list(criteria)
    order = np.argsort([-np.ptp(criterion.evidence) for criterion in criteria], kind="stable")
    rest = sum((criteria[i].evidence for i in order[_LINES - 1 :]), np.zeros_like(criteria[0].evidence))
    return [*(criteria[i] for i in sorted(order[: _LINES - 1])), Criterion("all others", rest)]
