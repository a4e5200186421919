"""Labels of a batch: which classes they name, and where these stand among those of a discoverer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from newfound.discoverers.curatable import labels_of_another_type
from newfound.discoverers.fitted import Codes
from newfound.errors import LABELS, InputError, Message
from newfound.tables import Labels, all_classes
from newfound.tables.cells import shown
from newfound.tables.labels import class_array


@dataclass(frozen=True, eq=False)
class Naming:
    """What the labels of a batch mean to a discoverer.

    Attributes
    ----------
    known : ndarray of shape (n_known,)
        Its known classes and those that the labels name for the first time, sorted.
    places : ndarray of shape (n_before,), int64
        Place of each class that was there, among all classes now: the known ones, then the novel ones.
    codes : ndarray of shape (n,), int64
        Place of the class of each row, -1 where it has no label.
    n_classes : int
        Number of classes now.
    """

    known: NDArray[Any]
    places: Codes
    codes: Codes
    n_classes: int

    @classmethod
    def of(cls, labels: Labels, known: NDArray[Any], novel: NDArray[Any], used: Collection[Any]) -> Self:
        """Read labels for a discoverer with these known and novel classes, and these names ever used for the latter."""
        classes = all_classes(known, novel)
        given = _of_one_type(labels.known_classes, classes)
        more = given[~np.isin(given, classes)].tolist()
        if more and known.dtype.kind == "b":
            problem = f"names {shown(more[0])}, but the known classes are True and False, and no other can be added"
            raise InputError.about("y", problem, "Fit again with labels that are numbers or text.")
        gone = [name for name in more if name in used]
        if gone:
            such = f" names {shown(gone[0])}, which a novel class had as its name that was renamed, merged or split; "
            cure = f"use one of {shown(classes.tolist(), 200)}, or a name that was never used"
            raise InputError(Message(LABELS, such, cure, "."), parameter="y", cure=cure)
        all_known = np.union1d(known, class_array(more, known)) if more else known
        places = np.append(np.searchsorted(all_known, known), len(all_known) + np.arange(len(novel)))
        now = all_classes(all_known, novel)
        order = np.argsort(now)
        of_given = np.append(order[np.searchsorted(now, given, sorter=order)], -1)
        return cls(all_known, places.astype(np.int64), of_given[labels.codes].astype(np.int64), len(now))


def _of_one_type(given: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the labels' classes in the type of the discoverer's; InputError where they cannot be compared."""
    kinds = {given.dtype.kind, classes.dtype.kind}
    if not len(given):
        return classes[:0]
    if len(kinds) > 1 and not kinds <= set("bif"):
        raise labels_of_another_type(given, classes)
    return given.astype(classes.dtype) if classes.dtype.kind in "if" else given  # text may be longer than theirs
