"""The discoverers by the names that the command line knows them by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from newfound.errors import InputError
from newfound.registry import load_plugins, registered

_LONGEST_SETTINGS = 1_000_000  # characters; a device may stand where a file should
_DEEPEST_SETTINGS = 4  # the settings, one of them, a list or dict in it, and its values


def check_method(method: str) -> str:
    """Return the name of a method, if it is one."""
    from difflib import get_close_matches

    if method not in registered():
        load_plugins()
    methods = registered()
    if method in methods:
        return method
    near = get_close_matches(method, methods, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise InputError(f"Got --method {method}, but expected one of {', '.join(methods)}.{hint}")


def check_novel_classes(given: str) -> int | str:
    """Return the number of novel classes, or "auto"."""
    if given == "auto":
        return given
    try:
        n_classes = int(given)
    except ValueError:
        n_classes = 0
    if n_classes < 1:
        raise InputError(
            f"Got --novel-classes {given}, but expected a whole number of at least 1, or auto to have it estimated."
        )
    return n_classes


def read_settings(path: Path) -> tuple[str, dict[str, Any]]:
    """Read the method and the settings that `newfound tune` wrote."""
    import json

    try:
        with path.open(encoding="utf-8") as stream:
            content = json.loads(stream.read(_LONGEST_SETTINGS))
        method, settings = content["method"], content["settings"]
    except OSError as error:
        raise InputError(f"Cannot read --settings {path}: {error.strerror}. Name a file that tune wrote.") from None
    except (ValueError, LookupError, TypeError, RecursionError):
        method = settings = None
    readable = isinstance(settings, dict) and _is_shallow(settings)
    if isinstance(method, str) and method not in registered():
        load_plugins()
    if not isinstance(method, str) or method not in registered() or not readable:
        raise InputError(
            f"Got --settings {path}, which is not such a file; expected one that `newfound tune` wrote, as in "
            '{"method": "tabular_ncd", "settings": {"w1": 0.8}}.'
        )
    return method, settings


def _is_shallow(content: Any, depth: int = _DEEPEST_SETTINGS) -> bool:
    inside = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    return depth > 0 and all(_is_shallow(part, depth - 1) for part in inside)
