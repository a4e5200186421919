"""Numbers with what they count, and shares in percent."""

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


def share_text(share: float) -> str:
    """Return a share in percent; never "0 %" or "100 %" for what is not quite that.

    Examples
    --------
    >>> share_text(0.5), share_text(0.9999), share_text(0.001), share_text(0.0)
    ('50 %', '>99 %', '<1 %', '0 %')
    """
    percent = round(100 * share)
    if percent == 100 and share < 1:
        return ">99 %"
    if percent == 0 and share > 0:
        return "<1 %"
    return f"{percent} %"
