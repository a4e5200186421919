"""The workbench's pages with canned answers: files from the package, no server, and no other request."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from newfound.reporting import shared_files

ADDRESS = "http://workbench.test"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}

Answer = Any
"""What the server would say: JSON, or a function of the request's body that returns it; an int is an error's code."""


class FakeBench:
    """A page of the workbench.

    Parameters
    ----------
    browser : playwright Browser
    answers : dict
        By method and path, such as ``"GET /api/runs"``.
    **options
        Of the page.

    Attributes
    ----------
    page : playwright Page
    asked : list of (str, Any)
        Requests other than GET, with their bodies.
    problems : list of str
        Complaints of the browser, and requests that nobody answers.
    """

    def __init__(self, browser: Any, answers: dict[str, Answer], **options: Any) -> None:
        self.page = browser.new_page(**({"viewport": {"width": 1440, "height": 900}} | options))
        self.answers, self.asked, self.problems = answers, [], []
        self._static = files("newfound.web").joinpath("static")
        self._shared = shared_files()
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.route("**/*", self._answer)

    def open(self, screen: str = "#/") -> Any:
        """Open a screen, and return the page."""
        self.page.goto("about:blank")
        self.page.goto(f"{ADDRESS}/{screen}")
        self.page.locator("h1").wait_for()
        return self.page

    def _answer(self, route: Any) -> None:
        request = route.request
        path = urlsplit(request.url).path
        if not request.url.startswith(ADDRESS):
            self.problems.append(f"a request to {request.url}")
            route.abort()
        elif path.startswith("/api/"):
            self._answer_api(route, f"{request.method} {path}")
        else:
            content = self._file(path.removeprefix("/") or "index.html")
            kind = _TYPES[(path.rpartition(".")[2] if "." in path else "html")]
            route.fulfill(body=content, content_type=kind, headers={"content-security-policy": POLICY})

    def _answer_api(self, route: Any, name: str) -> None:
        request = route.request
        body = json.loads(request.post_data) if request.post_data else None
        if request.method != "GET":
            self.asked.append((name, body))
            assert request.headers["x-newfound"] == "1"
        if name not in self.answers:
            self.problems.append(f"nobody answers {name}")
        answer = self.answers.get(name, 404)
        found = answer(body) if isinstance(answer, Callable) else answer  # type: ignore[arg-type]
        if isinstance(found, int):
            error = {
                "message": f"This fails with {found}.",
                "parameter": None,
                "expected": None,
                "cure": "Do otherwise.",
            }
            route.fulfill(status=found, json={"error": error})
        else:
            route.fulfill(json=found)

    def _file(self, path: str) -> bytes:
        if path.startswith("shared/"):
            return self._shared[path.removeprefix("shared/")]
        return self._static.joinpath(path).read_bytes()
