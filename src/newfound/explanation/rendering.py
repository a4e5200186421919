"""An explanation in words, for terminals and notebooks, from its plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from newfound.counting import counted, share_text
from newfound.explanation.wording import class_name, shortened
from newfound.markup import Html, inline, tag
from newfound.plain import printable

_WIDTH = 100
_N_SHIFTS = 5  # differences shown of each kind
_N_ROWS = 3  # typical and borderline rows shown
_N_CELLS = 5  # cells shown of a row
_SOURCES = {"members": "agreement of the networks", "bootstraps": "k-means on other samples of the rows"}


def as_text(facts: Mapping[str, Any]) -> str:
    """Return the plain values of an explanation as text for a terminal."""
    return "\n\n".join([_summary(facts), *map(class_as_text, facts["classes"])])


def class_as_text(class_facts: Mapping[str, Any]) -> str:
    """Return the plain values of one class as text for a terminal."""
    lines = [printable(_heading(class_facts))]
    for title, items in _parts(class_facts):
        lines.append(f"  {printable(title)}")
        for item in items:
            lines += wrap(
                printable(item), _WIDTH, initial_indent="    - ", subsequent_indent="      ", break_long_words=False
            )
    return "\n".join(lines)


def as_html(facts: Mapping[str, Any]) -> Html:
    """Return the plain values of an explanation as a piece of HTML that needs nothing else."""
    return inline(tag("p", _summary(facts)), *map(_section, facts["classes"]))


def class_as_html(class_facts: Mapping[str, Any]) -> Html:
    """Return the plain values of one class as a piece of HTML that needs nothing else."""
    return inline(_section(class_facts))


def _section(class_facts: Mapping[str, Any]) -> Html:
    parts = (
        tag(
            "div",
            tag("h4", title),
            tag("ul", *(tag("li", item) for item in items)),
            class_="doubt" if title == _DOUBTS else None,
        )
        for title, items in _parts(class_facts)
    )
    return tag("section", tag("h3", _heading(class_facts)), *parts)


_DOUBTS = "Doubts"


def _summary(facts: Mapping[str, Any]) -> str:
    n_classes, n_rows, n_novel = len(facts["classes"]), facts["n_rows"], facts["n_novel_rows"]
    if not n_classes:
        return f"The model has no novel class; {counted(n_rows, 'row')} of known classes."
    share = share_text(n_novel / n_rows)
    classes = counted(n_classes, "novel class", "novel classes")
    return f"{classes}, with {n_novel:,} of the {counted(n_rows, 'row')} ({share})."


def _heading(class_facts: Mapping[str, Any]) -> str:
    rows = f"{counted(class_facts['n_rows'], 'row')} ({share_text(class_facts['share'])})"
    heading = f"{class_name(class_facts['name'])}: {rows}"
    # No mean probability beside the stability: it is high for right and wrong classes.
    if class_facts["stability"] is not None:
        heading += f", stability {class_facts['stability']:.2f} ({_SOURCES[class_facts['stability_source']]})"
    elif class_facts["n_rows"]:
        heading += f", mean probability {class_facts['confidence']:.2f}"
    return heading


def _parts(class_facts: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield titles with the sentences under them."""
    if class_facts["rules"]:
        yield _rules_title(class_facts), [f"{rule['text']}  [{_rule_figures(rule)}]" for rule in class_facts["rules"]]
    if class_facts["profile"]:
        yield "Unlike the rest of the table", _texts(class_facts["profile"])
    nearest = class_facts["nearest_known"]
    if nearest is not None:
        differences = _texts(class_facts["against_nearest"]) or ["no column differs much"]
        yield f"Nearest known class: {nearest['text']}. What separates them", differences
    if class_facts["exemplars"]:
        yield "Typical rows", [_row_text(row, class_facts) for row in class_facts["exemplars"][:_N_ROWS]]
    if class_facts["borderline"]:
        yield "Borderline rows", [_border_text(row, class_facts) for row in class_facts["borderline"][:_N_ROWS]]
    if class_facts["warnings"]:
        yield _DOUBTS, list(class_facts["warnings"])


def _rules_title(class_facts: Mapping[str, Any]) -> str:
    title = "Rule" if len(class_facts["rules"]) == 1 else "Rules"
    if (
        len(class_facts["rules"]) == 1
        or class_facts["rules_precision"] is None
        or class_facts["rules_coverage"] is None
    ):
        return title
    return (
        f"{title} (together right for {share_text(class_facts['rules_precision'])} of the held-out rows they match; "
        f"they find {share_text(class_facts['rules_coverage'])} of the class)"
    )


def _rule_figures(rule: Mapping[str, Any]) -> str:
    if rule["precision"] is None:
        return "matches no held-out row"
    matched = "held-out row it matches" if rule["n_matched"] == 1 else f"{rule['n_matched']:,} held-out rows it matches"
    figures = f"right for {share_text(rule['precision'])} of the {matched}"
    return figures if rule["coverage"] is None else f"{figures}; finds {share_text(rule['coverage'])} of the class"


def _row_text(row: Mapping[str, Any], class_facts: Mapping[str, Any]) -> str:
    return f"row {row['row']}: {_values_text(row['values'], class_facts)}"


def _border_text(row: Mapping[str, Any], class_facts: Mapping[str, Any]) -> str:
    ours, theirs = class_name(class_facts["name"]), class_name(row["runner_up"])
    odds = f"{share_text(row['probability'])} {ours}, {share_text(row['runner_up_probability'])} {theirs}"
    return f"row {row['row']} ({odds}): {_values_text(row['values'], class_facts)}"


def _values_text(values: Mapping[str, Any], class_facts: Mapping[str, Any]) -> str:
    """Name the cells that the class is told by."""
    told = [condition["column"] for rule in class_facts["rules"] for condition in rule["conditions"]]
    told += [shift["column"] for shift in class_facts["profile"]]
    identifiers = class_facts["identifiers"]
    names = [name for name in dict.fromkeys([*identifiers, *told, *values]) if name in values]
    names = names[: _N_CELLS + len(identifiers)]
    return "; ".join(f"{name} {_cell_text(values[name])}" for name in names)


def _cell_text(value: Any) -> str:
    if value is None:
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else shortened(str(value))


def _texts(shifts: Sequence[Mapping[str, Any]]) -> list[str]:
    return [shift["text"] for shift in shifts[:_N_SHIFTS]]
