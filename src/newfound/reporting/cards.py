"""A card for each novel class: how to recognise it, what is shifted, which rows to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from newfound.explanation.wording import class_name, shortened
from newfound.markup import Html, join, scrolling, tag
from newfound.reporting.distributions import draw_distributions
from newfound.reporting.doubts import MEANINGS, Sureness
from newfound.reporting.facts import columns_of
from newfound.reporting.figures import draw_shift, meter, swatch
from newfound.reporting.wording import MISSING, breaking, called, cell, count, level, percent

_COLUMNS_SHOWN, _COLUMNS_ENOUGH = 7, 3  # of rows in a card; others join where fewer tell anything of the class
_SHIFTS_SHOWN = 6
_LONGEST_NAME, _LONGEST_CELL = 40, 40  # signs of a table of rows; the whole is a tooltip


def card_id(index: int) -> str:
    """Anchor of a card; names of classes may hold anything."""
    return f"class-{index}"


def draw_card(
    index: int,
    explained: Mapping[str, Any],
    known_facts: Mapping[str, Any],
    look: Mapping[str, Any],
    sure: Sureness,
) -> Html:
    """Draw the card of one novel class.

    Parameters
    ----------
    index : int
        Place of the class among the novel ones.
    explained : mapping
        What `newfound.explain` says of it.
    known_facts : mapping
        What ``report_facts`` says of it under ``classes``.
    look : mapping
        Its colour and mark.
    sure : Sureness
        How sure it is.
    """
    name = called(explained["name"])
    head = tag(
        "h3",
        swatch(look),
        " ",
        name if name == class_name(explained["name"]) else name.capitalize(),
        id=f"{card_id(index)}-name",
    )
    size = f"{count(explained['n_rows'], 'row')}, {percent(explained['share'])} of the table"
    body = (
        [
            _warnings(explained["warnings"]),
            tag("div", _recognise(explained, known_facts, look), _shifts(explained, look), class_="columns"),
            _examples(explained),
        ]
        if explained["n_rows"]
        else [tag("p", "No row of this table is of this class.", class_="muted")]
    )
    return tag(
        "article",
        tag("header", tag("div", head, tag("p", size, class_="size")), _figures(explained, sure), class_="card-head"),
        *body,
        class_=f"card {look['colour']}",
        id=card_id(index),
        aria_labelledby=f"{card_id(index)}-name",
    )


def _figures(explained: Mapping[str, Any], sure: Sureness) -> Html | None:
    if not explained["n_rows"]:
        return None
    figures = []
    if sure.agreement is not None and sure.source in ("candidates", "count"):
        figures.append(_figure("Agreement", sure.agreement, MEANINGS[sure.source]))
    if explained["stability"] is not None:
        figures.append(_figure("Stability", explained["stability"], MEANINGS.get(explained["stability_source"], "")))
    figures.append(_figure("Sure rows", 1 - sure.unsure, "share of its rows of which the model is sure"))
    return tag("dl", *figures, class_="figures")


def _figure(name: str, share: float, meaning: str) -> Html:
    words = f"{percent(share)}, {level(share)}"
    return tag("div", tag("dt", name, title=meaning), tag("dd", words, meter(share, f"{name} {words}")))


def _warnings(warnings: Sequence[str]) -> Html | None:
    if not warnings:
        return None
    items = [tag("li", warning[:1].upper() + warning[1:]) for warning in warnings]
    return tag("div", tag("b", "Doubtful"), tag("ul", *items), class_="doubt", role="note")


# ---- how to recognise it


def _recognise(explained: Mapping[str, Any], known_facts: Mapping[str, Any], look: Mapping[str, Any]) -> Html:
    spread = draw_distributions(explained.get("distributions", []), look["colour"])
    return tag(
        "div",
        tag("h4", "How to recognise it"),
        _rules(explained),
        _nearest(explained["nearest_known"]),
        _labels(known_facts),
        None if spread is None else join(tag("h4", "How it is spread"), _key(look, "the rest of the table"), spread),
    )


def _rules(explained: Mapping[str, Any]) -> Html:
    if not explained["rules"]:
        return tag("p", "No short rule tells it from the rest.", class_="muted")
    items = [tag("li", conditions(rule["conditions"]), _quality(rule)) for rule in explained["rules"]]
    rules = tag("ol" if len(items) > 1 else "ul", *items, class_="rules")
    if len(items) == 1 or explained["rules_coverage"] is None or explained["rules_precision"] is None:
        return rules
    both = (
        f"Together these rules find {percent(explained['rules_coverage'])} of the class, and are right for "
        f"{percent(explained['rules_precision'])} of the rows they name."
    )
    return join(rules, tag("p", both, class_="together"))


def conditions(found: Sequence[Mapping[str, Any]], longest: int = 140) -> Html:
    """Write the conditions of a rule side by side, each cut where it is too long."""
    parts: list[Html] = []
    for condition in found:
        if parts:
            parts.append(tag("span", " and ", class_="and"))
        parts.append(tag("span", shortened(condition["text"], longest), class_="condition"))
    return tag("div", *parts, class_="rule")


def _quality(rule: Mapping[str, Any]) -> Html | None:
    said = []
    if rule["precision"] is not None:
        said.append(f"right for {percent(rule['precision'])} of the rows it names")
    if rule["coverage"] is not None:
        said.append(f"finds {percent(rule['coverage'])} of the class")
    return tag("p", "; ".join(said), class_="quality") if said else None


def _nearest(nearest: Mapping[str, Any] | None) -> Html | None:
    if nearest is None:
        return None
    return tag(
        "p",
        tag("b", "Nearest known class: "),
        nearest["text"] or class_name(nearest["name"]),
        class_="nearest",
    )


def _labels(known_facts: Mapping[str, Any]) -> Html | None:
    """Say which labels rows carry that look like it all the same."""
    if not known_facts["labels"]:
        return None
    said = ", ".join(f"{called(label['name'])} ({count(label['n_rows'], 'row')})" for label in known_facts["labels"])
    more = known_facts["n_labels"] - len(known_facts["labels"])
    return tag(
        "p",
        tag("b", "Rows with a label that look like it: "),
        said,
        f" and {more} more" if more else None,
        class_="nearest",
    )


# ---- what is shifted


def _shifts(explained: Mapping[str, Any], look: Mapping[str, Any]) -> Html | None:
    if not explained["profile"]:
        return None
    nearest = explained["nearest_known"]
    against = None
    if explained["against_nearest"] and nearest is not None:
        name = called(nearest["name"])
        against = tag(
            "details",
            tag("summary", f"Against the nearest known class, {name}"),
            _profile(explained["against_nearest"], look, name),
        )
    return tag(
        "div", tag("h4", "What is different"), _profile(explained["profile"], look, "the rest of the table"), against
    )


def _profile(profile: Sequence[Mapping[str, Any]], look: Mapping[str, Any], other: str) -> Html:
    lines = [
        tag(
            "li",
            tag("div", *_shift_words(shift), class_="shift-text"),
            draw_shift(shift, look["colour"]),
        )
        for shift in profile[:_SHIFTS_SHOWN]
    ]
    return join(_key(look, other), tag("ul", *lines, class_="shifts"))


def _key(look: Mapping[str, Any], other: str) -> Html:
    return tag(
        "p",
        tag("span", class_=f"key {look['colour']}"),
        " this class ",
        tag("span", class_="key known"),
        f" {other}",
        class_="legend-line",
    )


def _shift_words(shift: Mapping[str, Any]) -> tuple[Html, str]:
    """Return the column's name, to stand out, and what is said of it."""
    column, text = shift["column"], shift["text"]
    said = text.removeprefix(column) if text.startswith(f"{column} ") else f": {text}"
    return tag("b", shortened(column, 60)), shortened(said, 200)


# ---- rows to look at


def _examples(explained: Mapping[str, Any]) -> Html:
    identifiers = list(explained.get("identifiers", []))
    columns = (identifiers, [name for name in _columns_shown(explained) if name not in identifiers])
    typical = _rows(
        "Typical rows",
        "sure, from the middle of the class, and unlike each other",
        explained["exemplars"],
        columns,
        open_=True,
    )
    border = _rows("Borderline rows", "look at these before you trust the border", explained["borderline"], columns)
    return join(typical, border)


def _columns_shown(explained: Mapping[str, Any]) -> list[str]:
    rows = [*explained["exemplars"], *explained["borderline"]]
    there = list(rows[0]["values"]) if rows else []
    telling = [name for name in columns_of(dict(explained)) if name in set(there)]
    shown = telling if len(telling) >= _COLUMNS_ENOUGH else list(dict.fromkeys([*telling, *there]))
    return shown[: _COLUMNS_SHOWN - len(explained.get("identifiers", []))]


def _rows(
    title: str,
    why: str,
    rows: Sequence[Mapping[str, Any]],
    columns: tuple[Sequence[str], Sequence[str]],
    *,
    open_: bool = False,
) -> Html | None:
    """Draw rows as a table; `columns` are those that name the rows, then those that tell of the class."""
    if not rows:
        return None
    names, telling = columns
    rival = any("runner_up" in row for row in rows)
    head = ["row", *names, "probability", *(["or else"] if rival else []), *telling]
    lines = []
    for row in rows:
        on_map = tag("button", row["row"], type="button", class_="on-map", data_row=row["row"])
        other = (
            [tag("td", f"{class_name(row['runner_up'])} ({percent(row['runner_up_probability'])})")] if rival else []
        )
        lines.append(
            tag(
                "tr",
                tag("th", on_map, scope="row"),
                *(_cell(row["values"].get(name)) for name in names),
                tag("td", percent(row["probability"])),
                *other,
                *(_cell(row["values"].get(name)) for name in telling),
            )
        )
    heads = [tag("th", shortened(name, _LONGEST_NAME), scope="col", title=name, class_=breaking(name)) for name in head]
    grid = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *lines))
    box = scrolling(grid, title)
    return tag("details", tag("summary", title, tag("span", f" {why}", class_="muted")), box, open=open_)


def _cell(value: Any) -> Html:
    text = cell(value)
    classes = breaking(text, MISSING if text == MISSING else None)
    return tag("td", shortened(text, _LONGEST_CELL), title=text, class_=classes)
