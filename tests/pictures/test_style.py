from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from newfound.errors import InputError, MissingExtraError
from newfound.pictures.style import DPI, WIDTH, fitting_columns, novel_styles, series_styles, sheet, write_title
from tests.pictures.common import assert_drawn, pixels_of, words_in


def write(folder: Path) -> list[Path]:
    paths = [folder / "a.png", folder / "a.svg"]
    with sheet(paths, 2.0) as figure:
        write_title(figure, "A title")
        rows = np.random.default_rng(0).normal(size=(2000, 2))
        figure.subplots().scatter(*rows.T, rasterized=True)
    return paths


def test_both_files_and_nothing_else_are_written(tmp_path: Path) -> None:
    png, svg = write(tmp_path)
    assert_drawn(png)
    assert "A title" in words_in(svg)
    assert sorted(os.listdir(tmp_path)) == ["a.png", "a.svg"]


def test_the_same_drawing_gives_the_same_bytes_without_a_date(tmp_path: Path) -> None:
    first = [path.read_bytes() for path in write(tmp_path)]
    assert [path.read_bytes() for path in write(tmp_path)] == first
    assert b"dc:date" not in first[1]
    assert b"tEXt" not in first[0]


def test_clouds_of_points_are_images_with_few_colours(tmp_path: Path) -> None:
    _, svg = write(tmp_path)
    assert svg.read_text().count("data:image/png") == 1
    assert svg.stat().st_size < 60_000


def test_paths_have_two_decimals(tmp_path: Path) -> None:
    _, svg = write(tmp_path)
    paths = re.findall(r' d="([^"]+)"', svg.read_text())
    assert paths
    assert not any(re.search(r"\.\d{3}", path) for path in paths)


def test_the_users_settings_neither_change_pictures_nor_are_changed(tmp_path: Path) -> None:
    import matplotlib

    plain = [path.read_bytes() for path in write(tmp_path)]
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black", "svg.hashsalt": "mine"}):
        before = dict(matplotlib.rcParams)
        assert [path.read_bytes() for path in write(tmp_path)] == plain
        assert dict(matplotlib.rcParams) == before


def test_a_block_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    png, _ = write(tmp_path)
    before = png.read_bytes()
    with pytest.raises(ZeroDivisionError), sheet([png], 2.0):
        raise ZeroDivisionError
    assert png.read_bytes() == before


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.png: No such file or directory\. Choose another folder"):
        write(tmp_path / "gone")


def test_the_kind_of_file_is_told_by_its_name(tmp_path: Path) -> None:
    with sheet([tmp_path / "A.PNG"], 2.0):
        pass
    assert pixels_of(tmp_path / "A.PNG").shape[1] == DPI * WIDTH


@pytest.mark.parametrize("name", ["a.pdf", "a"])
def test_other_kinds_of_files_are_refused_before_anything_is_drawn(tmp_path: Path, name: str) -> None:
    with (
        pytest.raises(InputError, match=rf"{name}', but expected a name that ends in \.png or \.svg"),
        sheet([tmp_path / name], 2.0),
    ):
        pytest.fail("the block must not run")


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    png, svg = write(tmp_path)
    before = png.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match="No space left on device"):
        write(tmp_path)
    assert png.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [png, svg]


def test_without_matplotlib_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'newfound\[plot\]'"):
        write(tmp_path)


def test_lines_differ_in_colour_and_mark_and_then_in_stroke() -> None:
    styles = series_styles(14)
    assert len({style["color"] for style in styles[:7]}) == 7
    assert len({style["marker"] for style in styles[:7]}) == 7
    assert len({repr(style) for style in styles}) == 14
    first = [next(looks) for looks in [novel_styles()] for _ in range(28)]
    assert len({tuple(look.values()) for look in first}) == 28


@pytest.mark.parametrize(
    ("names", "most", "columns"),
    [
        (["a", "b", "c"], 4, 3),
        (["a", "b", "c", "d"], 2, 2),
        (["x" * 30] * 4, 4, 2),
        (["x" * 200, "y"], 2, 1),
        (["a"], 5, 1),
    ],
)
def test_as_many_columns_as_fit(names: list[str], most: int, columns: int) -> None:
    assert fitting_columns(names, most) == columns
    assert columns == 1 or columns * (0.65 + 0.075 * max(map(len, names))) <= WIDTH
