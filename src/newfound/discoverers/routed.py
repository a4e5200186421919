"""A fitted state for tables in which known and novel rows are mixed: a forest says which is which, and how surely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.discoverers.fitted import Arrays, Codes, FittedState, Floats
from newfound.errors import ModelFileError
from newfound.routing import Forest, KnownShare
from newfound.routing.calibration import at_temperature
from newfound.tables.state import Entries

_PREFIX = "router."


@dataclass(frozen=True, eq=False)
class RoutedState:
    """Known classes and novelty by the forest of the router, the novel classes by what the discoverer learned.

    What a discoverer learns of known and novel is mostly who was labelled. The forest has learned from models that
    have not seen the row, and answers alike for labelled, unlabelled and new rows.

    Attributes
    ----------
    inner : FittedState
        The discoverer's own.
    forest : Forest
        Its columns are the known classes and, last, any novel class.
    n_novel : int
        Number of novel classes; with none, known classes share the whole probability.
    temperature : float
        Of the known classes, for rows that are of one of them.
    """

    inner: FittedState
    forest: Forest
    n_novel: int
    temperature: float

    def proba(self, rows: Floats) -> Floats:
        """Probabilities of the known, then the novel classes; (n, d) to (n, n_classes)."""
        sides, known = two_steps(self.forest.proba(rows))
        known = at_temperature(known, self.temperature)
        if not self.n_novel:
            return known
        return np.hstack([sides[:, :1] * known, sides[:, 1:] * self.inner.novel_proba(rows)])

    def novel_proba(self, rows: Floats) -> Floats:
        """Probabilities of the novel classes for rows that are of one of them; (n, d) to (n, n_novel)."""
        return self.inner.novel_proba(rows)

    def latent(self, rows: Floats) -> Floats:
        """Representation in which the discoverer tells the novel classes apart; (n, d) to (n, n_latent)."""
        return self.inner.latent(rows)

    def arrays(self) -> Arrays:
        """Everything in it, for the model file."""
        return self.inner.arrays() | self.forest.arrays(_PREFIX)


def two_steps(routed: Floats) -> tuple[Floats, Floats]:
    """Part probabilities into two questions: known or novel, and if known, which class.

    A temperature is applied to the second alone. Applied to all columns at once, it would make known rows look novel
    where there are many known classes, each of which has little.

    Parameters
    ----------
    routed : ndarray of shape (n, n_known + 1)
        Probabilities of the known classes and, last, of any novel class.

    Returns
    -------
    sides : ndarray of shape (n, 2)
        Probabilities of known and of novel.
    known : ndarray of shape (n, n_known)
        Of the known classes, for rows that are of one of them.
    """
    # Where all trees say novel, no known class is more probable than another.
    known = routed[:, :-1] + np.finfo(np.float64).tiny
    total = known.sum(axis=1, keepdims=True)
    sides = np.hstack([total, routed[:, -1:]])
    return sides / sides.sum(axis=1, keepdims=True), known / total


def left_to_discover(
    batches: Iterable[tuple[Floats, Codes]], forest: Forest | None, n_novel: int
) -> Iterator[tuple[Floats, Codes]]:
    """Leave out unlabelled rows that are of known classes, as they are left out of a table in memory.

    Parameters
    ----------
    batches : iterable of rows (n, d) and codes (n,)
    forest : Forest or None
        Of the router; None leaves out nothing.
    n_novel : int
        Number of novel classes; with none, all unlabelled rows are of known classes.
    """
    for rows, codes in batches:
        if forest is None:
            yield rows, codes
            continue
        left = codes >= 0
        if n_novel:
            left[~left] = forest.proba(rows[~left])[:, -1] > 0.5
        yield rows[left], codes[left]


def restore_forest(arrays: Mapping[str, NDArray[Any]], n_columns: int, n_known: int) -> Forest | None:
    """Read the forest of a `RoutedState` back; None where there is none, ModelFileError where it is no such forest."""
    if not any(name.startswith(_PREFIX) for name in arrays):
        return None
    forest = Forest.restore(arrays, _PREFIX, n_columns, n_known + 1)
    if not np.allclose(forest.leaves.sum(axis=1), 1):
        raise ModelFileError(f"array {_PREFIX + 'leaves'!r} must hold probabilities, each row of which sums to one.")
    return forest


def routing_to_facts(unlabelled: str, reason: str, share: KnownShare) -> list[dict[str, Any]]:
    """Return what the router said as facts for the model file."""
    low, high = share.interval
    return [{"unlabelled": unlabelled, "reason": reason, "known_share": float(share), "low": low, "high": high}]


def routing_from_facts(facts: list[Any]) -> tuple[str, str, KnownShare]:
    """Read `routing_to_facts`: what the unlabelled rows were taken for, why, and the share of known rows."""
    entries = Entries(facts[0] if len(facts) == 1 else None, "the routing")
    unlabelled, reason = entries.one_of("unlabelled", ("novel", "mixed")), entries.get("reason", str)
    share, low, high = (entries.number(name) for name in ("known_share", "low", "high"))
    if not (0 <= share <= 1 and 0 <= low <= high <= 1) or len(facts[0]) != 5:
        raise ModelFileError("the routing must say what it decided, why, and a share from 0 to 1 with its interval.")
    return unlabelled, reason, KnownShare(share, (low, high))
