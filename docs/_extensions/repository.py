"""Markdown pages of the repository as pages of the site.

Pages link to each other as files, so that they read well on a git host. On the site some of these files lie elsewhere,
and some are no pages at all. Here links are turned into what the site has: `docs/` links stay, files that are pages of
the site lead to their page, and other files of the repository are named, since there is no address to lead to.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

PAGES = {
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "laboratory/README.md": "laboratory",
    "laboratory/newfound_lab/pretrain/README.md": "pretraining",
}
"""Files outside of docs that are pages of the site, and the names of the pages. `docs` has a stub for each."""

_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")


def site_links(text: str, origin: str) -> str:
    """Return Markdown whose links work on the site.

    Parameters
    ----------
    text : str
        Markdown.
    origin : str
        Path from the root of the repository of the file that it stands in.
    """
    folder = PurePosixPath(origin).parent

    def lead(link: re.Match[str]) -> str:
        words, (path, _, anchor) = link["text"], link["target"].partition("#")
        if not path or "://" in path or path.startswith("mailto:"):
            return link[0]
        target = PurePosixPath(os.path.normpath(folder / path))
        anchor = anchor and f"#{anchor}"
        if str(target) in PAGES:
            return f"[{words}]({PAGES[str(target)]}.md{anchor})"
        if str(target) == "README.md":
            return f"[{words}](index.md)"
        if target.parts[0] == "docs" and not (ROOT / target).is_dir():
            return f"[{words}]({target.relative_to('docs')}{anchor})"
        named = words.strip("`") == str(target)
        return f"`{target}`" if named else f"{words} (`{target}` in the repository)"

    return _LINK.sub(lead, text)


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the file of a stub in its place, and turn the links of a Markdown page into those of the site."""
    stubs = {page: path for path, page in PAGES.items()}
    if docname in stubs:
        path = ROOT / stubs[docname]
        app.env.note_dependency(str(path))
        source[0] = site_links(path.read_text(encoding="utf-8"), stubs[docname])
    elif (DOCS / f"{docname}.md").exists():
        source[0] = site_links(source[0], f"docs/{docname}.md")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", _read)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
