"""The jury: candidates in the order of what the selector expects of them, and its judgement of any partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from newfound.records import Records
from newfound.selection.candidates import Candidates, Name, Scene
from newfound.selection.selector import Selector, load_selector
from newfound.selection.signals import SIGNALS, Pairs, facts_of, graphs_of, signals_of

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

N_BEST = 4
"""Candidates whose agreement with a class is the confidence in it."""


@dataclass(frozen=True, eq=False)
class Jury:
    """Candidates, best first, with what is needed to judge one more.

    Attributes
    ----------
    names : list of (space, method)
    partitions : ndarray of shape (c, n), int64
    leads : ndarray of shape (c,)
        How much better than the reference each is expected to be, in a weighted mean of ACC and BACC.
    signals : ndarray of shape (c, n_signals)
    facts : ndarray of shape (n_facts,)
    """

    names: list[Name]
    partitions: Codes
    leads: Floats
    signals: Floats
    facts: Floats
    _scene: Scene
    _spaces: dict[str, Floats]
    _graphs: dict[str, NDArray[np.int64]]
    _pairs: Pairs
    _selector: Selector

    @classmethod
    def of(cls, scene: Scene, candidates: Candidates) -> Jury:
        """Order candidates."""
        selector, pairs = load_selector(), Pairs(scene.look.pair_logits(scene.free))
        spaces = dict(candidates.spaces)
        graphs = graphs_of(scene, spaces)
        facts = np.array(facts_of(scene, spaces, pairs))
        signals = np.array([signals_of(scene, spaces, graphs, pairs, partition) for partition in candidates.partitions])
        features = selector.features(candidates.names, signals, facts, rand_indices(candidates.partitions))
        leads = selector.leads(candidates.names, features)
        order = np.argsort(-leads, kind="stable")
        names = [candidates.names[place] for place in order]
        ordered = candidates.partitions[order], leads[order], signals[order]
        return cls(names, *ordered, facts, scene, spaces, graphs, pairs, selector)

    def confidence(self, partition: Codes) -> float:
        """Chance that the ACC of a partition (n,) is above 0.8."""
        return float(self._selector.confidence(self._features_with(partition)[-1:])[0])

    def class_confidence(self, partition: Codes) -> Floats:
        """Return how far the best candidates agree with each class of a partition (n,); (n_classes,)."""
        k = self._scene.n_classes
        return np.array([_overlap(partition == class_, self.partitions[:N_BEST]) for class_ in range(k)])

    def leaderboard(self) -> Records:
        """Show the candidates as a table."""
        agreement = (rand_indices(self.partitions).sum(axis=1) - 1) / max(1, len(self.names) - 1)
        likelihood = self.signals[:, [SIGNALS.index("same"), SIGNALS.index("other")]].mean(axis=1)
        within = self.signals[:, SIGNALS.index("within, whitened")]
        return Records(
            {
                "rank": place + 1,
                "representation": space,
                "method": method,
                "score": float(self.leads[place]),
                "likelihood": float(likelihood[place]),
                "within": float(within[place]),
                "agreement": float(agreement[place]),
            }
            for place, (space, method) in enumerate(self.names)
        )

    def _features_with(self, partition: Codes) -> Floats:
        """Features of the candidates and of one more partition, which stands in the best one's place."""
        own = signals_of(self._scene, self._spaces, self._graphs, self._pairs, partition)
        partitions = np.vstack([self.partitions, partition])
        return self._selector.features(
            [*self.names, self.names[0]], np.vstack([self.signals, own]), self.facts, rand_indices(partitions)
        )


def rand_indices(partitions: Codes) -> Floats:
    """Compare all pairs of partitions by the adjusted Rand index; (c, n) to (c, c).

    A sparse product counts the rows that the classes of one partition share with those of all others: however many
    classes there are, two partitions share rows in at most n pairs of classes.
    """
    c, n = partitions.shape
    k = int(partitions.max()) + 1
    places = partitions + k * np.arange(c)[:, None]
    belongs = csr_array((np.ones(c * n), (places.ravel(), np.tile(np.arange(n), c))), shape=(c * k, n))
    both = np.empty((c, c))
    for i in range(c):
        joint = (belongs[i * k : (i + 1) * k] @ belongs.T).tocoo()
        both[i] = np.bincount(joint.col // k, joint.data * (joint.data - 1) / 2, minlength=c)
    alone = np.diag(both)
    expected = np.outer(alone, alone) / max(1.0, n * (n - 1) / 2)
    most = (alone[:, None] + alone) / 2
    index: Floats = np.where(most > expected, (both - expected) / np.maximum(most - expected, 1e-9), 1.0)
    return index


def _overlap(inside: NDArray[np.bool_], judges: Codes) -> float:
    """Mean over partitions of the overlap of a class, given by its rows, with the most similar class there."""
    overlaps = []
    for partition in judges:
        shared = np.bincount(partition[inside], minlength=partition.max(initial=0) + 1)
        joint = np.bincount(partition, minlength=len(shared)) + inside.sum() - shared
        overlaps.append(float((shared / np.maximum(1, joint)).max()))
    return float(np.mean(overlaps))
