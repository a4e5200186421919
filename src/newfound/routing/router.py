"""The router: which unlabelled rows are of known classes, and of which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from newfound.deadline import NEVER, Deadline
from newfound.incontext.look import Look
from newfound.routing.calibration import fit_temperature
from newfound.routing.evidence import gather_evidence
from newfound.routing.forest import Forest
from newfound.routing.judgement import Judgement, judge
from newfound.routing.share import KnownShare
from newfound.tables.sampling import sample_in_proportion
from newfound.tables.task import DiscoveryTask

Floats = NDArray[np.float64]
Mode = Literal["novel", "mixed", "auto"]

_FEWEST_ROWS = 400
_FEWEST_OF_CLASS = 10
# Seconds of one slow core, measured with 400 to 30,000 rows of 10 to 300 columns.
_SECONDS, _SECONDS_A_ROW = 0.9, 1e-4  # of all forests; the second for each row and root of a column


@dataclass(frozen=True, eq=False)
class Routing:
    """What the router says of the unlabelled rows of a task.

    Attributes
    ----------
    unlabelled : {"novel", "mixed"}
        What the unlabelled rows are taken for: all novel, or some of known classes.
    reason : str
        Why, in words.
    proba : ndarray of shape (n_unlabelled, n_known + 1)
        Probabilities of the known classes, and of any novel class in the last column. Models that gave them have not
        seen the row as unlabelled. Where a time limit left room for a sample of the rows only, of those in it.
    known_share : KnownShare
        How many of the unlabelled rows are of known classes.
    grow : callable
        Makes ``forest``, which takes long and is not needed where all rows are novel.
    temperature : float
        At which the probabilities of known classes, for rows that are of one of them, agree best with labelled rows.
    """

    unlabelled: Literal["novel", "mixed"]
    reason: str
    proba: Floats
    known_share: KnownShare
    grow: Callable[[], Forest]
    temperature: float = 1.0

    @cached_property
    def forest(self) -> Forest:
        """Predicts the columns of ``proba`` for any rows, new ones or those of the task."""
        return self.grow()

    def whole_proba(self, task: DiscoveryTask, *, exact: bool) -> Floats:
        """Return probabilities of all unlabelled rows of a task; (n_unlabelled, n_known + 1).

        They are those of the forest, which predicts new rows, or exactly what was found, where all rows were looked at.
        """
        rows = task.unlabelled_rows
        return self.proba if exact and len(self.proba) == len(rows) else self.forest.proba(rows)

    @property
    def is_novel(self) -> NDArray[np.bool_]:
        """Unlabelled rows that go on to discovery, shape (n_unlabelled,)."""
        if self.unlabelled == "novel":
            return np.ones(len(self.proba), dtype=bool)
        novel: NDArray[np.bool_] = self.proba[:, -1] > 0.5
        return novel


def route(
    task: DiscoveryTask, seen: Look | None, mode: Mode, rng: np.random.RandomState, deadline: Deadline = NEVER
) -> Routing:
    """Decide which unlabelled rows are of known classes.

    Parameters
    ----------
    task : DiscoveryTask
        With known classes and unlabelled rows.
    seen : Look or None
        What the in-context network says of the task; None where it was not asked.
    mode : {"novel", "mixed", "auto"}
        "auto" decides between the other two.
    rng : RandomState
    deadline : Deadline
        Where there is not enough time for all rows, a sample of them is looked at.

    Returns
    -------
    Routing
    """
    seed = int(rng.randint(2**31 - 1))
    rows = _affordable(task, deadline, np.random.RandomState(seed))
    if rows is not None:
        task, seen = task.take(rows), None if seen is None else seen.of(rows)
    evidence = gather_evidence(task, seen, seed, deadline)
    judgement = judge(evidence, task.codes)
    unlabelled, reason = _decide(mode, judgement)
    free = task.codes < 0
    novelty = judgement.novelty()[:, None]
    proba = np.hstack([(1 - novelty) * evidence.known[free], novelty])
    targets = np.zeros((len(task.rows), task.n_known + 1))
    targets[free] = proba
    targets[np.flatnonzero(~free), task.codes[~free]] = 1.0
    temperature = fit_temperature(evidence.known[~free], task.codes[~free])
    return Routing(
        unlabelled,
        reason,
        proba,
        judgement.known_share,
        lambda: Forest.grow(task.rows, targets, seed),
        temperature,
    )


def _affordable(task: DiscoveryTask, deadline: Deadline, rng: np.random.RandomState) -> NDArray[np.intp] | None:
    """Draw rows where there is no time for all of them, of every class as many as are left in; None for all."""
    if not deadline.is_set:
        return None
    most = max(_FEWEST_ROWS, int((deadline.room - _SECONDS) / (_SECONDS_A_ROW * np.sqrt(task.layout.n_columns))))
    if most >= len(task.rows):
        return None
    return sample_in_proportion(task.codes, most, _FEWEST_OF_CLASS, rng)


def _decide(mode: Mode, judgement: Judgement) -> tuple[Literal["novel", "mixed"], str]:
    """Say what the unlabelled rows are taken for, and why."""
    if mode != "auto":
        return mode, "as asked for"
    if judgement.nothing_novel:
        return "mixed", "labelled and unlabelled rows cannot be told apart, so all of them seem to be of known classes"
    if judgement.is_pure:
        return "novel", "little or nothing shows that rows of known classes are among them"
    return "mixed", "part of them look like the labelled rows, judged by models that have not seen them"
