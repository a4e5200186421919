"""What an explanation holds, as objects, as plain values and as a data frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from newfound.errors import InputError
from newfound.explanation.conditions import Rule
from newfound.explanation.exemplars import Borderline, Exemplar
from newfound.explanation.nearest_known import NearestKnown
from newfound.explanation.profiles import Shift
from newfound.explanation.rendering import as_html, as_text, class_as_html, class_as_text
from newfound.explanation.stability import StabilitySource
from newfound.markup import Html
from newfound.records import Records
from newfound.tables.cells import shown


@dataclass(frozen=True, repr=False)
class ClassExplanation:
    """What characterises one novel class; ``print`` shows it in words.

    Attributes
    ----------
    name : int, float or str
    n_rows : int
        Rows of the table that the model predicts to be of the class.
    share : float
        The same as a share of all rows.
    confidence : float
        Mean probability of the class over its rows; 0 where it has none.
    stability : float or None
        From 0 to 1: how far members, or repetitions on other samples, find the same rows; None where nothing says so.
    stability_source : {"members", "bootstraps"} or None
    rules : list of Rule
        Each with its precision and coverage on held-out rows.
    rules_precision, rules_coverage : float or None
        The same for all rules together: a row is matched if one of them matches it.
    profile : list of Shift
        The columns that differ most from the rest of the table, strongest first.
    against_nearest : list of Shift
        The columns that differ most from the nearest known class.
    nearest_known : NearestKnown or None
    identifiers : list of str
        Columns that the model ignores since they name or number the rows, by which people know them.
    exemplars : list of Exemplar
        Typical rows.
    borderline : list of Borderline
        Rows that are nearly of another class.
    warnings : list of str
        Why the class should be doubted; empty where nothing speaks against it.
    """

    name: Any
    n_rows: int
    share: float
    confidence: float
    stability: float | None
    stability_source: StabilitySource | None
    rules: list[Rule]
    rules_precision: float | None
    rules_coverage: float | None
    profile: list[Shift]
    against_nearest: list[Shift]
    nearest_known: NearestKnown | None
    identifiers: list[str]
    exemplars: list[Exemplar]
    borderline: list[Borderline]
    warnings: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "name": self.name,
            "n_rows": self.n_rows,
            "share": self.share,
            "confidence": self.confidence,
            "stability": self.stability,
            "stability_source": self.stability_source,
            "rules": [rule.to_dict() for rule in self.rules],
            "rules_precision": self.rules_precision,
            "rules_coverage": self.rules_coverage,
            "profile": [shift.to_dict() for shift in self.profile],
            "against_nearest": [shift.to_dict() for shift in self.against_nearest],
            "nearest_known": None if self.nearest_known is None else self.nearest_known.to_dict(),
            "identifiers": list(self.identifiers),
            "exemplars": [row.to_dict() for row in self.exemplars],
            "borderline": [row.to_dict() for row in self.borderline],
            "warnings": list(self.warnings),
        }

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}, n_rows={self.n_rows}>"

    def __str__(self) -> str:
        return class_as_text(self.to_dict())

    def _repr_html_(self) -> Html:
        return class_as_html(self.to_dict())


@dataclass(frozen=True)
class Explanation:
    """What characterises each novel class of a model, on the rows of a table.

    ``print`` shows it in words; ``explanation["name"]`` is one class.

    Attributes
    ----------
    n_rows : int
        Rows of the table.
    n_novel_rows : int
        Rows that the model predicts to be of a novel class.
    classes : list of ClassExplanation
        In the order of the model's ``novel_classes_``.
    """

    n_rows: int
    n_novel_rows: int
    classes: list[ClassExplanation]

    def __getitem__(self, name: Any) -> ClassExplanation:
        for explained in self.classes:
            if explained.name == name:
                return explained
        names = [explained.name for explained in self.classes]
        raise InputError(
            f"There is no novel class {name!r}; the novel classes are {shown(names, 200)}.",
            parameter="name",
            value=name,
            expected=f"one of {shown(names, 200)}",
        )

    def __iter__(self) -> Iterator[ClassExplanation]:
        return iter(self.classes)

    def __len__(self) -> int:
        return len(self.classes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "n_rows": self.n_rows,
            "n_novel_rows": self.n_novel_rows,
            "classes": [explained.to_dict() for explained in self.classes],
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row a class; MissingExtraError without pandas."""
        return Records(_record(explained) for explained in self.classes).to_frame()

    def __str__(self) -> str:
        return as_text(self.to_dict())

    def _repr_html_(self) -> Html:
        return as_html(self.to_dict())


def _record(explained: ClassExplanation) -> dict[str, Any]:
    nearest = explained.nearest_known
    return {
        "class": explained.name,
        "n_rows": explained.n_rows,
        "share": explained.share,
        "confidence": explained.confidence,
        "stability": explained.stability,
        "rules": "\n".join(rule.text for rule in explained.rules),
        "rules_precision": explained.rules_precision,
        "rules_coverage": explained.rules_coverage,
        "profile": "\n".join(shift.text for shift in explained.profile),
        "nearest_known": None if nearest is None else nearest.name,
        "distance": None if nearest is None else nearest.distance,
        "exemplars": [row.row for row in explained.exemplars],
        "borderline": [row.row for row in explained.borderline],
        "warnings": "\n".join(explained.warnings),
    }
