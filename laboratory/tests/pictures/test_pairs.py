from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound_lab.pictures.pairs import _short, chosen_pairs, write_pairs
from tests.pictures.common import Catcher, assert_readable, catcher, words_in

__all__ = ["catcher"]


def batch(n: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cosines of n points in the plane, whom each chooses, and the points."""
    points = np.random.default_rng(seed).normal(size=(n, 2))
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    similarities = unit @ unit.T
    chosen = np.zeros((n, n), dtype=bool)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        chosen[i, sorted(others, key=lambda j: -similarities[i, j])[:k]] = True
    return similarities, chosen, points


@given(st.integers(3, 12), st.integers(1, 2), st.integers(0, 1000))
def test_what_a_row_chose_is_told_from_what_chose_it(n: int, k: int, seed: int) -> None:
    similarities, chosen, _ = batch(n, k, seed)
    np.testing.assert_array_equal(chosen_pairs(similarities, chosen | chosen.T, k), chosen)


def test_positives_that_do_not_follow_from_the_similarities_are_all_chosen() -> None:
    positives = ~np.eye(5, dtype=bool)
    np.testing.assert_array_equal(chosen_pairs(np.ones((5, 5)), positives, 1), positives)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.123, ".12"), (-0.5, "−.50"), (0.999, "1"), (-1.0, "−1"), (-0.001, "0"), (0.0, "0"), (0.1, ".10")],
)
def test_cosines_in_few_signs(value: float, text: str) -> None:
    assert _short(value) == text


def write(paths: list[Path], n: int, classes: list[str]) -> None:
    similarities, chosen, points = batch(n, 2, 0)
    names = [classes[i % len(classes)] for i in range(n)]
    write_pairs(paths, points, names, similarities, chosen | chosen.T, k=2, title="Pairs")


def test_files_say_what_is_shown(tmp_path: Path) -> None:
    paths = [tmp_path / "p.png", tmp_path / "p.svg"]
    write(paths, 8, ["A", "B"])
    assert {"Pairs", "Cosine similarities", "Pseudo labels, k = 2", "A", "B", "8"} <= words_in(paths[1])
    assert "dark: the row chose the column" in " ".join(words_in(paths[1]))


@pytest.mark.parametrize("n", [2, 8, 12, 20])
def test_texts_are_readable(catcher: Catcher, n: int) -> None:
    write([Path("p.png")], n, ["LAYING", "WALKING", "WALKING_DOWNSTAIRS", "SITTING"])
    assert_readable(catcher.texts["p.png"], catcher.sizes["p.png"])


def test_points_on_one_spot_still_show_all_numbers(catcher: Catcher) -> None:
    positives = ~np.eye(4, dtype=bool)
    write_pairs([Path("p.png")], np.zeros((4, 2)), ["a"] * 4, np.ones((4, 4)), positives, k=3, title="Same")
    assert_readable(catcher.texts["p.png"], catcher.sizes["p.png"])
