"""What a report says first: its headline and a few plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from newfound.explanation.wording import shortened
from newfound.reporting.doubts import MEANINGS, sureness
from newfound.reporting.wording import called, count, level, percent, routing_in_words, share_in_words

_ADVICE = {
    "high": "treat the classes as found, and still look at their rows",
    "fair": "treat the classes as a proposal, whose borders may lie elsewhere",
    "low": "treat the classes as one of several ways to group these rows",
}
_AGREEMENT = {
    "chance": "The chance that more than four in five unlabelled rows are in the right class is {}",
    "candidates": "Other looks at the same rows find these classes again by {}",
    "count": "The probability that it is one class, and not more, is {}",
    "members": "The agreement of the model's networks on these classes is {}",
    "bootstraps": "The agreement with classes found in other samples of the rows is {}",
}
_FIGURES = {
    "chance": "chance that more than 4 of 5 rows are right",
    "candidates": "agreement of other looks",
    "count": "probability of one class",
    "members": "agreement of the networks",
    "bootstraps": "found again in other samples",
}


def headline(facts: Mapping[str, Any]) -> str:
    """Say what was found in one line."""
    n_novel = len(facts["explanation"]["classes"])
    rows = count(facts["table"]["n_rows"], "row")
    where = rows if _sampled_from(facts) is None else f"a sample of {rows}"
    return f"{count(n_novel, 'novel class', 'novel classes')} in {where}" if n_novel else f"No novel class in {where}"


def sentences(facts: Mapping[str, Any]) -> list[str]:
    """Say what was found, and how sure it is, in words that need no knowledge of the method."""
    novel = facts["explanation"]["classes"]
    said = [_about_the_table(facts), *([routing_in_words(facts["routing"])] if facts["routing"] else [])]
    if not novel:
        return [*said, "The model knows no novel class, so every row was given one of the known classes."]
    said.append(_about_the_novel_rows(facts))
    filled = [explained for explained in novel if explained["n_rows"]]
    if filled:
        said += [_about_the_largest(filled), *_about_agreement(facts), *_about_unsure_rows(facts)]
    return said


def key_figures(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the numbers that a reader looks for first, each with its name."""
    explanation, table = facts["explanation"], facts["table"]
    found = [("rows in novel classes", count(explanation["n_novel_rows"]))]
    if table["n_labelled"] is not None:
        found.append(("rows without a label", count(table["n_rows"] - table["n_labelled"])))
    if facts["routing"] is not None:
        found.append(("of known classes among them", share_in_words(facts["routing"])))
    agreement, source = agreement_of_all(facts)
    if agreement is not None:
        found.append((_FIGURES[source], percent(agreement)))
    if explanation["classes"]:
        found.append(("rows it is unsure of", count(facts["doubted_rows"]["unsure"])))
    return [*found, ("known classes", count(sum(not class_facts["is_novel"] for class_facts in facts["classes"])))]


def agreement_of_all(facts: Mapping[str, Any]) -> tuple[float | None, str]:
    """How sure the novel classes are together, and what says so: the mean over their rows."""
    rows = [explained["n_rows"] for explained in facts["explanation"]["classes"]]
    told = [(sure, n) for sure, n in zip(sureness(facts), rows, strict=True) if sure.agreement is not None and n]
    if not told:
        return None, ""
    source = told[0][0].source or ""
    whole = (facts["candidates"] or {}).get("confidence") if source == "candidates" else None
    mean = sum((sure.agreement or 0.0) * n for sure, n in told) / sum(n for _, n in told)
    if source == "candidates" and whole is not None:
        source = "chance"
    return (mean if whole is None else float(whole)), source


def meanings(facts: Mapping[str, Any]) -> str:
    """Say what the figures of a class mean, those that are shown."""
    said = [f"Stability says {MEANINGS['members']}, or {MEANINGS['bootstraps']}."]
    source = next((sure.source for sure in sureness(facts)), None)
    if source in ("candidates", "count"):
        said.append(f"Agreement says {MEANINGS[source]}; where it is lower than the others, it is the better warning.")
    said.append(
        "Unsure rows are those for which no class has a probability of one half. That there are none says "
        "little: a model is sure of classes that it has learned well, right or wrong."
    )
    return " ".join(said)


def _about_the_table(facts: Mapping[str, Any]) -> str:
    table = facts["table"]
    n_known = sum(not class_facts["is_novel"] for class_facts in facts["classes"])
    start = f"The table has {count(table['n_rows'], 'row')} and {count(table['n_columns'], 'column')}"
    whole = _sampled_from(facts)
    if whole is not None:
        sample = f"a random sample of {count(table['n_rows'], 'row')}, whose shares are not quite those of the table"
        start = f"The table has {count(whole, 'row')}. This report counts and explains {sample}"
    known = count(n_known, "class", "classes")
    if table["n_labelled"] is None:
        return f"{start}. The model was taught {known}."
    n_unlabelled = table["n_rows"] - table["n_labelled"]
    labelled = f"{count(table['n_labelled'], 'row')} came with a label, {count(n_unlabelled)} without"
    return f"{start}. {labelled}; {known} {'was' if n_known == 1 else 'were'} known before."


def _sampled_from(facts: Mapping[str, Any]) -> int | None:
    """Return how many rows the table has of which the report explains a sample; None where it explains all."""
    n_rows: int | None = (facts["source"] or {}).get("sampled_from")
    return None if n_rows == facts["table"]["n_rows"] else n_rows


def _about_the_novel_rows(facts: Mapping[str, Any]) -> str:
    explanation, table = facts["explanation"], facts["table"]
    n_novel, n_rows = explanation["n_novel_rows"], table["n_rows"]
    classes = count(len(explanation["classes"]), "class", "classes")
    fall = "falls" if n_novel == 1 else "fall"
    share = percent(n_novel / max(1, n_rows))
    said = f"{count(n_novel, 'row')} ({share}) {fall} into {classes} that nobody had labelled."
    if table["n_labelled"] is None or table["n_labelled"] == n_rows:
        return said
    n_unlabelled = n_rows - table["n_labelled"]
    inside = sum(class_facts["n_unlabelled"] for class_facts in facts["classes"] if class_facts["is_novel"])
    if inside == n_unlabelled:
        return f"{said} All rows without a label are among them."
    return f"{said} Of the {count(n_unlabelled, 'row')} without a label, {count(inside)} do; {_known_ones(facts)}."


def _known_ones(facts: Mapping[str, Any]) -> str:
    """Say how many rows without a label have a known class: they were given it, or look like it."""
    n_known = sum(class_facts["n_unlabelled"] for class_facts in facts["classes"] if not class_facts["is_novel"])
    is_mixed = facts["routing"] is not None and facts["routing"]["unlabelled"] == "mixed"
    return f"{count(n_known)} {'were given' if is_mixed else 'look like'} a known class"


def _about_the_largest(novel: Sequence[Mapping[str, Any]]) -> str:
    largest = max(novel, key=lambda explained: explained["n_rows"])
    said = f"The largest, {called(largest['name'])}, has {count(largest['n_rows'], 'row')}"
    if not largest["rules"]:
        return f"{said}."
    # As in its card: a condition may name cells of any length.
    rule = " and ".join(shortened(condition["text"], 140) for condition in largest["rules"][0]["conditions"])
    return f"{said}; typical of it: {rule}."


def _about_agreement(facts: Mapping[str, Any]) -> list[str]:
    agreement, source = agreement_of_all(facts)
    if agreement is None:
        return []
    how = level(agreement)
    advice = "that does not outweigh the doubts below" if how == "high" and facts["weaknesses"] else _ADVICE[how]
    return [f"{_AGREEMENT[source].format(percent(agreement))}: {advice}."]


def _about_unsure_rows(facts: Mapping[str, Any]) -> list[str]:
    n_unsure = facts["doubted_rows"]["unsure"]
    return [f"The model is unsure of {count(n_unsure, 'row')}."] if n_unsure else []
