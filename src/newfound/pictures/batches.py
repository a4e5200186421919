"""How classes fare over batches, and how novel classes hang together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.pictures.style import KNOWN_COLOUR, NOVEL_COLOURS, series_styles, sheet, tidy, write_legend, write_title

Floats = NDArray[np.float64]

_LINES = 7  # that can be told apart


def draw_batches(paths: Sequence[Path], records: Sequence[Mapping[str, Any]]) -> Any:
    """Draw the share of each class in each batch, and below how far it has moved.

    Parameters
    ----------
    paths : sequence of Path
        Files to write, PNG or SVG; there may be none.
    records : sequence of dict
        With the keys ``batch``, ``class`` (None for rows of no class), ``share`` and ``distance``. Of many classes,
        those are drawn whose share or place has changed most.

    Returns
    -------
    matplotlib.figure.Figure
    """
    batches = sorted({record["batch"] for record in records})
    names = list(dict.fromkeys(record["class"] for record in records))
    share, distance = (_matrix(records, batches, names, key) for key in ("share", "distance"))
    changed = np.ptp(np.nan_to_num(share), axis=0) + np.nan_to_num(distance).max(axis=0) / 10
    drawn = sorted(np.argsort(-changed, kind="stable")[:_LINES].tolist())
    with sheet(paths, 5.2) as figure:
        from matplotlib.lines import Line2D
        from matplotlib.ticker import MaxNLocator

        write_title(figure, "Classes over the batches")
        shares, moved = figure.subplots(2, 1, sharex=True)
        handles = []
        for column, style in zip(drawn, series_styles(len(drawn)), strict=True):
            look = {**style, "markersize": 4, "linewidth": 1.3, "markeredgecolor": "white", "markeredgewidth": 0.4}
            shares.plot(batches, 100 * share[:, column], **look)
            moved.plot(batches, distance[:, column], **look)
            name = "no class" if names[column] is None else str(names[column])
            handles.append(Line2D([], [], **look, label=name))
        shares.set(ylabel="share, %", ylim=(0, None))
        moved.set(ylabel="standard deviations", xlabel="batch (0 is the fit)", ylim=(0, None))
        moved.xaxis.set_major_locator(MaxNLocator(10, integer=True))
        tidy(shares, "Share of the rows", grid="both")
        tidy(moved, "Distance from earlier rows of the class, in the column where it is largest", grid="both")
        write_legend(figure, handles, columns=6)
    return figure


def draw_tree(paths: Sequence[Path], linkage: Floats, names: Sequence[str]) -> Any:
    """Draw a hierarchy of classes.

    Parameters
    ----------
    paths : sequence of Path
        Files to write, PNG or SVG; there may be none.
    linkage : ndarray of shape (n - 1, 4)
        As scipy has it.
    names : sequence of str, length n

    Returns
    -------
    matplotlib.figure.Figure
    """
    with sheet(paths, 1.2 + 0.25 * len(names)) as figure:
        from scipy.cluster.hierarchy import dendrogram

        write_title(figure, "Novel classes by their distance")
        place = figure.subplots()
        if len(linkage):
            dendrogram(
                linkage,
                labels=list(names),
                orientation="left",
                ax=place,
                color_threshold=0,
                above_threshold_color=NOVEL_COLOURS[1] if len(names) > 1 else KNOWN_COLOUR,
            )
        place.set(xlabel="distance of the means")
        tidy(place)
    return figure


def _matrix(records: Sequence[Mapping[str, Any]], batches: list[int], names: list[Any], key: str) -> Floats:
    """Values of a key for each batch and class, NaN where there is none; (n_batches, n_classes)."""
    values = np.full((len(batches), len(names)), np.nan)
    for record in records:
        if record[key] is not None:
            values[batches.index(record["batch"]), names.index(record["class"])] = record[key]
    return values
