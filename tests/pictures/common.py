"""What the tests of pictures share: figures caught before they are written, and where their texts are."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from newfound.pictures.style import DPI, WIDTH

Box = tuple[str, tuple[float, float, float, float]]


class Catcher:
    """Takes the place of the function that writes files, and keeps what is in every PNG file by its name."""

    def __init__(self) -> None:
        self.texts: dict[str, list[Box]] = {}
        self.sizes: dict[str, tuple[int, int]] = {}
        self.points: dict[str, list[list[int]]] = {}  # of each cloud of points, of each panel

    def __call__(self, figure: Any, path: Path) -> None:
        if path.suffix != ".png":  # the same texts once more
            return
        self.texts[path.name] = texts_of(figure)
        self.sizes[path.name] = figure.canvas.get_width_height()
        clouds = [[len(cloud.get_offsets()) for cloud in place.collections] for place in figure.axes]
        self.points[path.name] = [panel for panel in clouds if panel]


@pytest.fixture
def catcher(monkeypatch: pytest.MonkeyPatch) -> Catcher:
    caught = Catcher()
    monkeypatch.setattr("newfound.pictures.style._write", caught)
    return caught


def texts_of(figure: Any) -> list[Box]:
    """Texts that are really drawn, with left, bottom, right and top in pixels."""
    from matplotlib.text import Text

    drawn: list[Any] = []
    draw = Text.draw

    def remembered(self: Any, renderer: Any) -> None:
        # Letters drawn as pixels are rims around other letters.
        if self.get_visible() and self.get_text().strip(" ·") and not self.get_rasterized():
            drawn.append(self)
        draw(self, renderer)

    with patch.object(Text, "draw", remembered):
        figure.canvas.draw()
    boxes = []
    for text in dict.fromkeys(drawn):
        extent = Text.get_window_extent(text, figure.canvas.get_renderer())
        boxes.append((text.get_text(), tuple(map(float, extent.extents))))
    return boxes


def assert_readable(texts: Sequence[Box], size: tuple[int, int]) -> None:
    """Every text lies within the picture, and none covers another by more than a pixel."""
    for text, (left, bottom, right, top) in texts:
        assert left >= -1, text
        assert bottom >= -1, text
        assert right <= size[0] + 1, text
        assert top <= size[1] + 1, text
    for (first, a), (other, b) in itertools.combinations(texts, 2):
        apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 1 or b[3] <= a[1] + 1
        assert apart, f"{first!r} and {other!r} cover each other"


def pixels_of(png: Path) -> np.ndarray:
    """Colours of a PNG file from 0 to 1; shape (height, width, 3)."""
    from matplotlib.image import imread

    pixels: np.ndarray = imread(png, format="png")[:, :, :3]
    return pixels


def assert_drawn(png: Path) -> None:
    """A picture as wide as all of them, with something drawn from its top to its bottom and from side to side."""
    pixels = pixels_of(png)
    assert pixels.shape[1] == DPI * WIDTH
    inked = (pixels != pixels[0, 0]).any(axis=2)
    assert inked.mean() > 0.01, f"{png} is blank"
    for axis in (0, 1):
        first, *_, last = np.flatnonzero(inked.any(axis=axis))
        assert last - first > 0.6 * inked.shape[1 - axis], f"{png} is blank but for a part"


def words_in(svg: Path) -> set[str]:
    """Texts of an SVG file, which matplotlib notes beside the letters' shapes."""
    return {found.strip() for found in re.findall(r"<!-- (.*?) -->", svg.read_text(), flags=re.DOTALL)}
