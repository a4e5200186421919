"""What speaks for an unlabelled row being of a known class, gathered by models that have not seen that row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.ensemble import ExtraTreesRegressor

from newfound.deadline import NEVER, Deadline
from newfound.incontext.look import Look
from newfound.incontext.network import MAX_NOVEL
from newfound.learning.machine import in_parallel
from newfound.routing.out_of_bag import out_of_bag, quietly
from newfound.tables.sampling import sample_of_each
from newfound.tables.task import DiscoveryTask

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_N_TREES, _FEWEST_TREES = 300, 60
_N_FORESTS = 5  # that tell labelled from unlabelled rows; each has a fifth of the labelled rows as its spies
_ROWS_IN_LEAF = 3
_MOST_ROWS = 5_000  # labelled, and as many unlabelled ones, from which forests are grown
_LEAST = 0.003  # no probability is nearer to 0 or 1
_MOST_TRIED = 100  # columns that are tried at each cut of the trees that spread what the network said
_SECONDS = 1.2  # that all these trees take for few rows, on one slow core
_TIME_FOR_TREES = 0.6  # share of the time that is left


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence about all rows of a task.

    Attributes
    ----------
    unlike : ndarray of shape (n_forests, n)
        Log of how much denser unlabelled rows are than labelled ones, by trees that were grown without the row.
    spy_in : ndarray of shape (n,), int64
        The forest in which a labelled row is a spy, that is, passes for unlabelled; -1 where a row is unlabelled. Only
        there it is judged as an unlabelled row of its class is: elsewhere the labelled rows lack one of their number.
    known : ndarray of shape (n, n_known)
        Probabilities of the known classes, by trees of labelled rows that were grown without the row; for unlabelled
        rows that the in-context network has seen, the mean with what it says.
    novelty : ndarray of shape (n,)
        Logit of novelty that the in-context network gives the row; 0 where it was not asked.
    n_novel : ndarray of shape (41,)
        Probabilities of 0, 1, ... novel classes, by the in-context network.
    """

    unlike: Floats
    spy_in: Codes
    known: Floats
    novelty: Floats
    n_novel: Floats

    @property
    def ratio(self) -> Floats:
        """The mean of ``unlike`` for unlabelled rows; for labelled rows, what it is where they are spies; (n,)."""
        as_spies = self.unlike[np.maximum(self.spy_in, 0), np.arange(len(self.spy_in))]
        return np.where(self.spy_in < 0, self.unlike.mean(axis=0), as_spies)


def gather_evidence(task: DiscoveryTask, seen: Look | None, seed: int, deadline: Deadline = NEVER) -> Evidence:
    """Gather the evidence of forests and of the in-context network.

    Parameters
    ----------
    task : DiscoveryTask
        With at least one known class, and at least one unlabelled row.
    seen : Look or None
        What the network says of the task; None where it was not asked.
    seed : int
    deadline : Deadline
        Fewer trees are grown where there is little time.

    Returns
    -------
    Evidence
    """
    labelled = task.codes >= 0
    rng = np.random.RandomState(seed)
    some = sample_of_each(task.codes, _MOST_ROWS, rng)
    spy_in = _draw_spies(task.codes, rng)
    n_trees = int(np.clip(_N_TREES * _TIME_FOR_TREES * deadline.room / _SECONDS, _FEWEST_TREES, _N_TREES))
    forests: dict[int, Floats] = {}

    def gather(part: slice) -> None:
        place = part.start
        if place < _N_FORESTS:
            own = n_trees // _N_FORESTS, seed + place
            forests[place] = _log_ratio(task.rows, task.codes, spy_in == place, some, *own)
        else:
            forests[place] = _honest_proba(task.rows, task.codes, some[labelled[some]], n_trees, seed)

    with quietly():  # what takes longest, the forest of the known classes, is begun first
        in_parallel(gather, [slice(place, place + 1) for place in reversed(range(_N_FORESTS + 1))])
    unlike, known = np.stack([forests[place] for place in range(_N_FORESTS)]), forests[_N_FORESTS]
    if seen is None:
        n_novel = np.full(MAX_NOVEL + 1, 1 / (MAX_NOVEL + 1))
        return Evidence(unlike, spy_in, known, np.zeros(len(task.rows)), n_novel)
    both = task.codes[seen.places] < 0  # labels tell the network the classes of the other rows
    known[seen.places[both]] = (known[seen.places[both]] + seen.known[both]) / 2
    novelty = _spread(task.rows, unlike.mean(axis=0), seen.places, seen.novelty, seed)
    return Evidence(unlike, spy_in, known, novelty, seen.n_novel)


def _draw_spies(codes: Codes, rng: np.random.RandomState) -> Codes:
    """Give each labelled row a forest, as many of each class to each as can be; -1 for unlabelled rows; (n,)."""
    spy_in = np.full(len(codes), -1)
    order = rng.permutation(np.flatnonzero(codes >= 0))
    order = order[np.argsort(codes[order], kind="stable")]
    spy_in[order] = np.arange(len(order)) % _N_FORESTS
    return spy_in


def _log_ratio(
    rows: Floats, codes: Codes, spies: NDArray[np.bool_], grown_on: NDArray[np.intp], n_trees: int, seed: int
) -> Floats:
    """Log of how much denser unlabelled rows and spies are than the other labelled rows, at all rows (n, d); (n,)."""
    unlabelled = ((codes < 0) | spies).astype(np.int64)
    if unlabelled[grown_on].all():  # a single labelled row is the spy
        return np.zeros(len(rows))
    proba = _honest_proba(rows, unlabelled, grown_on, n_trees, seed)[:, 1]
    of_all = unlabelled[grown_on].mean()
    ratio: Floats = logit(proba.clip(_LEAST, 1 - _LEAST)) - logit(of_all)
    return ratio


def _honest_proba(rows: Floats, codes: Codes, grown_on: NDArray[np.intp], n_trees: int, seed: int) -> Floats:
    """Probabilities of codes 0, 1, ... for all rows (n, d), by trees that have not seen the row; (n, n_codes)."""
    here = codes[grown_on]
    proba = np.zeros((len(rows), int(codes.max()) + 1))
    present = np.unique(here)
    if len(present) == 1:
        proba[:, present[0]] = 1.0
        return proba
    forest, honest = out_of_bag(rows[grown_on], here, n_trees, seed)
    proba[np.ix_(grown_on, present)] = honest
    rest = np.setdiff1d(np.arange(len(rows)), grown_on)
    if len(rest):
        proba[np.ix_(rest, present)] = forest.predict_proba(rows[rest])
    return proba


def _spread(rows: Floats, unlike: Floats, seen: NDArray[np.intp], novelty: Floats, seed: int) -> Floats:
    """Logits of novelty for all rows (n, d), learned from those of the rows that the network has seen; (n,)."""
    if len(seen) == len(rows):
        return novelty
    inputs = np.hstack([rows, unlike[:, None]])
    tried = min(1.0, _MOST_TRIED / inputs.shape[1])
    trees = ExtraTreesRegressor(100, min_samples_leaf=_ROWS_IN_LEAF, max_features=tried, random_state=seed)
    forest = trees.fit(inputs[seen], novelty)
    everywhere: Floats = forest.predict(inputs)
    everywhere[seen] = novelty
    return everywhere
