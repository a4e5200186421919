from __future__ import annotations

from pathlib import Path

from newfound_lab.pictures.scatter import Estimate, EstimatePanel, write_estimates
from tests.pictures.common import Catcher, assert_readable, catcher, words_in

__all__ = ["catcher"]


def write(path: Path) -> None:
    panels = [EstimatePanel(name, [Estimate(10, 20, 5, 30), Estimate(50, 50, 50, 50)]) for name in ("first", "second")]
    write_estimates([path], panels, title="Shares", x_label="truth", y_label="estimate", limits=(0, 100))


def test_panels_and_axes_are_named(tmp_path: Path) -> None:
    write(tmp_path / "e.svg")
    assert {"Shares", "first", "second", "truth", "estimate"} <= words_in(tmp_path / "e.svg")


def test_texts_are_readable(catcher: Catcher) -> None:
    write(Path("e.png"))
    assert_readable(catcher.texts["e.png"], catcher.sizes["e.png"])
