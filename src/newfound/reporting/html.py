"""One HTML file from the facts: it loads nothing from the network, and runs no script but our own."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from newfound.markup import Html, document, join, tag, without_control
from newfound.reporting import method, sections
from newfound.reporting.assets import report_script, report_style
from newfound.reporting.figures import looks, outlines
from newfound.reporting.summary import headline

# What JSON may hold but a script element may not, or not in every browser.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_NAMES = {
    "summary": "Summary",
    "map-section": "Map",
    "classes": "Novel classes",
    "known": "Known classes",
    "count": "How many",
    "candidates": "Candidates",
    "training": "Training",
    "batches": "Batches",
    "making": "How it was made",
}


def render(facts: Mapping[str, Any]) -> str:
    """Write a report.

    Parameters
    ----------
    facts : mapping
        What ``report_facts`` returns.

    Returns
    -------
    str
        A whole HTML document.
    """
    n_novel = sum(class_facts["is_novel"] for class_facts in facts["classes"])
    styles = looks(len(facts["classes"]) - n_novel, n_novel)
    found = {
        "summary": sections.summary(facts, styles),
        "map-section": sections.the_map(facts, styles),
        "classes": sections.cards(facts, styles),
        "known": sections.known_classes(facts),
        "count": method.n_classes(facts),
        "candidates": method.candidates(facts),
        "training": method.training(facts),
        "batches": method.batches(facts),
        "making": method.making(facts),
    }
    links = [tag("a", _NAMES[name], href=f"#{name}") for name, section in found.items() if section is not None]
    style, script = Html(report_style()), Html(report_script())
    head = join(
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"newfound {facts['model']['versions']['newfound']}"),
        tag("style", style),
    )
    return document(
        f"{facts['title'] or 'newfound'}: {headline(facts)}",
        tag("a", "Skip to the summary", href="#main", class_="skip"),
        tag(
            "header",
            tag(
                "div", tag("span", "newfound", class_="brand"), tag("nav", *links, aria_label="Sections"), class_="wide"
            ),
            class_="top",
        ),
        tag("main", *found.values(), id="main", tabindex="-1", class_="wide"),
        tag("footer", tag("p", f"Made by newfound on {facts['made_at']}. This file needs no network.", class_="wide")),
        tag("script", Html(safe_json(_data(facts, styles))), type="application/json", id="report-data"),
        tag("script", script),
        head=head,
    )


def safe_json(value: Any) -> str:
    """Write JSON that can stand inside a script element, whatever texts it holds."""
    text = without_control(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    for sign, spelled in _UNSAFE.items():
        text = text.replace(sign, spelled)
    return text


def _data(facts: Mapping[str, Any], styles: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the script needs: the map, and names and looks of classes."""
    first_novel = next(
        (j for j, class_facts in enumerate(facts["classes"]) if class_facts["is_novel"]), len(facts["classes"])
    )
    return {
        "map": {name: value for name, value in facts["map"].items() if name != "middles"},
        "classes": [
            {"name": class_facts["name"], "novel": class_facts["is_novel"], **look}
            for class_facts, look in zip(facts["classes"], styles, strict=True)
        ],
        "outlines": outlines(),
        "first_novel": first_novel,
    }


def _policy(style: str, script: str) -> str:
    """Allow this very style sheet and script, known by their digests, and nothing else."""
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
