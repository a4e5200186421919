"""The class of each row of a table, as it is written beside the rows and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
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
DOUBT = "doubt"


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
        wanted = [name for name in COLUMNS if name != DOUBT or doubts is not None]
        names = names_beside(file.names, wanted, note)
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

    def tally(self, unlabelled: NDArray[np.bool_] | None = None) -> Tally:
        """Count the rows of each class, and those of them without a label, which are all where that is not said."""
        found = Tally(self.classes, self.n_known)
        found.add(self, unlabelled)
        return found


class Tally:
    """Rows of each class, counted part by part.

    Parameters
    ----------
    classes : list of str
        The known classes, then the novel ones.
    n_known : int

    Attributes
    ----------
    n_rows : int
        Of all parts.
    n_unsure : int
        Those without a class.
    """

    def __init__(self, classes: list[str], n_known: int) -> None:
        self.classes, self.n_known = classes, n_known
        self.n_rows = self.n_unsure = 0
        self._rows, self._unlabelled = (np.zeros(len(classes), dtype=np.int64) for _ in range(2))
        self._probability = np.zeros(len(classes))

    def add(self, labelling: Labelling, unlabelled: NDArray[np.bool_] | None = None) -> None:
        """Count a part of the rows; ``unlabelled`` (n,) are those without a label, by default all."""
        sure, n_classes = ~labelling.unsure, len(self.classes)
        codes = labelling.codes[sure]
        self.n_rows += len(sure)
        self.n_unsure += len(sure) - len(codes)
        self._rows += np.bincount(codes, minlength=n_classes)
        self._probability += np.bincount(codes, labelling.probability[sure], minlength=n_classes)
        free = codes if unlabelled is None else labelling.codes[sure & unlabelled]
        self._unlabelled += np.bincount(free, minlength=n_classes)

    @property
    def n_novel(self) -> int:
        """Rows of novel classes."""
        return int(self._rows[self.n_known :].sum())

    def counts(self) -> list[dict[str, Any]]:
        """Rows of each class, and the mean probability that the model gives them."""
        return [
            {
                "name": name,
                "is_novel": code >= self.n_known,
                "rows": n,
                "share": n / max(1, self.n_rows),
                "probability": total / n if n else None,
            }
            for code, (name, n, total) in enumerate(
                zip(self.classes, self._rows.tolist(), self._probability.tolist(), strict=True)
            )
        ]

    def to_known(self) -> dict[str, int]:
        """Rows without a label that have a known class, by class, most first."""
        found = Counter(dict(zip(self.classes, self._unlabelled[: self.n_known].tolist(), strict=False)))
        return {name: n for name, n in found.most_common() if n}


def names_beside(own: Collection[str], wanted: Iterable[str], note: Note = lambda _: None) -> list[str]:
    """Return names of columns that a table does not have: those wanted, or with newfound_ before each of them."""
    wanted = list(wanted)
    names = wanted
    while set(names) & set(own):
        names = [f"newfound_{name}" for name in names]
    if names != wanted:
        clash = ", ".join(repr(name) for name in wanted if name in own)
        note(f"the table has a column {clash} of its own, so ours are called {', '.join(names)}.")
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
