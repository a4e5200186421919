"""Points with whiskers beside a diagonal: estimates against the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from newfound.pictures.style import INK, MUTED_INK, NOVEL_COLOURS, panel_places, sheet, tidy, write_title


@dataclass(frozen=True)
class Estimate:
    """A true value, an estimate of it, and the ends of the interval around the estimate."""

    truth: float
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class EstimatePanel:
    """Axes with estimates, under a title."""

    title: str
    estimates: Sequence[Estimate]


def write_estimates(
    paths: Sequence[Path],
    panels: Sequence[EstimatePanel],
    *,
    title: str,
    x_label: str,
    y_label: str,
    limits: tuple[float, float],
    columns: int = 2,
) -> None:
    """Write panels of estimates against the truth; a point on the diagonal is right.

    Parameters
    ----------
    paths : sequence of Path
        Files to write, PNG or SVG.
    panels : sequence of EstimatePanel
        In reading order.
    title, x_label, y_label : str
    limits : tuple of float
        Both ends of both axes.
    columns : int, default=2
        Panels side by side.
    """
    lines = -(-len(panels) // columns)
    with sheet(paths, 0.7 + lines * 7.4 / columns) as figure:
        write_title(figure, title)
        for place, panel in zip(panel_places(figure, len(panels), columns), panels, strict=True):
            tidy(place, panel.title, grid="both")
            place.plot(limits, limits, color=MUTED_INK, linewidth=1, zorder=2)
            for estimate in panel.estimates:
                place.plot(
                    [estimate.truth] * 2,
                    [estimate.low, estimate.high],
                    color=NOVEL_COLOURS[1],
                    alpha=0.35,
                    linewidth=1.1,
                )
            x, y = ([getattr(estimate, name) for estimate in panel.estimates] for name in ("truth", "estimate"))
            place.plot(
                x, y, "o", color=NOVEL_COLOURS[1], markersize=4.5, markeredgecolor=INK, markeredgewidth=0.3, zorder=4
            )
            place.set(xlim=limits, ylim=limits, aspect="equal", xlabel=x_label, ylabel=y_label)
