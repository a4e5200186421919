"""Tables whose unlabelled rows are of known and of novel classes, made of development tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MixedProblem", "Mixture", "make_problem"]

Places = NDArray[np.intp]

MOST_ROWS = 4000
"""Rows of a table that are used, at most."""

CLASS_ROWS = 12
"""Rows that a class needs."""

_TEST_SHARE = 0.25
_KNOWN_SHARES = (0.5, 0.35, 0.65)  # of the classes, one class split after the other


@dataclass(frozen=True)
class Mixture:
    """Which rows are labelled, and which are unlabelled.

    Attributes
    ----------
    known_share : float or None
        Share of the unlabelled rows that are of known classes. 0: all are novel, 1: none is. None: as it comes when
        half of the rows of each known class is unlabelled, and all rows of novel classes are.
    n_labelled : int or None
        Most labelled rows of a class; None for all that are not to be unlabelled. Others are left out, so that the
        unlabelled rows are the same whatever the number.
    shift : bool
        Whether the labelled rows of a class are mostly those with low values in one column, drawn at random.
    """

    known_share: float | None = None
    n_labelled: int | None = None
    shift: bool = False


@dataclass(frozen=True, eq=False)
class MixedProblem:
    """Rows to learn from, and rows to predict.

    Attributes
    ----------
    X_train, X_test : pandas.DataFrame of shape (n_train, d), (n_test, d)
        The test rows are of the known classes, and of the novel ones that are among the training rows.
    y_train : ndarray of shape (n_train,), object
        None where a row is unlabelled.
    train_truth, y_test : ndarray of shape (n_train,), (n_test,), object
        For evaluation only.
    known_classes, novel_classes : ndarray of shape (n_known,), (n_novel,), object
    """

    X_train: pd.DataFrame
    y_train: NDArray[Any]
    train_truth: NDArray[Any]
    X_test: pd.DataFrame
    y_test: NDArray[Any]
    known_classes: NDArray[Any]
    novel_classes: NDArray[Any]

    @property
    def unlabelled(self) -> NDArray[np.bool_]:
        """Training rows without a label, shape (n_train,)."""
        return np.array([label is None for label in self.y_train])

    @property
    def is_novel(self) -> NDArray[np.bool_]:
        """Which of the unlabelled rows are of novel classes, shape (n_unlabelled,)."""
        return np.isin(self.train_truth[self.unlabelled], self.novel_classes)

    @property
    def known_share(self) -> float:
        """Share of the unlabelled rows that are of known classes."""
        return float(1 - self.is_novel.mean())


def make_problem(name: str, X: pd.DataFrame, y: pd.Series, class_split: int, mixture: Mixture) -> MixedProblem:
    """Draw known classes, labelled, unlabelled and test rows.

    Whatever the mixture, the classes, the test rows and the half of the known rows from which labelled ones are taken
    are the same, but for the last where there is a shift.

    Parameters
    ----------
    name : str
        Of the table; with the number of the class split it decides every draw.
    X : pandas.DataFrame of shape (n, d)
    y : pandas.Series of shape (n,)
    class_split : int
        Which classes are known.
    mixture : Mixture

    Returns
    -------
    MixedProblem

    Raises
    ------
    InputError
        For a table of less than four classes of ``CLASS_ROWS`` rows.
    """
    rng = np.random.default_rng([crc32(name.encode()), class_split])
    classes = y.astype(str).to_numpy(dtype=object)
    rows = _large_classes(classes, _large_classes(classes, rng.permutation(len(classes)))[:MOST_ROWS])
    X, truth = X.iloc[rows].reset_index(drop=True), classes[rows]
    names = rng.permutation(np.unique(truth)).astype(object)
    if len(names) < 4:
        raise InputError(f"Table {name!r} has {len(names)} classes of {CLASS_ROWS} rows, but at least 4 are needed.")
    share = _KNOWN_SHARES[class_split % len(_KNOWN_SHARES)]
    n_known = int(np.clip(round(share * len(names)), 2, len(names) - 2))
    known, novel = names[:n_known], names[n_known:]
    test, labelled, free, new = [], [], [], []
    column = _column_of_the_shift(X, rng)
    for label in names:
        places = rng.permutation(np.flatnonzero(truth == label))
        n_test = max(1, round(_TEST_SHARE * len(places)))
        test.append(places[:n_test])
        rest = places[n_test:]
        noise = rng.random(len(rest))  # drawn in any case, so that what follows does not depend on the shift
        if label in novel:
            new.append(rest)
            continue
        if mixture.shift:
            rest = rest[np.argsort(_ranks(column[rest]) + noise, kind="stable")]
        half = (len(rest) + 1) // 2
        labelled.append(rng.permutation(rest[:half])[: mixture.n_labelled])
        free.append(rest[half:])
    unlabelled = _mixed(free, new, mixture.known_share, rng)
    train = np.concatenate([*labelled, unlabelled])
    y_train = truth[train].copy()
    y_train[-len(unlabelled) :] = None
    order = rng.permutation(len(train))
    novel = np.intersect1d(novel, truth[unlabelled])
    held_out = np.concatenate(test)
    held_out = held_out[np.isin(truth[held_out], [*known, *novel])]
    return MixedProblem(
        X_train=X.iloc[train[order]].reset_index(drop=True),
        y_train=y_train[order],
        train_truth=truth[train][order],
        X_test=X.iloc[held_out].reset_index(drop=True),
        y_test=truth[held_out],
        known_classes=np.sort(known),
        novel_classes=novel,
    )


def _large_classes(classes: NDArray[Any], rows: Places) -> Places:
    """Leave out rows of classes that have too few of them."""
    _, codes, counts = np.unique(classes[rows], return_inverse=True, return_counts=True)
    return rows[counts[codes] >= CLASS_ROWS]


def _column_of_the_shift(X: pd.DataFrame, rng: np.random.Generator) -> NDArray[Any]:
    """Return a column that has several values, as numbers; shape (n,)."""
    candidates = [i for i in range(X.shape[1]) if X.iloc[:, i].nunique() > 1]
    column = X.iloc[:, rng.choice(candidates)]
    if column.dtype.kind in "biuf":
        return np.asarray(np.nan_to_num(column.to_numpy(dtype=np.float64)))
    levels = np.array([str(value) for value in column])  # a missing one is a level too
    codes: NDArray[np.intp] = np.unique(levels, return_inverse=True)[1]
    return codes


def _ranks(values: NDArray[Any]) -> NDArray[np.float64]:
    """Place of each value among all, from 0 to 1; shape (n,)."""
    return np.argsort(np.argsort(values, kind="stable"), kind="stable") / max(1, len(values) - 1)


def _mixed(known: list[Places], novel: list[Places], share: float | None, rng: np.random.Generator) -> Places:
    """Choose unlabelled rows of known and novel classes, as many as there can be with the share."""
    n_known, n_novel = sum(map(len, known)), sum(map(len, novel))
    if share is not None:
        n_rows = min(n / part for n, part in ((n_known, share), (n_novel, 1 - share)) if part > 0)
        n_known, n_novel = round(share * n_rows), round((1 - share) * n_rows)
    return np.concatenate([_thinned(known, n_known, rng), _thinned(novel, n_novel, rng)])


def _thinned(parts: list[Places], n_rows: int, rng: np.random.Generator) -> Places:
    """Draw so many rows, of each class in proportion."""
    places = np.concatenate(parts)
    within = np.concatenate([(rng.permutation(len(part)) + rng.random()) / max(1, len(part)) for part in parts])
    return places[np.argsort(within, kind="stable")[:n_rows]]
