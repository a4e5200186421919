"""One novel class: the count that hides most where it is wrong, and so must not be too sure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from newfound.counting import share_text
from newfound.selection.parting import Parting

Floats = NDArray[np.float64]

# Learned on 710 made-up tables (`make_table`, the laboratory's prior) and on 350 in which one column marks the novel
# classes. Where one class was counted, that was right for 44 of 53 tables without a parting column; with one, for 5 of
# 8 of the former kind and for none of 18 of the latter, here the mean of the two kinds. One more of each outcome is
# added, as after any count.
_RIGHT = (44 + 1) / (53 + 2)
_RIGHT_IF_PARTED = ((5 + 1) / (8 + 2) + (0 + 1) / (18 + 2)) / 2
_PULL = 2.5  # towards the number of groups of a parting column; learned on those of the tables that have one


def most_for_one(parting: Parting | None) -> float:
    """Return the largest probability that one class deserves where one was counted.

    It is how often one is right where it is counted, on made-up tables.

    Examples
    --------
    >>> round(most_for_one(None), 2), round(most_for_one(Parting("colour", 4)), 2)
    (0.82, 0.33)
    """
    return _RIGHT if parting is None else _RIGHT_IF_PARTED


def with_caution(probability: Floats, parting: Parting | None, most: float) -> Floats:
    """Lower the probability of one class to ``most``, and give the rest to the others.

    Parameters
    ----------
    probability : ndarray of shape (K,)
        Of 1, 2, ... classes, K at least 2.
    parting : Parting or None
        Where there is one, numbers of classes near that of its groups get more of the rest.
    most : float

    Returns
    -------
    ndarray of shape (K,)
    """
    others = probability[1:]
    if parting is not None:
        numbers = np.arange(2, len(probability) + 1)
        others = (others + 1e-9) * np.exp(-_PULL * np.abs(np.log(numbers / parting.n_groups)))
    first = min(float(probability[0]), most)
    return np.concatenate([[first], (1 - first) * others / max(float(others.sum()), 1e-300)])


def doubts_of_one(n_classes: int, interval: tuple[int, int], probability: Floats, parting: Parting | None) -> list[str]:
    """Say in words what speaks against one class, where one was counted."""
    doubts = []
    if parting is not None:
        doubts.append(
            f"the unlabelled rows as a whole look like one class, but column {parting.column!r} alone divides them "
            f"into {parting.n_groups} groups, more clearly than any known class"
        )
    if n_classes == 1:
        low, high = interval
        likely = "" if low == high else f", {low} to {high} are plausible"
        doubts.append(
            f"there may be more than one novel class{likely}; "
            f"the probability that it is only one is {share_text(float(probability[0]))}"
        )
    return doubts
