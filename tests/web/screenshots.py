"""Pictures of every step of the workbench: ``python -m tests.web.screenshots build/screenshots`` makes them.

At a desk (1440 pixels), on a phone (390) and in the dark, with the example Orchard. ``workbench_explore.png`` and
``workbench_classes.png`` are those of the documentation.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.browsers import launched
from tests.web.served import served

_WINDOWS: dict[str, dict[str, Any]] = {
    "desk": {"viewport": {"width": 1440, "height": 900}},
    "dark": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
}
_NAMES = {"novel_0": "plum", "novel_1": "fig", "novel_2": "melon"}
_LATE = {"explore": "#map canvas", "classes": ".label-card", "export": "pre", "columns": ".columns-table"}
_MINUTES = 60_000  # milliseconds


def discovered(page: Any, address: str) -> tuple[str, str]:
    """Run the example, name its classes, and return the addresses of the screens of its table and of its run."""
    page.set_default_timeout(5 * _MINUTES)
    page.goto(address)
    page.get_by_role("button", name="Orchard").click()
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Find novel classes").click()
    table = page.url.removesuffix("/run")
    page.get_by_role("link", name="Name the classes").click()
    fields = page.get_by_label("Name of the class")
    for place, (old, new) in enumerate(_NAMES.items()):
        fields.nth(place).wait_for()
        fields.nth(place).fill(new)
        fields.nth(place).press("Enter")
        page.get_by_role("button", name=f"Undo: rename {old}").wait_for()
    page.get_by_text("being written").wait_for(state="detached")
    return table, page.url.removesuffix("/classes")


def take(browser: Any, address: str, table: str, run: str, folder: Path) -> None:
    """Take pictures of all screens in all windows."""
    screens = {"table": address, "columns": table, "run": f"{table}/run"}
    screens |= {name: f"{run}/{name}" for name in ("explore", "classes", "batches", "export")}
    for window, options in _WINDOWS.items():
        for screen, where in screens.items():
            page = browser.new_page(**options)
            page.set_default_timeout(_MINUTES)
            page.goto(where)
            page.locator("h1").wait_for()
            if screen in _LATE:
                page.locator(_LATE[screen]).first.wait_for()
            page.wait_for_timeout(500)
            page.screenshot(path=folder / f"{window}_{screen}.png", full_page=window == "phone")
            page.close()


def lean(path: Path, target: Path) -> None:
    """Write a picture with 256 colours, which look the same, and a third of the bytes."""
    from PIL import Image

    with Image.open(path) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)


def main(folder: Path) -> None:
    """Make all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, served(Path(place)) as address, launched() as browser:
        table, run = discovered(browser.new_page(**_WINDOWS["desk"]), address)
        take(browser, address, table, run, folder)
    lean(folder / "desk_explore.png", folder / "workbench_explore.png")
    lean(folder / "dark_classes.png", folder / "workbench_classes.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
