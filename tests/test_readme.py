"""What the README promises."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from tests.discoverers.conftest import keep_few_candidates

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.filterwarnings("ignore:The evidence for these novel classes is weak")
def test_the_examples_print_what_their_comments_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path))  # where the trials of the tuning are kept
    monkeypatch.chdir(tmp_path)  # where the report is written
    keep_few_candidates(monkeypatch)  # with all of them, and the whole training, it takes a minute
    names: dict[str, Any] = {}
    for code in EXAMPLES:
        exec(code.replace("AutoDiscoverer(", "AutoDiscoverer(n_members=2, training_steps=50, "), names)
    expression, _, promised = EXAMPLES[-1].strip().splitlines()[-1].partition("  # ")
    assert eval(expression, names) == ast.literal_eval(promised)
    assert names["fruit"].isna().any(axis=None)
    estimate = names["estimate"]
    assert f"  # {estimate.n_classes} {estimate.interval}: " in README
    assert "early" in names["y_next"].tolist()
    assert "</html>" in (tmp_path / "report.html").read_text()


def test_the_two_commands_exist() -> None:
    commands = set(re.findall(r"^make (\w+)", README, re.MULTILINE))
    assert commands == {"demo", "test"}
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert commands <= targets


def test_the_picture_is_small_enough_for_a_readme() -> None:
    assert (ROOT / "docs" / "images" / "demo.png").stat().st_size < 400_000
