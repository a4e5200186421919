"""Dots over each parameter: how much the settings of a discoverer matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from newfound.pictures.style import (
    INK,
    KNOWN_COLOUR,
    NOVEL_COLOURS,
    panel_places,
    sheet,
    tidy,
    write_legend,
    write_title,
)

_COLUMNS = 3
_BESIDE = 0.1  # of the axis: how far left of the numbers the dots without one stand


@dataclass(frozen=True)
class Knob:
    """A parameter with the value it had in each trial.

    Parameters
    ----------
    name : str
    values : sequence
        Numbers, None, or names of options.
    log : bool, default=False
        Whether numbers grow by factors.
    """

    name: str
    values: Sequence[Any]
    log: bool = False


def draw_knobs(
    paths: Sequence[Path], knobs: Sequence[Knob], scores: Sequence[float], complete: Sequence[bool], *, title: str
) -> Any:
    """Draw the score of trials against each of their parameters.

    Parameters
    ----------
    paths : sequence of Path
        Files to write, PNG or SVG; there may be none.
    knobs : sequence of Knob
        In reading order.
    scores : sequence of float, length n_trials
        The first trial has the settings as they were given.
    complete : sequence of bool, length n_trials
        Whether a trial was scored on all splits; the others' scores are estimates.
    title : str
        Headline.

    Returns
    -------
    matplotlib.figure.Figure
    """
    height, done = np.asarray(scores, dtype=float), np.asarray(complete, dtype=bool)
    best = int(np.where(done, height, -np.inf).argmax())
    lines = -(-len(knobs) // _COLUMNS)
    with sheet(paths, 0.95 + 2.2 * lines) as figure:
        from matplotlib.lines import Line2D

        write_title(figure, title)
        for at, (place, knob) in enumerate(zip(panel_places(figure, len(knobs), _COLUMNS), knobs, strict=True)):
            across = _place_values(place, knob)
            for chosen, look in ((~done, _GIVEN_UP), (done, _COMPLETE)):
                place.plot(across[chosen], height[chosen], **look)
            place.plot(across[:1], height[:1], **_AS_GIVEN)
            place.plot(across[best], height[best], **_BEST)
            place.set(xlabel=knob.name, ylabel="" if at % _COLUMNS else "score on hidden classes")
            tidy(place, grid="y")
        names = [("scored on all splits", _COMPLETE), ("given up early (estimate)", _GIVEN_UP)]
        names += [("as given", _AS_GIVEN), ("best", _BEST)]
        shown = [(name, look) for name, look in names if look is not _GIVEN_UP or not done.all()]
        write_legend(figure, [Line2D([], [], **look, label=name) for name, look in shown], columns=4)
    return figure


def _place_values(place: Any, knob: Knob) -> Any:
    """Set up the axis of a parameter; returns where each value stands on it, shape (n_trials,)."""
    if all(value is None or _is_number(value) for value in knob.values) and any(map(_is_number, knob.values)):
        return _place_numbers(place, knob)
    names = [str(value) for value in knob.values]
    options = sorted(set(names))
    place.set_xticks(range(len(options)), options)
    place.set_xlim(-0.6, len(options) - 0.4)
    # side by side, so that trials of one option do not cover each other
    spread = np.random.RandomState(0).uniform(-0.25, 0.25, len(names))
    return np.array([options.index(name) for name in names]) + spread


def _place_numbers(place: Any, knob: Knob) -> Any:
    across = np.array([np.nan if value is None else value for value in knob.values], dtype=float)
    if knob.log:
        _grow_by_factors(place, float(np.nanmax(across) / np.nanmin(across)))
    else:
        place.locator_params(axis="x", nbins=5)
    missing = np.isnan(across)
    if missing.any():
        scale, back = (np.log, np.exp) if knob.log else (np.asarray, np.asarray)
        low, high = scale(np.nanmin(across)), scale(np.nanmax(across))
        beside = float(back(low - _BESIDE * (high - low or 1.0)))
        across[missing] = beside
        place.margins(x=0.1)
        place.annotate(
            "None",
            (beside, 0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            size=7,
            color=INK,
        )
    return across


def _grow_by_factors(place: Any, factor: float) -> None:
    """Make an axis logarithmic, with few enough plain numbers below it."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    place.set_xscale("log")
    place.xaxis.set_major_locator(
        LogLocator(subs=(1.0,) if factor > 30 else (1.0, 3.0) if factor > 6 else (1.0, 2.0, 5.0))
    )
    place.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    place.xaxis.set_minor_formatter(NullFormatter())


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


_DOT: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 4.5}
_COMPLETE = _DOT | {"color": NOVEL_COLOURS[1], "markeredgecolor": "white", "markeredgewidth": 0.4}
_GIVEN_UP = _DOT | {"markerfacecolor": "none", "markeredgecolor": KNOWN_COLOUR}
_AS_GIVEN = _DOT | {"marker": "D", "color": INK, "markersize": 5}
_BEST = _DOT | {
    "markerfacecolor": "none",
    "markeredgecolor": NOVEL_COLOURS[0],
    "markeredgewidth": 1.6,
    "markersize": 10,
}
