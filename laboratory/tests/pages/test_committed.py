"""The committed pages are what the committed lines say: neither was edited without the other."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from newfound_lab.pages import figures as drawing
from newfound_lab.pages import label_free_figures, mixed_figures
from newfound_lab.pages.figures import write_figures
from newfound_lab.pages.page import figures_in, fill
from newfound_lab.runner.results import ResultFile

ROOT = Path(__file__).parents[3]
TEMPLATES = sorted((ROOT / "docs").glob("*.in.md"))


@cache
def committed_lines() -> list[dict[str, Any]]:
    return ResultFile(ROOT / "benchmarks" / "results").lines


@pytest.fixture
def without_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the pictures, which take a minute; their captions stay."""
    for module in (drawing, label_free_figures, mixed_figures):
        for name in [name for name in vars(module) if name.startswith("write_") and name != "write_figures"]:
            monkeypatch.setattr(module, name, lambda *_, **__: None)


def test_there_are_templates() -> None:
    assert {"paper.in.md", "label_free.in.md", "open_world.in.md"} <= {path.name for path in TEMPLATES}


@pytest.mark.usefixtures("without_drawing")
@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_committed_page_is_its_template_filled_from_the_committed_lines(template: Path, tmp_path: Path) -> None:
    page = template.with_name(template.name.replace(".in.md", ".md"))
    text, images = template.read_text(encoding="utf-8"), f"images/{page.stem}"
    figures = write_figures(committed_lines(), tmp_path, figures_in(text))
    filled, _ = fill(text, committed_lines(), figures, images)
    command = f"make {page.stem.replace('_', '-')}-page"
    assert filled.splitlines() == page.read_text(encoding="utf-8").splitlines(), f"run: {command}"
    assert filled == page.read_text(encoding="utf-8")
    shown = re.findall(rf"\]\(({images}/[^)]+)\)", filled)
    assert [image for image in shown if not (page.parent / image).is_file()] == []


QUOTED = " | ".join(
    f"{{{{label_free:all/{method}/given/all/acc}}}}" for method in ("kmeans", "whitened_kmeans", "auto")
)


def test_the_readme_quotes_the_committed_lines() -> None:
    """Its figures are typed, since it has no template."""
    filled, absent = fill(QUOTED, committed_lines(), {}, "images")
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").replace("*", "").split())
    assert not absent
    assert filled in readme
