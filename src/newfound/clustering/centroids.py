"""Classes as centroids: k-means on the unlabelled rows, and rows assigned by distance."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

Floats = NDArray[np.float64]

_SMALLEST_VARIANCE = 1e-12  # rows that equal their centroids still get finite probabilities


def fit_centroids(
    rows: Floats,
    codes: NDArray[np.int64],
    n_novel: int,
    n_init: int,
    rng: np.random.RandomState,
    *,
    around_known: bool = False,
) -> tuple[Floats, float]:
    """Centroids of the known classes and, by k-means, of the novel classes among the unlabelled rows.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    codes : ndarray of shape (n,), int64
        Known class of each row, -1 where unlabelled.
    n_novel, n_init : int
        Number of novel classes, and of starts of k-means of which the best is kept.
    rng : RandomState
    around_known : bool
        Whether k-means starts from `seeds_around` the centroids of the known classes.

    Returns
    -------
    centroids : ndarray of shape (n_known + n_novel, d)
        The known classes, then the novel ones, those with the most rows first.
    variance : float
        Mean squared distance of the rows to their centroids, per dimension.
    """
    known, codes = class_means(rows, codes), codes.copy()
    centroids = known
    if n_novel:
        unlabelled = codes < 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # equal rows; discoverers say which classes stay empty
            if around_known:
                kmeans = _kmeans_around(rows[unlabelled], known, n_novel, n_init, rng)
            else:
                kmeans = KMeans(n_novel, n_init=n_init, random_state=int(rng.randint(2**31 - 1))).fit(rows[unlabelled])
        by_size = np.argsort(-np.bincount(kmeans.labels_, minlength=n_novel), kind="stable")
        centroids = np.concatenate([known, kmeans.cluster_centers_[by_size]])
        codes[unlabelled] = len(known) + np.argsort(by_size)[kmeans.labels_]
    variance = float(np.mean((rows - centroids[codes]) ** 2))
    return centroids, max(variance, _SMALLEST_VARIANCE)


def seeds_around(rows: Floats, centroids: Floats, n_seeds: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Draw rows to start k-means from: k-means++ that goes on from given centroids.

    A row is drawn with a probability in proportion to its squared distance to the nearest centroid or earlier seed.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    centroids : ndarray of shape (k, d)
        At least one.
    n_seeds : int
    rng : RandomState

    Returns
    -------
    ndarray of shape (n_seeds,), int64
        Numbers of the rows.
    """
    seeds = np.empty(n_seeds, dtype=np.int64)
    nearest = cdist(rows, centroids, "sqeuclidean").min(axis=1)
    for i in range(n_seeds):
        weights = nearest if nearest.any() else np.ones(len(rows))  # where all rows are taken, any will do
        seeds[i] = rng.choice(len(rows), p=weights / weights.sum())
        nearest = np.minimum(nearest, cdist(rows, rows[seeds[i : i + 1]], "sqeuclidean")[:, 0])
    return seeds


def _kmeans_around(rows: Floats, known: Floats, n_novel: int, n_init: int, rng: np.random.RandomState) -> KMeans:
    """K-means from seeds around the known centroids: of several starts, the one that ends nearest to the rows."""
    starts = [rows[seeds_around(rows, known, n_novel, rng)] for _ in range(n_init)]
    # Nothing is drawn any more, but without a seed scikit-learn would touch the global generator.
    fits = (KMeans(n_novel, init=start, n_init=1, random_state=0).fit(rows) for start in starts)
    return min(fits, key=lambda fit: fit.inertia_)


def class_means(rows: Floats, codes: NDArray[np.int64]) -> Floats:
    """Mean of the rows of each code 0, 1, ..., 0 without any; rows of code -1 are left out. Shape (n_classes, d)."""
    labelled = codes >= 0
    sums = np.zeros((codes.max(initial=-1) + 1, rows.shape[1]))
    np.add.at(sums, codes[labelled], rows[labelled])
    means: Floats = sums / np.maximum(1, np.bincount(codes[labelled], minlength=len(sums)))[:, None]
    return means


def centroid_proba(rows: Floats, centroids: Floats, variance: float) -> Floats:
    """Probability of each class if classes are round Gaussians of one variance, so that the nearest centroid wins.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    centroids : ndarray of shape (n_classes, d)
    variance : float

    Returns
    -------
    ndarray of shape (n, n_classes)
        Rows sum to one.
    """
    proba: Floats = softmax(cdist(rows, centroids, "sqeuclidean") / (-2.0 * variance), axis=1)
    return proba
