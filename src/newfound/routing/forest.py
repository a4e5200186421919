"""Randomised trees with soft targets, kept as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor

from newfound.errors import ModelFileError
from newfound.learning.machine import in_parallel
from newfound.routing.out_of_bag import quietly
from newfound.tables.state import checked_array, finite_floats

Floats = NDArray[np.float64]

_N_TREES = 100
_SHARE_TRIED, _MOST_TRIED = 0.5, 100  # columns that are tried at a cut of trees that predict classes
_MOST_LEAVES = 512  # of a tree, so that model files stay small
_STEPS_AT_ONCE = 1 << 12  # pairs of a row and a tree that take a step down together
_ROWS_IN_LEAF = 1  # on the rows it was grown on, a forest repeats its targets


@dataclass(frozen=True, eq=False)
class Forest:
    """A frozen forest: the mean of its trees' leaves.

    Attributes
    ----------
    starts : ndarray of shape (n_trees,), int32
        The root of each tree among all nodes.
    columns : ndarray of shape (n_nodes,), int32
        Column that a node looks at; -1 at a leaf.
    cuts : ndarray of shape (n_nodes,), float64
        Rows go left up to this value, and right above it.
    children : ndarray of shape (n_nodes, 2), int32
        Left and right node, both after their parent. At a leaf, the first is its place in ``leaves``.
    leaves : ndarray of shape (n_leaves, n_classes), float64
        Mean target of the rows of each leaf.
    """

    starts: NDArray[np.int32]
    columns: NDArray[np.int32]
    cuts: Floats
    children: NDArray[np.int32]
    leaves: Floats

    @classmethod
    def grow(cls, rows: Floats, targets: Floats, seed: int, weights: Floats | None = None) -> Self:
        """Grow trees that predict targets.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
        targets : ndarray of shape (n, n_classes)
            Probabilities of the classes; each row sums to one.
        seed : int
        weights : ndarray of shape (n,), optional

        Returns
        -------
        Forest
        """
        trees = ExtraTreesRegressor(
            _N_TREES,
            min_samples_leaf=_ROWS_IN_LEAF,
            max_leaf_nodes=_MOST_LEAVES,
            max_features="sqrt",
            random_state=seed,
        )
        trees.fit(rows, _two_dimensional(targets), sample_weight=weights)
        return cls._of([tree.tree_ for tree in trees.estimators_], targets.shape[1])

    @classmethod
    def grow_and_judge(cls, rows: Floats, targets: Floats, seed: int) -> tuple[Self, Floats]:
        """Grow trees on bootstrap samples of the rows, and judge each row by the trees that have not seen it.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
        targets : ndarray of shape (n, n_classes)
            Probabilities of the classes; each row sums to one.
        seed : int

        Returns
        -------
        forest : Forest
        proba : ndarray of shape (n, n_classes)
        """
        halves: dict[int, ExtraTreesRegressor] = {}

        def grow(part: slice) -> None:
            half = ExtraTreesRegressor(
                _N_TREES // 2,
                max_features=cls.n_tried(rows.shape[1]),
                bootstrap=True,
                oob_score=_unscored,
                random_state=seed + part.start,
            )
            halves[part.start] = half.fit(rows, _two_dimensional(targets))

        with quietly():
            in_parallel(grow, [slice(place, place + 1) for place in range(2)])
        judged = np.mean([halves[place].oob_prediction_ for place in range(2)], axis=0)[:, :-1]
        total = judged.sum(axis=1, keepdims=True)
        # A row that all trees have seen, of which there is hardly one, gets the shares of the classes.
        proba = np.where(total > 0, judged / np.maximum(total, np.finfo(float).tiny), targets.mean(axis=0))
        return cls._of(
            [tree.tree_ for place in range(2) for tree in halves[place].estimators_], targets.shape[1]
        ), proba

    @staticmethod
    def n_tried(n_columns: int) -> int:
        """Say how many of so many columns are tried at a cut of trees that predict classes."""
        return n_columns if n_columns <= 2 else min(_MOST_TRIED, int(_SHARE_TRIED * n_columns))

    @classmethod
    def _of(cls, trees: list[Any], n_classes: int) -> Self:
        sizes = np.array([tree.node_count for tree in trees])
        starts = np.concatenate([[0], sizes.cumsum()[:-1]]).astype(np.int32)
        is_leaf = np.concatenate([tree.children_left < 0 for tree in trees])
        pairs = [
            np.stack([tree.children_left, tree.children_right], 1) + start
            for tree, start in zip(trees, starts, strict=True)
        ]
        children = np.concatenate(pairs).astype(np.int32)
        children[is_leaf, 1] = 0
        columns = np.concatenate([tree.feature for tree in trees]).astype(np.int32)
        columns[is_leaf] = -1
        cuts = np.where(is_leaf, 0.0, np.concatenate([tree.threshold for tree in trees]))
        leaves = np.concatenate([tree.value[tree.children_left < 0, :n_classes, 0] for tree in trees])
        # Most leaves are of one class: what they say is kept once.
        leaves, shared = np.unique(leaves, axis=0, return_inverse=True)
        children[is_leaf, 0] = shared.ravel()
        return cls(starts, columns, cuts, children, np.ascontiguousarray(leaves))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.leaves.shape[1])

    def proba(self, rows: Floats) -> Floats:
        """Mean of the leaves that rows (n, d) fall into; (n, n_classes)."""
        narrow = rows.astype(np.float32)  # as the trees were grown
        total = np.zeros((len(rows), self.n_classes))
        # Few rows go down many trees at once: a tree alone would cost as much for one row as for a hundred.
        n_trees = max(1, _STEPS_AT_ONCE // max(1, len(rows)))
        for place in range(0, len(self.starts), n_trees):
            for leaf in self.leaves[self._leaves_of(narrow, self.starts[place : place + n_trees])]:
                total += leaf
        mean: Floats = total / len(self.starts)
        return mean

    def reordered(self, order: NDArray[np.int64]) -> Self:
        """Return the same forest with its classes in another order."""
        return replace(self, leaves=np.ascontiguousarray(self.leaves[:, order]))

    def _leaves_of(self, rows: NDArray[np.float32], starts: NDArray[np.int32]) -> NDArray[np.int32]:
        """Leaf of each row in the trees that begin at some nodes, shape (n_trees, n)."""
        at = np.repeat(starts, len(rows))
        which = np.tile(np.arange(len(rows)), len(starts))
        moving = np.arange(len(at))
        while len(moving):
            node = at[moving]
            column = self.columns[node]
            inner = column >= 0
            moving, node, column = moving[inner], node[inner], column[inner]
            right = rows[which[moving], column] > self.cuts[node]
            at[moving] = self.children[node, right.astype(np.intp)]
        leaves: NDArray[np.int32] = self.children[at, 0].reshape(len(starts), len(rows))
        return leaves

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Everything in it, for the model file."""
        names = ("starts", "columns", "cuts", "children", "leaves")
        return {f"{prefix}{name}": getattr(self, name) for name in names}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], prefix: str, n_columns: int, n_classes: int | None) -> Self:
        """Read `arrays` back; ModelFileError where they are no forest over so many columns and classes.

        Without a number of classes, leaves may hold any numbers, and any number of them.
        """
        columns = checked_array(arrays, f"{prefix}columns", np.int32, (-1,))
        n_nodes = len(columns)
        starts = checked_array(arrays, f"{prefix}starts", np.int32, (-1,))
        children = checked_array(arrays, f"{prefix}children", np.int32, (n_nodes, 2))
        cuts = finite_floats(arrays, f"{prefix}cuts", (n_nodes,))
        leaves = finite_floats(arrays, f"{prefix}leaves", (-1, -1 if n_classes is None else n_classes))
        is_leaf = columns < 0
        places = np.arange(n_nodes)[~is_leaf]
        inner = children[~is_leaf]
        good = (
            0 <= starts.min() <= starts.max() < n_nodes
            and columns.max() < n_columns
            and bool((inner > places[:, None]).all())  # so that every walk ends
            and inner.max(initial=0) < n_nodes
            and children[is_leaf, 0].min(initial=0) >= 0
            and children[is_leaf, 0].max(initial=-1) < len(leaves)
            and (n_classes is None or leaves.min() >= 0)
        )
        if not good:
            raise ModelFileError(f"arrays {prefix!r} are no forest.")
        return cls(starts, columns, cuts, children, leaves)


def _two_dimensional(targets: Floats) -> Floats:
    """Add a column, so that scikit-learn's outputs have two dimensions where there is one class."""
    return np.hstack([targets, np.zeros((len(targets), 1))])


def _unscored(truth: Floats, predicted: Floats) -> float:
    """Stand in for the score that scikit-learn computes where it judges rows out of bag."""
    return 0.0
