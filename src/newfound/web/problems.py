"""Errors as the pages show them: what is wrong and what to do, and nothing of the inside."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from newfound.errors import InputError, Message, NewfoundError, Parameter
from newfound.plain import printable

OURS = "Something went wrong in newfound itself. The log of the server says more."
OUT_OF_MEMORY = "There is not enough memory for this. Use a smaller table, or fewer columns."
_LONGEST = 1_000
_WORDS = {
    "X": "the table",
    "y": "the column of the classes",
    "n_novel_classes": "the number of novel classes",
    "random_state": "the seed",
    "kinds": "the kind of the column",
    "ignore": "ignored columns",
    "target": "the column of the classes",
    "n": "the number of parts",
    "time_limit": "the time limit",
}
_PHRASES = {  # whatever their value is; what pages have no field for is done to the file
    "max_memory": "more memory for the server",
    "delimiter": "delimiter in a first line such as sep=;",
    "encoding": "the file saved as UTF-8",
    "sheet": "a copy of the file in which it comes first",
    "unlabelled": "\u201cmeans: no label\u201d under Known classes",
}
_ALL_NOVEL = "\u201cAll of novel classes\u201d"
_LOWER = re.compile(r"[a-z]+ ")


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
    if _is_of_memory(error):
        return plain_problem(OUT_OF_MEMORY)
    return plain_problem(OURS)


def is_of_memory(error: BaseException) -> bool:
    """Whether an error says that there was no memory left, or was raised because of one that does."""
    found: BaseException | None = error
    while found is not None and not _is_of_memory(found):
        found = found.__cause__ or found.__context__
    return found is not None


def _is_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "allocate memory" in str(error))


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
    if _LOWER.match(text) and not any(text.startswith(name) for name in (places or {}).values()):
        text = text[0].upper() + text[1:]  # a command puts "note:" before it, a page does not
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _named(parameter: Parameter) -> str:
    name, value = parameter.name, parameter.value
    if name == "unlabelled" and value == "novel":
        return _ALL_NOVEL
    if name in _PHRASES:
        return _PHRASES[name]
    if name == "method" and parameter.has_value:
        return _methods(str(value))
    if name not in _WORDS:
        return str(parameter)
    if not parameter.has_value:
        return _WORDS[name]
    if name == "target":
        return f"{value} as {_WORDS[name]}"
    return f"{_WORDS[name]} {_value(value)}"


def _methods(named: str) -> str:
    """Return names of methods as the pages show them."""
    from newfound.web.catalogue import discoverers

    shown = {entry.method: entry.name for entry in discoverers()}
    return " or ".join(shown.get(method, method) for method in named.split(" or "))


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} as {part}" for key, part in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
