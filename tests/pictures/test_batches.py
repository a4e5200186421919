from __future__ import annotations

from pathlib import Path

import numpy as np

from newfound.pictures.batches import draw_batches, draw_tree


def test_classes_over_batches_are_drawn(tmp_path: Path) -> None:
    records = [
        {"batch": batch, "class": name, "share": 0.1, "distance": None if batch == 0 or name is None else 0.2}
        for batch in range(3)
        for name in [*"abcdefghi", None]
    ]
    figure = draw_batches([tmp_path / "batches.png"], records)
    assert (tmp_path / "batches.png").is_file()
    shares, moved = figure.axes
    assert len(shares.lines) == len(moved.lines) == 7


def test_a_tree_has_a_leaf_for_each_class(tmp_path: Path) -> None:
    figure = draw_tree([], np.array([[0.0, 1.0, 0.5, 2.0]]), ["bee", "wasp"])
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["bee", "wasp"]
