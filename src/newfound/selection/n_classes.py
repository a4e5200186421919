"""A first estimate of the number of novel classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

_MAX_CLASSES = 15
_MAX_ROWS = 3_000


def silhouette_n_classes(rows: NDArray[np.float64], random_state: int) -> int:
    """Count clusters by the k-means partition with the best mean silhouette.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Encoded unlabelled rows; at most 3,000 of them, drawn at random, are looked at.
    random_state : int

    Returns
    -------
    int
        From 2 to 15, or 1 where there are fewer than 4 distinct rows.
    """
    rng = np.random.default_rng(random_state)
    if len(rows) > _MAX_ROWS:
        rows = rows[rng.choice(len(rows), _MAX_ROWS, replace=False)]
    n_distinct = len(np.unique(rows, axis=0))
    best, best_score = 1, -np.inf
    for k in range(2, min(_MAX_CLASSES, n_distinct - 2) + 1):
        labels = KMeans(k, n_init=3, random_state=random_state).fit_predict(rows)
        score = silhouette_score(rows, labels)
        if score > best_score:
            best, best_score = k, score
    return best
