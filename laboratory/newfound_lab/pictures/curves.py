"""Curves with bands: how a score depends on a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.pictures.style import INK, panel_places, series_styles, sheet, tidy, write_legend, write_title

Floats = NDArray[np.float64]

_MARKED = 25  # points of a curve from which on only some carry its mark


@dataclass(frozen=True)
class Curve:
    """A line with a band around it.

    Parameters
    ----------
    name : str
        What the legend says.
    x, mean, sd : ndarray of shape (n,)
        In the order of x; the band is from ``mean - sd`` to ``mean + sd``.
    ring_at : float, optional
        Where on x the line gets a ring.
    """

    name: str
    x: Floats
    mean: Floats
    sd: Floats
    ring_at: float | None = None


@dataclass(frozen=True)
class CurvePanel:
    """Axes with curves.

    Parameters
    ----------
    title, x_label, y_label : str
        Written above, below and beside.
    curves : sequence of Curve
        Drawn one over the other.
    log : bool, default=False
        Whether x grows by factors.
    steps : bool, default=False
        Whether a value holds until the next x, rather than leading to it.
    limits : tuple of float, optional
        Bottom and top; as the curves need it unless told.
    """

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    log: bool = False
    steps: bool = False
    limits: tuple[float, float] | None = None


def write_curves(
    paths: Sequence[Path],
    panels: Sequence[CurvePanel],
    names: Sequence[str],
    *,
    title: str,
    columns: int = 2,
    ring_name: str = "",
) -> None:
    """Write panels of curves with one legend below.

    Parameters
    ----------
    paths : sequence of Path
        Files to write, PNG or SVG.
    panels : sequence of CurvePanel
        In reading order.
    names : sequence of str
        Names that curves may have. A name has the look of its place here, so that it looks the same in pictures which
        show some of the names only.
    title : str
        Headline.
    columns : int, default=2
        Panels side by side.
    ring_name : str, default=""
        What the rings mean.
    """
    styles = dict(zip(names, series_styles(len(names)), strict=True))
    drawn = [name for name in names if any(curve.name == name for panel in panels for curve in panel.curves)]
    lines = -(-len(panels) // columns)
    legend_columns = min(4, -(-(len(drawn) + bool(ring_name)) // 2)) if len(drawn) > 3 else len(drawn) + 1
    with sheet(paths, 0.95 + lines * (2.5 if columns > 1 else 3.4)) as figure:
        from matplotlib.lines import Line2D

        write_title(figure, title)
        for place, panel in zip(panel_places(figure, len(panels), columns), panels, strict=True):
            _draw_panel(place, panel, styles)
        handles = [Line2D([], [], **styles[name], markersize=5, label=name) for name in drawn]
        if ring_name:
            handles.append(Line2D([], [], **_ring(INK), label=ring_name))
        write_legend(figure, handles, columns=legend_columns)


def _draw_panel(place: Any, panel: CurvePanel, styles: dict[str, dict[str, Any]]) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

    if panel.log:
        place.set_xscale("log")
        place.xaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 4000]))
        place.xaxis.set_minor_locator(NullLocator())
        place.xaxis.set_major_formatter(ScalarFormatter())
    else:
        place.locator_params(axis="x", nbins=6)
    for curve in panel.curves:
        style = styles[curve.name]
        band = {"color": style["color"], "alpha": 0.13, "linewidth": 0, "step": "post" if panel.steps else None}
        place.fill_between(curve.x, curve.mean - curve.sd, curve.mean + curve.sd, **band)
        place.plot(
            curve.x,
            curve.mean,
            **style,
            drawstyle="steps-post" if panel.steps else "default",
            linewidth=1.4,
            markersize=4.5,
            markeredgecolor="white",
            markeredgewidth=0.4,
            markevery=-(-len(curve.x) // _MARKED),
            zorder=3,
        )
    for curve in panel.curves:  # over all lines
        if curve.ring_at is not None:
            scale = np.log if panel.log else np.asarray  # on the stroke as drawn
            y = np.interp(scale(curve.ring_at), scale(curve.x), curve.mean, left=np.nan, right=np.nan)
            place.plot([curve.ring_at], [y], **_ring(styles[curve.name]["color"]), zorder=4)
    place.set(xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.limits:
        place.set_ylim(*panel.limits)
    place.margins(x=0.02)
    tidy(place, panel.title, grid="both")


def _ring(colour: str) -> dict[str, Any]:
    return {
        "marker": "o",
        "linestyle": "none",
        "markersize": 9.5,
        "markerfacecolor": "none",
        "markeredgecolor": colour,
        "markeredgewidth": 1.4,
    }
