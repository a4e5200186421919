"""The router: which unlabelled rows are of known classes, and of which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import StratifiedKFold

from newfound.routing.forest import Forest
from newfound.routing.share import KnownShare, largest_share
from newfound.tables.task import DiscoveryTask

Floats = NDArray[np.float64]
Mode = Literal["novel", "mixed", "auto"]

_N_TREES = 200
_N_FOLDS = 5
_LEAST = 0.005  # no row is more certain than that


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
        seen the row as unlabelled.
    known_share : KnownShare
        How many of the unlabelled rows are of known classes.
    forest : Forest
        Predicts the columns of ``proba`` for any rows, new ones or those of the task.
    """

    unlabelled: Literal["novel", "mixed"]
    reason: str
    proba: Floats
    known_share: KnownShare
    forest: Forest

    @property
    def is_novel(self) -> NDArray[np.bool_]:
        """Unlabelled rows that go on to discovery, shape (n_unlabelled,)."""
        if self.unlabelled == "novel":
            return np.ones(len(self.proba), dtype=bool)
        novel: NDArray[np.bool_] = self.proba[:, -1] > 0.5
        return novel

    @property
    def known_codes(self) -> NDArray[np.int64]:
        """Most probable known class of each unlabelled row, shape (n_unlabelled,)."""
        codes: NDArray[np.int64] = self.proba[:, :-1].argmax(axis=1)
        return codes


def route(task: DiscoveryTask, mode: Mode, rng: np.random.RandomState) -> Routing:
    """Decide which unlabelled rows are of known classes.

    Parameters
    ----------
    task : DiscoveryTask
        With known classes and unlabelled rows.
    mode : {"novel", "mixed", "auto"}
        "auto" decides between the other two.
    rng : RandomState

    Returns
    -------
    Routing
    """
    seed = int(rng.randint(2**31 - 1))
    labelled = task.codes >= 0
    free = ~labelled
    looks_labelled = _out_of_fold(task.rows, labelled.astype(np.int64), seed)[:, 1].clip(_LEAST, 1 - _LEAST)
    share = largest_share(looks_labelled[labelled], looks_labelled[free])
    odds = looks_labelled / (1 - looks_labelled)
    known = (share * free.sum() / labelled.sum() * odds[free]).clip(0, 1)
    classifier = ExtraTreesClassifier(_N_TREES, random_state=seed).fit(task.rows[labelled], task.codes[labelled])
    proba = np.hstack([known[:, None] * classifier.predict_proba(task.rows[free]), 1 - known[:, None]])
    targets = np.zeros((len(task.rows), task.n_known + 1))
    targets[free] = proba
    targets[labelled, task.codes[labelled]] = 1.0
    decided: Literal["novel", "mixed"] = "novel" if mode == "novel" or (mode == "auto" and share < 0.05) else "mixed"
    reason = "as told" if mode != "auto" else f"about {share:.0%} of the unlabelled rows look like known classes"
    return Routing(decided, reason, proba, KnownShare(share, (0.0, 1.0)), Forest.grow(task.rows, targets, seed))


def _out_of_fold(rows: Floats, codes: NDArray[np.int64], seed: int) -> Floats:
    """Probabilities of codes 0, 1, ... by forests that have not seen the row; (n, n_codes)."""
    n_folds = int(max(2, min(_N_FOLDS, np.bincount(codes).min())))
    proba = np.zeros((len(rows), int(codes.max()) + 1))
    for seen, rest in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(rows, codes):
        forest = ExtraTreesClassifier(_N_TREES, min_samples_leaf=3, random_state=seed).fit(rows[seen], codes[seen])
        proba[np.ix_(rest, forest.classes_)] = forest.predict_proba(rows[rest])
    return proba
