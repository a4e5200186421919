"""Tables to look at: rows in the plane, and below them the cells as a grey map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newfound.pictures.style import FRAME, INK, KNOWN_COLOUR, MUTED_INK, NOVEL_COLOURS, NOVEL_MARKERS, sheet

_ROWS, _COLUMNS = 90, 40  # at most so many are drawn as cells
_SCATTER, _MAP = 1.9, 1.9  # inches high


@dataclass(frozen=True)
class DrawnTable:
    """A table with known and novel classes.

    Parameters
    ----------
    title : str
    positions : ndarray of shape (n, 2)
        Where the rows lie in the plane.
    cells : ndarray of shape (n, d)
        What is drawn as grey values, NaN where missing.
    classes : ndarray of shape (n,), int
    novel, labelled : ndarray of shape (n,), bool
    """

    title: str
    positions: NDArray[np.float64]
    cells: NDArray[np.float64]
    classes: NDArray[np.int64]
    novel: NDArray[np.bool_]
    labelled: NDArray[np.bool_]


def _styles(table: DrawnTable) -> dict[int, tuple[str, str]]:
    """Colour and mark of each class; known classes are muted."""
    styles: dict[int, tuple[str, str]] = {}
    for place, class_ in enumerate(np.unique(table.classes[table.novel])):
        marker = NOVEL_MARKERS[place // len(NOVEL_COLOURS) % len(NOVEL_MARKERS)]
        styles[int(class_)] = (NOVEL_COLOURS[place % len(NOVEL_COLOURS)], marker)
    return {int(class_): styles.get(int(class_), (KNOWN_COLOUR, "o")) for class_ in np.unique(table.classes)}


def _grey(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks within each column, from 0 to 1: a column of any scale shows its pattern."""
    finite = np.where(np.isnan(cells), np.inf, cells)
    ranks = np.empty_like(cells)
    for column in range(cells.shape[1]):
        _, codes = np.unique(finite[:, column], return_inverse=True)
        ranks[:, column] = codes / max(1, codes.max())
    return np.where(np.isnan(cells), np.nan, ranks)


def write_tables(paths: Sequence[Path], tables: Sequence[DrawnTable]) -> None:
    """Draw tables side by side.

    Parameters
    ----------
    paths : sequence of Path
        Files to write, PNG or SVG.
    tables : sequence of DrawnTable
        About four.
    """
    with sheet(paths, _SCATTER + _MAP + 0.3) as figure:
        places = figure.subplots(2, len(tables), height_ratios=(_SCATTER, _MAP), squeeze=False)
        for upper, lower, table in zip(*places, tables, strict=True):
            styles = _styles(table)
            for class_, (colour, marker) in styles.items():
                rows = table.classes == class_
                for part, filled in (
                    (rows & table.labelled, True),
                    (rows & ~table.labelled, bool(table.novel[rows][0])),
                ):
                    face = colour if filled else "none"
                    x, y = table.positions[part].T
                    upper.scatter(x, y, s=5, marker=marker, facecolor=face, edgecolor=colour, linewidth=0.5)
            upper.set_title(table.title, fontsize=8, color=INK)
            order = np.lexsort((table.classes, table.novel))
            order = order[np.linspace(0, len(order) - 1, min(_ROWS, len(order))).astype(int)]
            cells = _grey(table.cells[order, :_COLUMNS])
            lower.imshow(cells, aspect="auto", cmap="Greys", vmin=-0.1, vmax=1.1, interpolation="nearest")
            width = cells.shape[1]
            for line, row in enumerate(order):  # the class of each row, at the left
                colour = styles[int(table.classes[row])][0]
                lower.plot(
                    [-0.04 * width - 0.5] * 2,
                    [line - 0.5, line + 0.5],
                    color=colour,
                    linewidth=3,
                    solid_capstyle="butt",
                )
            lower.set_xlim(-0.07 * width - 0.5, width - 0.5)
            for place in (upper, lower):
                place.set(xticks=[], yticks=[])
                for spine in place.spines.values():
                    spine.set_color(FRAME)
        places[1][0].set_ylabel("rows, by class", fontsize=8, color=MUTED_INK)
        places[0][0].set_ylabel("rows in the plane", fontsize=8, color=MUTED_INK)
