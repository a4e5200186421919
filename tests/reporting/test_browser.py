"""A report in a real browser: nothing is fetched, nothing fails, and pointer, buttons and keyboard do their work."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CONTRAST = """() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let around = element; around; around = around.parentElement) {
      const colour = channels(getComputedStyle(around).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("svg, noscript")) continue;
    const [a, b] = [getComputedStyle(element).color, null].map((c) => luminance(c ? channels(c) : behind(element)));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${element.className || element.tagName}: ${ratio.toFixed(2)}`);
  }
  return [...new Set(poor)];
}"""


@pytest.fixture
def page(browser: Any, mixed_file: Path) -> Iterator[Any]:
    with opened(browser, mixed_file) as found:
        yield found


class opened:
    """A page with the report; any request beside the file, and any complaint of the browser, fails the test."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.page = browser.new_page(**({"viewport": {"width": 1280, "height": 900}} | options))
        self.problems: list[str] = []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.problems.append(request.url) if request.url != self.url else None)
        self.url = path.as_uri()

    def __enter__(self) -> Any:
        self.page.goto(self.url)
        return self.page

    def __exit__(self, kind: Any, *_: object) -> None:
        self.page.close()
        if kind is None:
            assert self.problems == []


def data_of(page: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.locator("#report-data").text_content())
    return found


def marks(page: Any) -> list[int]:
    """The classes that are drawn in their full colour: most of their marks have it in the middle."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    data = data_of(page)
    spots = [[*place, code] for place, code in zip(in_map(page), data["map"]["classes"], strict=True)]
    names = ["--known-mark" if not class_["novel"] else f"--{class_['colour']}" for class_ in data["classes"]]
    found: list[int] = page.evaluate(PAINTED, [spots, names])
    return found


PAINTED = """([spots, names]) => {
  const canvas = document.querySelector("#map canvas"), probe = document.body.appendChild(document.createElement("i"));
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colours = names.map((name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color.match(/\\d+/g).join();
  });
  probe.remove();
  const scale = canvas.width / canvas.clientWidth, votes = names.map(() => 0);
  for (const [x, y, code] of spots) {
    const at = 4 * (Math.floor(y * scale) * canvas.width + Math.floor(x * scale));
    votes[code] += data.slice(at, at + 3).join() === colours[code] ? 1 : -1;
  }
  return votes.map((_, code) => code).filter((code) => votes[code] > 0);
}"""


def in_map(page: Any) -> list[tuple[float, float]]:
    """Where the marks are inside the frame of the map, in pixels."""
    data = data_of(page)["map"]
    width, height = page.locator("#map").evaluate("map => [map.clientWidth, map.clientHeight]")
    places = zip(data["x"], data["y"], strict=True)
    return [(26 + x / 1e4 * (width - 52), 26 + (1 - y / 1e4) * (height - 52)) for x, y in places]


def place_of(page: Any, i: int) -> tuple[float, float]:
    """The same in pixels of the window."""
    page.locator("#map").scroll_into_view_if_needed()
    box = page.locator("#map > canvas").first.bounding_box()
    x, y = in_map(page)[i]
    return box["x"] + x, box["y"] + y


def test_nothing_is_cut_off_on_a_desk(page: Any) -> None:
    page.eval_on_selector_all("details", "all => all.forEach((details) => { details.open = true; })")
    cut = """all => all.filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1)
        .map((element) => `${element.closest("section")?.id} ${element.tagName}.${element.className}`)"""
    parts = ", ".join(
        f"section:not(#map-section) {element}" for element in (".scroll", "table", "td", "th", "figure", "pre")
    )
    assert page.eval_on_selector_all(parts, cut) == []


def test_hostile_texts_do_nothing(page: Any) -> None:
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    page.locator("#map").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#row table").is_visible()
    assert page.locator("#row img, .tip img").count() == 0


def test_pointing_at_a_mark_shows_its_row(page: Any) -> None:
    data = data_of(page)
    page.mouse.move(*place_of(page, 7))
    tip = page.locator(".tip")
    assert tip.is_visible()
    row = int(re.search(r"row (\d+)", tip.text_content())[1])  # type: ignore[index]
    assert page.locator("#row caption").text_content() == f"Row {row}"
    i = data["map"]["rows"].index(row)
    assert data["classes"][data["map"]["classes"][i]]["name"] in tip.text_content()
    ages = next(column for column in data["map"]["columns"] if column["name"] == "age")
    shown = page.locator("#row tr", has=page.locator("th", has_text=re.compile("^age$"))).locator("td")
    assert shown.text_content() == str(ages["cells"][i])
    page.mouse.move(5, 5)
    assert tip.is_hidden()


def test_clicking_a_mark_shows_its_class_alone_and_again_all(page: Any) -> None:
    everything = marks(page)
    assert len(everything) > 2
    place = place_of(page, 7)
    page.mouse.click(*place)
    alone = marks(page)
    assert len(alone) == 1
    assert page.locator(".pick[aria-pressed=true]").get_attribute("data-class") == str(alone[0])
    page.mouse.click(*place)
    assert marks(page) == everything


def test_one_can_look_closer_and_drag_the_map(page: Any) -> None:
    i = 7
    x, y = place_of(page, i)
    page.mouse.move(x, y)
    row = page.locator("#row caption").text_content()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.mouse.move(x + 1, y)  # what is under the pointer stays there
    assert page.locator("#row caption").text_content() == row
    page.mouse.down()
    page.mouse.move(x + 60, y + 40, steps=3)
    page.mouse.up()
    page.mouse.move(x + 61, y + 40)  # and goes with it
    assert page.locator("#row caption").text_content() == row
    assert page.locator(".pick.all").get_attribute("aria-pressed") == "true"  # a drag is no click
    page.get_by_role("button", name="Show the whole map").click()
    page.mouse.move(*place_of(page, i))
    assert page.locator("#row caption").text_content() == row


def test_the_legend_chooses_classes(page: Any) -> None:
    everything = marks(page)
    first, second = page.locator(".pick[data-class]").nth(0), page.locator(".pick[data-class]").nth(1)
    every = page.locator(".pick.all")
    assert every.get_attribute("aria-pressed") == "true"
    first.click()
    assert marks(page) == [int(first.get_attribute("data-class"))]
    assert first.get_attribute("aria-pressed") == "true"
    assert every.get_attribute("aria-pressed") == "false"
    assert page.locator("#map-status").text_content().startswith("Shown: ")
    second.press("Enter")
    assert len(marks(page)) == 2
    every.click()
    assert marks(page) == everything


def spoken_row(page: Any) -> int:
    """Place on the map of the row that a screen reader was told of."""
    row = int(re.match(r"Row (\d+)", page.locator("#map-status").text_content())[1])  # type: ignore[index]
    return int(data_of(page)["map"]["rows"].index(row))


def test_the_map_can_be_read_by_the_keyboard(page: Any) -> None:
    status = page.locator("#map-status")
    page.locator("#map").focus()
    page.keyboard.press("ArrowRight")
    first = status.text_content()
    assert re.match(r"Row \d+, novel class ", first)
    xs = data_of(page)["map"]["x"]
    x = xs[spoken_row(page)]
    key = "ArrowLeft" if x > 5_000 else "ArrowRight"
    page.keyboard.press(key)
    assert status.text_content() != first
    moved = xs[spoken_row(page)]
    assert moved < x if key == "ArrowLeft" else moved > x
    page.keyboard.press("Enter")
    assert len(marks(page)) == 1
    page.keyboard.press("Escape")
    assert len(marks(page)) > 1
    assert page.locator("#row table").count() == 0


def test_the_first_tab_skips_to_the_summary(page: Any) -> None:
    page.keyboard.press("Tab")
    skip = page.locator(".skip")
    assert skip.evaluate("element => element === document.activeElement")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_the_map_is_a_table_as_well(page: Any) -> None:
    page.locator("#map-rows > summary").click()
    page.locator("#map-table tbody tr").first.wait_for()
    assert page.locator("#map-table tbody tr").count() == 25
    first = page.locator("#map-table tbody th").first.text_content()
    page.get_by_role("button", name="Next").click()
    assert page.locator("#map-table tbody th").first.text_content() != first
    pick = page.locator(".pick[data-class]").nth(0)
    name = pick.locator(".pick-name").text_content()
    pick.click()
    assert set(page.locator("#map-table tbody td:nth-child(2)").all_text_contents()) == {name}


def test_a_row_of_a_card_is_found_on_the_map(page: Any) -> None:
    button = page.locator(".on-map").first
    button.click()
    assert page.locator("#row caption").text_content() == f"Row {button.text_content()}"
    assert page.evaluate("document.activeElement.id") == "map"


def test_paper_shows_what_was_closed(page: Any) -> None:
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("article details:not([open])").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("article details:not([open])").count() > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_window_and_can_be_read(browser: Any, mixed_file: Path, scheme: str, width: int) -> None:
    with opened(browser, mixed_file, viewport={"width": width, "height": 844}, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(CONTRAST) == []
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        assert dark == (scheme == "dark")


def test_without_scripts_the_map_is_there(browser: Any, mixed_file: Path) -> None:
    with opened(browser, mixed_file, java_script_enabled=False) as page:
        assert page.locator(".marks").count() > 2
        assert page.locator("article").count() == 2
