"""A browser for the tests, where there is one."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@contextlib.contextmanager
def launched() -> Iterator[Any]:
    """Start the Chromium that playwright brought, or else one of the system; skip where there is neither."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    with playwright.sync_playwright() as started:
        browser, problem = None, ""
        for program in (None, *filter(None, map(shutil.which, _PROGRAMS))):
            try:
                browser = started.chromium.launch(executable_path=program)
                break
            except playwright.Error as error:
                problem = str(error).strip().splitlines()[0]
        if browser is None:
            pytest.skip(f"no browser can be started ({problem}): playwright install chromium, or apt install chromium")
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests of a process, in which playwright cannot be started twice."""
    with launched() as found:
        yield found
