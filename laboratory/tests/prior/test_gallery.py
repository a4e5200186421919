"""The page on the prior shows every family, with the words of the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from newfound_lab.prior import gallery
from newfound_lab.prior.gallery import write_gallery
from newfound_lab.prior.tasks import FAMILIES, PRIOR_VERSION

DOCS = Path(__file__).parents[3] / "docs"


def test_every_family_has_words_and_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "FAMILIES", {name: FAMILIES[name] for name in ("rules", "curves")})
    write_gallery(tmp_path / "prior.md", tmp_path / "images")
    text = (tmp_path / "prior.md").read_text(encoding="utf-8")
    for name, words in (
        ("rules", "Classes follow rules of few columns"),
        ("curves", "Columns are places along a curve"),
    ):
        assert words in text
        assert f"images/{name}.png" in text
        assert (tmp_path / "images" / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


def test_the_page_in_docs_is_of_this_prior() -> None:
    text = (DOCS / "prior.md").read_text(encoding="utf-8")
    assert f"version {PRIOR_VERSION} of the prior" in " ".join(text.split()), "newfound-lab pretrain gallery"
    for name, entry in FAMILIES.items():
        assert gallery._about(entry.make) in text
        assert (DOCS / "images" / "prior" / f"{name}.png").exists()
