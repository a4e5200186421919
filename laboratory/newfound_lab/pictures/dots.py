"""Dots with whiskers in rows: means and standard deviations to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from newfound.pictures.style import MUTED_INK, panel_places, sheet, tidy, write_legend, write_title

_APART = 0.3  # between dots that share a row, in rows; just enough that none covers another


@dataclass(frozen=True)
class DotKind:
    """How dots of one meaning look.

    Parameters
    ----------
    name : str
        What the legend says.
    colour, marker : str
        As matplotlib knows them.
    hollow : bool
        Only the rim is drawn: for others' results.
    """

    name: str
    colour: str
    marker: str
    hollow: bool


@dataclass(frozen=True)
class Dot:
    """A mean and a standard deviation, in a row given by its number, looking as its kind says.

    ``ends`` are those of the whisker where it shows something else than the standard deviation.
    """

    row: int
    kind: str
    mean: float
    sd: float = 0.0
    ends: tuple[float, float] | None = None


@dataclass(frozen=True)
class DotPanel:
    """Axes with dots, under a title."""

    title: str
    dots: Sequence[Dot]


def write_dots(
    paths: Sequence[Path],
    panels: Sequence[DotPanel],
    rows: Sequence[str],
    kinds: Sequence[DotKind],
    *,
    title: str,
    x_label: str,
    columns: int,
    limits: tuple[float, float],
    zero: bool = False,
) -> None:
    """Write panels of dots that share their rows, with one legend below.

    Parameters
    ----------
    paths : sequence of Path
        Files to write, PNG or SVG.
    panels : sequence of DotPanel
        In reading order.
    rows : sequence of str
        Names of the rows, from the top.
    kinds : sequence of DotKind
        In the order of the legend, column by column, and of dots that share a row, from above; kinds that no dot has
        are left out.
    title, x_label : str
        Headline, and what is written below the axes.
    columns : int
        Panels side by side.
    limits : tuple of float
        Left and right end of every panel.
    zero : bool, default=False
        Whether a line marks zero.
    """
    looks = {kind.name: kind for kind in kinds}
    used = {dot.kind for panel in panels for dot in panel.dots}
    lines = -(-len(panels) // columns)
    with sheet(paths, 1.05 + lines * (0.42 + 0.27 * len(rows)) + 0.22 * (len(used) > 3)) as figure:
        from matplotlib.lines import Line2D

        write_title(figure, title)
        places = panel_places(figure, len(panels), columns, sharex=True, sharey=True)
        for i, (place, panel) in enumerate(zip(places, panels, strict=True)):
            _draw_panel(place, panel, rows, looks, zero=zero)
            # With shared axes, a panel above an empty place would have no numbers.
            place.tick_params(labelbottom=i + columns >= len(panels), labelleft=i % columns == 0)
        places[0].set(xlim=limits, ylim=(len(rows) - 0.5, -0.5))
        handles = [
            Line2D([], [], linestyle="none", **_mark(kind), label=kind.name) for kind in kinds if kind.name in used
        ]
        write_legend(figure, handles, columns=-(-len(handles) // 2) if len(handles) > 3 else 3, title=x_label)


def _draw_panel(place: Any, panel: DotPanel, rows: Sequence[str], looks: dict[str, DotKind], *, zero: bool) -> None:
    tidy(place, panel.title, grid="both")
    place.set_yticks(range(len(rows)), rows)
    place.tick_params(axis="y", length=0)
    if zero:
        place.axvline(0, color=MUTED_INK, linewidth=1, zorder=2)
    order = list(looks)
    for dot in panel.dots:
        kind = looks[dot.kind]
        mates = sorted(order.index(mate.kind) for mate in panel.dots if mate.row == dot.row)
        y = dot.row + _APART * (mates.index(order.index(dot.kind)) - (len(mates) - 1) / 2)
        ends = dot.ends or (dot.mean - dot.sd, dot.mean + dot.sd)
        place.plot(ends, [y, y], color=kind.colour, linewidth=1.1, zorder=3)
        place.plot([dot.mean], [y], linestyle="none", **_mark(kind), zorder=4)


def _mark(kind: DotKind) -> dict[str, Any]:
    return {
        "marker": kind.marker,
        "markersize": 5.5,
        "markerfacecolor": "white" if kind.hollow else kind.colour,
        "markeredgecolor": kind.colour,
        "markeredgewidth": 1.2,
    }
