from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from newfound.errors import InputError, MissingExtraError
from newfound.pictures.latent import DrawnClass, Panel, _densest, map_to_plane, moved_apart, write_latent_picture
from tests.pictures.common import Catcher, assert_drawn, assert_readable, catcher, words_in

__all__ = ["catcher"]
FRAME = np.array([0.0, 0.0, 600.0, 600.0])


def drawn_classes(n_known: int, n_novel: int, n_rows: int) -> list[DrawnClass]:
    codes = np.arange(n_rows) % (n_known + n_novel)
    names = [f"known: {i}" for i in range(n_known)] + [f"novel_{i} (mostly x)" for i in range(n_novel)]
    return [
        DrawnClass(name, name.split()[-1] if i < n_known else name.split()[0], codes == i, novel=i >= n_known)
        for i, name in enumerate(names)
    ]


def write(path: Path, n_known: int = 2, n_novel: int = 3) -> None:
    rng = np.random.default_rng(0)
    panels = [Panel(title, "a note", rng.normal(size=(90, 2))) for title in ("Before", "After")]
    write_latent_picture(
        path,
        panels,
        drawn_classes(n_known, n_novel, 90),
        title="A title",
        footnote="a footnote",
        ringed=rng.random(90) < 0.1,
        ringed_name="elsewhere",
    )


@pytest.mark.parametrize(("n_known", "n_novel"), [(5, 5), (0, 3), (1, 0), (12, 30)])
def test_pictures_of_few_and_many_classes(tmp_path: Path, n_known: int, n_novel: int) -> None:
    path = tmp_path / "latent.png"
    write(path, n_known, n_novel)
    assert_drawn(path)


@pytest.mark.parametrize(("n_known", "n_novel"), [(5, 5), (0, 3), (12, 30)])
def test_every_row_is_drawn_in_every_panel(catcher: Catcher, n_known: int, n_novel: int) -> None:
    write(Path("latent.png"), n_known, n_novel)
    sizes = [int(drawn.rows.sum()) for drawn in drawn_classes(n_known, n_novel, 90)]
    before, after, *_ = catcher.points["latent.png"]
    assert before[:-1] == after[:-1] == sizes
    assert 0 < before[-1] == after[-1] < 20, "the ringed rows"


def test_the_same_input_gives_the_same_picture(tmp_path: Path) -> None:
    write(tmp_path / "a.png")
    write(tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_a_class_without_rows_is_only_in_the_legend(catcher: Catcher) -> None:
    nobody = DrawnClass("novel_0 (nobody)", "novel_0", np.zeros(4, dtype=bool), novel=True)
    everybody = DrawnClass("known: a", "a", np.ones(4, dtype=bool), novel=False)
    write_latent_picture(Path("x.png"), [Panel("", "", np.eye(4)[:, :2])], [everybody, nobody], title="")
    assert catcher.points["x.png"][0] == [4, 0]
    assert sorted(text for text, _ in catcher.texts["x.png"]) == ["a", "known: a", "novel_0 (nobody)"]


def test_without_matplotlib_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'newfound\[plot\]'"):
        write(tmp_path / "x.png")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write(tmp_path / "gone" / "x.png")


def test_several_lines_of_panels_in_both_formats(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n_rows = 1500
    panels = [Panel(f"Panel {i}", "", rng.normal(size=(n_rows, 2))) for i in range(3)]
    paths = [tmp_path / "map.png", tmp_path / "map.svg"]
    classes = drawn_classes(19, 7, n_rows)
    write_latent_picture(paths, panels, classes, title="A map", columns=2, legend_columns=7, tags_inside=True)
    assert {"A map", "Panel 0", "Panel 2", "known: 18", "novel_6 (mostly x)"} <= words_in(paths[1])
    assert paths[1].read_text().count("data:image/png") == 3
    assert paths[1].stat().st_size < 300_000


def test_texts_of_a_map_are_readable(catcher: Catcher) -> None:
    rng = np.random.default_rng(0)
    codes = np.arange(900) % 6
    names = ["SITTING", "STANDING", "WALKING_UPSTAIRS", "LAYING", "WALKING", "WALKING_DOWNSTAIRS"]
    classes = [DrawnClass(f"class: {name}", name, codes == i, novel=i > 2) for i, name in enumerate(names)]
    panels = [Panel(f"Panel {i}", "", rng.normal(size=(900, 2))) for i in range(4)]
    for inside in (False, True):
        write_latent_picture(
            Path("map.png"), panels, classes, title="A map", columns=2, legend_columns=3, tags_inside=inside
        )
        assert_readable(catcher.texts["map.png"], catcher.sizes["map.png"])


def test_the_densest_place_of_a_class_in_two_pieces() -> None:
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(50, 5, (40, 2))])
    x, y = _densest(points)
    assert abs(x) < 1.5
    assert abs(y) < 1.5


@pytest.mark.parametrize("n_rows", [5, 60])
def test_map_to_plane(n_rows: int) -> None:
    rows = np.random.default_rng(0).normal(size=(n_rows, 8))
    positions = map_to_plane(rows, random_state=0)
    assert positions.shape == (n_rows, 2)
    assert np.isfinite(positions).all()
    np.testing.assert_array_equal(positions, map_to_plane(rows, random_state=0))


def covering(centres: np.ndarray, sizes: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of boxes that cover each other by more than a hundredth of a pixel."""
    return [
        (i, j)
        for i, j in itertools.combinations(range(len(centres)), 2)
        if (np.abs(centres[i] - centres[j]) < (sizes[i] + sizes[j]) / 2 - 0.01).all()
    ]


@given(st.data())
def test_boxes_are_moved_apart_within_the_frame(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 10))
    centres = data.draw(arrays(np.float64, (n, 2), elements=st.floats(-50, 650)))
    sizes = data.draw(arrays(np.float64, (n, 2), elements=st.floats(5, 40)))
    moved = moved_apart(centres, sizes, within=FRAME)
    assert covering(moved, sizes) == []
    assert (moved - sizes / 2 >= FRAME[:2] - 1e-6).all()
    assert (moved + sizes / 2 <= FRAME[2:] + 1e-6).all()


def test_boxes_that_are_apart_stay_where_they_are() -> None:
    centres = np.array([[100.0, 100.0], [200.0, 100.0]])
    np.testing.assert_array_equal(moved_apart(centres, np.full((2, 2), 20.0), within=FRAME), centres)


def test_a_frame_that_is_too_full_still_ends() -> None:
    moved = moved_apart(np.full((30, 2), 10.0), np.full((30, 2), 10.0), within=np.array([0.0, 0.0, 20.0, 20.0]))
    assert np.isfinite(moved).all()
