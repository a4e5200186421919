"""What speaks for an unlabelled row being of a known class, gathered by models that have not seen that row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor

from newfound.incontext.context import MAX_CLASSES, UNKNOWN
from newfound.incontext.look import Look, context_rows, look
from newfound.incontext.network import MAX_NOVEL
from newfound.incontext.reading import context_of
from newfound.routing.out_of_bag import out_of_bag
from newfound.tables.sampling import sample_of_each
from newfound.tables.task import DiscoveryTask

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_N_TREES = 300
_ROWS_IN_LEAF = 3
_MOST_ROWS = 5_000  # labelled, and as many unlabelled ones, from which forests are grown


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence about all rows of a task.

    Attributes
    ----------
    unlike : ndarray of shape (n,)
        Probability of being unlabelled, by trees that were grown without the row.
    known : ndarray of shape (n, n_known)
        Probabilities of the known classes, by trees of labelled rows that were grown without the row.
    novelty : ndarray of shape (n,)
        Logit of novelty that the in-context network gives the row; 0 where it was not asked.
    n_novel : ndarray of shape (41,)
        Probabilities of 0, 1, ... novel classes, by the in-context network.
    """

    unlike: Floats
    known: Floats
    novelty: Floats
    n_novel: Floats


def gather_evidence(task: DiscoveryTask, seed: int) -> Evidence:
    """Gather the evidence of forests and of the in-context network.

    Parameters
    ----------
    task : DiscoveryTask
        With at least one known class, and at least one unlabelled row.
    seed : int

    Returns
    -------
    Evidence
    """
    labelled = task.codes >= 0
    rng = np.random.RandomState(seed)
    some = sample_of_each(task.codes, _MOST_ROWS, rng)
    unlike = _honest_proba(task.rows, (~labelled).astype(np.int64), some, seed)[:, 1]
    known = _honest_proba(task.rows, task.codes, some[labelled[some]], seed)
    seen = context_rows(task, rng)
    found = _look(task, seen, seed)
    if found is None:
        return Evidence(unlike, known, np.zeros(len(unlike)), np.full(MAX_NOVEL + 1, 1 / (MAX_NOVEL + 1)))
    return Evidence(unlike, known, _spread(task.rows, unlike, seen, found.novelty, seed), found.n_novel)


def _honest_proba(rows: Floats, codes: Codes, grown_on: NDArray[np.intp], seed: int) -> Floats:
    """Probabilities of codes 0, 1, ... for all rows (n, d), by trees that have not seen the row; (n, n_codes)."""
    here = codes[grown_on]
    proba = np.zeros((len(rows), int(codes.max()) + 1))
    present = np.unique(here)
    if len(present) == 1:
        proba[:, present[0]] = 1.0
        return proba
    forest, honest = out_of_bag(rows[grown_on], here, _N_TREES, seed)
    proba[np.ix_(grown_on, present)] = honest
    rest = np.setdiff1d(np.arange(len(rows)), grown_on)
    if len(rest):
        proba[np.ix_(rest, present)] = forest.predict_proba(rows[rest])
    return proba


def _look(task: DiscoveryTask, seen: NDArray[np.intp], seed: int) -> Look | None:
    """Show rows to the in-context network; None where there are too many known classes for it."""
    if task.n_known > MAX_CLASSES:
        return None
    return look(context_of(task.rows[seen], task.layout, task.codes[seen], UNKNOWN), seed)


def _spread(rows: Floats, unlike: Floats, seen: NDArray[np.intp], novelty: Floats, seed: int) -> Floats:
    """Logits of novelty for all rows (n, d), learned from those of the rows that the network has seen; (n,)."""
    if len(seen) == len(rows):
        return novelty
    inputs = np.hstack([rows, unlike[:, None]])
    forest = ExtraTreesRegressor(100, min_samples_leaf=_ROWS_IN_LEAF, random_state=seed).fit(inputs[seen], novelty)
    everywhere: Floats = forest.predict(inputs)
    everywhere[seen] = novelty
    return everywhere
