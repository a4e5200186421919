"""Somebody else's method, as a file of one's own: `newfound-lab benchmark --methods adapter.py:nearest_centroids`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from newfound import TableEncoder


def nearest_centroids(X_train: Any, y_train: Any, X_test: Any, n_novel: int | None, seed: int) -> Any:
    encoder = TableEncoder().fit(X_train)
    rows, new = encoder.transform(X_train), encoder.transform(X_test)
    known = np.unique([label for label in y_train if label is not None])
    unlabelled = np.array([label is None for label in y_train])
    means = np.stack([rows[y_train == name].mean(axis=0) for name in known])
    found = KMeans(n_novel or 2, n_init=3, random_state=seed).fit(rows[unlabelled]).cluster_centers_
    to_known, to_novel = (np.linalg.norm(new[:, None] - centres, axis=2) for centres in (means, found))
    told_known, told_novel = known[to_known.argmin(1)], np.char.add("new ", to_novel.argmin(1).astype(str))
    novelty = to_known.min(1) / (to_known.min(1) + to_novel.min(1))
    return np.where(novelty > 0.5, told_novel, told_known), novelty, told_novel
