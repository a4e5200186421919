"""Where rows lie on the map: which ones are drawn, and two coordinates for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors
from sklearn.random_projection import SparseRandomProjection

from newfound.deadline import NEVER, Deadline
from newfound.learning.machine import one_thread
from newfound.tables.sampling import sample

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_FEW_ROWS = 60  # up to which principal components alone show more than neighbourhoods do
_FEWEST_OF_CLASS = 40
_COMPONENTS = 30
_MOST_COLUMNS = 1_000  # of which principal components are found
_PERPLEXITY = 30.0
# Two thirds of the usual time, with as many neighbours that stay together: 100 steps in which clusters form, then 150.
_FIRST_ITERATIONS, _ITERATIONS, _ANGLE = 100, 250, 0.7
_PLACED_FIRST = 1_000  # rows that t-SNE places; others are placed among these ...
_PLACED_BY = 5  # ... by so many of them
_SECONDS = 2.0  # that placing them takes on one slow core
_LANDMARKS = 3_000  # rows that t-SNE places where there are more
_NEAREST = 3  # of them, among which each further row is placed
_SCATTER = 0.004  # of the width of the map, so that rows with the same neighbours do not hide each other
_NEIGHBOURS, _QUARTER = 12, 4  # by whose distance the middle of a class is found: so many, or a quarter of its rows


@dataclass(frozen=True, eq=False)
class Places:
    """Coordinates of rows on the map.

    Attributes
    ----------
    points : ndarray of shape (n, 2)
        From 0 to 1 each.
    method : str
        How they were found, in words.
    """

    points: Floats
    method: str


def drawn_rows(codes: Codes, most: int, must: Codes, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Choose rows to draw: classes in proportion to their size, but small ones whole or nearly so.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class of each row.
    most : int
        How many to choose, not counting ``must``.
    must : ndarray of shape (m,)
        Rows that are chosen anyway.

    Returns
    -------
    ndarray
        Row numbers in ascending order.
    """
    if len(codes) <= most:
        return np.arange(len(codes))
    classes, inverse, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    quotas = _quotas(sizes, most)
    chosen = [sample(np.flatnonzero(inverse == j), int(quotas[j]), rng) for j in range(len(classes))]
    return np.unique(np.concatenate([*chosen, must.astype(np.intp)]))


def _quotas(sizes: Codes, most: int) -> Codes:
    """How many rows each class gives; at most ``most`` together."""
    base = np.minimum(sizes, min(_FEWEST_OF_CLASS, most // len(sizes)))
    left = sizes - base
    more = np.floor(left * ((most - base.sum()) / max(1, left.sum()))).astype(np.int64)
    quotas: Codes = base + np.minimum(left, more)
    return quotas


def place_rows(latent: Floats, rng: np.random.RandomState, deadline: Deadline = NEVER) -> Places:
    """Lay out rows so that similar ones lie together.

    Parameters
    ----------
    latent : ndarray of shape (n, d)
        Rows as the discoverer sees them.
    rng : RandomState
    deadline : Deadline
        Where there is too little time for t-SNE, the first two principal components place the rows.

    Returns
    -------
    Places
    """
    varied = latent[:, np.ptp(latent, axis=0) > 0]
    n, d = varied.shape
    if min(n - 1, d) < 2:
        flat = varied if d else np.zeros((n, 1))
        return Places(_unit(np.column_stack([flat[:, 0], np.zeros(n)])), "its only direction")
    # In one thread, whatever the size: t-SNE takes hundreds of short steps, in each of which several threads would wait
    # for one that another process keeps from running.
    with one_thread():
        return _place(varied, rng, deadline)


def place_all(latent: Floats, codes: Codes, rng: np.random.RandomState) -> Places:
    """Lay out every row of a table that may be large: each beyond a few thousand among the nearest of these.

    Parameters
    ----------
    latent : ndarray of shape (n, d)
        Rows as the discoverer sees them.
    codes : ndarray of shape (n,)
        Class of each row.

    Returns
    -------
    Places
    """
    landmarks = drawn_rows(codes, _LANDMARKS, np.empty(0, dtype=np.int64), rng)
    places = place_rows(latent[landmarks], rng)
    if len(landmarks) == len(latent):
        return places
    points = place_among(latent[landmarks], places.points, latent, rng)
    points[landmarks] = places.points
    return Places(points, f"{places.method} of {len(landmarks):,} rows, the others among their nearest")


def place_among(placed: Floats, points: Floats, latent: Floats, rng: np.random.RandomState) -> Floats:
    """Lay out rows among others that have a place already: each between the nearest of these.

    Parameters
    ----------
    placed : ndarray of shape (m, d)
        Rows that have a place.
    points : ndarray of shape (m, 2)
        Where they lie.
    latent : ndarray of shape (n, d)
        Rows to place.

    Returns
    -------
    ndarray of shape (n, 2)
        From 0 to 1 each.
    """
    components = min(_COMPONENTS, len(placed) - 1, placed.shape[1])
    with one_thread():
        leading = PCA(components, svd_solver="randomized", random_state=rng).fit(placed)
        near = NearestNeighbors(n_neighbors=min(_NEAREST, len(placed))).fit(leading.transform(placed))
        off, which = near.kneighbors(leading.transform(latent))
    weights = 1 / (off + 1e-9 + 0.1 * off.mean())
    found = (points[which] * weights[:, :, None]).sum(axis=1) / weights.sum(axis=1)[:, None]
    scattered: Floats = (found + rng.normal(scale=_SCATTER, size=found.shape)).clip(0, 1)
    return scattered


def _place(varied: Floats, rng: np.random.RandomState, deadline: Deadline) -> Places:
    n, d = varied.shape
    if d > _MOST_COLUMNS:  # distances stay about the same, and neither memory nor time grows with the table's width
        varied = SparseRandomProjection(_MOST_COLUMNS, random_state=rng).fit_transform(varied)
    n_components = min(_COMPONENTS, n - 1, varied.shape[1])
    leading = PCA(n_components, random_state=rng).fit_transform(varied)
    if n <= _FEW_ROWS or deadline.room < _SECONDS * min(1.0, n / _PLACED_FIRST):
        return Places(_unit(leading[:, :2]), "the first two principal components")
    # Whatever the scale of the latent space, the first steps of t-SNE expect numbers of order one.
    scaled = (leading / max(float(leading[:, 0].std()), 1e-12)).astype(np.float32)
    some = sample(np.arange(n), _PLACED_FIRST, rng)
    m = len(some)
    tsne = _QuickTSNE(
        init="pca",
        perplexity=min(_PERPLEXITY * np.sqrt(m / n), (m - 1) / 4),
        max_iter=_ITERATIONS,
        angle=_ANGLE,
        random_state=rng,
    )
    placed = tsne.fit_transform(scaled[some]).astype(np.float64)
    return Places(_unit(placed if m == n else _among(scaled, some, placed)), "t-SNE")


class _QuickTSNE(TSNE):
    """t-SNE whose first stage is shorter."""

    _EXPLORATION_MAX_ITER = _FIRST_ITERATIONS


def _among(rows: NDArray[np.float32], some: NDArray[np.intp], placed: Floats) -> Floats:
    """Place all rows (n, d) among some that have their places (m, 2): near the landmarks that they are nearest to."""
    distances, nearest = (np.asarray(part) for part in cKDTree(rows[some]).query(rows, k=_PLACED_BY))
    # Those twice as far away as the nearest hardly count.
    scale = np.maximum(distances[:, :1], 1e-12)
    weights = np.exp(-3 * (distances - distances[:, :1]) / scale)
    points: Floats = (placed[nearest] * (weights / weights.sum(axis=1, keepdims=True))[:, :, None]).sum(axis=1)
    points[some] = placed
    return points


def _unit(points: Floats) -> Floats:
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    unit: Floats = np.where(span > 0, (points - low) / np.where(span > 0, span, 1.0), 0.5)
    return unit


def middle_of(points: Floats) -> int:
    """Where to write the name of a class: the place among points (n, 2) of the one in the densest part."""
    k = min(max(_NEIGHBOURS, len(points) // _QUARTER), len(points))
    distances = np.asarray(cKDTree(points).query(points, k=[k])[0])
    return int(np.argmin(distances[:, 0]))
