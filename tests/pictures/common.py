"""What the tests of pictures share: figures caught before they are written, and where their texts are."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

PNG = b"\x89PNG\r\n\x1a\n"
Box = tuple[str, tuple[float, float, float, float]]


class Catcher:
    """Takes the place of the function that writes files, and keeps the texts of every PNG file by its name."""

    def __init__(self) -> None:
        self.texts: dict[str, list[Box]] = {}
        self.sizes: dict[str, tuple[int, int]] = {}

    def __call__(self, figure: Any, path: Path) -> None:
        if path.suffix != ".png":  # the same texts once more
            return
        self.texts[path.name] = texts_of(figure)
        self.sizes[path.name] = figure.canvas.get_width_height()


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
    for (one, a), (other, b) in itertools.combinations(texts, 2):
        apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 1 or b[3] <= a[1] + 1
        assert apart, f"{one!r} and {other!r} cover each other"


def words_in(svg: Path) -> set[str]:
    """Texts of an SVG file, which matplotlib notes beside the letters' shapes."""
    return {found.strip() for found in re.findall(r"<!-- (.*?) -->", svg.read_text(), flags=re.DOTALL)}
