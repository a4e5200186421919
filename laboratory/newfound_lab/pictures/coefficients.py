"""What attributes weigh for novel classes, against what they weigh for the known ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.pictures.style import KNOWN_COLOUR, series_styles, sheet, tidy, write_legend, write_title

Floats = NDArray[np.float64]


def most_telling(known: Floats, novel: Floats, most: int) -> NDArray[np.int64]:
    """Choose the attributes to show: those with the largest weights for known and, as many, for novel classes.

    Parameters
    ----------
    known : ndarray of shape (d,)
        Weight of each attribute for the known classes.
    novel : ndarray of shape (n_novel, d)
        Weight for each novel class.
    most : int
        How many to choose at most; all if there are no more.

    Returns
    -------
    ndarray of shape (min(d, most),) or less
        Attributes by falling weight for the known classes; fewer where both choose the same.
    """
    order = np.argsort(-known, kind="stable")
    if len(known) <= most:
        return order
    chosen = {*order[: most // 2], *np.argsort(-novel.max(axis=0), kind="stable")[: most // 2]}
    return order[[i in chosen for i in order]]


def write_coefficients(
    paths: Sequence[Path],
    attributes: Sequence[str],
    known: Floats,
    novel: Mapping[str, Floats],
    *,
    title: str,
    x_label: str,
    known_name: str,
) -> None:
    """Write a row for each attribute: a bar for the known classes, a mark for each novel class.

    Parameters
    ----------
    paths : sequence of Path
        Files to write, PNG or SVG.
    attributes : sequence of str, of length d
        Names of the rows, from the top.
    known : ndarray of shape (d,)
        Lengths of the bars, called ``known_name`` in the legend.
    novel : mapping of str to ndarray of shape (d,)
        Places of the marks, by what the legend calls them.
    title, x_label : str
        Headline, and what is written below the axis.
    """
    rows = np.arange(len(attributes))
    with sheet(paths, 1.3 + 0.175 * len(rows) + 0.2 * (len(novel) // 4)) as figure:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        write_title(figure, title)
        place = figure.subplots()
        place.barh(rows, known, height=0.72, color=KNOWN_COLOUR, alpha=0.6, zorder=2)
        handles: list[Any] = [Patch(color=KNOWN_COLOUR, alpha=0.6, label=known_name)]
        for (name, weights), style in zip(novel.items(), series_styles(len(novel)), strict=True):
            look = {**style, "linestyle": "none", "markersize": 5.5, "markeredgecolor": "white", "markeredgewidth": 0.4}
            place.plot(weights, rows, **look, zorder=3)
            handles.append(Line2D([], [], **look, label=name))
        tidy(place, grid="x")
        place.set_yticks(rows, attributes)
        place.tick_params(axis="y", labelsize=7.5, length=0)
        place.set(xlabel=x_label, ylim=(len(rows) - 0.4, -0.6), xlim=(0, None))
        write_legend(figure, handles, columns=min(4, len(handles)))
