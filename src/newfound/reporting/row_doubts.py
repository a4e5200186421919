"""Rows to look at before one relies on their class: what speaks against it, a few words for each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.counting import share_text
from newfound.discoverers.reading import Reading
from newfound.explanation.wording import class_name
from newfound.tables import Labels, read_labels

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RowDoubts:
    """Doubts about the rows of a table.

    Attributes
    ----------
    stray : ndarray of shape (n,), bool
        Rows with the label of a known class that look like a novel class.
    known : ndarray of shape (n,), bool
        Unlabelled rows that look like a known class, though all of them were taken to be novel.
    unsure : ndarray of shape (n,), bool
        Unlabelled rows, or all where there are no labels, for which no class has a probability of one half.
    split : ndarray of shape (n,), bool
        Training rows without a label, found to be of a novel class, of which no more than half of the members say so.
    proba : ndarray of shape (n, n_classes)
    names : sequence of str
        Of all classes.
    labels : sequence of str
        Label of each row; "" where there is none.
    votes : ndarray of shape (n,), int64, or None
        How many members say what the whole says.
    n_members : int
    """

    stray: Mask
    known: Mask
    unsure: Mask
    split: Mask
    proba: Floats
    names: Sequence[str]
    labels: Sequence[str]
    votes: Codes | None
    n_members: int

    @classmethod
    def of(cls, reading: Reading, y: Any = None) -> RowDoubts:
        """Doubt the rows of a table.

        Parameters
        ----------
        reading : Reading of n rows
        y : labels of shape (n,), optional
            Labels of its rows; -1, None or NaN where a row is unlabelled.
        """
        model = reading.model
        proba = model.predict_proba(reading)
        n, codes, n_known = len(proba), proba.argmax(axis=1), len(model.known_classes_)
        given = y if isinstance(y, Labels) else read_labels(y, n)
        of_labels = label_names(given, model)
        names = [class_name(name) for name in model.classes_.tolist()]
        taught = given.labelled & np.isin(
            given.codes, [i for i, label in enumerate(of_labels) if label in names[:n_known]]
        )
        free = ~given.labelled
        texts = [of_labels[code] if code >= 0 else "" for code in given.codes.tolist()]
        votes, n_members = _votes(model, codes, texts)
        split = np.zeros(n, dtype=bool) if votes is None else free & (codes >= n_known) & (2 * votes <= n_members)
        known = free & (codes < n_known) & bool(len(model.novel_classes_) and _all_taken_for_novel(model))
        unsure = free & model.unsure(reading)
        return cls(taught & (codes >= n_known), known, unsure, split, proba, names, texts, votes, n_members)

    @property
    def any(self) -> Mask:
        """Rows with a doubt, shape (n,)."""
        return self.stray | self.known | self.unsure | self.split

    def texts(self) -> list[str]:
        """Return a few words for each row; "" where there is no doubt."""
        said = [""] * len(self.proba)
        for row in np.flatnonzero(self.any).tolist():
            said[row] = "; ".join(self._reasons(row))
        return said

    def _reasons(self, row: int) -> list[str]:
        second, first = np.argsort(self.proba[row], kind="stable")[-2:].tolist() if len(self.names) > 1 else (0, 0)
        reasons = []
        if self.stray[row]:
            reasons.append(f"labelled {self.labels[row]}, but looks like {self.names[first]}")
        if self.known[row]:
            reasons.append(f"looks like the known class {self.names[first]}")
        if self.unsure[row]:
            odds = (f"{self.names[code]} {share_text(float(self.proba[row, code]))}" for code in (first, second))
            reasons.append(f"unsure: {' or '.join(odds)}")
        if self.split[row] and self.votes is not None:
            reasons.append(f"only {self.votes[row]} of {self.n_members} members agree")
        return reasons

    def counts(self, inside: Mask | None = None) -> dict[str, int]:
        """Count the rows of each kind of doubt, in all or among some rows (n,)."""
        some = np.ones(len(self.proba), dtype=bool) if inside is None else inside
        kinds = {"stray": self.stray, "known": self.known, "unsure": self.unsure, "split": self.split, "any": self.any}
        return {name: int((mask & some).sum()) for name, mask in kinds.items()}


def label_names(labels: Labels, model: Any) -> list[str]:
    """Names of the labels as the model spells them: beside novel classes it has 0 and 1 for False and True."""
    found = labels.known_classes
    if found.dtype.kind == "b" and model.classes_.dtype.kind != "b":
        found = found.astype(np.int64)
    return [class_name(name) for name in found.tolist()]


def _all_taken_for_novel(model: Any) -> bool:
    return getattr(model, "unlabelled_", "novel") == "novel"


def _votes(model: Any, codes: Codes, labels: Sequence[str]) -> tuple[Codes | None, int]:
    """How many members give each row the class of the whole; None where this is not the table of fit."""
    members = getattr(model, "member_labels_", None)
    if members is None or len(members) < 2 or members.shape[1] != len(codes) or not any(labels):
        return None, 0
    fitted = [class_name(name) for name in model.labels_.tolist()]
    if any(label and label != own for label, own in zip(labels, fitted, strict=True)):
        return None, 0
    votes: Codes = (members == model.classes_[codes]).sum(axis=0)
    return votes, len(members)
