"""Links between Markdown files lead to files and headings that exist, as git hosts and the site follow them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.anchors import anchors_plugin

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(path for path in (ROOT / "docs").glob("*.md") if not path.name.endswith(".in.md")),
        *(path for path in (ROOT / "laboratory").rglob("README.md")),
    ]
)


@cache
def links_and_anchors(path: Path) -> tuple[tuple[str, ...], frozenset[str]]:
    """The targets of all links and pictures of a page, and the names of its headings."""
    parser = MarkdownIt("commonmark").enable("table").use(anchors_plugin, max_level=6)
    tokens = parser.parse(path.read_text(encoding="utf-8"))
    flat = [child for token in tokens for child in [token, *(token.children or [])]]
    links = [str(token.attrs[name]) for token in flat for name in ("href", "src") if name in token.attrs]
    return tuple(links), frozenset(str(token.attrs["id"]) for token in flat if token.type == "heading_open")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = []
    for link in links_and_anchors(page)[0]:
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in links_and_anchors(target)[1]):
            broken.append(link)
    assert broken == []


def test_broken_links_are_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A heading, here\n\n[a](#a-heading-here) ![b](b.png)\n\n```\n[code](c.md)\n```\n")
    assert links_and_anchors(page) == (("#a-heading-here", "b.png"), frozenset({"a-heading-here"}))
