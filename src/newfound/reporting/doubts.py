"""How sure the novel classes are, and why to doubt them: what the report, the terminal and run.json all read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from newfound.explanation.wording import class_name
from newfound.reporting.wording import count, percent

_MANY_STRAY = 0.05  # share of labelled rows in a novel class from which on a reader should know

MEANINGS = {
    "candidates": "how far other looks at the same rows find the class again",
    "count": "how probable it is that there is one class and not more",
    "members": "how far the networks of the model, taken one by one, agree on the class",
    "bootstraps": "how far k-means finds the class again in other samples of the rows",
}


class Sureness(NamedTuple):
    """How sure a novel class is.

    Attributes
    ----------
    agreement : float or None
        From 0 to 1; None where nothing can be said.
    source : str or None
        What says so, one of `MEANINGS`.
    unsure : float
        Share of its rows of which the model is unsure.
    """

    agreement: float | None
    source: str | None
    unsure: float


def sureness(facts: Mapping[str, Any]) -> list[Sureness]:
    """Say how sure each novel class is.

    Not by the mean probability of its rows, which is near 1 for any class that a model has learned well, right or
    wrong.

    Parameters
    ----------
    facts : mapping
        See `report_facts`.
    """
    novel = [class_facts for class_facts in facts["classes"] if class_facts["is_novel"]]
    agreement = _of_candidates(facts)
    found = []
    for i, (class_facts, explained) in enumerate(zip(novel, facts["explanation"]["classes"], strict=True)):
        unsure = class_facts["n_unsure"] / class_facts["n_rows"] if class_facts["n_rows"] else 0.0
        if agreement is not None:
            found.append(Sureness(agreement[i], "candidates" if len(novel) > 1 else "count", unsure))
        else:
            found.append(Sureness(explained["stability"], explained["stability_source"], unsure))
    return found


def _of_candidates(facts: Mapping[str, Any]) -> Sequence[float] | None:
    """Return the agreement of the candidates on each class, or how sure the count of one is; None without either."""
    n_novel, counted = len(facts["explanation"]["classes"]), facts["n_classes"]
    if n_novel == 1:
        return [counted["curve"][0]["probability"]] if counted is not None and counted["n_classes"] == 1 else None
    agreement: Sequence[float] = (facts["candidates"] or {}).get("class_confidence") or []
    return agreement if len(agreement) == n_novel else None


def doubts(facts: Mapping[str, Any]) -> list[tuple[str | None, str]]:
    """List reasons for doubt as sentences, each with the novel class it is about, or None where it is about the whole.

    Parameters
    ----------
    facts : mapping
        See `report_facts`.
    """
    found: list[tuple[str | None, str]] = [(None, _sentence(reason)) for reason in facts["weaknesses"]]
    n_stray = facts["doubted_rows"]["stray"]
    n_labelled = sum(class_facts["n_labelled"] or 0 for class_facts in facts["classes"] if not class_facts["is_novel"])
    if n_labelled and n_stray > _MANY_STRAY * n_labelled:
        reason = (
            f"{count(n_stray, 'row')} with a known label ({percent(n_stray / n_labelled)} of them) look like a novel "
            "class: the border between known and novel classes is not sharp."
        )
        found.append((None, reason))
    for explained in facts["explanation"]["classes"]:
        found += [(class_name(explained["name"]), _sentence(warning)) for warning in explained["warnings"]]
    return found


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
