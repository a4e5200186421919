from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from newfound_lab.pictures.discovery import Discovery, draw_discovery

ROOT = Path(__file__).parents[3]


def test_grey_rows_get_colours(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(3), 20)
    found = Discovery(rng.random((60, 2)), rng.random((60, 2)), codes, 2, ["a", "b", "c"], rng.random((1, 8, 8)))
    draw_discovery(tmp_path / "a.gif", found, ("first", "last"))
    with Image.open(tmp_path / "a.gif") as picture:
        colours = []
        for place in (0, picture.n_frames - 1):
            picture.seek(place)
            pixels = np.asarray(picture.convert("RGB"), dtype=int)
            colours.append(int((pixels.max(axis=2) - pixels.min(axis=2) > 100).sum()))
    assert colours[0] == 0
    assert colours[1] > 50


def test_the_one_of_the_readme_is_small() -> None:
    assert (ROOT / "docs" / "images" / "discovery.gif").stat().st_size < 300_000
