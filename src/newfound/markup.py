"""HTML that is safe by construction: whatever is not markup made here is escaped."""

from __future__ import annotations

from html import escape
from typing import TypeAlias

Child: TypeAlias = "str | int | float | None"
_VOID = frozenset({"br", "meta"})
# Control characters, and those that turn the direction of what follows: a name would change the text around it.
_TURNING = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_INLINE_STYLE = (
    ".newfound{font-family:system-ui,sans-serif;line-height:1.45;max-width:60em}"
    ".newfound section{border:1px solid #8886;border-radius:6px;padding:.6em 1em;margin:.8em 0}"
    ".newfound h3,.newfound h4{margin:.4em 0}.newfound ul{margin:.2em 0;padding-left:1.3em}"
    ".newfound p{margin:.4em 0}.newfound small{opacity:.75}"
    ".newfound table{border-collapse:collapse;margin:.4em 0}"
    ".newfound th,.newfound td{padding:.15em .8em;text-align:left;border-bottom:1px solid #8884}"
    ".newfound .number{text-align:right;font-variant-numeric:tabular-nums}"
    ".newfound .doubt{border-left:3px solid #c60;padding-left:.6em}"
    ".newfound iframe{box-sizing:border-box;width:100%;height:640px;border:1px solid #8886;border-radius:6px}"
)
_NOT_SHOWN = dict.fromkeys([*range(9), *range(14, 32), 11, 12, *range(127, 160), *_TURNING], " ")


class Html(str):
    """A piece of HTML; plain text that meets it is escaped."""

    __slots__ = ()


def tag(name: str, /, *children: Child, **attributes: str | int | float | bool | None) -> Html:
    """Make an element.

    Parameters
    ----------
    name : str
        Of the element.
    *children : Html, or anything that is shown as text, or None
        What is inside; None is left out.
    **attributes : str, number or bool
        ``class_`` is class, ``aria_label`` is aria-label; True is an attribute without a value, None and False none.

    Examples
    --------
    >>> tag("p", "a < b", tag("b", 1), class_="note")
    '<p class="note">a &lt; b<b>1</b></p>'
    """
    shown = "".join(map(_attribute, attributes.items()))
    if name in _VOID:
        return Html(f"<{name}{shown}>")
    return Html(f"<{name}{shown}>{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """Put pieces of HTML and text one after the other."""
    return Html(
        "".join(child if isinstance(child, Html) else _escaped(child) for child in children if child is not None)
    )


def document(title: str, *body: Child, head: Html | None = None) -> str:
    """Make a whole HTML document; ``head`` is what stands in its head besides character set, width and title."""
    top = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        head,
    )
    return "<!doctype html>\n" + tag("html", top, tag("body", *body), lang="en") + "\n"


def inline(*pieces: Child) -> Html:
    """Put pieces into a frame with a style of its own, as a notebook shows them below a cell."""
    return tag("div", tag("style", Html(_INLINE_STYLE)), *pieces, class_="newfound")


def scrolling(table: Html, name: str) -> Html:
    """Let a wide table scroll on its own, also by the keyboard, under a name for screen readers."""
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=name)


def without_control(text: str) -> str:
    """Return text without the characters that change what stands around it."""
    return text.translate(_NOT_SHOWN)


def _escaped(text: object) -> str:
    return escape(without_control(str(text)), quote=True)


def _attribute(item: tuple[str, str | int | float | bool | None]) -> str:
    name, value = item
    if value is None or value is False:
        return ""
    spelled = name.rstrip("_").replace("_", "-")
    return f" {spelled}" if value is True else f' {spelled}="{_escaped(value)}"'
