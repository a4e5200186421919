"""Numbers with what they count."""

from __future__ import annotations


def counted(n: int, thing: str, things: str | None = None) -> str:
    """Write a number and what is counted, in the singular or the plural.

    Parameters
    ----------
    n : int
    thing : str
        Of which there is one.
    things : str, optional
        Of which there are several, or none; by default with an s.

    Examples
    --------
    >>> counted(1, "row"), counted(4200, "row"), counted(2, "class", "classes")
    ('1 row', '4,200 rows', '2 classes')
    """
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"
