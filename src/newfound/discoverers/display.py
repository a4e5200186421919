"""How a discoverer shows itself in a notebook."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from newfound.counting import share_text
from newfound.markup import Html, inline, tag
from newfound.records import Records


class NotebookDisplay(BaseEstimator):
    """Shows scikit-learn's diagram before `fit`, and what was found after it."""

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()
        return fitted_html(self, diagram) if hasattr(self, "classes_") else diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:  # not where scikit-learn is told to print text
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def fitted_html(model: Any, diagram: str) -> Html:
    """Show the classes of a fitted discoverer, their sizes, and why to doubt them.

    Parameters
    ----------
    model : discoverer
        A fitted one.
    diagram : str
        Scikit-learn's diagram of its parameters, a piece of HTML.
    """
    n_novel, n_known = len(model.novel_classes_), len(model.known_classes_)
    found = _count(n_novel, "novel class", "novel classes") if n_novel else "No novel class"
    known = _count(n_known, "known class", "known classes")
    rows = _count(len(model.labels_), "training row", "training rows")
    return inline(
        tag("p", tag("b", type(model).__name__), f": {found} beside {known}, in {rows}."),
        _classes(model)._repr_html_() if n_novel else None,
        *(tag("p", text) for text in _about_known_rows(model)),
        _doubts(model.weaknesses_),
        tag("details", tag("summary", "Parameters"), Html(diagram)),
    )


def _classes(model: Any) -> Records:
    """Return a record for each novel class: its rows, and how sure it is where the discoverer says so."""
    n_rows = np.bincount(model._codes_of(model.labels_), minlength=len(model.classes_))[len(model.known_classes_) :]
    agreement = getattr(model, "class_confidence_", None)
    records = Records()
    for i, (name, rows) in enumerate(zip(model.novel_classes_.tolist(), n_rows.tolist(), strict=True)):
        record: dict[str, Any] = {
            "novel class": str(name),
            "rows": rows,
            "share": share_text(rows / len(model.labels_)),
        }
        if agreement is not None:
            record["agreement of other looks"] = share_text(float(agreement[i]))
        records.append(record)
    return records


def _about_known_rows(model: Any) -> list[str]:
    share = getattr(model, "known_share_", None)
    if share is None:
        return []
    low, high = share.interval
    about, between = share_text(float(share)), f"{share_text(low)} to {share_text(high)}"
    return [f"Of the unlabelled rows, about {about} ({between}) are of known classes."]


def _doubts(reasons: list[str]) -> Html | None:
    if not reasons:
        return None
    return tag("div", tag("p", "Reasons for doubt:"), tag("ul", *(tag("li", text) for text in reasons)), class_="doubt")


def _count(n: int, noun: str, plural: str) -> str:
    return f"{n:,} {noun if n == 1 else plural}"
