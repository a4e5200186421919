from __future__ import annotations

from pathlib import Path

import numpy as np

from newfound_lab.pictures.curves import Curve, CurvePanel, write_curves
from tests.pictures.common import Catcher, assert_readable, catcher, words_in

__all__ = ["catcher"]
X = np.array([1.0, 10.0, 100.0])
NAMES = ("one", "two", "three")


def panel(*names: str, ring_at: float | None = None, log: bool = True) -> CurvePanel:
    curves = [Curve(name, X, np.array([80.0, 60.0, 40.0]) + i, np.ones(3), ring_at) for i, name in enumerate(names)]
    return CurvePanel("a title", "an x", "a y", curves, log)


def test_files_name_the_curves_that_are_there(tmp_path: Path) -> None:
    paths = [tmp_path / "c.png", tmp_path / "c.svg"]
    write_curves(paths, [panel("one"), panel("three", log=False)], NAMES, title="Curves", ring_name="a ring")
    words = words_in(paths[1])
    assert {"Curves", "a title", "an x", "a y", "one", "three", "a ring", "100"} <= words
    assert "two" not in words
    assert all(path.stat().st_size > 1000 for path in paths)


def test_a_ring_lies_on_the_line_as_drawn_and_not_beyond_it() -> None:
    from matplotlib.figure import Figure

    from newfound.pictures.style import series_styles
    from newfound_lab.pictures.curves import _draw_panel

    styles = dict(zip(NAMES, series_styles(3), strict=True))
    for ring_at, log, y in ((10.0**0.5, True, 70.0), (5.5, False, 70.0), (1000.0, True, np.nan)):
        place = Figure().subplots()
        _draw_panel(place, panel("one", ring_at=ring_at, log=log), styles)
        (ring,) = [line for line in place.lines if line.get_markersize() > 8]
        np.testing.assert_allclose(ring.get_xydata(), [[ring_at, y]])


def test_texts_are_readable(catcher: Catcher) -> None:
    names = ["MNIST", "Forest", "Letter", "Human (66 features)", "Satimage", "Pendigits"]
    panels = [panel(*names, ring_at=10) for _ in range(4)]
    write_curves([Path("4.png")], panels, names, title="Four panels", ring_name="the paper's own value")
    write_curves([Path("1.png")], panels[:1], names, title="One panel", columns=1)
    for name, texts in catcher.texts.items():
        assert_readable(texts, catcher.sizes[name])
