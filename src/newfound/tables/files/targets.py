"""The column of a file that holds the classes: text, and nothing where a row is unlabelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError, Message, Parameter
from newfound.tables.cells import MISSING_WORDS, is_missing, parse_number, shown, text_of
from newfound.tables.files.table_file import TableFile

_SOUND_UNLABELLED = ("unknown", "unlabelled", "unlabeled", "missing", "unbekannt", "inconnu", "desconocido", "-", "-1")
_MOST_PAIRS = 5  # of spellings that a note names
_FEWEST_DISTINCT = 30  # labels, from which on they may be measurements or identifiers


@dataclass(frozen=True, eq=False)
class Target:
    """The labels of a table's rows.

    Attributes
    ----------
    name : str
        Of the column.
    labels : ndarray of shape (n,), object
        Text, None where a row is unlabelled.
    notes : list of str
        What the user should know.
    """

    name: str
    labels: NDArray[Any]
    notes: list[str] = field(default_factory=list)

    @property
    def unlabelled(self) -> NDArray[np.bool_]:
        """Mask of the unlabelled rows, shape (n,)."""
        return np.array([label is None for label in self.labels], dtype=np.bool_)

    @property
    def counts(self) -> Counter[str]:
        """Rows of each class."""
        return Counter(label for label in self.labels if label is not None)


def read_target(file: TableFile, name: str, unlabelled: Collection[str] | None = None) -> Target:
    """Read the classes of a file's rows.

    Parameters
    ----------
    file : TableFile
    name : str
        Of the column. Numbers are read as text as well: novel classes then get names that no known class can have.
    unlabelled : collection of str or None
        What stands in unlabelled rows, besides nothing, in any spelling of capitals; None is `MISSING_WORDS`, and -1
        where all other labels are numbers.

    Raises
    ------
    InputError
        If there is no such column, or it holds measurements or identifiers.
    """
    file.place(name, Parameter("target", name))
    texts = texts_of(file.cells(name))
    spelling = Spelling.of(name, Counter(texts), file.path, unlabelled)
    labels = np.empty(len(texts), dtype=object)
    labels[:] = spelling.labels(texts)
    return Target(name, labels, spelling.notes)


@dataclass(frozen=True)
class Spelling:
    """What the texts in a column of classes stand for.

    Attributes
    ----------
    counts : Counter of str
        Rows of each class.
    n_unlabelled : int
        The other rows.
    notes : list of str
        What the user should know.
    """

    counts: Counter[str]
    n_unlabelled: int
    notes: list[str]

    @classmethod
    def of(
        cls, name: str, texts: Mapping[str | None, int], path: Path, unlabelled: Collection[str] | None = None
    ) -> Spelling:
        """Tell classes from marks of unlabelled rows; parameters and errors as in `read_target`.

        Parameters
        ----------
        name : str
        texts : mapping of str or None to int
            How often each text is in the column.
        path : Path
            Of the table, for messages.
        unlabelled : collection of str or None
        """
        marks = _marks(texts, unlabelled)
        counts = Counter({text: n for text, n in texts.items() if text is not None and text.casefold() not in marks})
        _refuse_what_is_no_class(name, counts, path)
        spelling = cls(counts, sum(texts.values()) - counts.total(), [])
        words = Counter({text: n for text, n in texts.items() if text and text not in counts})
        if words and unlabelled is None:  # who named them need not be told
            said = ", ".join(f"{shown(word)} ({n:,})" for word, n in words.most_common(5))
            spelling.notes.append(f"rows with {said} in {shown(name)} are taken as unlabelled.")
        for label in counts:
            if unlabelled is None and label.casefold() in _SOUND_UNLABELLED:
                taken = f"{shown(label)} in {shown(name)} is taken as a known class; if it means no label, add "
                spelling.notes.append(Message(taken, Parameter("unlabelled", label), "."))
        spelling.notes.extend(_about_spellings(name, counts))
        return spelling

    def labels(self, texts: Iterable[str | None]) -> list[str | None]:
        """Return the class of each row, None where it is unlabelled."""
        return [text if text in self.counts else None for text in texts]


def _about_spellings(name: str, counts: Mapping[str, int]) -> list[str]:
    """Name classes that differ in capitals or spaces alone, and are two classes where one may be meant."""
    alike: dict[str, list[str]] = {}
    for label in counts:
        alike.setdefault(" ".join(label.casefold().split()), []).append(label)
    pairs = [" and ".join(map(shown, labels)) for labels in alike.values() if len(labels) > 1]
    if not pairs:
        return []
    more = f" and {len(pairs) - _MOST_PAIRS} more" if len(pairs) > _MOST_PAIRS else ""
    said = f"classes in {shown(name)} that differ in capitals or spaces alone are taken as different: "
    return [f"{said}{', '.join(pairs[:_MOST_PAIRS])}{more}. If they are the same class, give them one spelling."]


def texts_of(cells: list[Any]) -> list[str | None]:
    """Cells as classes are compared, None where they are missing."""
    spelled = {cell: text_of(cell.strip()) for cell in {cell for cell in cells if isinstance(cell, str)}}
    return [spelled[cell] if isinstance(cell, str) else None if is_missing(cell) else text_of(cell) for cell in cells]


def _marks(texts: Iterable[str | None], given: Collection[str] | None) -> set[str]:
    if given is not None:
        return {"", *(text.strip().casefold() for text in given)}
    marks = set(MISSING_WORDS)
    others = {text for text in texts if text is not None and text.casefold() not in marks}
    numbers = all(parse_number(text) is not None for text in others)
    return marks | {"-1"} if numbers else marks


def _refuse_what_is_no_class(name: str, counts: Counter[str], path: Path) -> None:
    if len(counts) < _FEWEST_DISTINCT:
        return
    n_labelled = counts.total()
    broken = next((text for text in counts if (parse_number(text) or 0.0) % 1), None)
    if broken is not None or len(counts) > n_labelled / 2:
        example = broken or next(iter(counts))
        problem = (
            f", but that column of {path} holds {len(counts):,} different values such as {shown(example)} in "
            f"{n_labelled:,} labelled rows; expected classes, which repeat. Name the column of the classes."
        )
        raise InputError(Message("Got ", Parameter("target", name), problem))
