"""Parts of a report for the workbench: the same cards, profiles and charts, each as a piece of HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from newfound.markup import Html, tag
from newfound.reporting import method, sections
from newfound.reporting.cards import draw_card
from newfound.reporting.doubts import doubts, sureness
from newfound.reporting.facts import loss_curves
from newfound.reporting.figures import N_LOOKS, draw_curve, looks, outlines
from newfound.reporting.summary import headline, key_figures, meanings, sentences


def fragments(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write the parts of a report.

    Parameters
    ----------
    facts : mapping
        What ``report_facts`` returns.

    Returns
    -------
    dict
        ``headline``, ``sentences``, ``figures`` (pairs of name and text), ``doubts`` (pairs of class or None, and text)
        and ``meanings`` as plain texts; for the map ``looks`` (of ``known`` classes, and of the first, second and so on
        of the ``novel`` ones, which begin again after the last) and ``outlines`` of the marks; ``cards`` (``name`` of
        the class, ``html``); ``sections``, HTML by name, None where there is nothing to say.
    """
    novel = facts["explanation"]["classes"]
    n_known = len(facts["classes"]) - len(novel)
    styles = looks(n_known, len(novel))
    sure = sureness(facts)
    cards = [
        {
            "name": facts["classes"][n_known + i]["name"],
            "html": draw_card(i, explained, facts["classes"][n_known + i], styles[n_known + i], sure[i]),
        }
        for i, explained in enumerate(novel)
    ]
    return {
        "headline": headline(facts),
        "sentences": sentences(facts),
        "figures": key_figures(facts),
        "doubts": doubts(facts),
        "meanings": meanings(facts) if novel else "",
        "looks": {"known": looks(1, 0)[0], "novel": looks(0, N_LOOKS)},
        "outlines": outlines(),
        "cards": cards,
        "sections": {
            "known": sections.known_classes(facts),
            "count": method.n_classes(facts),
            "candidates": method.candidates(facts),
            "training": method.training(facts),
            "batches": method.batches(facts),
            "making": method.making(facts),
        },
    }


def draw_curves(history: Sequence[Mapping[str, Any]]) -> Html:
    """Draw the losses of a training that goes on.

    Parameters
    ----------
    history : sequence of mappings
        Epochs so far, as in ``history_`` of a discoverer.
    """
    curves = [drawn for drawn in map(draw_curve, loss_curves(history)) if drawn is not None]
    return tag("div", *curves, class_="small-charts")
