"""The class of each row of a table, as it is written beside the rows and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.counting import counted
from newfound.discoverers.reading import Reading
from newfound.errors import Message, Parameter
from newfound.plain import EXACT, SAFE, safe_names, spreadsheet_safe
from newfound.runs.names import class_names
from newfound.tables.cells import text_of

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer
    from newfound.discoverers.update import Update
    from newfound.tables import Table
    from newfound.tables.files import TableFile

Note = Callable[[str], None]
"""Takes what the user should know besides the result."""

COLUMNS = {
    "class": "the label of the row where it had one of a known class, else the class that the model predicts",
    "probability": "what the model gives this class, from 0 to 1; of a row with a label it may be low, where the model "
    "would have said otherwise",
    "is_novel": "true where the class is a novel one",
    "doubt": "empty for most rows, else why to look at the row: it has a label but looks like a novel class; it has "
    "none and looks like a known class though all such rows were taken to be novel; no class has half of the "
    "probability (unsure); or no more than half of the members agree on its class",
}
"""What is written beside the rows of a table, and what it means."""
_DOUBT = "doubt"


@dataclass(frozen=True)
class Naming:
    """How names of classes are written to a file that a spreadsheet may open.

    Parameters
    ----------
    exact : bool
        Whether names are written as they are; otherwise so that no spreadsheet takes one for a formula.
    own : frozenset of str
        Names that stand in the user's own table, which are written as they are.
    """

    exact: bool
    own: frozenset[str] = frozenset()

    @classmethod
    def chosen(cls, given: str | None, *, default: str = SAFE, own: Iterable[Any] = ()) -> Naming:
        """Read the option --names."""
        return cls((given or default) == EXACT, frozenset(str(name) for name in own if name is not None))

    def written(self, names: Sequence[str], note: Note) -> list[str]:
        """Return names as they are written, with a note where they are not what they were."""
        if self.exact:
            return list(names)
        safe = safe_names(names, self.own)
        n_changed = sum(changed != name for changed, name in zip(safe, names, strict=True))
        if n_changed:
            note(
                Message(
                    f"{counted(n_changed, 'class name')} of the model could be run by a spreadsheet or steer a "
                    "terminal, and is written with a quote before it or spaces in it; ",
                    Parameter("names", EXACT),
                    " writes names as they are.",
                )
            )
        return safe


@dataclass(frozen=True, eq=False)
class Labelling:
    """The class of each row.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Place of the class in ``classes``; -1 where the model was too unsure.
    probability : ndarray of shape (n,)
        What the model gives that class; of the most probable class where it was too unsure.
    classes : list of str
        The known classes, then the novel ones.
    n_known : int
    """

    codes: NDArray[np.intp]
    probability: NDArray[np.float64]
    classes: list[str]
    n_known: int

    @property
    def is_novel(self) -> NDArray[np.bool_]:
        """Rows of a novel class, shape (n,)."""
        return self.codes >= self.n_known

    @property
    def unsure(self) -> NDArray[np.bool_]:
        """Rows without a class, shape (n,)."""
        return self.codes < 0

    @property
    def names(self) -> list[str]:
        """Name of each row's class; "" where the model was too unsure."""
        return ["" if code < 0 else self.classes[code] for code in self.codes.tolist()]

    def columns(
        self, file: TableFile, note: Note, doubts: list[str] | None = None, *, naming: Naming
    ) -> dict[str, list[str]]:
        """Return what is written beside the rows of a file; names that it has get a prefix, with a note.

        Parameters
        ----------
        file : TableFile
        note : callable
            Takes what the user should know.
        doubts : list of str, optional
            What speaks against the class of each row; "" where nothing does.
        naming : Naming
            How names of classes are written.
        """
        wanted = [name for name in COLUMNS if name != _DOUBT or doubts is not None]
        names = names_beside(file, wanted)
        if names != wanted:
            clash = ", ".join(repr(name) for name in wanted if name in file.names)
            note(f"the table has a column {clash} of its own, so ours are called {', '.join(names)}.")
        probabilities = (f"{number:.4f}" for number in self.probability.tolist())
        if file.has_decimal_commas():
            probabilities = (number.replace(".", ",") for number in probabilities)
        novel = ("true" if is_novel else "false" for is_novel in self.is_novel.tolist())
        written = naming.written(self.classes, note)
        if doubts is not None and not naming.exact:
            doubts = [spreadsheet_safe(doubt) for doubt in doubts]
        return {
            names[0]: ["" if code < 0 else written[code] for code in self.codes.tolist()],
            names[1]: [*probabilities],
            names[2]: [
                "" if unsure else is_novel for is_novel, unsure in zip(novel, self.unsure.tolist(), strict=True)
            ],
            **({names[3]: doubts} if doubts is not None else {}),
        }

    def counts(self) -> list[dict[str, Any]]:
        """Rows of each class, and the mean probability that the model gives them."""
        return [
            {
                "name": name,
                "is_novel": code >= self.n_known,
                "rows": int(inside.sum()),
                "share": float(inside.mean()),
                "probability": float(self.probability[inside].mean()) if inside.any() else None,
            }
            for code, name in enumerate(self.classes)
            for inside in [self.codes == code]
        ]


def names_beside(file: TableFile, wanted: Iterable[str]) -> list[str]:
    """Return names of columns that a file does not have: those wanted, or with newfound_ before each of them."""
    names = list(wanted)
    while set(names) & set(file.names):
        names = [f"newfound_{name}" for name in names]
    return names


def label_rows(
    model: BaseDiscoverer,
    table: Table | Reading,
    labels: NDArray[Any] | None = None,
    *,
    abstain: float | None = None,
    only_novel: bool = False,
) -> Labelling:
    """Give each row a class.

    Parameters
    ----------
    model : discoverer
    table : Table or Reading of n rows
    labels : ndarray of shape (n,), object, optional
        Labels that rows have already, as text, and keep; None elsewhere.
    abstain : float, optional
        Rows whose most probable class is less probable get none.
    only_novel : bool
        Whether the rows are known to be of no known class.
    """
    reading = Reading.of(model, table)
    proba = model.predict_proba(reading)
    classes = class_names(model)
    n_known = len(model.known_classes_)
    if only_novel:
        order = np.argsort(model.novel_classes_)
        found = np.searchsorted(model.novel_classes_, model.predict_novel(reading), sorter=order)
        codes = n_known + order[found]
    else:
        codes = proba.argmax(axis=1)
    if labels is not None:
        place = {name: code for code, name in enumerate(classes[:n_known])}
        given = np.array([place.get(label, -1) if label is not None else -1 for label in labels])
        codes = np.where(given >= 0, given, codes)
    probability = proba[np.arange(len(codes)), codes]
    if abstain is not None:
        codes = np.where(proba.max(axis=1) < abstain, -1, codes)
    return Labelling(codes, probability, classes, n_known)


def label_batch(model: BaseDiscoverer, table: Table | Reading, update: Update) -> Labelling:
    """Put together what an update says of each row of its batch, and how probable that is."""
    names = class_names(model)
    place = {name: code for code, name in enumerate(names)}
    codes = np.array([-1 if label is None else place[text_of(label)] for label in update.to_dict()["labels"]])
    proba = model.predict_proba(table)
    probability = np.where(codes < 0, proba.max(axis=1), proba[np.arange(len(codes)), codes])
    return Labelling(codes, probability, names, len(model.known_classes_))
