"""What the README promises."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_example_prints_what_its_comment_says() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    *statements, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(ast.Module(statements, []), "README.md", "exec"), names)
    result = eval(compile(ast.Expression(last.value), "README.md", "eval"), names)
    promised = code.strip().splitlines()[-1].partition("  # ")[2]
    assert result == ast.literal_eval(promised)
    assert names["fruit"].isna().any(axis=None)


def test_the_two_commands_exist() -> None:
    commands = set(re.findall(r"^make (\w+)", README, re.MULTILINE))
    assert commands == {"demo", "test"}
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert commands <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()) if "://" not in link]
    missing = [link for link in links if not (page.parent / link.partition("#")[0]).exists()]
    assert missing == []


def test_the_picture_is_small_enough_for_a_readme() -> None:
    assert (ROOT / "docs" / "images" / "demo.png").stat().st_size < 400_000
