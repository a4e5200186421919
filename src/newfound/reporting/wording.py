"""Numbers, cells and sentences as the report writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from newfound.counting import counted, share_text
from newfound.explanation.wording import class_name, number_text, shortened

_HIGH, _FAIR = 0.85, 0.6  # explanations warn below the latter
MISSING = "missing"
_LONGEST_UNBROKEN = 14  # signs


def count(n: int, thing: str = "", things: str | None = None) -> str:
    """Write a whole number, and what is counted.

    Examples
    --------
    >>> count(1, "row"), count(4200, "row"), count(2, "class", "classes")
    ('1 row', '4,200 rows', '2 classes')
    """
    return counted(n, thing, things) if thing else f"{n:,}"


def percent(share: float) -> str:
    r"""Write a share of one in percent, which no line break parts.

    Examples
    --------
    >>> percent(0.214)
    '21\xa0%'
    """
    return share_text(share).replace(" ", "\N{NO-BREAK SPACE}")


def cell(value: Any) -> str:
    """Write a cell of the table; long texts are cut."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    return shortened(str(value))


def breaking(text: str, *others: str | None) -> str | None:
    """Return the classes of a table's cell: long ones may be broken anywhere, so that a table has room on a desk."""
    return " ".join(filter(None, (*others, "long" if len(text) > _LONGEST_UNBROKEN else None))) or None


def called(name: Any) -> str:
    """Write the name of a class in a sentence, where a number alone would be misread.

    Examples
    --------
    >>> called("smurf"), called(7.0)
    ('smurf', 'class 7')
    """
    text = class_name(name)
    return f"class {text}" if text.lstrip("-").isdigit() else text


def listed(things: Sequence[str], limit: int = 4) -> str:
    """Write things one after the other.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(list("abcdefg"))
    ('a, b and c', 'a, b, c, d and 3 more')
    """
    if len(things) > limit:
        return f"{', '.join(things[:limit])} and {len(things) - limit} more"
    return " and ".join([", ".join(things[:-1]), things[-1]] if len(things) > 1 else things)


def level(share: float) -> str:
    """Say how high a confidence or a stability is."""
    return "high" if share >= _HIGH else "fair" if share >= _FAIR else "low"


def routing_in_words(routing: Mapping[str, Any]) -> str:
    """Say what the unlabelled rows of a fit were taken for, and why.

    Examples
    --------
    >>> routing_in_words({"unlabelled": "mixed", "nothing_novel": False, "reason": "about 30 % are of known classes"})
    'The unlabelled rows were taken for a mix of known and novel classes: about 30 % are of known classes.'
    """
    taken = {"novel": "novel classes alone", "mixed": "a mix of known and novel classes"}[routing["unlabelled"]]
    taken = "known classes alone" if routing["nothing_novel"] else taken
    return f"The unlabelled rows were taken for {taken}: {routing['reason']}."


def share_in_words(routing: Mapping[str, Any]) -> str:
    r"""Write the share of the unlabelled rows that are of known classes, with its interval.

    Examples
    --------
    >>> share_in_words({"known_share": 0.3, "interval": [0.25, 0.4]}).replace("\xa0", " ")
    '30 % (25 % to 40 %)'
    """
    low, high = map(percent, routing["interval"])
    return f"{percent(routing['known_share'])} ({low} to {high})"
