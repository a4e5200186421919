"""The page at /api/docs: all requests of the interface, without a script and without anything from elsewhere."""

from __future__ import annotations

from typing import Any

from newfound.markup import document, tag


def api_page(openapi: dict[str, Any]) -> str:
    """Return a page that lists what the interface can do."""
    rows = []
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {})
            given = ", ".join(_named(content.get("schema", {})) for content in body.values())
            answer = next((code for code in operation["responses"] if code.startswith("2")), "")
            content = operation["responses"].get(answer, {}).get("content", {})
            returned = ", ".join(_named(found.get("schema", {})) for found in content.values())
            cells = (method.upper(), path, operation.get("description", operation.get("summary", "")), given, returned)
            rows.append(tag("tr", *(tag("td", cell) for cell in cells)))
    heading = tag("tr", *(tag("th", text) for text in ("method", "path", "does", "takes", "returns")))
    about = tag("p", "The whole description, for programs: ", tag("a", "/api/openapi.json", href="/api/openapi.json"))
    table = tag("table", tag("thead", heading), tag("tbody", *rows))
    note = tag("p", "Requests other than GET need the header X-Newfound: 1.")
    return document("newfound workbench: the interface", tag("main", tag("h1", "The interface"), about, note, table))


def _named(schema: dict[str, Any]) -> str:
    if "items" in schema:
        return f"list of {_named(schema['items'])}"
    return str(schema.get("$ref", schema.get("type", ""))).rpartition("/")[2]
