from __future__ import annotations

import re
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from newfound import datasets
from newfound.cli import demo as demo_module
from newfound.cli.app import run
from newfound.pictures.latent import write_latent_picture
from tests.pictures.common import assert_drawn

ROWS = ["k-means", "baseline (ClassifierProjection)", "TabularNCD", "TabularNCD, 10 members"]


def scores(printed: str) -> dict[str, list[float]]:
    """The numbers in each row of the table."""
    lines = [re.split(r"\s{2,}", line.strip()) for line in printed.splitlines()]
    return {name: [float(number) for number in numbers] for name, *numbers in lines if name in ROWS and numbers}


def test_demo_from_end_to_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []

    def write(path: Path, panels: Any, classes: Any, **others: Any) -> None:
        drawn.append((panels, classes))
        write_latent_picture(path, panels, classes, **others)

    monkeypatch.setattr("newfound.pictures.latent.write_latent_picture", write)
    monkeypatch.setattr("newfound.pictures.latent.map_to_plane", lambda rows, **_: rows[:, :2])  # t-SNE takes seconds
    out = tmp_path / "a [new] folder"  # brackets are markup to rich
    before = torch.get_num_threads()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*novel classes have no rows")  # so short a training may fail
        assert run(["demo", "--quick", "--out", str(out)]) == 0
    assert torch.get_num_threads() == before
    printed = capsys.readouterr().out
    assert "The labels of 5, 6, 7, 8 and 9 are hidden" in printed
    table = scores(printed)
    assert list(table) == ROWS
    for bacc, acc, nmi, ari, seconds in table.values():
        assert all(0 < score <= 100 for score in (bacc, acc, nmi))
        assert -100 <= ari <= acc
        assert seconds >= 0
    assert table["k-means"][1] > 50
    assert "novel_0 is mostly " in printed
    picture = out / "latent-space.png"
    assert str(picture) in printed
    assert_drawn(picture)
    ((panels, classes),) = drawn
    n_rows = len(datasets.load("digits").y_test)
    assert [panel.positions.shape for panel in panels] == [(n_rows, 2)] * 2
    assert all(np.isfinite(panel.positions).all() for panel in panels)
    assert [class_.novel for class_ in classes] == [False] * 5 + [True] * 5
    assert (np.sum([class_.rows for class_ in classes], axis=0) == 1).all(), "every row is of one class"
    assert picture.stat().st_size < 400_000
    assert [path.name for path in out.iterdir()] == ["latent-space.png"]


def test_without_matplotlib_the_table_is_printed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_module, "is_installed", lambda package: package != "matplotlib")
    assert run(["demo", "--quick", "--out", str(tmp_path / "demo")]) == 0
    printed = capsys.readouterr().out
    assert list(scores(printed)) == ROWS
    assert printed.splitlines()[-1].endswith("run: pip install 'newfound[plot]'")
    assert not (tmp_path / "demo").exists()


def test_the_best_scores_are_bold() -> None:
    from rich.console import Console

    scored = {"a": (0.5, 0.2, 0.1, 0.9), "b": (0.4, 0.3, 0.1, 1.0)}
    results = [
        demo_module.Result(name, None, torch.empty(0).numpy(), dict(zip(demo_module._SCORES, values, strict=True)), 1.0)
        for name, values in scored.items()
    ]
    console = Console(force_terminal=True, color_system="standard", width=80, _environ={})
    with console.capture() as capture:
        console.print(demo_module._table(results))
    bold = re.findall(r"\x1b\[1;32m\s*([\d.]+)", capture.get())
    assert bold == ["50.0", "10.0", "30.0", "10.0", "100.0"]


@pytest.mark.slow
def test_the_whole_demo_is_quick_and_finds_the_digits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = time.perf_counter()
    assert run(["demo", "--out", str(tmp_path)]) == 0
    assert time.perf_counter() - start < 60
    table = scores(capsys.readouterr().out)
    assert table["TabularNCD"][1] > table["k-means"][1] + 10
    assert table["TabularNCD, 10 members"][1] > 90
