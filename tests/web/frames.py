"""Measure how smoothly a map of 100,000 rows is dragged: ``python -m tests.web.frames`` prints frames a second."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from newfound.reporting.figures import N_LOOKS, looks, outlines
from tests.browsers import launched
from tests.web.fake_bench import FakeBench

N_ROWS = 100_000
_N_CLASSES, _N_KNOWN = 12, 6
_SECONDS = 4.0
_RUN = "0" * 16
COUNTED = """() => {
  const plain = CanvasRenderingContext2D.prototype.putImageData;
  window.painted = 0;
  CanvasRenderingContext2D.prototype.putImageData = function (...all) {
    window.painted += 1;
    return plain.apply(this, all);
  };
}"""


def large_map(n: int = N_ROWS) -> dict[str, Any]:
    """Rows of twelve classes, as the server sends them."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, _N_CLASSES, n)
    middles = rng.uniform(1_500, 8_500, (_N_CLASSES, 2))
    points = (middles[codes] + rng.normal(0, 600, (n, 2))).clip(0, 10_000).round().astype(int)
    return {
        "n": n,
        "n_rows": n,
        "method": "t-SNE",
        "rows": None,
        "x": points[:, 0].tolist(),
        "y": points[:, 1].tolist(),
        "classes": codes.tolist(),
        "probabilities": rng.integers(300, 1000, n).tolist(),
        "labels": [-1] * n,
        "label_names": [],
        "class_names": [f"class {j}" for j in range(_N_CLASSES)],
        "is_novel": [j >= _N_KNOWN for j in range(_N_CLASSES)],
        "frames": [],
    }


def answers(points: dict[str, Any]) -> dict[str, Any]:
    """What the page of such a map asks for."""
    run = {"id": _RUN, "kind": "discovery", "title": "A large map", "table": _RUN, "parent": None, "status": "done"}
    sections = {
        "headline": "A large map",
        "sentences": [],
        "figures": [],
        "doubts": [],
        "meanings": "",
        "looks": {"known": looks(1, 0)[0], "novel": looks(0, N_LOOKS)},
        "outlines": outlines(),
        "cards": [],
        "sections": {},
        "revision": 0,
    }
    return {
        "GET /api/runs": [run],
        f"GET /api/runs/{_RUN}": run,
        f"GET /api/runs/{_RUN}/map": points,
        f"GET /api/runs/{_RUN}/sections": sections,
        f"GET /api/tables/{_RUN}/columns": {"columns": []},
    }


def frames_a_second(browser: Any, n: int = N_ROWS, *, zoomed: bool = False) -> float:
    """Drag a map with the mouse for some seconds, and count how often it is painted."""
    bench = FakeBench(browser, answers(large_map(n)))
    page = bench.open(f"#/run/{_RUN}/explore")
    box = page.locator("#map").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    for _ in range(4 if zoomed else 1):  # a map that is all in view does not move
        page.mouse.wheel(0, -200)
    page.wait_for_timeout(300)
    page.evaluate(COUNTED)
    page.mouse.down()
    began, step = time.perf_counter(), 0
    while time.perf_counter() - began < _SECONDS:
        step += 1
        page.mouse.move(x + 120 * np.sin(step / 20), y + 80 * np.cos(step / 17))
    painted = page.evaluate("window.painted")
    seconds = time.perf_counter() - began
    page.mouse.up()
    page.close()
    assert bench.problems == []
    return float(painted) / seconds


def main() -> None:
    """Print what is measured."""
    with launched() as browser:
        for zoomed in (False, True):
            where = "zoomed in" if zoomed else "nearly whole"
            print(
                f"{N_ROWS:,} rows, {where}: {frames_a_second(browser, zoomed=zoomed):.0f} frames a second while dragged"
            )


if __name__ == "__main__":
    main()
