"""Slow, obvious twins of newfound.clustering.whitening: one row and one pair of columns at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

Rows = Sequence[Sequence[float]]


def around_class_means(rows: Rows, codes: Sequence[int]) -> list[list[float]]:
    """Labelled rows less the mean of all rows of their class."""
    centred = []
    for row, code in zip(rows, codes, strict=True):
        if code >= 0:
            own = [other for other, its in zip(rows, codes, strict=True) if its == code]
            means = [sum(column) / len(own) for column in zip(*own, strict=True)]
            centred.append([value - mean for value, mean in zip(row, means, strict=True)])
    return centred


def within_class_covariance(rows: Rows, codes: Sequence[int]) -> list[list[float]]:
    centred, d = around_class_means(rows, codes), len(rows[0])
    return [[sum(row[i] * row[j] for row in centred) / len(centred) for j in range(d)] for i in range(d)]


def whitening_map(covariance: np.ndarray, ridge: float) -> np.ndarray:
    """The formula as it is written, for covariances of full rank."""
    mean_variance = np.trace(covariance) / len(covariance)
    raised = covariance + ridge * mean_variance * np.eye(len(covariance))
    inverse_root = np.linalg.inv(scipy.linalg.sqrtm(raised).real)
    return inverse_root / np.sqrt(np.trace(inverse_root @ covariance @ inverse_root) / len(covariance))


def shrinkage(centred: np.ndarray) -> float:
    """Ledoit and Wolf's share of the mean variance, from the scatter of each row's own covariance."""
    n, d = centred.shape
    covariance = centred.T @ centred / n
    target = np.trace(covariance) / d * np.eye(d)
    distance = np.sum((covariance - target) ** 2)
    scatter = sum(np.sum((np.outer(row, row) - covariance) ** 2) for row in centred) / n**2
    return min(scatter, distance) / distance


def placed(
    rows: np.ndarray, codes: Sequence[int], ridge: float, columns_worth: float, new: Sequence[float]
) -> np.ndarray:
    """A new row in the whitened space of other rows."""
    share = shrinkage(np.array(around_class_means(rows.tolist(), codes)))
    covariance = np.array(within_class_covariance(rows.tolist(), codes))
    mapping = whitening_map(covariance, ridge + share / (1 - share))
    centre = rows.mean(axis=0)
    whitened = [(row - centre) @ mapping for row in rows]
    spread = sum(value**2 for row in whitened for value in row) / rows.size
    moved = (np.array(new) - centre) @ mapping
    return moved / np.sqrt(moved @ moved + columns_worth * spread)
