from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound.pictures.knobs import Knob, draw_knobs
from tests.pictures.common import Catcher, assert_readable, catcher, words_in

__all__ = ["catcher"]

N = 12
RNG = np.random.default_rng(0)
KNOBS = [
    Knob("rate", (10.0 ** RNG.uniform(-4, -2, N)).tolist(), log=True),
    Knob("top_k", [None, *RNG.uniform(1, 40, N - 1)], log=True),
    Knob("layers", ["[64, 64]", None] * (N // 2)),
    Knob("activation", ["relu", "tanh", "sigmoid"] * (N // 3)),
    Knob("width", [None, *range(N - 1)]),
    Knob("none at all", [None] * N),
]
SCORES = RNG.random(N).tolist()


def draw(path: Path, knobs: list[Knob] = KNOBS, *, complete: Any = None) -> Any:
    return draw_knobs([path], knobs, SCORES, [True] * N if complete is None else complete, title="Knobs")


def test_every_parameter_is_named_and_what_was_given_up_only_if_something_was(tmp_path: Path) -> None:
    draw(tmp_path / "k.svg")
    words = words_in(tmp_path / "k.svg")
    assert {"Knobs", *(knob.name for knob in KNOBS), "relu", "tanh", "sigmoid", "None", "as given", "best"} <= words
    assert "given up early (estimate)" not in words
    draw(tmp_path / "k.svg", complete=[True] * (N - 1) + [False])
    assert "given up early (estimate)" in words_in(tmp_path / "k.svg")


def test_the_best_is_a_complete_trial_and_the_first_one_is_as_given(tmp_path: Path) -> None:
    best = int(np.argmax(SCORES))
    figure = draw(tmp_path / "k.png", complete=[place != best for place in range(N)])
    place = figure.axes[0]
    second = int(np.argsort(SCORES)[-2])
    given, ringed = place.lines[-2], place.lines[-1]
    assert (given.get_xdata()[0], given.get_ydata()[0]) == (KNOBS[0].values[0], SCORES[0])
    assert np.ravel(ringed.get_ydata())[0] == SCORES[second]


def test_values_that_are_none_stand_left_of_the_numbers(tmp_path: Path) -> None:
    figure = draw(tmp_path / "k.png")
    (given,) = figure.axes[1].lines[-2].get_xdata()
    numbers = [value for value in KNOBS[1].values if value is not None]
    assert 0 < given < min(numbers)


@pytest.mark.parametrize("n", [1, 2, 6])
def test_texts_are_readable(catcher: Catcher, n: int) -> None:
    draw(Path("k.png"), KNOBS[:n])
    assert_readable(catcher.texts["k.png"], catcher.sizes["k.png"])
