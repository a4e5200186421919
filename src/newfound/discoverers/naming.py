"""Names of novel classes: which ones people may give, and which ones classes keep when a discoverer is fitted again."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError
from newfound.metrics import match_classes
from newfound.tables import novel_class_names
from newfound.tables.cells import shown
from newfound.tables.labels import TEXT_MARKS, UNLABELLED, class_array, holds_text

_SAME_CLASS = 0.5  # share of common rows, of the rows of either, from which on two classes count as one


def plain(name: Any) -> Any:
    """Return a class name as Python's own type."""
    return name.item() if isinstance(name, np.generic) else name


def check_name(name: Any, like: NDArray[Any]) -> Any:
    """Return a new name for a novel class if it is of the type of other classes and no mark of an unlabelled row."""
    name, kind = plain(name), like.dtype.kind
    if holds_text(like):
        if not isinstance(name, str) or name == "" or name in TEXT_MARKS or "\0" in name:  # no CSV holds a NUL
            expected = (
                "a text, as for the other classes, that is not empty and none of "
                f"{', '.join(TEXT_MARKS)}, which mark unlabelled rows"
            )
            raise _unusable(name, expected)
        return str(name)
    limit = 2**53 if kind == "f" else int(np.iinfo(np.int64).max)
    whole = isinstance(name, Integral) or (kind == "f" and isinstance(name, Real) and float(name).is_integer())
    if isinstance(name, bool) or not whole or name == UNLABELLED or abs(name) > limit:
        raise _unusable(
            name, f"a whole number, as for the other classes, other than {UNLABELLED}, which marks unlabelled rows"
        )
    return float(name) if kind == "f" else int(name)


def _unusable(name: Any, expected: str) -> InputError:
    told = f"Got {shown(name)} as the name of a novel class, but expected {expected}."
    return InputError(told, parameter="name", value=name, expected=expected)


def part_names(name: Any, n: int, known_classes: NDArray[Any], used: Collection[Any]) -> list[Any]:
    """Return names for the parts of a class: after a text "name_1", "name_2", ..., else the next free numbers."""
    if not isinstance(name, str):
        return list(novel_class_names(known_classes, n, used).tolist())
    taken = {*known_classes.tolist(), *used}
    names = (f"{name}_{i}" for i in itertools.count(1))
    return list(itertools.islice((name for name in names if name not in taken), n))


def carried_names(
    before: NDArray[Any], found: NDArray[np.int64], n_found: int, known_classes: NDArray[Any], used: Iterable[Any]
) -> NDArray[Any]:
    """Name novel classes like those of an earlier model that have mostly the same rows.

    Parameters
    ----------
    before : ndarray of shape (n,)
        Novel class of each unlabelled row according to the earlier model; empty if it had none.
    found : ndarray of shape (n,), int64
        The same according to the present one, 0 to ``n_found - 1``.
    n_found : int
    known_classes : ndarray
        Names that are no longer free.
    used : iterable
        All names that the earlier model has ever given to a novel class.

    Returns
    -------
    ndarray of shape (n_found,)
        A name is carried over if the two classes share at least half of the rows that are in either. All other names
        are ones that were never used.
    """
    names: dict[int, Any] = {}
    if len(before):
        matching = match_classes(before, found)
        either = matching.counts.sum(axis=1)[:, None] + matching.counts.sum(axis=0) - matching.counts
        alike = matching.counts >= _SAME_CLASS * either
        for old, new in enumerate(matching.pred_of_true.tolist()):
            name = plain(matching.true_classes[old])
            if new >= 0 and alike[old, new] and name not in known_classes:
                names[int(matching.pred_classes[new])] = name
    fresh = iter(novel_class_names(known_classes, n_found - len(names), {*used}).tolist())
    like = novel_class_names(known_classes, 0)
    return class_array([names[code] if code in names else next(fresh) for code in range(n_found)], like)
