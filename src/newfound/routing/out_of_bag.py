"""Forests that judge rows they were not grown on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROWS_IN_LEAF = 3


@contextmanager
def quietly() -> Iterator[None]:
    """Ignore warnings about classes of one row, and about rows that all trees have seen: neither is a mistake here.

    Warnings are ignored in all threads, so this has to be around the threads that grow forests, not in them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def out_of_bag(
    rows: Floats, codes: Codes, n_trees: int, seed: int, weights: Floats | None = None
) -> tuple[ExtraTreesClassifier, Floats]:
    """Grow a forest, each tree on a bootstrap sample of the rows, and judge every row by the trees without it.

    To be called inside of `quietly`.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    codes : ndarray of shape (n,), int64
        Of at least two different classes.
    n_trees, seed : int
    weights : ndarray of shape (n,), optional

    Returns
    -------
    forest : ExtraTreesClassifier
        For other rows; ``forest.classes_`` are the codes that occur.
    proba : ndarray of shape (n, n_present)
        Probabilities of the codes that occur. A row that all trees have seen, of which there is hardly one, gets the
        shares of the codes.
    """
    forest = ExtraTreesClassifier(
        n_trees, min_samples_leaf=_ROWS_IN_LEAF, bootstrap=True, oob_score=_accuracy, random_state=seed
    )
    forest.fit(rows, codes, weights)
    shares = np.unique(codes, return_counts=True)[1] / len(codes)
    honest: Floats = forest.oob_decision_function_
    return forest, np.where(np.isfinite(honest), honest, shares)


def _accuracy(truth: Codes, predicted: Codes) -> float:
    """Accuracy, which scikit-learn has to compute when it judges rows out of bag."""
    return float((truth == predicted).mean())
