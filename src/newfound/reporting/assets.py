"""Style sheets and scripts: as one text inside the report, as files of their own for the workbench."""

from __future__ import annotations

import re
from importlib.resources import files

from newfound.pictures.style import FRAME, INK, KNOWN_COLOUR, MUTED_INK, NOVEL_COLOURS, PANEL

_SHARED_SCRIPTS = ("marks.js", "names.js", "gestures.js", "map.js")  # in the order in which they need each other
_IMPORT = re.compile(r"^import \{[^}]*\} from \"\./[a-z]+\.js\";\n", flags=re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|class|function)", flags=re.MULTILINE)


def shared_files() -> dict[str, bytes]:
    """Return what the workbench has in common with the report.

    Returns
    -------
    dict
        Contents by name: ES modules that draw the map, and the style sheet of all pictures.
    """
    shared = {name: _static(name) for name in _SHARED_SCRIPTS} | {"pictures.css": _pictures()}
    return {name: text.encode() for name, text in shared.items()}


def report_style() -> str:
    """Return the report's style sheet."""
    return f"{_pictures()}\n{_static('report.css')}"


def report_script() -> str:
    """Return the report's modules as one script: what one imports from another is simply there."""
    modules = [_EXPORT.sub("", _IMPORT.sub("", _static(name))) for name in (*_SHARED_SCRIPTS, "report.js")]
    return "\n".join(['"use strict";', "{", *modules, "}"])


def _pictures() -> str:
    """Return the style sheet of the pictures, headed by the colours that all pictures of the project share."""
    colours = {"ink": INK, "muted": MUTED_INK, "panel": PANEL, "frame": FRAME, "known": KNOWN_COLOUR}
    colours |= {f"c{i}": colour for i, colour in enumerate(NOVEL_COLOURS)}
    root = "".join(f"--light-{name}:{colour};" for name, colour in colours.items())
    return f":root{{{root}}}\n{_static('pictures.css')}"


def _static(name: str) -> str:
    return files("newfound.reporting").joinpath("static", name).read_text(encoding="utf-8")
