"""The latent space on paper: rows as points, known classes muted, novel classes vivid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError, MissingExtraError

Floats = NDArray[np.float64]

INK = "#22303c"
MUTED_INK = "#5d6d7c"
KNOWN_COLOUR = "#8d9dad"
KNOWN_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
# Okabe and Ito's colours, which people with any colour vision can tell apart; neighbours in this order differ most.
NOVEL_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
NOVEL_MARKERS = ("o", "s", "^", "D")

_WIDTH_INCHES, _DPI = 8.0, 200
_LEGEND_COLUMNS = 5
_TAG_RISE = 8  # points between the rows of a class and the middle of its tag
_PLACES = 90  # along each side of a panel, where a tag may be moved to


@dataclass(frozen=True)
class DrawnClass:
    """A class and its rows in the picture.

    Parameters
    ----------
    name : str
        What the legend says.
    tag : str
        A shorter name, written where the class lies.
    rows : ndarray of shape (n,), bool
        Rows of this class.
    novel : bool
        Whether it was discovered; known classes are drawn behind, muted.
    """

    name: str
    tag: str
    rows: NDArray[np.bool_]
    novel: bool


@dataclass(frozen=True)
class Panel:
    """One map of the rows.

    Parameters
    ----------
    title, note : str
        Headline and the smaller line below it.
    positions : ndarray of shape (n, 2)
        Where each row lies.
    """

    title: str
    note: str
    positions: Floats


def map_to_plane(rows: Floats, *, random_state: int) -> Floats:
    """Lay rows out in the plane by t-SNE, so that neighbours stay neighbours; (n, d) to (n, 2)."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, max(1.0, (len(rows) - 1) / 3))
    positions: Floats = TSNE(perplexity=perplexity, init="pca", random_state=random_state).fit_transform(rows)
    return positions


def write_latent_picture(
    path: Path,
    panels: Sequence[Panel],
    classes: Sequence[DrawnClass],
    *,
    title: str,
    footnote: str = "",
    ringed: NDArray[np.bool_] | None = None,
    ringed_name: str = "",
) -> None:
    """Write panels side by side, with one legend, as a PNG file.

    Parameters
    ----------
    path : Path
        The file; its folder must exist.
    panels : sequence of Panel
        All over the same n rows.
    classes : sequence of DrawnClass
        In the order of the legend.
    title, footnote : str
        Lines above and below everything.
    ringed : ndarray of shape (n,), bool, optional
        Rows to draw with a dark ring, explained in the legend as ``ringed_name``.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    InputError
        If the file cannot be written.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("Pictures need matplotlib; run: pip install 'newfound[plot]'") from error
    # Figure itself rather than pyplot: no window system, and no global state of the user's is touched.
    n_lines = _legend_lines(classes) + (ringed is not None)
    height = 4.75 + 0.2 * n_lines
    figure = Figure(figsize=(_WIDTH_INCHES, height), dpi=_DPI, facecolor="white")
    FigureCanvasAgg(figure)
    bottom = (0.2 + 0.2 * n_lines) / height
    figure.text(0.02, 1 - 0.13 / height, title, size=13, weight="bold", color=INK, va="top")
    places = figure.subplots(1, len(panels), squeeze=False)[0]
    figure.subplots_adjust(left=0.02, right=0.98, bottom=bottom, top=1 - 0.87 / height, wspace=0.04)
    for place, panel in zip(places, panels, strict=True):
        _draw_panel(place, panel, classes, ringed)
    _draw_legend(figure, classes, ringed_name if ringed is not None else "", top=bottom - 0.06 / height)
    if footnote:
        figure.text(0.98, 0.1 / height, footnote, size=7.5, color=MUTED_INK, ha="right", va="bottom")
    try:
        figure.savefig(path)
    except OSError as error:
        raise InputError(f"The picture cannot be written to {path}: {error.strerror}. Choose another folder.") from None


def _styles(classes: Sequence[DrawnClass]) -> list[dict[str, Any]]:
    """How to draw the points of each class."""
    known = ({"marker": marker, "color": KNOWN_COLOUR} for marker in itertools.cycle(KNOWN_MARKERS))
    novel = (
        {"marker": marker, "color": colour}
        for marker, colour in itertools.cycle(itertools.product(NOVEL_MARKERS, NOVEL_COLOURS))
    )
    return [
        {**next(novel), "s": 22, "linewidths": 0.4, "edgecolors": "white", "zorder": 3}
        if drawn.novel
        else {**next(known), "s": 13, "linewidths": 0, "alpha": 0.55, "zorder": 2}
        for drawn in classes
    ]


def _draw_panel(place: Any, panel: Panel, classes: Sequence[DrawnClass], ringed: NDArray[np.bool_] | None) -> None:
    place.set(xticks=[], yticks=[])
    place.set_facecolor("#f7f9fb")
    for spine in place.spines.values():
        spine.set_color("#d5dde4")
    place.set_title(panel.title, loc="left", size=10.5, weight="bold", color=INK, pad=20)
    place.text(0, 1.02, panel.note, transform=place.transAxes, size=8.5, color=INK, va="bottom")
    for drawn, style in zip(classes, _styles(classes), strict=True):
        place.scatter(*panel.positions[drawn.rows].T, **style)
    if ringed is not None:
        place.scatter(*panel.positions[ringed].T, s=34, facecolors="none", edgecolors=INK, linewidths=0.9, zorder=4)
    place.margins(0.06)
    _write_tags(place, panel.positions, classes)


def _write_tags(place: Any, positions: Floats, classes: Sequence[DrawnClass]) -> None:
    """Write each class's tag above the bulk of its rows, moved apart where tags would cover each other."""
    from matplotlib.patheffects import withStroke

    filled = [(drawn, style) for drawn, style in zip(classes, _styles(classes), strict=True) if drawn.rows.any()]
    tags = [
        place.annotate(
            drawn.tag,
            _top_of_bulk(positions[drawn.rows]),
            xytext=(0, _TAG_RISE),
            textcoords="offset points",
            size=9.5,
            weight="bold",
            color=style["color"] if drawn.novel else MUTED_INK,
            ha="center",
            va="center",
            zorder=5,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
        for drawn, style in filled
    ]
    renderer = place.figure.canvas.get_renderer()
    boxes = np.array([tag.get_window_extent(renderer).extents for tag in tags]).reshape(-1, 4)
    centres, sizes = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2] + 6
    points_a_pixel = 72 / place.figure.dpi
    moves = moved_apart(centres, sizes, within=place.get_window_extent(renderer).extents) - centres
    for tag, move in zip(tags, moves * points_a_pixel, strict=True):
        tag.set_position((move[0], _TAG_RISE + move[1]))


def _top_of_bulk(points: Floats) -> tuple[float, float]:
    """Middle of the upper edge of the points that lie close together; (n, 2) to x, y."""
    # The point with the smallest total distance lies inside a class even where the class is in two pieces.
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    from_middle = distances[distances.sum(axis=1).argmin()]
    bulk = points[from_middle <= np.quantile(from_middle, 0.7)]
    return float(np.median(bulk[:, 0])), float(bulk[:, 1].max())


def moved_apart(centres: Floats, sizes: Floats, *, within: Floats) -> Floats:
    """Move boxes into a frame, each to the nearest place where it covers none of those before it.

    Parameters
    ----------
    centres, sizes : ndarray of shape (n, 2)
        Middle, and width and height, of each box.
    within : ndarray of shape (4,)
        The frame: left, bottom, right, top.

    Returns
    -------
    ndarray of shape (n, 2)
        The new middles. A box for which the frame has no room left stays where it is.
    """
    low, high = within[:2] + sizes / 2, within[2:] - sizes / 2
    placed = np.clip(centres, low, high)
    steps = np.linspace(within[:2], within[2:], _PLACES)
    grid = np.stack(np.meshgrid(steps[:, 0], steps[:, 1]), axis=-1).reshape(-1, 2)
    for i in range(1, len(placed)):
        places = np.concatenate([placed[i : i + 1], np.clip(grid, low[i], high[i])])
        reach = (sizes[:i] + sizes[i]) / 2
        taken = (np.abs(places[:, None] - placed[None, :i]) < reach).all(axis=2).any(axis=1)
        if not taken.all():
            free = places[~taken]
            placed[i] = free[np.linalg.norm(free - placed[i], axis=1).argmin()]
    return placed


def _legend_lines(classes: Sequence[DrawnClass]) -> int:
    n_novel = sum(drawn.novel for drawn in classes)
    return -(-(len(classes) - n_novel) // _LEGEND_COLUMNS) + -(-n_novel // _LEGEND_COLUMNS)


def _draw_legend(figure: Any, classes: Sequence[DrawnClass], ringed_name: str, *, top: float) -> None:
    """Legend in fixed columns: known classes, below them the novel ones, below those the ring."""
    styled = list(zip(classes, _styles(classes), strict=True))
    height = figure.get_figheight()
    place = figure.add_axes((0.02, 0.0, 0.96, top))
    place.set(xlim=(0, _LEGEND_COLUMNS), ylim=(-top * height / 0.2, 0))
    place.axis("off")
    line = 0
    for novel in (False, True):
        group = [(drawn, style) for drawn, style in styled if drawn.novel == novel]
        for i, (drawn, style) in enumerate(group):
            x, y = i % _LEGEND_COLUMNS, -(line + i // _LEGEND_COLUMNS) - 0.5
            place.scatter(x + 0.05, y, **{**style, "s": 40, "alpha": 1})
            place.text(x + 0.12, y, drawn.name, size=8.5, color=INK, va="center")
        line += -(-len(group) // _LEGEND_COLUMNS)
    if ringed_name:
        place.scatter(0.05, -line - 0.5, s=34, facecolors="none", edgecolors=INK, linewidths=0.9)
        place.text(0.12, -line - 0.5, ringed_name, size=8.5, color=INK, va="center")
