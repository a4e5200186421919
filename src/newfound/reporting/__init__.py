"""A report of what a discoverer found: facts as a plain dict, then one HTML file that needs nothing else.

Every name is imported when it is first used: the workbench's server takes style sheets and scripts from here, and must
not wait for anything else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Report": "page",
    "draw_curves": "fragments",
    "render": "html",
    "report": "entry",
    "report_facts": "facts",
    "shared_files": "assets",
    "write_report": "entry",
}

__all__ = ["Report", "draw_curves", "render", "report", "report_facts", "shared_files", "write_report"]

if TYPE_CHECKING:
    from newfound.reporting.assets import shared_files
    from newfound.reporting.entry import report, write_report
    from newfound.reporting.facts import report_facts
    from newfound.reporting.fragments import draw_curves
    from newfound.reporting.html import render
    from newfound.reporting.page import Report


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"newfound.reporting.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'newfound.reporting' has no attribute {name!r}")
