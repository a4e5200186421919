"""Signals: what can be said about a partition of the unlabelled rows without knowing their classes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import log_expit, xlogy

from newfound.clustering import partitions as cuts
from newfound.clustering.centroids import class_means
from newfound.clustering.graphs import nearest
from newfound.selection.candidates import N_EDGES, Scene

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

JUDGES = ("columns", "whitened", "network")
"""Spaces whose structure speaks for or against a partition."""
OF_SPACE = ("explained", "apart", "within", "told")
SIGNALS = (
    "same",
    "other",
    "same_class",
    "entropy",
    "smallest",
    "largest",
    *(f"{signal}, {space}" for space in JUDGES for signal in OF_SPACE),
)
FACTS = (
    "rows",
    "labelled",
    "columns",
    "classes",
    "known",
    "categorical",
    "labelled_per_class",
    "count",
    "sharpness",
    "expected_same",
    *(f"{signal} of known, {space}" for space in JUDGES for signal in ("explained", "apart")),
)
_LEAST = 1e-12


class Pairs:
    """What the network says of pairs of unlabelled rows.

    Parameters
    ----------
    logits : ndarray of shape (n, n)
        Log odds that two rows are of one class.
    """

    def __init__(self, logits: Floats) -> None:
        self._same, self._other = log_expit(logits), log_expit(-logits)
        for matrix in (self._same, self._other):
            np.fill_diagonal(matrix, 0.0)
        chance = np.exp(self._same)
        n = len(logits)
        pairs = max(1, n * (n - 1))
        self.sharpness = float((chance * self._same + (1 - chance) * self._other).sum()) / pairs
        self.expected_same = (float(chance.sum()) - n) / pairs

    def likelihood(self, member: Floats) -> tuple[float, float, float]:
        """Mean log-likelihood of the pairs within classes, of those across, and of the former class by class.

        Parameters
        ----------
        member : ndarray of shape (n, n_classes)
            1 for the class of each row.
        """
        sizes = member.sum(axis=0)
        n = len(member)
        within = np.einsum("ij,ij->j", member, self._same @ member)
        n_within = sizes * (sizes - 1)
        across = float(self._other.sum() - np.einsum("ij,ij->", member, self._other @ member))
        several = n_within > 0
        by_class = float((within[several] / n_within[several]).mean()) if several.any() else 0.0
        n_across = n * (n - 1) - n_within.sum()
        return float(within.sum() / max(1.0, n_within.sum())), across / max(1.0, n_across), by_class


def structure(placed: Floats, partition: Codes) -> tuple[float, float]:
    """Share of the variance between classes, and how much nearer the own centroid is than the next; both up to 1."""
    centres = class_means(placed, partition)
    filled = np.flatnonzero(np.bincount(partition))
    distances = cdist(placed, centres[filled])
    own = np.take_along_axis(distances, np.searchsorted(filled, partition)[:, None], axis=1)[:, 0]
    total = float(((placed - placed.mean(axis=0)) ** 2).sum())
    explained = 1.0 - float((own**2).sum()) / max(total, _LEAST)
    if len(filled) < 2:
        return explained, 0.0
    np.put_along_axis(distances, np.searchsorted(filled, partition)[:, None], np.inf, axis=1)
    nearest = distances.min(axis=1)
    return explained, float(((nearest - own) / np.maximum(np.maximum(nearest, own), _LEAST)).mean())


def graphs_of(scene: Scene, spaces: Mapping[str, Floats]) -> dict[str, NDArray[np.int64]]:
    """Nearest neighbours of each unlabelled row in each of the spaces that judge; name to (n_unlabelled, 10)."""
    return {name: nearest(spaces[name][scene.free], N_EDGES)[0] for name in JUDGES}


def signals_of(
    scene: Scene, spaces: Mapping[str, Floats], graphs: Mapping[str, NDArray[np.int64]], pairs: Pairs, partition: Codes
) -> list[float]:
    """Gather the `SIGNALS` of a partition of the unlabelled rows; (n_unlabelled,)."""
    k = scene.n_classes
    member = (partition[:, None] == np.arange(k)).astype(np.float64)
    shares = member.mean(axis=0)
    entropy = float(-xlogy(shares, shares).sum())
    found = [*pairs.likelihood(member), entropy / np.log(k), float(shares.min()) * k, float(shares.max())]
    for space in JUDGES:
        information, within = cuts.edge_information(partition, graphs[space], k)
        found += [*structure(spaces[space][scene.free], partition), within, information / max(entropy, 0.05)]
    return found


def facts_of(scene: Scene, spaces: Mapping[str, Floats], pairs: Pairs) -> list[float]:
    """Gather the `FACTS` of a scene."""
    known = np.unique(scene.codes[~scene.free], return_inverse=True)[1]
    n_known = int(known.max()) + 1
    layout = scene.layout
    categorical = np.bincount(layout.groups, layout.categorical) == np.bincount(layout.groups)
    found = [
        np.log(scene.free.sum()),
        np.log(len(known)),
        np.log(layout.n_groups),
        np.log(scene.n_classes),
        np.log(n_known),
        float(categorical.mean()),
        np.log(np.bincount(known).min()),
        float(np.log(scene.look.n_novel[min(scene.n_classes, len(scene.look.n_novel) - 1)] + 1e-3)),
        pairs.sharpness,
        pairs.expected_same,
    ]
    for space in JUDGES:
        found += structure(spaces[space][~scene.free], known)
    return found
