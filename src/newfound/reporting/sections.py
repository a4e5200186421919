"""The first sections of a report: summary, map, novel and known classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from newfound.explanation.wording import class_name
from newfound.markup import Html, join, scrolling, tag
from newfound.reporting.cards import card_id, conditions, draw_card
from newfound.reporting.doubts import Sureness, doubts, sureness
from newfound.reporting.figures import draw_histogram, draw_map, share_bar, swatch
from newfound.reporting.summary import headline, key_figures, meanings, sentences
from newfound.reporting.wording import breaking, count, percent

Facts = Mapping[str, Any]
Looks = Sequence[Mapping[str, Any]]


def summary(facts: Facts, looks: Looks) -> Html:
    """Headline, plain sentences, doubts, and all novel classes at a glance."""
    first, *rest = sentences(facts)
    words = tag("div", tag("p", first, class_="lead"), *(tag("p", sentence) for sentence in rest), _doubts(facts))
    return tag(
        "section",
        tag("p", facts["title"] or "What was found", class_="kicker"),
        tag("h1", headline(facts)),
        tag("div", words, _tiles(facts), class_="opening"),
        _glance(facts, looks),
        id="summary",
        class_="summary",
    )


def _tiles(facts: Facts) -> Html:
    tiles = [tag("div", tag("dt", name), tag("dd", figure)) for name, figure in key_figures(facts)]
    return tag("dl", *tiles, class_="tiles")


def _doubts(facts: Facts) -> Html | None:
    found = doubts(facts)
    if not found:
        return None
    places = {class_name(explained["name"]): i for i, explained in enumerate(facts["explanation"]["classes"])}
    whole = [reason for name, reason in found if name is None]
    doubtful = list(dict.fromkeys(name for name, _ in found if name is not None))
    parts = [tag("p", reason) for reason in whole]
    if doubtful:
        links = [tag("a", name, href=f"#{card_id(places[name])}") for name in doubtful]
        listed_links = join(*(piece for link in links for piece in (link, ", ")))
        parts.append(tag("p", "Look twice at ", Html(listed_links.removesuffix(", ")), "; the cards say why."))
    return tag("div", tag("b", "Before you rely on it"), *parts, class_="doubt", role="note")


def _glance(facts: Facts, looks: Looks) -> Html | None:
    novel = facts["explanation"]["classes"]
    if not novel:
        return None
    styles = looks[-len(novel) :]
    sure = sureness(facts)
    agreed = sure[0].source in ("candidates", "count")
    most = max(explained["share"] for explained in novel) or 1
    lines = []
    for i, (explained, look) in enumerate(zip(novel, styles, strict=True)):
        link = tag("a", class_name(explained["name"]), href=f"#{card_id(i)}")
        name = tag("span", swatch(look), " ", link, class_="named")
        mark = tag("span", "doubtful", class_="badge") if explained["warnings"] else None
        lines.append(
            tag(
                "tr",
                tag("th", name, " ", mark, scope="row"),
                tag(
                    "td",
                    tag("span", f"{count(explained['n_rows'])} ", class_="number"),
                    share_bar(explained["share"] / most, look["colour"]),
                ),
                tag("td", percent(explained["share"])),
                tag("td", _first_rule(explained), class_="first-rule"),
                *(
                    tag("td", _share(share), data_name=name)
                    for name, share in _sureness(explained, sure[i], agreed).items()
                ),
            )
        )
    head = ["novel class", "rows", "of the table", "how to recognise it", *_sureness(novel[0], sure[0], agreed)]
    table = tag(
        "table",
        tag("caption", "The novel classes at a glance"),
        tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head))),
        tag("tbody", *lines),
        class_="glance",
    )
    return join(table, tag("p", meanings(facts), class_="muted"))


def _sureness(explained: Facts, sure: Sureness, agreed: bool) -> dict[str, float | None]:
    """How sure a class is, by the names of the columns that say so."""
    found = {"agreement": sure.agreement} if agreed else {}
    return found | {"stability": explained["stability"], "unsure rows": sure.unsure if explained["n_rows"] else None}


def _share(share: float | None) -> str:
    return "–" if share is None else percent(share)


def _first_rule(explained: Facts) -> Html:
    if explained["rules"]:
        return conditions(explained["rules"][0]["conditions"], 80)
    return tag("span", "no short rule" if explained["n_rows"] else "no row in this table", class_="muted")


# ---- the map


def the_map(facts: Facts, looks: Looks) -> Html:
    """Draw the map with its legend, the row under the pointer, and the same rows as a table."""
    classes, points = facts["classes"], facts["map"]
    shown = count(len(points["rows"]))
    rows = (
        "all rows"
        if len(points["rows"]) == facts["table"]["n_rows"]
        else f"{shown} of {count(facts['table']['n_rows'])} rows"
    )
    about = (
        f"Each mark is a row ({rows}); rows that the model finds similar lie together. Known classes are grey, novel "
        f"ones coloured. Laid out by {points['method']}: only who is near whom counts, not distances or directions."
    )
    order = [j for j, class_facts in enumerate(classes) if class_facts["is_novel"]] + [
        j for j, class_facts in enumerate(classes) if not class_facts["is_novel"]
    ]
    buttons = [_legend_button(j, classes[j], looks[j]) for j in order if classes[j]["n_predicted"]]
    keys = (
        "Point at a mark, or tap it, to see its row; choose a class to see it alone. With the keyboard: arrow keys go "
        "from mark to mark, Enter shows the mark's class alone, Escape shows all again."
    )
    return tag(
        "section",
        tag("h2", "Map"),
        tag("p", about),
        tag(
            "div",
            tag(
                "div",
                tag("button", "All classes", type="button", class_="pick all", aria_pressed="true"),
                *buttons,
                class_="legend",
                role="group",
                aria_label="Classes shown on the map",
            ),
            tag(
                "div",
                tag("noscript", draw_map(points, classes, looks)),
                id="map",
                class_="map",
                tabindex="0",
                role="application",
                aria_roledescription="map of rows",
                aria_label=f"Map of {shown} rows in {count(len(classes), 'class', 'classes')}",
                aria_describedby="map-keys",
            ),
            tag(
                "aside",
                tag(
                    "div",
                    tag("p", keys, class_="muted"),
                    id="row",
                    class_="row-panel-inner",
                    tabindex="0",
                ),
                class_="row-panel",
                aria_label="The row pointed at",
            ),
            class_="map-grid",
        ),
        tag("p", keys, id="map-keys", class_="visually-hidden"),
        tag("p", id="map-status", class_="visually-hidden", role="status", aria_live="polite"),
        tag("noscript", tag("p", "Pointing and choosing need JavaScript; the drawing does not.", class_="muted")),
        tag("details", tag("summary", "The rows of the map as a table"), tag("div", id="map-table"), id="map-rows"),
        id="map-section",
    )


def _legend_button(j: int, class_facts: Facts, look: Mapping[str, Any]) -> Html:
    label = tag("span", class_facts["name"], class_="pick-name")
    size = tag("span", count(class_facts["n_rows"]), class_="pick-size")
    kind = tag("span", " novel class, " if class_facts["is_novel"] else " known class, ", class_="visually-hidden")
    return tag(
        "button", swatch(look), label, kind, size, type="button", class_="pick", aria_pressed="false", data_class=j
    )


# ---- the classes


def cards(facts: Facts, looks: Looks) -> Html | None:
    """Draw a card for each novel class."""
    novel = facts["explanation"]["classes"]
    if not novel:
        return None
    n_known = len(looks) - len(novel)
    sure = sureness(facts)
    drawn = [
        draw_card(i, explained, facts["classes"][n_known + i], looks[n_known + i], sure[i])
        for i, explained in enumerate(novel)
    ]
    about = (
        "Rules are made from one half of the rows and checked on the other; the figures are those of the check. "
        "In a profile a bar is the middle half of the rows and a dot their median, or the share of rows of a category. "
        "In the small pictures the class lies above the line, the rest of the table below, each on a scale of its own."
    )
    return tag("section", tag("h2", "Novel classes"), tag("p", about), *drawn, id="classes")


def known_classes(facts: Facts) -> Html | None:
    """Say what became of the known classes."""
    known = [class_facts for class_facts in facts["classes"] if not class_facts["is_novel"]]
    if not known:
        return None
    labelled = facts["table"]["n_labelled"] is not None
    judged = any(class_facts["held_out"] is not None for class_facts in known)
    agreeing = labelled and not judged  # what is held out says more
    head = ["known class", "rows predicted"]
    head += ["rows labelled"] * labelled + ["predicted so"] * agreeing + ["recognised, held out"] * judged
    lines = []
    for class_facts in known:
        cells = [tag("td", count(class_facts["n_predicted"]))]
        if labelled:
            n = class_facts["n_labelled"]
            cells.append(tag("td", count(n)))
            if agreeing:
                cells.append(tag("td", percent(class_facts["n_agreeing"] / n) if n else "–"))
        if judged:
            share = class_facts["held_out"]
            cells.append(tag("td", "–" if share is None else percent(share)))
        lines.append(
            tag("tr", tag("th", class_facts["name"], scope="row", class_=breaking(class_facts["name"])), *cells)
        )
    about = "How the model reads the classes it was taught."
    if judged:
        about += " Recognised is the share of labelled rows that trees put into their class which had not seen them."
    elif labelled:
        about += " Where it learned from these very rows, that flatters it."
    table = tag(
        "table", tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head))), tag("tbody", *lines)
    )
    return tag(
        "section",
        tag("h2", "Known classes"),
        tag("p", about),
        tag("div", scrolling(table, "Known classes"), _novelty(facts["novelty"]), class_="side-by-side"),
        id="known",
    )


def _novelty(novelty: Facts | None) -> Html | None:
    if novelty is None:
        return None
    text = (
        f"{count(novelty['n_unlabelled_novel'], 'row')} without a label and {count(novelty['n_labelled_novel'])} "
        "with one have a novelty score of at least one half."
    )
    sides = (("rows without a label", novelty["unlabelled"], "c0"), ("rows with a label", novelty["labelled"], "known"))
    return tag(
        "div",
        tag("h3", "Novelty score"),
        tag("p", text),
        draw_histogram(sides, f"Novelty scores. {text}"),
    )
