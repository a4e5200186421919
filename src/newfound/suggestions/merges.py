"""Which found classes may be one, and a hierarchy of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import cdist, squareform

from newfound.clustering.centroids import class_means
from newfound.clustering.whitening import WhitenedSpace
from newfound.errors import InputError
from newfound.markup import Html, inline, tag
from newfound.records import Records

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_RIDGE = 0.5
_NEAR = 0.75  # of the usual distance between neighbouring known classes
_SHARED = 0.5  # overlap from which on two classes are hardly told apart


@dataclass(frozen=True, eq=False)
class MergeSuggestions:
    """Pairs of novel classes that may be one, and a hierarchy of all novel classes.

    Attributes
    ----------
    pairs : Records
        The most likely first: ``first``, ``second``, ``overlap`` (how much probability the rows of either give to the
        other, from 0 to 1), ``distance`` (between their means, in units of the distance of a known class to the nearest
        other one, by the median; None with fewer than two known classes) and ``likely`` (whether that is less
        than three quarters, or they overlap by more than half).
    linkage : ndarray of shape (n_novel - 1, 4)
        The hierarchy, as `scipy.cluster.hierarchy.dendrogram` takes it, with ``labels=suggestions.classes``.
    classes : list of str
        Names of the novel classes, the leaves of the hierarchy.
    """

    pairs: Records
    linkage: Floats
    classes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        pairs = [dict(pair) for pair in self.pairs]
        return {"pairs": pairs, "linkage": self.linkage.tolist(), "classes": self.classes}

    def tree(self) -> str:
        """Return the hierarchy as text, one class a line; what is joined last stands leftmost."""
        if not len(self.linkage):
            return "\n".join(self.classes)
        return "\n".join(_branches(self.linkage, self.classes, 2 * len(self.linkage)))

    def plot(self, path: Any = None) -> Any:
        """Draw the hierarchy; returns a matplotlib Figure, and writes a file where a path is given."""
        from pathlib import Path

        from newfound.pictures.batches import draw_tree

        return draw_tree([] if path is None else [Path(path)], self.linkage, self.classes)

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        n_likely = sum(pair["likely"] for pair in self.pairs)
        return f"MergeSuggestions({len(self.pairs)} pairs, {n_likely} likely)"

    def __str__(self) -> str:
        return f"{self.pairs}\n\n{self.tree()}" if self.pairs else self.tree()

    def _repr_html_(self) -> Html:
        return inline(self.pairs._repr_html_() if self.pairs else None, tag("pre", self.tree()))


def suggest_merges(model: Any) -> MergeSuggestions:
    """Say which novel classes may be one class.

    Parameters
    ----------
    model : fitted discoverer
        With rows of its classes, as `fit` and `update` keep them.

    Returns
    -------
    MergeSuggestions
        Nothing is merged; ``model.merge([first, second])`` does that.

    Raises
    ------
    InputError
        Where the discoverer keeps no rows.

    Examples
    --------
    >>> from newfound import NCDKMeans
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 0], [9, 0], [0, 9], [9, 9]], 40, axis=0) + rng.normal(size=(160, 2))
    >>> model = NCDKMeans(3, random_state=0).fit(X, ["ant"] * 40 + ["bee"] * 40 + [None] * 80)
    >>> suggest_merges(model).pairs[0]["likely"]
    True
    """
    model._check_is_fitted()
    memory = model._kept()
    has_class = memory.codes >= 0
    rows, codes = memory.rows[has_class].astype(np.float64), memory.codes[has_class].astype(np.int64)
    n_known = len(model.known_classes_)
    if not len(codes):
        raise InputError("This discoverer keeps no rows of its classes; fit it again.")
    means = class_means(WhitenedSpace.learn(rows, codes, _RIDGE).place(rows), codes)
    off = cdist(means, means)
    known = np.unique(codes[codes < n_known])
    unit = _usual(off[np.ix_(known, known)])
    shared = _overlaps(model._curated_proba(rows), codes)
    # Classes that lost all their rows to labels have no place among the others.
    there = np.unique(codes[codes >= n_known])
    names = model.classes_[there].tolist()
    pairs = Records(
        _pair(names[i], names[j], float(shared[first, other]), float(off[first, other]), unit)
        for i, first in enumerate(there)
        for j, other in enumerate(there[i + 1 :], start=i + 1)
    )
    pairs.sort(key=lambda pair: (not pair["likely"], pair["distance"] or 0.0, -pair["overlap"]))
    novel = off[np.ix_(there, there)]
    tree = linkage(squareform(novel, checks=False), "average") if len(novel) > 1 else np.empty((0, 4))
    return MergeSuggestions(pairs, tree, [str(name) for name in names])


def _pair(first: Any, second: Any, overlap: float, off: float, unit: float | None) -> dict[str, Any]:
    distance = None if unit is None else off / unit
    return {
        "first": first,
        "second": second,
        "overlap": overlap,
        "distance": distance,
        "likely": overlap > _SHARED or (distance is not None and distance < _NEAR),
    }


def _usual(off: Floats) -> float | None:
    """Median distance of a class to the nearest other one; None without two classes."""
    if len(off) < 2:
        return None
    nearest = np.where(np.eye(len(off), dtype=bool), np.inf, off).min(axis=1)
    return float(np.median(nearest)) or None


def _overlaps(proba: Floats, codes: Codes) -> Floats:
    """How much the rows of two classes share their probabilities: 1 where they cannot be told apart, 0 where they can.

    Between two classes, each row has a share of its probability in the other one. The mean of that, over the rows of
    both, is 1/2 for one class cut in two at random.
    """
    n = proba.shape[1]
    shared = np.zeros((n, n))
    for i in range(n):
        own = proba[codes == i]
        if len(own):
            both = own[:, [i]] + own
            shared[i] = np.divide(own, both, out=np.zeros_like(own), where=both > 0).mean(axis=0)
    overlap: Floats = np.minimum(1, shared + shared.T)
    np.fill_diagonal(overlap, 0)
    return overlap


def _branches(tree: Floats, names: list[str], node: int) -> list[str]:
    """Lines of the text tree beneath a node."""
    if node < len(names):
        return [names[node]]
    left, right = tree[node - len(names), :2]
    lines = []
    for child, corner, rest in ((int(left), "┌─ ", "│  "), (int(right), "└─ ", "   ")):
        inner = _branches(tree, names, child)
        middle = len(inner) // 2 if child == int(right) else (len(inner) - 1) // 2
        for place, line in enumerate(inner):
            if place == middle:
                lead = corner
            elif child == int(left):
                lead = "   " if place < middle else rest
            else:
                lead = "│  " if place < middle else rest
            lines.append(lead + line)
    return lines
