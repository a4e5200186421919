"""Errors as the pages show them: what is wrong and what to do, and nothing of the inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from newfound.errors import InputError, Message, NewfoundError, Parameter
from newfound.plain import printable

OURS = "Something went wrong in newfound itself. The log of the server says more."
_LONGEST = 1_000
_WORDS = {
    "X": "the table",
    "y": "the column of the classes",
    "max_memory": "more memory for the server",
    "n_novel_classes": "the number of novel classes",
    "random_state": "the seed",
    "kinds": "the kind of the column",
    "ignore": "ignored columns",
    "unlabelled": "the kind of the unlabelled rows",
    "target": "the column of the classes",
    "n": "the number of parts",
    "time_limit": "the time limit",
}


def problem(error: BaseException, places: Mapping[str, str] | None = None) -> dict[str, str | None]:
    """Return what a page may be told of an error.

    Parameters
    ----------
    error : exception
    places : mapping of str to str, optional
        Names of files on the server, and what the user calls them.
    """
    if isinstance(error, InputError):
        return {
            "message": _told(error.args[0] if error.args else "", places),
            "parameter": error.parameter,
            "expected": None if error.expected is None else _told(error.expected, places),
            "cure": None if error.cure is None else _told(error.cure, places),
        }
    if isinstance(error, NewfoundError):
        return plain_problem(_told(str(error), places))
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "allocate memory" in str(error)):
        return plain_problem("There is not enough memory for this. Use a smaller table, or fewer columns.")
    return plain_problem(OURS)


def plain_problem(message: str) -> dict[str, str | None]:
    """Return a problem of which only the message is known."""
    return {"message": message, "parameter": None, "expected": None, "cure": None}


def told(message: str, places: Mapping[str, str] | None = None) -> str:
    """Return a note or a warning of the library as a page shows it."""
    return _told(message, places)


def _told(message: str, places: Mapping[str, str] | None) -> str:
    text = message.told(_named) if isinstance(message, Message) else message
    for path, name in (places or {}).items():
        text = text.replace(path, name)
    text = " ".join(printable(text).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _named(parameter: Parameter) -> str:
    name = _WORDS.get(parameter.name)
    if name is None:
        return str(parameter)
    if not parameter.has_value or parameter.name in ("max_memory", "unlabelled"):
        return name
    return f"{name} {_value(parameter.value)}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} as {part}" for key, part in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
