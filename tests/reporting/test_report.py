from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import newfound as nf
from newfound.errors import InputError
from newfound.markup import document
from newfound.reporting import Report
from tests.reporting.conftest import Case


@pytest.fixture(scope="module")
def made(mixed_facts: dict[str, Any]) -> Report:
    return Report(mixed_facts)


def test_it_says_what_it_is(made: Report) -> None:
    assert repr(made) == "<Report: 2 novel classes in 300 rows; save(path) writes it as an HTML file>"


def test_it_is_saved_as_it_is(made: Report, tmp_path: Path) -> None:
    assert made.save(tmp_path / "a.html").read_text(encoding="utf-8") == made.html
    with pytest.raises(InputError, match="which is no folder"):
        made.save(tmp_path / "none" / "a.html")


def test_a_path_saves_it_too(numeric: Case, tmp_path: Path) -> None:
    found = nf.report(numeric.model, numeric.X, path=tmp_path / "b.html", title="B", n_map_rows=30)
    assert (tmp_path / "b.html").read_text(encoding="utf-8") == found.html
    assert found.facts["title"] == "B"
    with pytest.raises(InputError, match="is a folder"):
        nf.report(numeric.model, numeric.X, path=tmp_path)


def test_inside_a_page_it_works_and_reaches_nothing(made: Report, browser: Any, tmp_path: Path) -> None:
    (tmp_path / "notebook.html").write_text(document("A notebook", made._repr_html_()), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto((tmp_path / "notebook.html").as_uri())
    page.locator("iframe").scroll_into_view_if_needed()
    inside = page.frames[1]
    assert "2 novel classes in 300 rows" in inside.locator("h1").text_content()
    inside.locator(".pick[data-class]").first.click()  # in the legend of the map, which needs the script
    assert inside.locator("#map-status").text_content().startswith("Shown: ")
    assert inside.evaluate("window.hacked") is None
    assert inside.evaluate("(() => { try { return parent.document.title } catch { return null } })()") is None
    assert problems == []
    page.close()
