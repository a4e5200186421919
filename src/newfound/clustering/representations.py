"""Ways to measure how far rows are apart: a bank of representations of one encoded table.

Which columns and which scales tell classes apart differs from table to table. The bank holds the candidates: the
encoded columns as they are, with heavy tails squashed, as ranks, each whitened by the known classes, weighed by what
they tell about the known classes, or replaced by what trees trained on the known classes make of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.extmath import randomized_svd

from newfound.clustering.whitening import WhitenedSpace, whitening_map, within_class_covariance
from newfound.tables import Layout

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

RAW = "columns"
FEW_KNOWN = ("whitened 1", "whitened 0.1")
"""Representations that need few known classes and do well on most tables."""

_MOST_COLUMNS = 100  # of a representation; wider ones are cut to their principal components
_N_TREES = 100
_LEAF_ROWS = 3
_N_LEAF_COMPONENTS = 30
_FREQUENT_LEAF = 0.005  # share of the rows in a leaf that counts
_SMALLEST_CHANCE = 0.01
_N_BINS = 10
_PRIOR_ROWS = 5  # rows of the average class mix that every category is given, against chance
_RARE_CATEGORY = 2.0  # rows; rarer categories weigh no more
_MOST_MIXED = 200  # columns of the table whose values are replaced by class mixes: those that tell most of the classes
_WIDE = 1_000  # columns from which on axes are found in other ways than by the products of all pairs of columns
_MOST_PRODUCTS = 1 << 36  # multiplications for these products; of more rows a part is looked at
_ROUNDING = 1e-9  # differences between rows, as a share of the largest value, that are none


def representations(
    rows: Floats, codes: Codes, layout: Layout, rng: np.random.RandomState, names: frozenset[str] | None = None
) -> Iterator[tuple[str, Floats]]:
    """Go through the bank.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Encoded rows, labelled and unlabelled.
    codes : ndarray of shape (n,), int64
        Known class of each row, -1 where unlabelled. At least one row is labelled.
    layout : Layout
        Which columns belong together, and which hold categories.
    rng : RandomState
        For the trees.
    names : frozenset of str or None
        The representations that are wanted; None for all.

    Yields
    ------
    name : str
    represented : ndarray of shape (n, m)
        With m of at most 100. Representations that the table or the labels do not allow are left out, and those in
        which all rows are equal; the columns themselves never are.
    """
    for name, make in _Bank(rows, codes, layout, rng).entries():
        if names is None or name in names:
            made = make()
            if name == RAW or np.ptp(made, axis=0).max() > _ROUNDING * np.abs(made).max():
                yield name, made


class _Bank:
    """The representations of one table; what several of them need is made once."""

    def __init__(self, rows: Floats, codes: Codes, layout: Layout, rng: np.random.RandomState) -> None:
        self._rows, self._codes, self._layout, self._rng = rows, codes, layout, rng
        self._known = codes >= 0
        self._made: dict[str, Floats] = {}
        self._forest: RandomForestClassifier | None = None

    def entries(self) -> Iterator[tuple[str, Callable[[], Floats]]]:
        """Name and maker of each representation that the table and the labels allow."""
        numbers, categories = not self._layout.categorical.all(), bool(self._layout.categorical.any())
        yield RAW, lambda: self._compacted("columns")
        for ridge in (1, 0.1, 0.01):
            yield f"whitened {ridge}", self._whitener("columns", ridge)
        for ridge in (0.5, 0.1):
            yield f"directions, whitened {ridge}", self._directions(ridge)
        if numbers:
            yield "squashed, whitened 0.1", self._whitener("squashed", 0.1)
            yield "ranks, whitened 1", self._whitener("ranks", 1)
        if categories:
            yield "rare categories count, whitened 1", self._whitener("rare", 1)
        if len(np.unique(self._codes[self._known])) > 1:
            yield "weighed by importance", lambda: _compact(self._rows * self._importance())
            if numbers:
                yield "ranks weighed by importance", lambda: _compact(self._encoded("ranks") * self._importance())
            yield "forest leaves", self._leaves
            yield "forest votes", self._votes
            yield "class mix of each value", self._class_mix

    def _encoded(self, encoding: str) -> Floats:
        if encoding not in self._made:
            make = {"columns": lambda: self._rows, "squashed": self._squashed, "ranks": self._ranks, "rare": self._rare}
            self._made[encoding] = make[encoding]()
        return self._made[encoding]

    def _compacted(self, encoding: str) -> Floats:
        name = f"{encoding}, compact"
        if name not in self._made:
            self._made[name] = _compact(self._encoded(encoding))
        return self._made[name]

    def _whitener(self, encoding: str, ridge: float) -> Callable[[], Floats]:
        def whitened() -> Floats:
            rows = self._compacted(encoding)
            product: Floats = rows @ whitening_map(within_class_covariance(rows, self._codes), ridge)
            return product

        return whitened

    def _directions(self, ridge: float) -> Callable[[], Floats]:
        def placed() -> Floats:
            rows = self._compacted("columns")
            return WhitenedSpace.learn(rows, self._codes, ridge).place(rows)

        return placed

    # ---- encodings

    def _squashed(self) -> Floats:
        rows, flags = self._rows.copy(), self._layout.categorical
        rows[:, ~flags] = _standardised(np.arcsinh(_robust(rows[:, ~flags])))
        rows[:, flags] = _standardised(rows[:, flags])
        return rows

    def _ranks(self) -> Floats:
        rows, flags = self._rows.copy(), self._layout.categorical
        rows[:, ~flags] = _standardised(rankdata(rows[:, ~flags], axis=0))
        return rows

    def _rare(self) -> Floats:
        rows, flags = self._encoded("ranks").copy(), self._layout.categorical
        share = np.abs(rows[:, flags]).mean(axis=0)
        rows[:, flags] /= np.sqrt(np.maximum(share, _RARE_CATEGORY / len(rows)))
        return rows

    # ---- what trees that know the known classes say

    def _random_forest(self) -> RandomForestClassifier:
        if self._forest is None:
            self._forest = self._fitted(RandomForestClassifier)
        return self._forest

    def _fitted(self, kind: type) -> RandomForestClassifier:
        trees = kind(_N_TREES, min_samples_leaf=_LEAF_ROWS, random_state=int(self._rng.randint(2**31 - 1)))
        return trees.fit(self._rows[self._known], self._codes[self._known])

    def _importance(self) -> Floats:
        """Factor of each column: the root of what its source column tells about the known classes; (d,)."""
        groups = self._layout.groups
        share = np.bincount(groups, self._random_forest().feature_importances_)
        factor: Floats = np.sqrt(share * len(share))[groups]
        return factor

    def _leaves(self) -> Floats:
        frequent = max(2, int(_FREQUENT_LEAF * len(self._rows)))
        leaves = OneHotEncoder(min_frequency=frequent).fit_transform(self._random_forest().apply(self._rows))
        n_components = min(_N_LEAF_COMPONENTS, leaves.shape[1] - 1)
        seed = int(self._rng.randint(2**31 - 1))
        with np.errstate(divide="ignore", invalid="ignore"):  # shares of no variance, where all rows fall in one leaf
            components: Floats = TruncatedSVD(n_components, random_state=seed).fit_transform(leaves)
        return components

    def _votes(self) -> Floats:
        votes: Floats = np.log(self._fitted(ExtraTreesClassifier).predict_proba(self._rows) + _SMALLEST_CHANCE)
        return votes

    def _class_mix(self) -> Floats:
        """Replace every value by the mix of known classes that have it, on the scale of Hellinger's distance."""
        codes = self._codes[self._known]
        n_classes = int(codes.max()) + 1
        parts = []
        groups = np.unique(self._layout.groups)
        if len(groups) > _MOST_MIXED:
            told = np.bincount(self._layout.groups, self._random_forest().feature_importances_)
            groups = np.sort(np.argsort(-told, kind="stable")[:_MOST_MIXED])
        for group in groups:
            values = _binned(self._rows[:, self._layout.groups == group])
            counts = np.zeros((values.max() + 1, n_classes))
            np.add.at(counts, (values[self._known], codes), 1)
            average = counts.sum(axis=0) / counts.sum()
            mix = (counts + _PRIOR_ROWS * average) / (counts.sum(axis=1, keepdims=True) + _PRIOR_ROWS)
            parts.append((np.sqrt(mix) - np.sqrt(average))[values])
        return _compact(np.concatenate(parts, axis=1))


def principal_axes(centred: Floats) -> Floats:
    """Leading principal axes of centred rows (n, d) as columns, at most 100; the identity if d is at most 100.

    Of tables with many columns and rows they are found by a randomised decomposition, and of a part of the rows.
    """
    d = centred.shape[1]
    if d <= _MOST_COLUMNS:
        return np.eye(d)
    step = -(-len(centred) * d * d // _MOST_PRODUCTS)
    rows = centred[::step] if step > 1 else centred
    if min(rows.shape) > _WIDE:
        found: Floats = randomized_svd(rows, _MOST_COLUMNS, n_iter=4, random_state=0)[2].T
        return found
    if len(rows) < d and d > _WIDE:  # the smaller of the two products has the same axes
        values, vectors = np.linalg.eigh(rows @ rows.T)
        some = slice(None, -_MOST_COLUMNS - 1, -1)
        positive = values[some] > _ROUNDING * max(float(values[-1]), np.finfo(float).tiny)
        values, vectors = values[some][positive], vectors[:, some][:, positive]
        axes: Floats = rows.T @ (vectors / np.sqrt(values))
        return axes if axes.size else np.eye(d, 1)
    return np.linalg.eigh(rows.T @ rows)[1][:, : -_MOST_COLUMNS - 1 : -1]


def _compact(rows: Floats) -> Floats:
    """Centred rows, or their leading principal components where there are too many columns."""
    centred: Floats = rows - rows.mean(axis=0)
    return centred if rows.shape[1] <= _MOST_COLUMNS else centred @ principal_axes(centred)


def _robust(rows: Floats) -> Floats:
    """Distance from the median in units of the median deviation, or of the standard deviation where that is zero."""
    centre = np.median(rows, axis=0)
    deviation = 1.4826 * np.median(np.abs(rows - centre), axis=0)
    spread = rows.std(axis=0)
    scale = np.where(deviation > 1e-9 * spread, deviation, spread)
    scaled: Floats = (rows - centre) / np.where(scale > 0, scale, 1.0)
    return scaled


def _standardised(rows: Floats) -> Floats:
    spread = rows.std(axis=0)
    scaled: Floats = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled


def _binned(columns: Floats) -> Codes:
    """Code of each row's value in the columns of a group: its category, or the tenth in which its number lies; (n,)."""
    first = columns[:, 0]
    edges = np.unique(np.quantile(first, np.linspace(0, 1, _N_BINS + 1)[1:-1]))
    parts = np.column_stack([np.searchsorted(edges, first), columns[:, 1:]]) if len(edges) > 1 else columns
    codes: Codes = np.unique(parts, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
    return codes
