"""The workbench in a real browser, with a real server: from a spreadsheet to named classes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from newfound.cli.app import run as run_command
from tests.reporting.conftest import HOSTILE, mixed_table
from tests.web.frames import frames_a_second
from tests.web.served import served

SOON = 60_000  # milliseconds, on a machine that has other things to do


@pytest.fixture(scope="module")
def address(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("workbench")) as found:
        yield found


class Visitor:
    """Somebody with a browser: clicks are counted, and whatever the browser complains of is kept."""

    def __init__(self, browser: Any, address: str) -> None:
        self.page = browser.new_page(viewport={"width": 1440, "height": 900}, accept_downloads=True)
        self.page.set_default_timeout(SOON)
        self.n_clicks, self.problems = 0, []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda one: None if one.url.startswith(address) else self.problems.append(one.url))
        self.page.on("response", lambda one: self.problems.append(one.url) if one.status >= 400 else None)
        self.page.goto(address)

    def click(self, role: str, name: str, nth: int = 0) -> None:
        self.page.get_by_role(role, name=name).nth(nth).click()
        self.n_clicks += 1

    def wait_for_run(self, status: str, timeout: float = SOON) -> Any:
        card = self.page.locator(f".run-card[data-status={status}]").first
        card.wait_for(timeout=timeout)
        return card


def mark_of_class(page: Any, name: str) -> tuple[float, float]:
    """Choose a class alone in the legend, and find a pixel of its colour on the map."""
    page.locator(".pick", has=page.locator(".pick-name", has_text=re.compile(f"^{name}$"))).click()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    x, y = page.locator("#map canvas").first.evaluate(
        """(canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const probe = document.body.appendChild(document.createElement("i"));
          probe.style.color = "var(--c0)";
          const [r, g, b] = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
          probe.remove();
          for (let at = 0; at < data.length; at += 4) {
            if (data[at] === r && data[at + 1] === g && data[at + 2] === b) {
              const scale = canvas.clientWidth / canvas.width, area = canvas.getBoundingClientRect(), n = at / 4;
              return [area.left + (n % canvas.width) * scale, area.top + Math.floor(n / canvas.width) * scale];
            }
          }
          return [-1, -1];
        }"""
    )
    assert x >= 0
    return float(x), float(y)


def test_from_a_spreadsheet_to_named_classes(
    browser: Any, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from playwright.sync_api import expect

    X, y = mixed_table()
    table = tmp_path / "people.csv"
    X.assign(tier=y).to_csv(table, index=False)
    visitor = Visitor(browser, address)
    page = visitor.page

    # upload, and what the columns hold
    page.locator("input[type=file]").set_input_files(table)
    page.get_by_label("Which column holds the classes?").select_option("tier")
    page.get_by_text("labelled rows in 3 known classes").wait_for()
    missing = page.locator(".columns-table tr", has=page.locator("th", has_text="income")).locator(".missing-cell")
    share = round(100 * X["income"].isna().mean())
    assert missing.text_content() == f"{share}\u00a0%"
    assert not page.get_by_label("Use constant").is_checked()
    visitor.click("link", "Continue")

    # one run is cancelled, another is watched
    visitor.click("button", "Find novel classes")
    page.locator(".run-card").get_by_role("button", name="Cancel").click()
    visitor.wait_for_run("cancelled")
    page.get_by_text("Other methods").click()
    page.get_by_text("NCD k-means", exact=True).click()
    page.get_by_label("Number of novel classes").fill("2")
    visitor.click("button", "Find novel classes")
    running = visitor.wait_for_run("running")
    assert running.get_by_role("progressbar").get_attribute("aria-valuenow") is not None
    done = visitor.wait_for_run("done")
    assert "Found 2 novel classes" in done.locator(".run-phase").text_content()
    assert page.locator(".run-card").count() == 2

    # explore
    visitor.click("link", "Explore the map")
    page.locator("#map canvas").first.wait_for()
    x, y_ = mark_of_class(page, "novel_0")
    page.mouse.click(x, y_ + 1)
    page.locator(".row-panel caption").wait_for()
    row = int(page.locator(".row-panel caption").text_content().removeprefix("Row "))
    city = page.locator(".row-panel tr", has=page.get_by_role("rowheader", name="<b>city</b>")).locator("td")
    assert city.text_content() == (X["<b>city</b>"][row] or "missing")
    box = page.locator("#map").bounding_box()
    page.get_by_role("button", name="Draw around rows").click()
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    page.mouse.down()
    for dx, dy in ((0.97, 0.01), (0.97, 0.85), (0.01, 0.97), (0.01, 0.01)):
        page.mouse.move(box["x"] + dx * box["width"], box["y"] + dy * box["height"], steps=3)
    page.mouse.up()
    page.locator(".chosen-rows tbody tr").first.wait_for()
    assert set(page.locator(".chosen-rows tbody td:nth-child(2)").all_text_contents()) == {"novel_0"}
    assert page.evaluate("window.hacked") is None
    page.get_by_label("Colour by").select_option(label="income")
    page.locator(".ramp", has_text="missing").wait_for()

    # name, merge, undo
    visitor.click("link", "Name the classes")
    first = page.get_by_label("Name of the class").first
    first.fill(f"gold {HOSTILE}")
    first.press("Enter")
    page.get_by_role("button", name="Undo: ").wait_for()
    page.get_by_role("button", name="Merge…").first.click()
    page.locator("dialog .choice").first.click()
    page.locator("dialog").get_by_role("button", name="Merge").click()
    expect(page.locator(".class-block")).to_have_count(1, timeout=SOON)
    page.get_by_role("button", name="Undo: ").click()
    expect(page.locator(".class-block")).to_have_count(2, timeout=SOON)
    names = [one.input_value() for one in page.get_by_label("Name of the class").all()]
    assert f"gold {HOSTILE}" in names
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img").count() == 0

    # export: the labels are those of the library, but for the new name
    page.locator(".class-bar").get_by_role("link", name="Export").click()
    with page.expect_download() as download:
        page.locator("[data-export=labels]").click()
    found = pd.read_csv(download.value.path(), dtype=str)
    monkeypatch.chdir(tmp_path)
    command = "discover people.csv --target tier --method ncd_kmeans --novel-classes 2 --rows auto --out found"
    assert run_command([*command.split(), "--ignore", "constant"]) == 0
    expected = pd.read_csv("found/labels.csv", dtype=str)
    assert found["class"].str.startswith("gold").any()
    named = found["class"].where(~found["class"].str.startswith("gold"), "novel_0")
    assert named.tolist() == expected["class"].tolist()
    assert visitor.problems == []


@pytest.mark.slow
def test_an_example_leads_to_named_classes_in_five_clicks(browser: Any, address: str) -> None:
    visitor = Visitor(browser, address)
    page = visitor.page
    visitor.click("button", "Orchard")
    visitor.click("link", "Continue")
    visitor.click("button", "Find novel classes")
    visitor.wait_for_run("done", 5 * SOON)
    visitor.click("link", "Name the classes")
    fields = page.get_by_label("Name of the class")
    fields.first.click()
    visitor.n_clicks += 1
    names = ["plum", "fig", "melon"]
    for place, name in enumerate(names):  # the keyboard does the rest
        fields.nth(place).focus()
        page.keyboard.press("Control+a")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.get_by_role("button", name=f"Undo: rename novel_{place}").wait_for()
    assert [one.input_value() for one in fields.all()] == names
    assert visitor.n_clicks == 5
    page.reload()  # what was done is kept
    fields.first.wait_for()
    assert [one.input_value() for one in fields.all()] == names
    assert visitor.problems == []


@pytest.mark.slow
def test_a_map_of_100_000_rows_is_dragged_smoothly(browser: Any) -> None:
    assert frames_a_second(browser) >= 30
