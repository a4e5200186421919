"""Pseudo labels of a small batch: its points, how similar they are, and which pairs count as one class."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.pictures.latent import moved_apart
from newfound.pictures.style import (
    FRAME,
    INK,
    MUTED_INK,
    fitting_columns,
    novel_styles,
    sheet,
    tidy,
    write_legend,
    write_title,
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

CHOSEN, MIRRORED = "#0072b2", "#a6cbe3"
_CELL = 2.4 * 72  # points that a matrix is wide
_BADGE = 0.085  # width of a numbered badge, in panels
_DIGITS = 2.6  # widest number in a cell, in heights of a letter
_LIGHT = ("#cc79a7", "#e69f00", "#56b4e9")  # colours on which white letters cannot be read
_GRID = {"edgecolors": FRAME, "linewidth": 0.6}
_SMALLEST = 5.0  # points; numbers that would be smaller are left out


def chosen_pairs(similarities: Floats, positives: Bools, k: int) -> Bools:
    """Tell which positive pairs a row chose itself; the others are positive because their partner chose them.

    Parameters
    ----------
    similarities : ndarray of shape (n, n)
        Cosines of all pairs.
    positives : ndarray of shape (n, n), bool
        Pairs with a positive pseudo label; none on the diagonal.
    k : int
        How many others each row chooses: the most similar ones.

    Returns
    -------
    ndarray of shape (n, n), bool
        Part of ``positives``; all of it where the positives do not follow from these similarities and this k.
    """
    # Among the positives: numbers that were rounded may tie with others that were not chosen.
    most_similar = np.argsort(-np.where(positives, similarities, -np.inf), axis=1, kind="stable")[:, :k]
    chosen = np.zeros_like(positives)
    np.put_along_axis(chosen, most_similar, True, axis=1)
    return chosen if np.array_equal(chosen | chosen.T, positives) else positives


def write_pairs(
    paths: Sequence[Path],
    points: Floats,
    classes: Sequence[str],
    similarities: Floats,
    positives: Bools,
    *,
    k: int,
    title: str,
) -> None:
    """Write three panels: numbered points, the matrix of similarities, the matrix of pseudo labels.

    Parameters
    ----------
    paths : sequence of Path
        Files to write, PNG or SVG.
    points : ndarray of shape (n, 2)
        Where the rows of the batch lie.
    classes : sequence of str, of length n
        Name of each row's class.
    similarities : ndarray of shape (n, n)
        Cosines of all pairs.
    positives : ndarray of shape (n, n), bool
        Pairs with a positive pseudo label; none on the diagonal.
    k : int
        How many others each row chose.
    title : str
        Headline.
    """
    names = list(dict.fromkeys(classes))
    styles = dict(zip(names, novel_styles(), strict=False))
    chosen = chosen_pairs(similarities, positives, k)
    mirrored = positives & ~chosen
    columns = fitting_columns(names, len(names))
    with sheet(paths, 3.5 + 0.2 * -(-len(names) // columns)) as figure:
        from matplotlib.lines import Line2D

        write_title(figure, title)
        left, middle, right = figure.subplots(1, 3)
        _draw_points(left, points, [styles[name] for name in classes])
        _draw_similarities(middle, similarities)
        _draw_pseudo_labels(right, chosen, mirrored, k)
        handles = [Line2D([], [], **styles[name], linestyle="none", markersize=6.5, label=name) for name in names]
        write_legend(figure, handles, columns=columns)


def _draw_points(place: Any, points: Floats, styles: Sequence[dict[str, Any]]) -> None:
    tidy(place, "Points of a batch")
    place.set(xticks=[], yticks=[], box_aspect=1)
    # In a unit square, so that the size of a badge is known whatever size the panel gets.
    extent = float(np.ptp(points, axis=0).max()) or 1.0
    spots = 0.5 + 0.84 * (points - (points.min(axis=0) + points.max(axis=0)) / 2) / extent
    badges = moved_apart(spots, np.full(spots.shape, _BADGE), within=np.array([0.0, 0.0, 1.0, 1.0]))
    for number, (spot, badge, style) in enumerate(zip(spots, badges, styles, strict=True), start=1):
        place.plot(*np.stack([spot, badge]).T, color=style["color"], linewidth=1)
        place.scatter(*spot, color=style["color"], s=9, zorder=2)
        place.scatter(*badge, **style, s=160, edgecolors="white", linewidths=0.6, zorder=3)
        ink = INK if style["color"] in _LIGHT else "white"
        place.text(*badge, str(number), size=7.5, weight="bold", color=ink, ha="center", va="center_baseline")
    place.set(xlim=(0, 1), ylim=(0, 1), xlabel="colours: true classes")


def _draw_similarities(place: Any, similarities: Floats) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    n = len(similarities)
    tidy(place, "Cosine similarities")
    hues = LinearSegmentedColormap.from_list("similarity", ["#d55e00", "#f6e3d3", "#ffffff", "#cfe3f0", "#0072b2"])
    shades = np.where(np.eye(n, dtype=bool), np.nan, similarities)
    place.pcolormesh(shades, cmap=hues, vmin=-1, vmax=1, **_GRID)
    size = min(8.0, _CELL / n / _DIGITS)
    if size >= _SMALLEST:
        for i, j in zip(*np.nonzero(~np.eye(n, dtype=bool)), strict=True):
            ink = "white" if abs(similarities[i, j]) > 0.75 else INK
            place.text(j + 0.5, i + 0.5, _short(similarities[i, j]), size=size, color=ink, ha="center", va="center")
    _number_cells(place, n)
    place.set_xlabel("orange \N{MINUS SIGN}1, white 0, blue 1")


def _draw_pseudo_labels(place: Any, chosen: Bools, mirrored: Bools, k: int) -> None:
    from matplotlib.colors import ListedColormap

    tidy(place, f"Pseudo labels, k = {k}")
    place.pcolormesh(chosen + 2 * mirrored, cmap=ListedColormap(["white", CHOSEN, MIRRORED]), vmin=0, vmax=2, **_GRID)
    _number_cells(place, len(chosen))
    both = "dark: the row chose the column\nlight: the column chose the row"
    place.set_xlabel(both if mirrored.any() else "blue: positive")


def _number_cells(place: Any, n: int) -> None:
    numbers = [str(i + 1) for i in range(n)]
    place.set_xticks(np.arange(n) + 0.5, numbers)
    place.set_yticks(np.arange(n) + 0.5, numbers)
    place.tick_params(length=0, labelsize=min(7.5, _CELL / n / 1.5))
    place.set(ylim=(n, 0), aspect="equal")
    for i in range(n):  # a row and itself are no pair
        place.text(i + 0.5, i + 0.5, "·", size=9, color=MUTED_INK, ha="center", va="center")


def _short(value: float) -> str:
    """Write a cosine in as few signs as will do: no zero before the point, none at all after -1, 0 and 1."""
    text = f"{value:.2f}".removesuffix(".00").replace("0.", ".", 1).replace("-", "\N{MINUS SIGN}")
    return "0" if text == "\N{MINUS SIGN}0" else text
