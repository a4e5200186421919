from __future__ import annotations

from pathlib import Path

import numpy as np

from newfound_lab.pictures.dots import Dot, DotKind, DotPanel, write_dots
from tests.pictures.common import Catcher, assert_readable, catcher, words_in

__all__ = ["catcher"]
KINDS = [DotKind("ours", "red", "o", hollow=False), DotKind("theirs", "blue", "s", hollow=True)]


def write(path: Path, n_panels: int = 2, columns: int = 2) -> None:
    dots = [Dot(0, "ours", 80.0, 3.0), Dot(0, "theirs", 85.0, 0.0), Dot(1, "ours", 60.0, 1.0)]
    panels = [DotPanel(f"panel {i}", dots) for i in range(n_panels)]
    rows = ["first row", "second row"]
    kinds = [*KINDS, DotKind("nobody's", "green", "^", hollow=False)]
    write_dots([path], panels, rows, kinds, title="Dots", x_label="an x", columns=columns, limits=(50, 100), zero=True)


def test_rows_panels_and_the_kinds_in_use_are_named(tmp_path: Path) -> None:
    write(tmp_path / "d.svg")
    words = words_in(tmp_path / "d.svg")
    assert {"Dots", "an x", "first row", "second row", "panel 0", "panel 1", "ours", "theirs"} <= words
    assert "nobody's" not in words


def test_dots_that_share_a_row_stand_apart_and_a_single_one_in_the_middle() -> None:
    from matplotlib.figure import Figure

    from newfound_lab.pictures.dots import _draw_panel

    place = Figure().subplots()
    dots = [Dot(1, "theirs", 85.0, 0.0), Dot(1, "ours", 85.0, 3.0), Dot(0, "theirs", 60.0, 1.0)]
    _draw_panel(place, DotPanel("", dots), ["a", "b"], {kind.name: kind for kind in KINDS}, zero=False)
    heights = [line.get_ydata()[0] for line in place.lines if line.get_marker() != "None"]
    np.testing.assert_allclose(heights, [1.15, 0.85, 0.0])


def test_texts_are_readable_and_each_column_has_numbers(catcher: Catcher) -> None:
    for n_panels in (1, 4, 12):
        write(Path(f"{n_panels}.png"), n_panels, columns=3)
        texts = catcher.texts[f"{n_panels}.png"]
        assert_readable(texts, catcher.sizes[f"{n_panels}.png"])
        assert [text for text, _ in texts].count("60") == min(n_panels, 3)
