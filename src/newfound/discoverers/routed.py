"""A fitted state for tables in which known and novel rows are mixed: a forest says which is which, and how surely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.discoverers.calibration import at_temperature, fit_temperature
from newfound.discoverers.fitted import Arrays, FittedState, Floats
from newfound.errors import ModelFileError
from newfound.routing import Forest, KnownShare, Routing
from newfound.tables.state import Entries
from newfound.tables.task import DiscoveryTask

_PREFIX = "router."
_N_FOLDS = 3
_MOST_ROWS = 6_000  # from which the temperature is learned


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
        Of the forest's probabilities, see `forest_temperature`.
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
        sides = at_temperature(sides, self.temperature)
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

    A temperature is applied to each of them. Applied to all columns at once, it would make known rows look novel where
    there are many known classes, each of which has little.

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


def forest_temperature(task: DiscoveryTask, routing: Routing, rng: np.random.RandomState) -> float:
    """Fit the temperature of the router's forest, whose probabilities are too near to each other: it is a mean.

    Forests are grown as the router's, each without some of the rows, and asked about the labelled ones among these.

    Parameters
    ----------
    task : DiscoveryTask
        With all unlabelled rows.
    routing : Routing
        Of that task.
    rng : RandomState

    Returns
    -------
    float
        1.0 where there are too few labelled rows to say.
    """
    targets = np.zeros((len(task.rows), task.n_known + 1))
    targets[task.codes < 0] = routing.proba
    targets[task.codes >= 0, task.codes[task.codes >= 0]] = 1.0
    some = rng.permutation(len(targets))[:_MOST_ROWS]
    if len(some) < _N_FOLDS:
        return 1.0
    proba = np.zeros_like(targets)
    for rest in np.array_split(some, _N_FOLDS):
        seen = np.setdiff1d(some, rest)
        proba[rest] = Forest.grow(task.rows[seen], targets[seen], int(rng.randint(2**31 - 1))).proba(task.rows[rest])
    asked = some[task.codes[some] >= 0]
    sides, known = two_steps(proba[asked])
    # A class that cannot be makes no difference, so both questions fit into one matrix.
    both = np.zeros((2 * len(asked), max(2, task.n_known)))
    both[: len(asked), :2], both[len(asked) :, : task.n_known] = sides, known
    return fit_temperature(both, np.concatenate([np.zeros(len(asked), dtype=np.int64), task.codes[asked]]))


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
