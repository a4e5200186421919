"""Which rows to label next: few, of all regions, and those of which the discoverer is unsure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from newfound.counting import counted
from newfound.discoverers.reading import Reading
from newfound.errors import InputError
from newfound.parameters import check_integer, pick_generator
from newfound.records import Records
from newfound.tables import read_labels

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_BASE = 0.1  # weight of a row that the discoverer is sure of
_MOST_ROWS = 20_000
_UNSURE = 0.6  # probability of the class below which a row is suggested for being unsure
_COLUMNS = 50  # of the latent space, more are projected


@dataclass(frozen=True, eq=False)
class LabelSuggestions:
    """Rows to label next. ``print`` shows them as a table; as an array it is the row numbers.

    Attributes
    ----------
    rows : ndarray of shape (n,), int
        Numbers of the rows, the most useful first.
    table : Records
        For each of them ``row``, ``class`` (predicted), ``probability``, ``second`` (the next class), ``stands_for``
        (how many rows are nearest to it among those suggested) and ``reason``.
    """

    rows: Rows
    table: Records

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[int]:
        return iter(self.rows.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.rows, dtype=dtype)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {"rows": self.rows.tolist(), "suggestions": [dict(record) for record in self.table]}

    def __repr__(self) -> str:
        return f"LabelSuggestions(rows={self.rows.tolist()})"

    def __str__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def suggest_labels(model: Any, X: Any, n: int = 20, *, y: Any = None, random_state: Any = 0) -> LabelSuggestions:
    """Choose rows to label next, whose labels help the discoverer most.

    The rows are cut into as many regions of the latent space as labels are asked for, finer where the discoverer is
    unsure, and the row in the middle of each region is chosen. Pass the answers to `update` (or to `fit`).

    Parameters
    ----------
    model : fitted discoverer
    X : table of shape (n_rows, n_columns)
    n : int, default=20
        How many rows.
    y : labels of shape (n_rows,), optional
        Rows that have a label are left out.
    random_state : int, RandomState or None, default=0
        Seed.

    Returns
    -------
    LabelSuggestions
        Fewer than `n` where there are not so many different rows.

    Examples
    --------
    >>> from newfound import NCDKMeans
    >>> X, y = [[0.0], [1.0], [9.0], [9.1], [5.0], [5.2]], ["ant", "ant", None, None, None, None]
    >>> model = NCDKMeans(2, random_state=0).fit(X, y)
    >>> sorted(X[row][0] > 7 for row in suggest_labels(model, X, n=2, y=y))
    [False, True]
    """
    check_integer("n", n, low=1)
    rng = pick_generator(random_state)
    reading = Reading.of(model, X)
    proba = model.predict_proba(reading)
    labels = read_labels(y, len(proba))
    free = np.flatnonzero(labels.unlabelled)
    if not len(free):
        raise InputError.about("y", "has a label in every row", "Pass rows without a label.")
    if len(free) > _MOST_ROWS:
        free = np.sort(rng.choice(free, _MOST_ROWS, replace=False))
    some = reading.take(free)
    weights = usefulness(proba[free], len(model.known_classes_))
    chosen, stands_for = spread_rows(model.transform(some), weights, n, rng)
    return LabelSuggestions(free[chosen], _told(model.classes_, free[chosen], proba[free[chosen]], stands_for))


def spread_rows(latent: Floats, weights: Floats, n: int, rng: np.random.RandomState) -> tuple[Rows, Rows]:
    """Choose rows from the middle of regions that are finer where rows weigh more.

    Parameters
    ----------
    latent : ndarray of shape (m, n_latent)
    weights : ndarray of shape (m,)
    n : int
    rng : RandomState

    Returns
    -------
    chosen : ndarray of int
        At most `n` row numbers; regions that weigh most first.
    sizes : ndarray of int
        Rows of each region.
    """
    if latent.shape[1] > _COLUMNS:
        from sklearn.decomposition import PCA

        latent = PCA(min(_COLUMNS, len(latent)), random_state=int(rng.randint(2**31 - 1))).fit_transform(latent)
    n = min(n, len(np.unique(latent, axis=0)))
    kmeans = KMeans(n, n_init=5, random_state=int(rng.randint(2**31 - 1))).fit(latent, sample_weight=weights)
    chosen = []
    for region in range(n):
        inside = np.flatnonzero(kmeans.labels_ == region)
        if len(inside):
            off = np.square(latent[inside] - kmeans.cluster_centers_[region]).sum(axis=1)
            chosen.append((float(weights[inside].sum()), int(inside[off.argmin()]), len(inside)))
    chosen.sort(reverse=True)
    return np.array([row for _, row, _ in chosen], dtype=np.intp), np.array(
        [size for *_, size in chosen], dtype=np.intp
    )


def usefulness(proba: Floats, n_known: int) -> Floats:
    """Weigh rows by how much their labels may help: those that are novel or unsure; (n, n_classes) to (n,)."""
    weights: Floats = _BASE + np.maximum(proba[:, n_known:].sum(axis=1), unsureness(proba))
    return weights


def unsureness(proba: Floats) -> Floats:
    """Say from 0 to 1 how near the second class of each row is to the first; (n, n_classes) to (n,)."""
    if proba.shape[1] < 2:
        return np.zeros(len(proba))
    top = np.partition(proba, -2, axis=1)[:, -2:]
    near: Floats = 1 - (top[:, 1] - top[:, 0])
    return near


def _told(classes: NDArray[Any], rows: Rows, proba: Floats, sizes: Rows) -> Records:
    order = np.argsort(-proba, axis=1)
    records, names = Records(), classes.tolist()
    for row, own, likely, size in zip(rows.tolist(), proba, order, sizes.tolist(), strict=True):
        first, second = likely[0], likely[1] if len(likely) > 1 else None
        unsure = own[first] < _UNSURE
        reason = f"stands for {counted(size, 'row')} like it"
        if unsure and second is not None:
            reason = f"between {names[first]} and {names[second]}; {reason}"
        records.append(
            {
                "row": row,
                "class": names[first],
                "probability": float(own[first]),
                "second": None if second is None else names[second],
                "stands_for": size,
                "reason": reason,
            }
        )
    return records
