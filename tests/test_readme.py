"""What the README promises."""

from __future__ import annotations

import ast
import csv
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import registry
from tests.discoverers.conftest import keep_small_forests

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
ESTIMATORS = (ROOT / "docs" / "estimators.md").read_text()  # the longer README
EXAMPLES, MORE_EXAMPLES = (re.findall(r"```python\n(.*?)```", page, re.DOTALL) for page in (README, ESTIMATORS))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make examples quick, and have them write into a folder of their own."""
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path))  # where the trials of the tuning are kept
    monkeypatch.chdir(tmp_path)  # where the report is written
    keep_small_forests(monkeypatch)  # with all of them, and the whole training, it takes a minute
    return tmp_path


def run(examples: list[str]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for code in examples:
        exec(code, names)
    return names


@pytest.mark.filterwarnings("ignore:ignored column 'machine'")
@pytest.mark.filterwarnings("ignore:The evidence for these novel classes is weak")
def test_the_six_lines_run(quick: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [code] = EXAMPLES
    assert len([line for line in code.splitlines() if line and not line.startswith("import")]) <= 6
    rows = (ROOT / "docs" / "notebooks" / "repairs.csv").read_text().splitlines()[:300]
    (quick / "repairs.csv").write_text("\n".join(rows))
    run(EXAMPLES)
    assert "novel_1: " in capsys.readouterr().out
    assert "</html>" in (quick / "report.html").read_text()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:ignored column 'machine'")
def test_the_six_lines_find_what_the_readme_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(ROOT / "docs" / "notebooks" / "repairs.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(EXAMPLES[0], names)
    shown = capsys.readouterr().out.splitlines()
    [promised] = re.findall(r"```\n(2 novel classes.*?)```", README, re.DOTALL)
    headings = [line for line in promised.splitlines() if line and not line.startswith(" ")]
    assert [line for line in shown if line and not line.startswith(" ")] == headings
    with open(ROOT / "docs" / "notebooks" / "repairs_truth.csv", newline="") as file:
        truth = np.array([row["fault"] for row in csv.DictReader(file)])
    pairs = zip(["door seal", "sensor"], names["model"].novel_classes_, strict=True)
    n_right = sum((names["model"].labels_[truth == fault] == name).sum() for fault, name in pairs)
    assert f": {n_right} of their {np.isin(truth, ['door seal', 'sensor']).sum()} rows are found" in README


@pytest.mark.filterwarnings("ignore:The evidence for these novel classes is weak")
def test_the_examples_print_what_their_comments_say(quick: Path) -> None:
    names = run(MORE_EXAMPLES)
    [(expression, promised)] = re.findall(r"^(fruit_model.*)  # (.*)$", ESTIMATORS, re.MULTILINE)
    assert eval(expression, names) == ast.literal_eval(promised)
    assert names["fruit"].isna().any(axis=None)
    estimate = names["estimate"]
    assert f"  # {estimate.n_classes} {estimate.interval}: " in ESTIMATORS
    assert "early" in names["y_next"].tolist()
    assert "</html>" in (quick / "report.html").read_text()


def test_the_two_commands_exist() -> None:
    commands = set(re.findall(r"^make (\w+)", README, re.MULTILINE))
    assert commands == {"demo", "test"}
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert commands <= targets


def test_the_readme_is_one_screen_and_its_picture_is_small() -> None:
    assert len(README.splitlines()) < 100
    assert (ROOT / "docs" / "images" / "discovery.gif").stat().st_size < 300_000


def test_the_recipe_for_a_discoverer_works(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    recipe = (ROOT / "docs" / "new_discoverer.md").read_text()
    names = run(re.findall(r"```python\n(.*?)```", recipe, re.DOTALL))
    model, data, nf = names["model"], names["data"], names["nf"]
    sizes = [(model.labels_ == name).sum() for name in model.novel_classes_]
    assert sizes == sorted(sizes, reverse=True)
    assert nf.metrics.novel_scores(data.y_test, model.predict(data.X_test))["acc"] > 0.8
    assert (nf.load(quick / "mixture.newfound").predict(data.X_test) == model.predict(data.X_test)).all()
    with pytest.raises(nf.InputError, match="floor"):
        names["MixtureDiscoverer"](floor=0).fit(data.X_train, data.y_train)
