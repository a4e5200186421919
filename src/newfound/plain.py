"""Text of strangers as plain text: no terminal, spreadsheet or page acts upon it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence

SAFE, EXACT = "safe", "exact"
"""How names of classes are written to a file that a spreadsheet may open."""

_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?")
# What a spreadsheet takes for the beginning of a formula, also in the wide form of Asian keyboards. A program that
# takes another delimiter than ours sees a cell begin after it.
_FORMULA = re.compile(r"(^|[,;|])(?=[\s\"']*[=+\-@＝＋－＠])")
_NOT_ASCII = re.compile(r"[^ -~\n]")


def printable(text: str) -> str:
    r"""Return text on one line, without characters that a terminal would act upon.

    Examples
    --------
    >>> printable("a\nforged line \x1b[31mred")
    'a forged line  [31mred'
    """
    return "".join(character if character.isprintable() else " " for character in text)


def printable_json(text: str) -> str:
    """Return JSON with characters that a terminal would act upon as JSON spells them; letters stay letters."""
    return _NOT_ASCII.sub(lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text)


def spreadsheet_safe(text: str) -> str:
    """Return text that no spreadsheet runs: a quote stands before what would be a formula; numbers stay.

    Examples
    --------
    >>> [spreadsheet_safe(name) for name in ("=HYPERLINK(1)", "a;@SUM(1)", "-1", "a-b")]
    ["'=HYPERLINK(1)", "a;'@SUM(1)", '-1', 'a-b']
    """
    plain = printable(text)
    return plain if _NUMBER.fullmatch(plain) else _FORMULA.sub(r"\1'", plain)


def safe_names(names: Sequence[str], own: Collection[str] = ()) -> list[str]:
    """Return names for a spreadsheet, each another one; those that are the user's own stay as they are."""
    given, safe = set(own), list[str]()
    for name in names:
        plain = name if name in given else spreadsheet_safe(name)
        candidates = [plain, *(f"{plain} ({n})" for n in range(2, len(names) + 2))] if plain != name else [name]
        safe.append(
            next(candidate for candidate in candidates if candidate == name or candidate not in {*names, *safe})
        )
    return safe
