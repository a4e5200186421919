"""What a report says first: its headline and a few plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from newfound.explanation.wording import class_name, shortened
from newfound.report.wording import called, count, level, listed, percent, routing_in_words

_ADVICE = {
    "high": "treat the classes as found, and still look at their rows",
    "fair": "treat the classes as a proposal, whose borders may lie elsewhere",
    "low": "treat the classes as one of several ways to part these rows",
}
_MANY_STRAY = 0.05  # share of labelled rows in a novel class from which on a reader should know


def headline(facts: Mapping[str, Any]) -> str:
    """Say what was found in one line."""
    n_novel = len(facts["explanation"]["classes"])
    rows = count(facts["table"]["n_rows"], "row")
    return f"{count(n_novel, 'novel class', 'novel classes')} in {rows}" if n_novel else f"No novel class in {rows}"


def sentences(facts: Mapping[str, Any]) -> list[str]:
    """Say what was found, and how sure it is, in words that need no knowledge of the method."""
    novel = facts["explanation"]["classes"]
    said = [_about_the_table(facts), *([routing_in_words(facts["routing"])] if facts["routing"] else [])]
    if not novel:
        return [*said, "The model knows no novel class, so every row was given one of the known classes."]
    said.append(_about_the_novel_rows(facts))
    filled = [one for one in novel if one["n_rows"]]
    if filled:
        said += [_about_the_largest(filled), *_about_agreement(facts), _about_confidence(facts, filled)]
    return said


def key_figures(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the numbers that a reader looks for first, each with its name."""
    explanation, table = facts["explanation"], facts["table"]
    novel = [one for one in explanation["classes"] if one["n_rows"]]
    found = [("rows in novel classes", count(explanation["n_novel_rows"]))]
    if table["n_labelled"] is not None:
        found.append(("rows without a label", count(table["n_rows"] - table["n_labelled"])))
    agreement = agreement_of_all(facts)
    if agreement is not None:
        found.append(("agreement of the best candidates", percent(agreement)))
    if novel:
        found.append(("mean confidence", percent(_mean_confidence(novel))))
    return [*found, ("known classes", count(sum(not one["is_novel"] for one in facts["classes"])))]


def agreement_of_all(facts: Mapping[str, Any]) -> float | None:
    """How far the best candidates agree on the novel classes; None where there was nothing to choose."""
    agreement: float | None = (facts["candidates"] or {}).get("confidence")
    return agreement if len(facts["explanation"]["classes"]) > 1 else None


def agreement_of_each(facts: Mapping[str, Any]) -> list[float] | None:
    """Return the same for each novel class."""
    agreement: list[float] = (facts["candidates"] or {}).get("class_confidence") or []
    return agreement if len(agreement) == len(facts["explanation"]["classes"]) > 1 else None


def meanings(facts: Mapping[str, Any]) -> str:
    """Say what the figures of a class mean, those that are shown."""
    said = (
        "Confidence is the mean probability of a class's rows: how sure the model is of its own classes, not whether "
        "they are right. Stability says how far the class is found again by the networks of the model one by one, or "
        "on other samples of the rows."
    )
    if agreement_of_each(facts) is None:
        return said
    return (
        f"{said} Agreement says how far the best candidates, which are other ways to part the same rows, have the same "
        "class; where it is lower than the others, it is the better warning."
    )


def doubts(facts: Mapping[str, Any]) -> list[tuple[str | None, str]]:
    """List reasons for doubt, each with the novel class it is about, or None where it is about the whole."""
    found: list[tuple[str | None, str]] = []
    if facts["candidates"]:
        found += [(None, _sentence(reason)) for reason in facts["candidates"]["weaknesses"]]
    n_stray, n_labelled = _stray_rows(facts)
    if n_labelled and n_stray > _MANY_STRAY * n_labelled:
        reason = (
            f"{count(n_stray, 'row')} with a known label ({percent(n_stray / n_labelled)} of them) look like a novel "
            "class: the border between known and novel classes is not sharp."
        )
        found.append((None, reason))
    for one in facts["explanation"]["classes"]:
        found += [(class_name(one["name"]), _sentence(warning)) for warning in one["warnings"]]
    return found


def _about_the_table(facts: Mapping[str, Any]) -> str:
    table = facts["table"]
    n_known = sum(not one["is_novel"] for one in facts["classes"])
    start = f"The table has {count(table['n_rows'], 'row')} and {count(table['n_columns'], 'column')}"
    known = count(n_known, "class", "classes")
    if table["n_labelled"] is None:
        return f"{start}. The model was taught {known}."
    n_unlabelled = table["n_rows"] - table["n_labelled"]
    labelled = f"{count(table['n_labelled'], 'row')} came with a label, {count(n_unlabelled)} without"
    return f"{start}. {labelled}; {known} {'was' if n_known == 1 else 'were'} known before."


def _about_the_novel_rows(facts: Mapping[str, Any]) -> str:
    explanation, table = facts["explanation"], facts["table"]
    n_novel, n_rows = explanation["n_novel_rows"], table["n_rows"]
    classes = count(len(explanation["classes"]), "class", "classes")
    said = (
        f"{count(n_novel, 'row')} ({percent(n_novel / max(1, n_rows))}) fall into {classes} that nobody had labelled."
    )
    if table["n_labelled"] is None or table["n_labelled"] == n_rows:
        return said
    n_unlabelled = n_rows - table["n_labelled"]
    inside = sum(one["n_unlabelled"] for one in facts["classes"] if one["is_novel"])
    if inside == n_unlabelled:
        return f"{said} All rows without a label are among them."
    return (
        f"{said} Of the rows without a label, {percent(inside / n_unlabelled)} do; the others look like a known class."
    )


def _about_the_largest(novel: Sequence[Mapping[str, Any]]) -> str:
    largest = max(novel, key=lambda one: one["n_rows"])
    said = f"The largest, {called(largest['name'])}, has {count(largest['n_rows'], 'row')}"
    if not largest["rules"]:
        return f"{said}."
    # As in its card: a condition may name cells of any length.
    rule = " and ".join(shortened(condition["text"], 140) for condition in largest["rules"][0]["conditions"])
    return f"{said}; typical of it: {rule}."


def _about_agreement(facts: Mapping[str, Any]) -> list[str]:
    agreement = agreement_of_all(facts)
    if agreement is None:
        return []
    return [f"The best candidates agree with these classes by {percent(agreement)}: {_ADVICE[level(agreement)]}."]


def _about_confidence(facts: Mapping[str, Any], novel: Sequence[Mapping[str, Any]]) -> str:
    mean = _mean_confidence(novel)
    said = f"Confidence in the novel classes is {level(mean)}: {percent(mean)} on average."
    if agreement_of_all(facts) is not None:  # of which it must not distract
        said = (
            f"The mean probability of their rows is {percent(mean)}, which only says how sure the model is of itself."
        )
    unsure = [one for one in novel if level(one["confidence"]) == "low"]
    if unsure and len(unsure) < len(novel):
        names = listed([called(one["name"]) for one in sorted(unsure, key=lambda one: one["confidence"])])
        said += f" Least sure: {names}."
    return said


def _mean_confidence(novel: Sequence[Mapping[str, Any]]) -> float:
    """Mean probability of all rows in novel classes, of which there is one at least."""
    confidence: float = sum(one["confidence"] * one["n_rows"] for one in novel) / sum(one["n_rows"] for one in novel)
    return confidence


def _stray_rows(facts: Mapping[str, Any]) -> tuple[int, int]:
    """How many rows with the label of a known class were put into a novel class, and how many such rows there are."""
    stray = sum(one["n_known_labels"] for one in facts["classes"] if one["is_novel"])
    labelled = sum(one["n_labelled"] or 0 for one in facts["classes"] if not one["is_novel"])
    return stray, labelled


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
