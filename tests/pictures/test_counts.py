from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from newfound.pictures.counts import Criterion, draw_counts
from tests.pictures.common import Catcher, assert_readable, catcher, words_in

__all__ = ["catcher"]

K = 20
PROBABILITIES = np.random.default_rng(0).dirichlet(np.ones(K)).tolist()


def made(n: int) -> list[Criterion]:
    return [Criterion(f"criterion {i}", (i + 1) * np.sin(np.arange(K) + i)) for i in range(n)]


def test_estimate_and_criteria_are_named(tmp_path: Path) -> None:
    flat = Criterion("silent", np.zeros(K))
    draw_counts([tmp_path / "c.svg"], PROBABILITIES, [*made(3), flat], chosen=4, interval=(2, 6))
    words = words_in(tmp_path / "c.svg")
    assert {
        "4 novel classes, likely 2 to 6",
        "estimate (median)",
        "likely range",
        "criterion 0",
        "criterion 2",
    } <= words
    assert not {"silent", "all others"} & words


def test_the_quiet_ones_of_many_are_added_up(tmp_path: Path) -> None:
    figure = draw_counts([], PROBABILITIES, made(10), chosen=1, interval=(1, 1))
    lines = figure.axes[1].get_lines()[:-1]  # the last one marks the estimate
    assert len(lines) == 7
    rest = np.sum([criterion.evidence for criterion in made(10)[:4]], axis=0)
    assert lines[-1].get_ydata() == pytest.approx(rest - rest.max())
    draw_counts([tmp_path / "c.svg"], PROBABILITIES, made(10), chosen=1, interval=(1, 1))
    words = words_in(tmp_path / "c.svg")
    assert {"1 novel class", "all others", "criterion 9"} <= words
    assert not {"criterion 3", "likely range"} & words


@pytest.mark.parametrize(("k", "n"), [(1, 0), (2, 1), (20, 10), (60, 4)])
def test_texts_do_not_meet(tmp_path: Path, catcher: Catcher, k: int, n: int) -> None:
    criteria = [Criterion(criterion.name, np.sin(np.arange(k) * (1 + i))) for i, criterion in enumerate(made(n))]
    draw_counts([tmp_path / "c.png"], [1 / k] * k, criteria, chosen=1, interval=(1, k))
    assert_readable(catcher.texts["c.png"], catcher.sizes["c.png"])
