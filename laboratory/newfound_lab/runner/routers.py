"""Routers to compare with: which unlabelled rows, and which new ones, are of no known class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.neighbors import NearestNeighbors

from newfound.clustering.centroids import class_means, seeds_around
from newfound.clustering.whitening import WhitenedSpace
from newfound.discoverers.whitened_kmeans import WhitenedKMeans

__all__ = ["ROUTERS", "Routed", "RouterTask"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_N_TREES = 200
_N_NEIGHBOURS = 10
_KEPT = 0.95  # share of the labelled rows that a cut takes for known
_N_STARTS, _N_STEPS = 5, 100


@dataclass(frozen=True)
class RouterTask:
    """What a router sees.

    Attributes
    ----------
    labelled, unlabelled, new : ndarray of shape (n, d), (m, d), (r, d)
        Encoded rows.
    codes : ndarray of shape (n,), int64
        Known class of each labelled row.
    n_novel : int
        Number of novel classes, at least 1.
    is_novel : ndarray of shape (m,)
        The truth, for those that are told.
    new_is_novel : ndarray of shape (r,)
    seed : int
    """

    labelled: Floats
    codes: NDArray[np.int64]
    unlabelled: Floats
    new: Floats
    n_novel: int
    is_novel: Bools
    new_is_novel: Bools
    seed: int

    @cached_property
    def classifier(self) -> ExtraTreesClassifier:
        """A forest of the known classes, which says of which known class a row is, whoever routes."""
        return _forest(self.labelled, self.codes, self.seed)


@dataclass(frozen=True)
class Routed:
    """What a router says.

    Attributes
    ----------
    novelty, new_novelty : ndarray of shape (m,), (r,)
        How novel each row looks.
    cut : float
        Rows above it are taken for novel.
    """

    novelty: Floats
    new_novelty: Floats
    cut: float

    @property
    def is_novel(self) -> Bools:
        """Unlabelled rows that go on to discovery, shape (m,)."""
        return self.novelty > self.cut

    @property
    def new_is_novel(self) -> Bools:
        """New rows that are taken for novel, shape (r,)."""
        return self.new_novelty > self.cut


def _forest(rows: Floats, codes: NDArray[np.int64], seed: int) -> ExtraTreesClassifier:
    """Grow a forest of which each tree leaves rows out, so that no row needs to be judged by trees that saw it."""
    return ExtraTreesClassifier(_N_TREES, bootstrap=True, oob_score=True, random_state=seed).fit(rows, codes)


def _oracle(task: RouterTask) -> Routed:
    return Routed(task.is_novel.astype(np.float64), task.new_is_novel.astype(np.float64), 0.5)


def _supervised(task: RouterTask) -> Routed:
    """Learn the true answer: what trees that have not seen a row can tell of it at all."""
    if task.is_novel.all() or not task.is_novel.any():
        return _oracle(task)
    rows = np.concatenate([task.unlabelled, task.labelled])
    novel = np.concatenate([task.is_novel, np.zeros(len(task.labelled), dtype=bool)])
    forest = _forest(rows, novel.astype(np.int64), task.seed)
    unseen = np.nan_to_num(forest.oob_decision_function_[: len(task.unlabelled), 1], nan=0.5)
    return Routed(unseen, forest.predict_proba(task.new)[:, 1], 0.5)


def _max_probability(task: RouterTask) -> Routed:
    """Take rows for novel of which no known class is as probable as the class of all but 5 % of the labelled rows."""
    forest = task.classifier
    known = np.nan_to_num(forest.oob_decision_function_, nan=1.0).max(axis=1)
    novelty, new_novelty = (1 - forest.predict_proba(rows).max(axis=1) for rows in (task.unlabelled, task.new))
    return Routed(novelty, new_novelty, float(np.quantile(1 - known, _KEPT)))


def _knn_distance(task: RouterTask) -> Routed:
    """Take rows for novel that are further from the labelled rows than 95 % of these are from each other."""
    k = min(_N_NEIGHBOURS, len(task.labelled) - 1)
    index = NearestNeighbors(n_neighbors=k).fit(task.labelled)
    among = index.kneighbors()[0][:, -1]
    novelty, new_novelty = (index.kneighbors(rows)[0][:, -1] for rows in (task.unlabelled, task.new))
    return Routed(novelty, new_novelty, float(np.quantile(among, _KEPT)))


def _ss_kmeans(task: RouterTask) -> Routed:
    """Semi-supervised k-means on whitened rows: labelled rows stay in their classes."""
    rows = np.concatenate([task.labelled, task.unlabelled])
    codes = np.concatenate([task.codes, np.full(len(task.unlabelled), -1)])
    space = WhitenedSpace.learn(rows, codes, WhitenedKMeans().ridge)
    labelled, unlabelled, new = (space.place(part) for part in (task.labelled, task.unlabelled, task.new))
    rng = np.random.RandomState(task.seed)
    fits = [_constrained_kmeans(labelled, task.codes, unlabelled, task.n_novel, rng) for _ in range(_N_STARTS)]
    centroids, _ = min(fits, key=lambda fit: fit[1])
    n_known = len(centroids) - task.n_novel

    def novelty(rows: Floats) -> Floats:
        far = cdist(rows, centroids)
        return np.asarray(far[:, :n_known].min(axis=1) - far[:, n_known:].min(axis=1))

    return Routed(novelty(unlabelled), novelty(new), 0.0)


def _constrained_kmeans(
    labelled: Floats, codes: NDArray[np.int64], unlabelled: Floats, n_novel: int, rng: np.random.RandomState
) -> tuple[Floats, float]:
    """Centroids (n_known + n_novel, d) from one start, and the sum of squared distances to them."""
    known = class_means(labelled, codes)
    centroids = np.concatenate([known, unlabelled[seeds_around(unlabelled, known, n_novel, rng)]])
    nearest = np.full(len(unlabelled), -1)
    rows = np.concatenate([labelled, unlabelled])
    for _ in range(_N_STEPS):
        before, nearest = nearest, cdist(unlabelled, centroids, "sqeuclidean").argmin(axis=1)
        if (before == nearest).all():
            break
        assigned = np.concatenate([codes, nearest])
        used = np.unique(assigned)
        centroids[used] = class_means(rows, assigned)[used]  # a class without rows stays where it is
    return centroids, float(cdist(unlabelled, centroids, "sqeuclidean").min(axis=1).sum())


ROUTERS: dict[str, Callable[[RouterTask], Routed]] = {
    "ss_kmeans": _ss_kmeans,
    "knn_distance": _knn_distance,
    "max_probability": _max_probability,
    "oracle": _oracle,
    "supervised": _supervised,
}
"""Routers by the names that results use."""
