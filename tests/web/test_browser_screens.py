"""The screens of the workbench with canned answers: texts of strangers, errors, empty places, keyboard, colours."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import newfound as nf
from newfound.reporting import report_facts
from newfound.reporting.figures import outlines
from newfound.reporting.fragments import fragments
from newfound.web.catalogue import EXAMPLES, discoverers
from tests.reporting.conftest import HOSTILE, mixed_table
from tests.reporting.test_browser import CONTRAST
from tests.web.fake_bench import FakeBench

TABLE, RUN = "a" * 16, "b" * 16
SCREENS = {
    "home": "#/",
    "columns": f"#/table/{TABLE}",
    "run": f"#/table/{TABLE}/run",
    "explore": f"#/run/{RUN}/explore",
    "classes": f"#/run/{RUN}/classes",
    "batches": f"#/run/{RUN}/batches",
    "export": f"#/run/{RUN}/export",
}
NOVEL = [f"<b>{HOSTILE}</b>", "second"]

Open = Callable[..., FakeBench]


@pytest.fixture(scope="module")
def canned() -> dict[str, Any]:
    """Answers of a workbench with one table and one finished run, all texts of which look like markup."""
    X, y = mixed_table(120)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = nf.KMeansDiscoverer(2, random_state=0).fit(X, y)
        model.rename(dict(zip(model.novel_classes_.tolist(), NOVEL, strict=True)))
        facts = report_facts(model, X, y, title=HOSTILE)
    names = [one["name"] for one in facts["classes"]]
    run = {
        "id": RUN,
        "kind": "discovery",
        "title": HOSTILE,
        "table": TABLE,
        "table_name": f"{HOSTILE}.csv",
        "parent": None,
        "round": 1,
        "status": "done",
        "phase": "",
        "share_done": 1.0,
        "seconds": 12.0,
        "seconds_left": None,
        "losses": [],
        "error": None,
        "notes": [HOSTILE],
        "created": "2026-01-01T10:00:00Z",
        "n_novel_classes": 2,
        "n_known_classes": 3,
        "options": {"method": "kmeans", "target": "tier", "ignore": [], "kinds": {}, "hide": [], "marks": None},
    }
    table = {
        "id": TABLE,
        "name": f"{HOSTILE}.csv",
        "n_rows": 120,
        "n_columns": 7,
        "created": "2026-01-01T10:00:00Z",
        "notes": [HOSTILE],
    }
    column = {
        "reason": "",
        "missing_share": 0.1,
        "n_levels": 3,
        "histogram": None,
        "levels": None,
        "examples": [HOSTILE],
    }
    levels = [{"text": HOSTILE, "count": 60}, {"text": "Lyon", "count": 40}]
    spread = {"edges": [0, 1, 2], "counts": [3, 7], "low": "0", "high": "2"}
    columns = {
        "columns": [
            {**column, "index": 0, "name": HOSTILE, "kind": "categorical", "levels": levels},
            {**column, "index": 1, "name": "income", "kind": "numeric", "histogram": spread},
            {**column, "index": 2, "name": "tier", "kind": "categorical", "levels": levels},
        ],
        "suggested_target": {"name": "tier", "reason": HOSTILE},
        "suggested_ignored": [{"name": HOSTILE, "reason": HOSTILE}],
        "target": {
            "name": "tier",
            "classes": [{"name": HOSTILE, "count": 40}, {"name": "bronze", "count": 30}],
            "n_labelled": 70,
            "n_unlabelled": 50,
            "notes": [HOSTILE],
        },
        "target_problem": None,
    }
    states = [
        {
            "name": one["name"],
            "is_novel": one["is_novel"],
            "n_rows": one["n_rows"],
            "n_unlabelled": 5,
            "accepted": False,
        }
        for one in facts["classes"]
    ]
    points = facts["map"]
    cells = [{"row": i, "label": None, "class_name": NOVEL[0], "probability": 0.4, "answer": None} for i in (3, 5)]
    rows = {"columns": [HOSTILE, "income"], "rows": [{**one, "cells": [HOSTILE, None]} for one in cells]}
    advice = {"class_name": NOVEL[0], "probability": 0.4, "second": NOVEL[1], "stands_for": 9, "reason": HOSTILE}
    here = f"/api/runs/{RUN}"
    return {
        "GET /api/state": {
            "version": "0",
            "limits": {"upload_bytes": 1 << 20, "rows": 1000},
            "discoverers": [one.model_dump() for one in discoverers()],
            "examples": [one.model_dump() for one in EXAMPLES],
            "formats": [".csv", ".parquet"],
        },
        "GET /api/tables": [table],
        f"GET /api/tables/{TABLE}": table,
        f"GET /api/tables/{TABLE}/columns": columns,
        "POST /api/tables/example": table,
        "GET /api/runs": [run],
        "POST /api/runs": run,
        f"GET {here}": run,
        f"GET {here}/sections": {**fragments(facts), "revision": 0, "workbench": {"rehearsal": None, "update": None}},
        f"GET {here}/facts": facts,
        f"GET {here}/classes": {"revision": 0, "facts_revision": 0, "undo": None, "redo": None, "classes": states},
        f"GET {here}/map": {
            "n": len(points["rows"]),
            "n_rows": len(points["rows"]),
            "method": "t-SNE",
            "rows": points["rows"],
            "x": points["x"],
            "y": points["y"],
            "classes": points["classes"],
            "probabilities": [round(1000 * one) for one in points["probabilities"]],
            "labels": points["labels"],
            "label_names": points["label_names"],
            "class_names": names,
            "is_novel": [one["is_novel"] for one in facts["classes"]],
            "frames": [{"epoch": 1, "x": points["y"], "y": points["x"]}],
        },
        f"GET {here}/columns/0": {"name": HOSTILE, "texts": [HOSTILE], "cells": [0] * len(points["rows"])},
        f"POST {here}/rows": lambda body: {**rows, "rows": [{**rows["rows"][0], "row": row} for row in body["rows"]]},
        f"GET {here}/suggestions": {
            "revision": 0,
            "merges": [{"first": NOVEL[0], "second": NOVEL[1], "overlap": 0.7, "distance": None, "likely": True}],
            "rows": [{**advice, "row": 3}, {**advice, "row": 5}],
        },
        f"GET {here}/labels": {"labels": []},
        f"POST {here}/labels": lambda body: {"labels": body["labels"]},
        f"POST {here}/curation": 409,
        f"GET {here}/export/code": HOSTILE,
    }


@pytest.fixture
def bench(browser: Any, canned: dict[str, Any]) -> Iterator[Open]:
    """Return what opens a screen; other answers than the canned ones may be given."""
    opened: list[FakeBench] = []

    def begin(screen: str, answers: dict[str, Any] | None = None, **options: Any) -> FakeBench:
        found = FakeBench(browser, {**copy.copy(canned), **(answers or {})}, **options)
        found.open(SCREENS[screen])
        opened.append(found)
        return found

    yield begin
    for one in opened:
        one.page.close()


def settled(page: Any, screen: str) -> None:
    """Wait until what a screen asks for late is there."""
    late = {"classes": ".label-card", "export": "pre", "columns": ".columns-table", "explore": "#map canvas"}
    if screen in late:
        page.locator(late[screen]).first.wait_for()


def everything(screen: str, width: int, scheme: str) -> Any:
    """A screen in a window; most of them are looked at by the slow tests alone."""
    usual = (width, scheme) == (390, "dark") and screen in ("columns", "explore", "classes")
    return pytest.param(screen, width, scheme, marks=[] if usual else [pytest.mark.slow])


@pytest.mark.parametrize(
    ("screen", "width", "scheme"),
    [everything(s, w, c) for s in SCREENS for w in (1440, 390) for c in ("light", "dark")],
)
def test_a_screen_fits_the_window_and_can_be_read(bench: Open, screen: str, width: int, scheme: str) -> None:
    found = bench(screen, viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = found.page
    settled(page, screen)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")
    unnamed = "main :is(button, a[href], input, select):not([hidden])"
    names = page.eval_on_selector_all(
        unnamed, "all => all.filter((one) => !(one.ariaLabel || one.textContent.trim() || one.labels?.length)).length"
    )
    assert names == 0
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script, main i, main [style*=url]").count() == 0
    assert found.problems == []


def test_markup_of_the_server_is_copied_without_what_could_run(bench: Open) -> None:
    page = bench("home").page
    copied = page.evaluate(
        """async () => {
          const { fragment } = await import("/fragment.js");
          const html = `<section onclick="window.hacked = 1"><h2 style="color: red">kept</h2>
            <script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">
            <a href="javascript:window.hacked = 1">a</a><a href="#class-0">b</a>
            <svg viewBox="0 0 9 9"><path d="M0 0"/><foreignObject><img src=x></foreignObject><a href="/">c</a></svg>
            <iframe src="/"></iframe><form action="/"><button formaction="/">send</button></form></section>`;
          const place = document.createElement("div");
          place.append(...fragment(html));
          document.body.append(place);
          return place.innerHTML.replace(/\\s*\\n\\s*/g, "");
        }"""
    )
    kept = '<h2>kept</h2><a>a</a><a data-to="class-0">b</a><svg viewBox="0 0 9 9"><path d="M0 0"></path></svg>'
    assert copied == f"<section>{kept}</section>"
    assert page.evaluate("window.hacked") is None


def test_a_dragged_map_shows_what_a_fresh_painting_would(bench: Open) -> None:
    differing = bench("home").page.evaluate(
        """async (outlines) => {
          const { MarkPainter } = await import("/shared/marks.js");
          const n = 3000, random = (k) => Math.abs(Math.sin(12.9898 * k) * 43758.5453) % 1;
          const column = (shift) => Float32Array.from({ length: n }, (_, i) => 10000 * random(i + shift));
          const rows = {
            x: column(0), y: column(0.5), nFaint: 100, order: Int32Array.from({ length: n }, (_, i) => i),
            shapes: Uint8Array.from({ length: n }, (_, i) => i % 4),
            paint: Uint8Array.from({ length: n }, (_, i) => i % 2),
          };
          const colours = { ground: 0xffffffff, bright: [0xff0055d5, 0xffb27200], faint: [0xffeeeeff, 0xffffeeee] };
          const begin = () => {
            const canvas = Object.assign(document.createElement("canvas"), { width: 300, height: 200 });
            return new MarkPainter(canvas, outlines);
          };
          const seen = (painter, [left, top]) => {
            painter.paint(rows, { left, top, across: 0.06, down: 0.04 }, colours, 4.2, true);
            return painter.canvas.getContext("2d").getImageData(0, 0, 300, 200).data;
          };
          const dragged = begin(), found = [];
          for (const place of [[0, 0], [-40, 13], [-105, 70], [-106, 70], [-290, -180], [-200, -150]]) {
            const now = seen(dragged, place), fresh = seen(begin(), place);
            if (now.some((value, k) => value !== fresh[k]) || now.every((value) => value === 255)) found.push(place);
          }
          return found;
        }""",
        outlines(),
    )
    assert differing == []


def test_what_goes_wrong_is_said_with_its_cure(bench: Open) -> None:
    here = f"GET /api/runs/{RUN}/map"
    found = bench("explore", {here: 503})
    found.problems.clear()  # the browser tells of the error itself
    page = found.page
    assert page.get_by_role("alert").text_content() == "This fails with 503.Do otherwise.Try again"
    del found.answers[here]
    found.answers[here] = bench("home").answers[here]
    page.get_by_role("button", name="Try again").click()
    page.locator("#map canvas").first.wait_for()


def test_an_example_leads_to_named_classes_in_five_clicks(bench: Open, canned: dict[str, Any]) -> None:
    done = canned["GET /api/runs"]
    started: list[Any] = []

    def renamed(body: Any) -> Any:
        now = copy.deepcopy(canned[f"GET /api/runs/{RUN}/classes"])
        for one in now["classes"]:
            one["name"] = body["names"].get(one["name"], one["name"])
        return {**now, "undo": "rename"}

    answers = {
        "GET /api/runs": lambda _: done if started else [],
        "POST /api/runs": lambda body: started.append(body) or done[0],
        f"POST /api/runs/{RUN}/curation": renamed,
    }
    found = bench("home", answers)
    page = found.page
    clicks = [
        page.get_by_role("button", name="Orchard"),
        page.get_by_role("link", name="Continue"),
        page.get_by_role("button", name="Find novel classes"),
        page.get_by_role("link", name="Name the classes"),
        page.get_by_label("Name of the class").nth(1),
    ]
    for place in clicks:
        place.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("plum")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Undo: rename").wait_for()
    assert page.get_by_label("Name of the class").nth(1).input_value() == "plum"
    assert len(clicks) == 5
    assert (started[0]["method"], started[0]["target"], started[0]["ignore"]) == ("auto", "tier", [HOSTILE])
    assert found.problems == []


def test_a_name_that_is_refused_comes_back(bench: Open) -> None:
    found = bench("classes")
    page = found.page
    name = page.get_by_label("Name of the class").nth(1)
    assert name.input_value() == NOVEL[1]
    name.fill("bronze")
    name.press("Enter")
    page.get_by_role("alert").get_by_text("This fails with 409.").wait_for()
    assert found.asked[-1] == (f"POST /api/runs/{RUN}/curation", {"action": "rename", "names": {NOVEL[1]: "bronze"}})
    assert page.get_by_label("Name of the class").nth(1).input_value() == NOVEL[1]


def test_a_novel_class_is_merged_with_a_known_one_which_keeps_its_name(bench: Open) -> None:
    found = bench("classes")
    page = found.page
    page.get_by_role("button", name="Merge…").nth(1).click()
    dialog = page.get_by_role("dialog")
    dialog.locator(".choice", has_text="bronze").click()
    assert dialog.get_by_label("Name of the merged class").input_value() == "bronze"
    assert dialog.get_by_label("Name of the merged class").is_disabled()
    dialog.get_by_role("button", name="Merge").click()
    page.get_by_role("alert").get_by_text("This fails with 409.").wait_for()
    assert found.asked[-1][1] == {"action": "merge", "classes": [NOVEL[1], "bronze"], "into": None}
    page.get_by_role("link", name="Export", exact=True).last.click()
    page.locator("pre").wait_for()
    assert page.get_by_role("alert").count() == 0  # it was about the screen before


def test_labels_that_leave_nothing_to_search_or_to_learn_from_are_told(bench: Open, canned: dict[str, Any]) -> None:
    path = f"GET /api/tables/{TABLE}/columns"
    found = bench("columns")
    page = found.page
    for labelled, unlabelled, said, is_off in (
        (70, 0, "Every row has a label", "true"),
        (0, 50, "No row has a label", "false"),
        (70, 1, "Only 1 row to search", "false"),
    ):
        classes = canned[path]["target"]["classes"] if labelled else []
        target = {"n_labelled": labelled, "n_unlabelled": unlabelled, "classes": classes, "notes": []}
        found.answers[path] = {**canned[path], "target": target}
        page.get_by_label("Which column holds the classes?").select_option("income" if labelled else "tier")
        page.locator(".target-panel .doubt", has_text=said).wait_for()
        assert page.get_by_role("link", name="Continue").get_attribute("aria-disabled") == is_off
    assert found.problems == []


def test_what_a_batch_brought_fits_a_phone(bench: Open, canned: dict[str, Any]) -> None:
    run = canned["GET /api/runs"][0]
    batch = {**run, "id": "c" * 16, "kind": "update", "parent": RUN, "title": "a run, updated by a batch with a name"}
    lines = [{"class": f"class {j}", "kind": "known", "rows": 425, "share": 0.4, "note": "drifts"} for j in range(3)]
    update = {
        "classes": [{**line, "column": "a column with a rather long name", "nearest": None} for line in lines],
        "drifting": ["class 0"],
        "absent": [],
        "new_classes": [],
        "share_unexplained": 0.0,
    }
    answers = {
        "GET /api/runs": [run, batch],
        f"GET /api/runs/{batch['id']}/sections": {"workbench": {"update": update}},
    }
    found = bench("batches", answers, viewport={"width": 390, "height": 844})
    found.page.locator(".outcome").wait_for()
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert found.problems == []


@pytest.mark.slow
def test_rows_are_labelled_and_a_round_can_follow(bench: Open) -> None:
    found = bench("classes")
    page = found.page
    start = page.get_by_role("button", name="Start the next round")
    page.locator(".label-card").first.wait_for()
    assert start.is_disabled()
    page.locator(".label-card").first.get_by_role("button", name=NOVEL[1]).click()
    page.locator(".label-card.given").wait_for()
    assert found.asked[-1][1] == {"labels": [{"row": 3, "label": NOVEL[1]}]}
    assert page.get_by_role("button", name="Start the next round").is_enabled()


@pytest.mark.slow
def test_the_map_is_read_by_the_keyboard_and_follows_the_epochs(bench: Open) -> None:
    found = bench("explore")
    page = found.page
    page.locator("#map").focus()
    page.keyboard.press("ArrowRight")
    page.locator(".row-panel caption").wait_for()
    assert re.match(r"Row \d+, novel class ", page.locator("#spoken").text_content())
    before = page.locator("#map canvas").first.screenshot()
    slider = page.get_by_label("Epoch of the training")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert slider.get_attribute("aria-valuetext") == "after epoch 1"
    page.wait_for_timeout(100)
    assert page.locator("#map canvas").first.screenshot() != before
    page.get_by_label("Colour by").select_option(label=HOSTILE)
    page.locator(".map-key", has_text=HOSTILE).wait_for()
    page.get_by_role("button", name="List the rows shown").click()
    page.locator(".chosen-rows tbody tr").nth(49).wait_for()
    assert found.problems == []


def test_rows_that_were_drawn_around_are_listed(bench: Open) -> None:
    found = bench("explore")
    page = found.page
    box = page.locator("#map").bounding_box()
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    for across, down in ((0.5, 0.01), (0.5, 0.99), (0.01, 0.99)):
        page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"], steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.locator(".chosen-rows tbody tr").first.wait_for()
    shown = found.answers[f"GET /api/runs/{RUN}/map"]
    half = (box["width"] / 2 - 26) / (box["width"] - 52) * 10_000
    inside = [row for row, x in zip(shown["rows"], shown["x"], strict=True) if x < half]
    listed = page.locator(".chosen-rows h2").text_content()
    assert abs(int(listed.split()[0]) - len(inside)) <= 2  # marks on the line
    assert set(found.asked[-1][1]["rows"][:10]) <= set(inside)
    assert found.problems == []


@pytest.mark.slow
def test_nothing_yet_and_too_much(bench: Open, tmp_path: Any) -> None:
    found = bench("home", {"GET /api/runs": [], "GET /api/tables": []})
    page = found.page
    assert page.get_by_text("No run yet").is_visible()
    assert page.get_by_text("No table yet").is_visible()
    (tmp_path / "large.csv").write_bytes(b"x" * (1 << 21))
    page.locator("input[type=file]").set_input_files(tmp_path / "large.csv")
    assert "at most 1.0 MB are accepted" in page.get_by_role("alert").text_content()
    assert found.asked == []


@pytest.mark.slow
def test_colours_can_be_switched_and_stay(bench: Open) -> None:
    page = bench("home", color_scheme="light").page
    switch = page.get_by_role("button", name=re.compile("^Colours"))
    switch.click()
    switch.click()
    assert "dark" in switch.get_attribute("aria-label")
    page.reload()
    page.locator("h1").wait_for()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 22, 28)"
