"""Rows of a batch against kept rows of each class, of which there may be more or fewer, and further classes too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier

from newfound.routing.out_of_bag import out_of_bag, quietly
from newfound.tables.layout import Layout

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_N_TREES = 200
_N_CLASS_TREES = 60  # for each fold
_N_FOLDS = 5
_LEAST_WEIGHT = 0.02  # of a kept row whose class is not in the batch at all
_NEARLY_ALL = 0.9  # share of the rows of a batch
_LEAST = 1e-3  # no row is more certain than that


def columns_beyond(kept: Floats, rows: Floats, layout: Layout) -> list[int]:
    """Columns of numbers or dates in which nearly all rows of a batch lie beyond all kept ones, as later dates do.

    Parameters
    ----------
    kept : ndarray of shape (m, d)
    rows : ndarray of shape (n, d)
        The batch.
    layout : Layout

    Returns
    -------
    list of int
        Encoded columns. What they say of a row is when or where it was collected, not of which class it is.
    """
    outside = ((rows < kept.min(axis=0)) | (rows > kept.max(axis=0))).mean(axis=0)
    return np.flatnonzero((outside > _NEARLY_ALL) & ~layout.categorical).tolist()


def class_proba(kept: Floats, codes: Codes, rows: Floats, rng: np.random.RandomState) -> tuple[Floats, Floats, Floats]:
    """Probabilities of the classes that are there, by forests that have not seen the row.

    Parameters
    ----------
    kept : ndarray of shape (m, d)
        Rows of all classes.
    codes : ndarray of shape (m,), int64
    rows : ndarray of shape (n, d)
        The batch.
    rng : RandomState

    Returns
    -------
    of_kept : ndarray of shape (m, n_classes)
    of_rows : ndarray of shape (n, n_classes)
        Each row is judged by one forest, as the kept rows are: both can be compared.
    best : ndarray of shape (n, n_classes)
        Mean of all forests, for the rows of the batch.
    """
    n_classes = int(codes.max()) + 1
    of_kept, of_rows, best = (np.zeros((n, n_classes)) for n in (len(kept), len(rows), len(rows)))
    fold_of_kept, fold_of_rows = (rng.permutation(n) % _N_FOLDS for n in (len(kept), len(rows)))
    for fold in range(_N_FOLDS):
        seen, unseen, here = fold_of_kept != fold, fold_of_kept == fold, fold_of_rows == fold
        forest = ExtraTreesClassifier(_N_CLASS_TREES, random_state=int(rng.randint(2**31 - 1)))
        forest.fit(kept[seen], codes[seen])
        if unseen.any():
            of_kept[np.ix_(unseen, forest.classes_)] = forest.predict_proba(kept[unseen])
        told = forest.predict_proba(rows)
        best[:, forest.classes_] += told / _N_FOLDS
        of_rows[np.ix_(here, forest.classes_)] = told[here]
    return of_kept, of_rows, best


def novelty(
    kept: Floats, codes: Codes, rows: Floats, proba: tuple[Floats, Floats, Floats], rng: np.random.RandomState
) -> Floats:
    """Probability that a row of a batch is of none of the classes that are there.

    A forest tells the batch from the kept rows, out of bag. Kept rows weigh as much as the rows of the batch that look
    like their class, so that a class that has become frequent is not taken for a new one. It sees, too, how sure the
    classes of a row are.

    Parameters
    ----------
    kept : ndarray of shape (m, d)
    codes : ndarray of shape (m,), int64
    rows : ndarray of shape (n, d)
    proba : tuple of ndarray
        Of `class_proba`.
    rng : RandomState

    Returns
    -------
    ndarray of shape (n,)
    """
    of_kept, of_rows, best = proba
    inputs = np.vstack([np.hstack([kept, _sureness(of_kept)]), np.hstack([rows, _sureness(of_rows)])])
    in_batch = np.repeat([0, 1], [len(kept), len(rows)])
    weights = np.append(kept_weights(codes, best.argmax(axis=1)), np.ones(len(rows)))
    unlike = np.maximum(_flag_proba(inputs, in_batch, weights, rng)[len(kept) :], _LEAST)
    novel: Floats = 1 - np.minimum(1, (1 - unlike) / unlike)
    return novel


def apart(kept: Floats, codes: Codes, rows: Floats, odd: Mask, likely: Codes, rng: np.random.RandomState) -> Floats:
    """Probability that a row lies with the odd rows of a batch, and not with the others and the kept ones; (n,).

    Rows that are odd by chance lie among more rows that are not, so nobody takes them for odd who has not seen them.

    Parameters
    ----------
    kept : ndarray of shape (m, d)
    codes : ndarray of shape (m,), int64
    rows : ndarray of shape (n, d)
        The batch.
    odd : ndarray of shape (n,), bool
    likely : ndarray of shape (n,), int64
        Most probable class of each row among those that are there, odd or not.
    rng : RandomState
    """
    # At full weight at least: a class may be there in parts, and what lies upon its kept rows is not apart.
    weights = np.append(np.maximum(kept_weights(codes, likely), 1), np.ones(len(rows)))
    is_odd = np.append(np.zeros(len(kept), dtype=bool), odd).astype(np.int64)
    return _flag_proba(np.concatenate([kept, rows]), is_odd, weights, rng)[len(kept) :]


def kept_weights(codes: Codes, likely: Codes) -> Floats:
    """Weights under which kept rows (m,) stand for the classes (n,) that the rows of a batch look like; (m,)."""
    n_classes = int(max(codes.max(), likely.max(initial=0))) + 1
    sizes = np.bincount(likely, minlength=n_classes) / np.maximum(1, np.bincount(codes, minlength=n_classes))
    weights: Floats = np.maximum(sizes, _LEAST_WEIGHT)[codes]
    return weights


def _sureness(proba: Floats) -> Floats:
    """Largest probability, and how far it is from the next; (n, n_classes) to (n, 2)."""
    if proba.shape[1] == 1:
        return np.hstack([proba, proba])
    top = np.partition(proba, -2, axis=1)[:, -2:]
    return np.stack([top[:, 1], top[:, 1] - top[:, 0]], axis=1)


def _flag_proba(rows: Floats, flags: Codes, weights: Floats, rng: np.random.RandomState) -> Floats:
    """Probability of flag 1 by trees that have not seen the row; (n,)."""
    if flags.min() == flags.max():
        return flags.astype(np.float64)
    with quietly():
        return out_of_bag(rows, flags, _N_TREES, int(rng.randint(2**31 - 1)), weights)[1][:, 1]
