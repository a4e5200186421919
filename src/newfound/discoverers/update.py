"""What an update of a discoverer returns: what became of the classes in a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.clustering.centroids import class_means
from newfound.counting import counted, share_text
from newfound.discoverers.fitted import Codes, Floats
from newfound.discoverers.naming import plain
from newfound.errors import ModelFileError
from newfound.markup import Html, inline, tag
from newfound.records import Records
from newfound.tables.cells import shown
from newfound.tables.labels import mark_unlabelled

MOST_BATCHES = 100
"""Of which a discoverer keeps the history."""

_MOST_RECORDS = 10_000
_FEWEST_ROWS = 10  # from which on a class is said to drift
_FAR = 0.5  # standard deviations
_BEYOND_CHANCE = 2.0
_LEAST_SPREAD = 0.1  # of that of all rows in a column
_SMALLEST_SPREAD = 1e-9


@dataclass(frozen=True, eq=False)
class Update:
    """What an update found in a batch. ``print`` shows it as a table.

    Attributes
    ----------
    batch : int
        Number of the batch, from 1 on.
    labels : ndarray of shape (n,)
        Class of each row of the batch. Rows that fit no class are marked as unlabelled rows are: with -1 among
        integers, NaN among floats, None among text and booleans.
    classes : Records
        A record for each class: ``class``, ``kind`` ("known", "novel", or "new" where it was found in this batch),
        ``rows`` and ``share`` of the batch, ``distance`` (how far the batch's rows of the class lie from its earlier
        ones on average, in standard deviations of the class; None without rows) and ``column`` (in which it is so
        far: the encoded column where it is farthest), ``absent`` (in how many batches up to this one
        it had no row), ``nearest`` (of new classes, the earlier class that is nearest) and ``note`` ("drifts" or
        "no rows").
    new_classes : list
        Classes that were found in this batch, the largest first.
    drifting : list
        Classes whose rows lie elsewhere than before, by more than chance explains.
    absent : dict
        Classes without a row in this batch, each with the number of batches for which that has been so.
    share_unexplained : float
        Share of the batch that fits no class, and in which no class was found.
    doubts : tuple of str
        Reasons to doubt the result, in words: columns in which the batch as a whole lies beyond what was seen before.
    """

    batch: int
    labels: NDArray[Any]
    classes: Records
    new_classes: list[Any]
    drifting: list[Any]
    absent: dict[Any, int]
    share_unexplained: float
    doubts: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows of the batch."""
        return len(self.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; unexplained rows have the label None."""
        marks = self.labels.tolist()
        unexplained = [label is None or label == -1 or label != label for label in marks]
        return {
            "batch": self.batch,
            "n_rows": self.n_rows,
            "labels": [None if none else label for label, none in zip(marks, unexplained, strict=True)],
            "classes": [dict(record) for record in self.classes],
            "new_classes": list(self.new_classes),
            "drifting": list(self.drifting),
            "absent": [{"class": name, "batches": batches} for name, batches in self.absent.items()],
            "share_unexplained": self.share_unexplained,
            "doubts": list(self.doubts),
        }

    def __repr__(self) -> str:
        return (
            f"Update(batch={self.batch}, n_rows={self.n_rows}, new_classes={shown(self.new_classes)}, "
            f"drifting={shown(self.drifting)}, absent={shown(list(self.absent))}, "
            f"share_unexplained={self.share_unexplained:.3g})"
        )

    def __str__(self) -> str:
        return "\n".join([self._headline(), *self.doubts, str(self.classes)])

    def _repr_html_(self) -> Html:
        doubts = (tag("p", doubt, class_="doubt") for doubt in self.doubts)
        return inline(tag("p", self._headline()), *doubts, self.classes._repr_html_())

    def _headline(self) -> str:
        n_new = len(self.new_classes)
        found = counted(n_new, "new class", "new classes") if n_new else "no new class"
        rows, share = counted(self.n_rows, "row"), share_text(self.share_unexplained)
        return f"Batch {self.batch}: {rows}, {found}, {share} of the rows fit no class."


def tell(
    batch: int,
    classes: NDArray[Any],
    n_before: tuple[int, int],
    kept: tuple[Floats, Codes],
    placed: tuple[Floats, Codes],
    earlier: Records,
    columns: Sequence[str],
    beyond: Sequence[str] = (),
) -> Update:
    """Say what became of the classes in a batch.

    Parameters
    ----------
    batch : int
    classes : ndarray of shape (n_classes,)
        The known classes, the novel ones that were there, then those that are new.
    n_before : tuple of two ints
        Number of known classes, and of novel ones that were there.
    kept : tuple of ndarray of shapes (m, d) and (m,)
        Rows from before the batch, and their classes.
    placed : tuple of ndarray of shapes (n, d) and (n,)
        Rows of the batch, and their classes; -1 for none.
    earlier : Records
        ``batches_`` so far.
    columns : sequence of str, of length d
        Names of the encoded columns.
    beyond : sequence of str
        Those in which the batch as a whole lies beyond what was seen before.
    """
    rows, codes = placed
    absent = {record["class"]: record["absent"] for record in _last(earlier)}
    centres, least = class_means(*kept), _LEAST_SPREAD * kept[0].std(axis=0)
    there = np.unique(kept[1])  # all but classes that lost their rows to labels
    records = Records()
    for place, name in enumerate(classes.tolist()):
        own, before = rows[codes == place], kept[0][kept[1] == place]
        distance, column, drifts = drift_of(before, own, least) if len(own) and len(before) else (None, None, False)
        is_new = place >= sum(n_before)
        n_absent = 0 if len(own) else absent.get(name, 0) + 1
        nearest = None
        if is_new and len(own):
            off = np.square(centres[there] - own.mean(axis=0)).sum(axis=1)
            nearest = plain(classes[there[off.argmin()]])
        records.append(
            {
                "class": name,
                "kind": "known" if place < n_before[0] else "new" if is_new else "novel",
                "rows": len(own),
                "share": len(own) / len(rows),
                "distance": distance,
                "column": None if column is None else columns[column],
                "absent": n_absent,
                "nearest": nearest,
                "note": "drifts" if drifts else "no rows" if n_absent else "",
            }
        )
    return Update(
        batch,
        mark_unlabelled(classes[codes], codes < 0),
        records,
        classes[sum(n_before) :].tolist(),
        [record["class"] for record in records if record["note"] == "drifts"],
        {record["class"]: record["absent"] for record in records if record["absent"]},
        float((codes < 0).mean()),
        tuple(
            f"In column {name!r} nearly all rows lie beyond what was seen before, as in a later period. New classes "
            "were sought without it; what the model says of such rows is a guess."
            for name in beyond
        ),
    )


def drift_of(kept: Floats, batch: Floats, least: Floats) -> tuple[float, int, bool]:
    """How far the rows of a class lie from where they were, and whether that is more than chance.

    Parameters
    ----------
    kept : ndarray of shape (m, d)
        Earlier rows of the class.
    batch : ndarray of shape (n, d)
        Its rows in a batch.
    least : ndarray of shape (d,)
        The least spread in each column: a class that hardly varies there has not moved far if it moves a little.

    Returns
    -------
    distance : float
        Between the two means, in the column in which it is largest, in units of the rows' standard deviation there.
    column : int
        That column.
    drifts : bool
        Whether it is large, and larger than means of so few rows differ by chance in one of so many columns.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> same, moved = rows[100:], rows[100:] + [0, 0, 2]
    >>> drift_of(rows[:100], same, np.zeros(3))[2], drift_of(rows[:100], moved, np.zeros(3))[1:]
    (False, (2, True))
    """
    squares = len(kept) * kept.var(axis=0) + len(batch) * batch.var(axis=0)
    spread = np.maximum(np.sqrt(squares / (len(kept) + len(batch))), np.maximum(least, _SMALLEST_SPREAD))
    away = np.abs(batch.mean(axis=0) - kept.mean(axis=0)) / spread
    column = int(away.argmax())
    chance = np.sqrt((1 / len(kept) + 1 / len(batch)) * 2 * np.log(2 * len(away)))
    enough = min(len(kept), len(batch)) >= _FEWEST_ROWS
    return float(away[column]), column, bool(enough and away[column] > max(_FAR, _BEYOND_CHANCE * chance))


# ---- the history


def first_records(classes: NDArray[Any], codes: NDArray[Any]) -> Records:
    """Return records of the classes in the table of fit, which counts as batch 0."""
    sizes = np.bincount(codes, minlength=len(classes)).tolist()
    return Records(
        _record(0, name, n, n / len(codes), None, int(not n)) for name, n in zip(classes.tolist(), sizes, strict=True)
    )


def later_records(earlier: Records, update: Update) -> Records:
    """Return the history with that of one more batch; the oldest batches are forgotten."""
    n_unexplained = round(update.share_unexplained * update.n_rows)
    now = [
        _record(update.batch, record["class"], record["rows"], record["share"], record["distance"], record["absent"])
        for record in update.classes
    ]
    now.append(_record(update.batch, None, n_unexplained, update.share_unexplained, None, 0))
    first = update.batch - MOST_BATCHES
    some = [record for record in earlier if record["batch"] > first]
    room = max(0, _MOST_RECORDS - len(now))
    return Records([*some[len(some) - min(room, len(some)) :], *now])


def check_records(records: list[Any]) -> Records:
    """Return a history from a model file; ModelFileError where it is none."""
    keys = set(_record(0, None, 0, 0.0, None, 0))
    numbers: list[int] = []
    for record in records:
        if not isinstance(record, dict) or set(record) != keys or type(record["batch"]) is not int:
            raise ModelFileError(f"the batches must be dicts with the keys {', '.join(sorted(keys))}.")
        if type(record["absent"]) is not int or type(record["rows"]) is not int:
            raise ModelFileError("the batches must hold whole numbers of rows and batches.")
        numbers.append(record["batch"])
    if numbers != sorted(numbers) or (numbers and numbers[0] < 0):
        raise ModelFileError("the batches must be in order.")
    return Records(records)


def _record(batch: int, name: Any, rows: int, share: float, distance: float | None, absent: int) -> dict[str, Any]:
    return {"batch": batch, "class": name, "rows": rows, "share": share, "distance": distance, "absent": absent}


def _last(records: Records) -> list[dict[str, Any]]:
    """Return the records of the last batch."""
    return [record for record in records if record["batch"] == records[-1]["batch"]]
