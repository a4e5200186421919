"""What speaks for an unlabelled row being of a known class, gathered by models that have not seen that row."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from newfound.incontext.context import MAX_CLASSES, UNKNOWN
from newfound.incontext.look import Look, context_rows, look
from newfound.incontext.reading import context_of
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
    unlike = _out_of_bag(task.rows, (~labelled).astype(np.int64), some, seed)[:, 1]
    known = _out_of_bag(task.rows, task.codes, some[labelled[some]], seed)
    seen = context_rows(task, rng)
    found = _look(task, seen, seed)
    if found is None:
        return Evidence(unlike, known, np.zeros(len(unlike)), np.full(41, 1 / 41))
    return Evidence(unlike, known, _spread(task.rows, unlike, seen, found.novelty, seed), found.n_novel)


def _out_of_bag(rows: Floats, codes: Codes, grown_on: NDArray[np.intp], seed: int) -> Floats:
    """Probabilities of codes 0, 1, ... for all rows (n, d), by trees that have not seen the row; (n, n_codes).

    Each tree is grown on a bootstrap sample of the rows ``grown_on``; those rows are judged by the trees without them.
    """
    here = codes[grown_on]
    n_codes = int(codes.max()) + 1
    proba = np.zeros((len(rows), n_codes))
    present = np.unique(here)
    if len(present) == 1:
        proba[:, present[0]] = 1.0
        return proba
    forest = ExtraTreesClassifier(
        _N_TREES, min_samples_leaf=_ROWS_IN_LEAF, bootstrap=True, oob_score=_out_of_bag_accuracy, random_state=seed
    )
    with warnings.catch_warnings():
        # Classes of one row are no mistake here; nor is a row that all trees have seen, see below.
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        forest.fit(rows[grown_on], here)
    shares = np.bincount(here, minlength=n_codes) / len(here)
    rest = np.setdiff1d(np.arange(len(rows)), grown_on)
    if len(rest):
        proba[np.ix_(rest, present)] = forest.predict_proba(rows[rest])
    honest = forest.oob_decision_function_
    # A row that every tree has seen has no honest probability, and in so many trees there hardly is one.
    proba[np.ix_(grown_on, present)] = np.where(np.isfinite(honest), honest, shares[present])
    return proba


def _out_of_bag_accuracy(truth: Codes, predicted: Codes) -> float:
    """Accuracy, which forests have to compute when they judge rows out of bag."""
    return float((truth == predicted).mean())


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
