"""Whitening by the known classes: directions in which a known class varies within itself count less."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from newfound.clustering.centroids import class_means

Floats = NDArray[np.float64]

_SMALLEST = 1e-12  # of the largest eigenvalue: directions without any spread stay finite


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
    labelled = codes >= 0
    centred = rows[labelled] - class_means(rows, codes)[codes[labelled]]
    covariance: Floats = centred.T @ centred / max(1, len(centred))
    return covariance


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
