"""The latent space on paper: rows as points, known classes muted, novel classes vivid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.pictures.style import INK, KNOWN_COLOUR, KNOWN_MARKERS, MUTED_INK, novel_styles, panel_places, sheet, tidy

Floats = NDArray[np.float64]

_LINE = 0.2  # inches that a line of the legend is high
_TITLE, _NOTE = 0.3, 0.22  # inches above a panel
_FULL_SIZE = 1000  # rows that are drawn in full size; with more, points shrink
_BULK = 500  # rows of a class from which the place of its tag is computed
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
    path: Path | Sequence[Path],
    panels: Sequence[Panel],
    classes: Sequence[DrawnClass],
    *,
    title: str,
    footnote: str = "",
    ringed: NDArray[np.bool_] | None = None,
    ringed_name: str = "",
    columns: int | None = None,
    legend_columns: int = 5,
    tags_inside: bool = False,
) -> None:
    """Write panels side by side, with one legend, as a PNG or SVG file, or as several files.

    Parameters
    ----------
    path : Path or sequence of Path
        The file or files; their folder must exist.
    panels : sequence of Panel
        All over the same n rows.
    classes : sequence of DrawnClass
        In the order of the legend.
    title, footnote : str
        Lines above and below everything.
    ringed : ndarray of shape (n,), bool, optional
        Rows to draw with a dark ring, explained in the legend as ``ringed_name``.
    columns : int, optional
        Panels side by side; all of them unless told.
    legend_columns : int, default=5
        Names side by side in the legend.
    tags_inside : bool, default=False
        Whether tags are written where a class is densest, which suits classes of any shape, rather than above its rows.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    InputError
        If the file cannot be written.
    """
    columns = columns or len(panels)
    lines = -(-len(panels) // columns)
    n_lines = _legend_lines(classes, legend_columns) + (ringed is not None)
    side = 3.68 if lines == 1 else 3.0  # inches a panel is high
    head = _TITLE + _NOTE if any(panel.note for panel in panels) else _TITLE
    height = 0.35 + lines * (head + side) + _LINE * (n_lines + 1)
    with sheet([path] if isinstance(path, Path) else path, height, constrained=False) as figure:
        bottom = _LINE * (n_lines + 1) / height
        figure.text(0.02, 1 - 0.13 / height, title, size=13, weight="bold", color=INK, va="top")
        places = panel_places(figure, len(panels), columns)
        top = 1 - (0.35 + head) / height
        figure.subplots_adjust(left=0.02, right=0.98, bottom=bottom, top=top, wspace=0.04, hspace=head / side)
        for place, panel in zip(places, panels, strict=True):
            _draw_panel(place, panel, classes, ringed, tags_inside=tags_inside)
        shown_ring = ringed_name if ringed is not None else ""
        _draw_legend(figure, classes, shown_ring, top=bottom - 0.06 / height, columns=legend_columns)
        if footnote:
            figure.text(0.98, 0.1 / height, footnote, size=7.5, color=MUTED_INK, ha="right", va="bottom")


def _styles(classes: Sequence[DrawnClass]) -> list[dict[str, Any]]:
    """How to draw the points of each class."""
    # All points lie below the frame (2.5), so that nothing parts them and an SVG file holds one image a panel.
    known = ({"marker": marker, "color": KNOWN_COLOUR} for marker in itertools.cycle(KNOWN_MARKERS))
    novel = novel_styles()
    return [
        {**next(novel), "s": 22, "linewidths": 0.4, "edgecolors": "white", "zorder": 2.2}
        if drawn.novel
        else {**next(known), "s": 13, "linewidths": 0, "alpha": 0.55, "zorder": 2.1}
        for drawn in classes
    ]


def _draw_panel(
    place: Any, panel: Panel, classes: Sequence[DrawnClass], ringed: NDArray[np.bool_] | None, *, tags_inside: bool
) -> None:
    shrink = min(1.0, _FULL_SIZE / max(1, len(panel.positions)))
    tidy(place)
    place.set(xticks=[], yticks=[])
    place.set_title(panel.title, loc="left", size=10.5, weight="bold", color=INK, pad=20 if panel.note else 5)
    place.text(0, 1.02, panel.note, transform=place.transAxes, size=8.5, color=INK, va="bottom")
    for drawn, style in zip(classes, _styles(classes), strict=True):
        # As pixels even in an SVG file, where thousands of shapes would be slow to show.
        place.scatter(*panel.positions[drawn.rows].T, **{**style, "s": shrink * style["s"]}, rasterized=True)
    if ringed is not None:
        ring = {"s": 34 * shrink, "facecolors": "none", "edgecolors": INK, "linewidths": 0.9, "zorder": 2.3}
        place.scatter(*panel.positions[ringed].T, **ring, rasterized=True)
    place.margins(0.06)
    _write_tags(place, panel.positions, classes, inside=tags_inside)


def _write_tags(place: Any, positions: Floats, classes: Sequence[DrawnClass], *, inside: bool) -> None:
    """Write each class's tag above or inside the bulk of its rows, moved apart where tags would cover each other."""
    from matplotlib.patheffects import Stroke

    rise, halo, where = (0, 3.5, _densest) if inside else (_TAG_RISE, 2.5, _top_of_bulk)
    filled = [(drawn, style) for drawn, style in zip(classes, _styles(classes), strict=True) if drawn.rows.any()]
    anchors = [where(positions[drawn.rows]) for drawn, _ in filled]
    look: dict[str, Any] = {
        "textcoords": "offset points",
        "size": 9.5,
        "weight": "bold",
        "ha": "center",
        "va": "center",
    }
    tags = [
        place.annotate(
            drawn.tag,
            anchor,
            xytext=(0, rise),
            color=style["color"] if drawn.novel else MUTED_INK,
            zorder=5,
            **look,
        )
        for (drawn, style), anchor in zip(filled, anchors, strict=True)
    ]
    renderer = place.figure.canvas.get_renderer()
    boxes = np.array([tag.get_window_extent(renderer).extents for tag in tags]).reshape(-1, 4)
    centres, sizes = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2] + 6
    points_a_pixel = 72 / place.figure.dpi
    moves = moved_apart(centres, sizes, within=place.get_window_extent(renderer).extents) - centres
    # A light rim around the letters goes with the points: as shapes, rims would be most of an SVG file.
    rim: dict[str, Any] = {"path_effects": [Stroke(linewidth=halo, foreground="white")], "rasterized": True}
    for tag, anchor, move in zip(tags, anchors, moves * points_a_pixel, strict=True):
        offset = (move[0], rise + move[1])
        tag.set_position(offset)
        place.annotate(tag.get_text(), anchor, xytext=offset, zorder=2.4, **look, **rim)


def _top_of_bulk(points: Floats) -> tuple[float, float]:
    """Middle of the upper edge of the points that lie close together; (n, 2) to x, y."""
    # The point with the smallest total distance lies inside a class even where the class is in two pieces.
    points = points[:: -(-len(points) // _BULK)]
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    from_middle = distances[distances.sum(axis=1).argmin()]
    bulk = points[from_middle <= np.quantile(from_middle, 0.7)]
    return float(np.median(bulk[:, 0])), float(bulk[:, 1].max())


def _densest(points: Floats) -> tuple[float, float]:
    """Place of the row that has a quarter of the rows nearest around it; (n, 2) to x, y."""
    points = points[:: -(-len(points) // _BULK)]
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    x, y = points[np.sort(distances, axis=1)[:, len(points) // 4].argmin()]
    return float(x), float(y)


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


def _legend_lines(classes: Sequence[DrawnClass], columns: int) -> int:
    n_novel = sum(drawn.novel for drawn in classes)
    return -(-(len(classes) - n_novel) // columns) + -(-n_novel // columns)


def _draw_legend(figure: Any, classes: Sequence[DrawnClass], ringed_name: str, *, top: float, columns: int) -> None:
    """Legend in fixed columns: known classes, below them the novel ones, below those the ring."""
    styled = list(zip(classes, _styles(classes), strict=True))
    height = figure.get_figheight()
    place = figure.add_axes((0.02, 0.0, 0.96, top))
    place.set(xlim=(0, columns), ylim=(-top * height / _LINE, 0))
    place.axis("off")
    mark, word = 0.01 * columns, 0.024 * columns  # where marks and names start, the same on paper in any column
    line = 0
    for novel in (False, True):
        group = [(drawn, style) for drawn, style in styled if drawn.novel == novel]
        for i, (drawn, style) in enumerate(group):
            x, y = i % columns, -(line + i // columns) - 0.5
            place.scatter(x + mark, y, **{**style, "s": 40, "alpha": 1})
            place.text(x + word, y, drawn.name, size=8.5, color=INK, va="center")
        line += -(-len(group) // columns)
    if ringed_name:
        place.scatter(mark, -line - 0.5, s=34, facecolors="none", edgecolors=INK, linewidths=0.9)
        place.text(word, -line - 0.5, ringed_name, size=8.5, color=INK, va="center")
