"""Whitening by the known classes: directions in which a known class varies within itself count less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf_shrinkage

from newfound.clustering.centroids import class_means

Floats = NDArray[np.float64]

_SMALLEST = 1e-12  # of the largest eigenvalue: directions without any spread stay finite
_ROUND_COLUMNS = 3.0  # how many columns' worth of spread keeps the near rows apart by distance


def within_class_covariance(rows: Floats, codes: NDArray[np.int64]) -> Floats:
    """Pooled covariance of the labelled rows around the means of their known classes.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    codes : ndarray of shape (n,), int64
        Known class of each row, -1 where unlabelled.

    Returns
    -------
    ndarray of shape (d, d)
    """
    centred = _around_class_means(rows, codes)
    covariance: Floats = centred.T @ centred / max(1, len(centred))
    return covariance


def shrinkage_ridge(rows: Floats, codes: NDArray[np.int64]) -> float:
    """Ridge that the within-class covariance needs because it is estimated from few rows: Ledoit and Wolf's.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    codes : ndarray of shape (n,), int64
        Known class of each row, -1 where unlabelled.

    Returns
    -------
    float
        In the unit of `whitening_map`'s ridge: near 0 for many rows of few columns, infinite where nothing but the
        mean variance can be trusted.
    """
    centred = _around_class_means(rows, codes)
    if not centred.any():
        return np.inf
    share = float(ledoit_wolf_shrinkage(centred, assume_centered=True))
    return share / (1.0 - share) if share < 1.0 else np.inf


def _around_class_means(rows: Floats, codes: NDArray[np.int64]) -> Floats:
    """Labelled rows less the means of their known classes; shape (n_labelled, d)."""
    labelled = codes >= 0
    centred: Floats = rows[labelled] - class_means(rows, codes)[codes[labelled]]
    return centred


def whitening_map(covariance: Floats, ridge: float) -> Floats:
    """Map under which rows of one class spread alike in all directions, as far as the ridge allows.

    Parameters
    ----------
    covariance : ndarray of shape (d, d)
        Symmetric and positive semi-definite.
    ridge : float
        Added to the covariance as a multiple of its mean variance, so that it means the same on every scale; infinite
        for a multiple of the identity.

    Returns
    -------
    ndarray of shape (d, d)
        ``(covariance + ridge * mean variance * identity) ** (-1/2)``, scaled such that the mean variance becomes 1.
    """
    d = len(covariance)
    mean_variance = float(np.trace(covariance)) / d
    if not np.isfinite(ridge) or mean_variance <= 0:
        identity: Floats = np.eye(d) / np.sqrt(mean_variance if mean_variance > 0 else 1.0)
        return identity
    values, vectors = np.linalg.eigh(covariance / mean_variance)
    lifted = np.maximum(values, 0.0) + ridge
    scale = 1.0 / np.sqrt(np.maximum(lifted, _SMALLEST * lifted.max()))
    after = float(np.mean(np.maximum(values, 0.0) * scale**2)) * mean_variance
    mapped: Floats = (vectors * (scale / np.sqrt(max(after, np.finfo(float).tiny)))) @ vectors.T
    return mapped


@dataclass(frozen=True)
class WhitenedSpace:
    """A space in which known classes vary equally in all directions, and of far rows only the direction counts.

    Rows are centred and whitened. Then each is divided by the root of its squared length and ``softening``: a row
    much longer than that keeps its direction only, so that few rows with rare values cannot become a class of their
    own, while rows near the centre stay as they are.

    Parameters
    ----------
    centre : ndarray of shape (d,)
    mapping : ndarray of shape (d, d)
    softening : float
        Above 0.
    """

    centre: Floats
    mapping: Floats
    softening: float

    @classmethod
    def learn(cls, rows: Floats, codes: NDArray[np.int64], ridge: float) -> WhitenedSpace:
        """Learn the space from all rows (n, d) and their known classes (n,), -1 where unlabelled."""
        whole_ridge = ridge + shrinkage_ridge(rows, codes)
        mapping = whitening_map(within_class_covariance(rows, codes), whole_ridge)
        centre = rows.mean(axis=0)
        spread = float(np.mean(((rows - centre) @ mapping) ** 2))
        return cls(centre, mapping, _ROUND_COLUMNS * spread if spread > 0 else 1.0)

    def place(self, rows: Floats) -> Floats:
        """Place rows in the space; (n, d) to (n, d)."""
        whitened = (rows - self.centre) @ self.mapping
        placed: Floats = whitened / np.sqrt((whitened**2).sum(axis=1, keepdims=True) + self.softening)
        return placed

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything in it, for the model file."""
        return {"centre": self.centre, "mapping": self.mapping, "softening": np.array([self.softening])}
