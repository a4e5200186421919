"""A portfolio of partitions of the unlabelled rows.

Every candidate is a way to measure distances (a representation) and a way to cut rows (a method). One of them,
`NETWORK`, has its distances from the in-context network, which sees a sample of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy

from newfound.clustering import partitions as cuts
from newfound.clustering import representations as spaces
from newfound.deadline import NEVER, Deadline
from newfound.learning.machine import in_parallel
from newfound.selection.looking import can_look, network_partition
from newfound.tables import Layout
from newfound.tables.task import DiscoveryTask

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Name = tuple[str, str]

NETWORK: Name = ("network", "k-means")
_BALANCE = 0.2  # weight of the entropy in the score of a partition: large classes are no proof of information
_FEWEST_CLASSES = 0.1  # share of the classes beyond the first that a partition must fill, counted by its entropy
_CLEAN = 0.95  # share of the edges within classes from which on a partition is clean
_TELLS_MORE = 0.06  # of what there is to tell: a clean partition that tells so much more ...
_SMALLEST_ENTROPY = 0.05
_EVEN = 0.5  # share of the largest entropy below which classes are of very different sizes
_HOLES = 0.5  # overlap with the rows that lack one cell from which on a class counts as made of these alone
_SAME = 0.6  # agreement from which on two partitions are the same by and large
_EDGES = 10  # neighbours of each row that vote on a partition
_COMPARED_ROWS = 1_500
_JITTER = 1e-6  # of the spread: equal rows get neighbours at random instead of in the order of the table


@dataclass(frozen=True)
class Portfolio:
    """Partitions of some rows into a number of classes.

    Attributes
    ----------
    names : list of (representation, method)
    partitions : ndarray of shape (c, n), int64
    information : ndarray of shape (c,)
        Mutual information over the edges of all representations' graphs, less a share of the entropy.
    within : ndarray of shape (c,)
        Share of these edges that stay within a class.
    told : ndarray of shape (c,)
        Share of the entropy that the edges tell, from 0 to 1. Unlike the information it can be large for classes of
        very different sizes.
    is_lopsided : ndarray of shape (c,), bool
        Whether the classes are clean and of very different sizes.
    is_empty : ndarray of shape (c,), bool
        Whether one class holds nearly all rows, so that nothing was found.
    is_holes : ndarray of shape (c,), bool
        Whether some class consists almost only of rows in which one column is empty.
    graphs : list of ndarray of shape (n, 10), int64
        Nearest neighbours of each row in each representation.
    """

    names: list[Name]
    partitions: Codes
    information: Floats
    within: Floats
    told: Floats
    is_lopsided: NDArray[np.bool_]
    is_empty: NDArray[np.bool_]
    is_holes: NDArray[np.bool_]
    graphs: list[NDArray[np.int64]]

    def agreement(self, rng: np.random.RandomState) -> Floats:
        """Mean agreement of each partition with all of them, from 0 to 1; (c,)."""
        n = self.partitions.shape[1]
        some = rng.choice(n, min(n, _COMPARED_ROWS), replace=False)
        agreement: Floats = normalised_information(self.partitions[:, some]).mean(axis=1)
        return agreement

    def cleaner_than(self, chosen: int) -> NDArray[np.bool_]:
        """Whether each partition should be preferred to a chosen one that may cut through a large class; (c,).

        The information of a partition is largest for classes of equal size: it would rather cut through a large class
        than see a small one. The cut shows in the edges between classes, and in how little these tell.
        """
        tells_more = self.told >= self.told[chosen] + _TELLS_MORE
        something = self.is_lopsided & ~self.is_empty & ~self.is_holes
        preferred: NDArray[np.bool_] = something & tells_more & (self.within[chosen] < _CLEAN)
        return preferred

    def sharper_than(self, partition: Codes, n_classes: int) -> NDArray[np.bool_]:
        """Whether each is a spectral partition that is the same as a given one by and large, but tells more; (c,)."""
        spectral = np.array([method in cuts.SPECTRAL for _, method in self.names])
        tells_more = self.information > information_of(self.graphs, partition, n_classes)
        sharper: NDArray[np.bool_] = spectral & tells_more & ~self.is_empty
        sharper[sharper] = agreement_with(partition, self.partitions[sharper]) >= _SAME
        return sharper


def normalised_information(partitions: Codes) -> Floats:
    """Normalised mutual information of all pairs of partitions, (c, n) to (c, c).

    A sparse product counts the rows that the classes of one partition share with those of all others: however many
    classes there are, two partitions share rows in at most n pairs of classes.
    """
    c, n = partitions.shape
    k = int(partitions.max()) + 1
    places = partitions + k * np.arange(c)[:, None]
    belongs = csr_array((np.ones(c * n), (places.ravel(), np.tile(np.arange(n), c))), shape=(c * k, n))
    shares = belongs.sum(axis=1) / n
    information = np.empty((c, c))
    for i in range(c):
        joint = (belongs[i * k : (i + 1) * k] @ belongs.T).tocoo()
        share = joint.data / n
        terms = share * np.log(share / (shares[i * k + joint.row] * shares[joint.col]))
        information[i] = np.bincount(joint.col // k, terms, minlength=c)
    entropies = -xlogy(shares, shares).reshape(c, k).sum(axis=1)
    mean = (entropies[:, None] + entropies[None, :]) / 2
    normalised: Floats = np.where(mean > 0, information / np.where(mean > 0, mean, 1.0), 1.0)
    return normalised


def agreement_with(partition: Codes, partitions: Codes) -> Floats:
    """Normalised mutual information of a partition (n,) with others (c, n); (c,)."""
    return np.array([normalised_information(np.stack([partition, other]))[0, 1] for other in partitions])


def build_portfolio(
    rows: Floats,
    codes: Codes,
    layout: Layout,
    n_classes: int,
    rng: np.random.RandomState,
    *,
    names: Sequence[Name] | None = None,
    deadline: Deadline = NEVER,
    device: torch.device | str = "cpu",
    n_views: int = 2,
    seconds_of_look: float = math.inf,
) -> Portfolio:
    """Cut the unlabelled rows by every candidate.

    Parameters
    ----------
    rows, codes : ndarray of shape (n, d) and (n,)
        Encoded rows, and their known class or -1.
    layout : Layout
    n_classes : int
        From 2 to the number of unlabelled rows less 1.
    rng : RandomState
    names : sequence of (representation, method), or None
        The candidates; None for all.
    deadline : Deadline
        After which no further representation is begun.
    device : torch.device or str
        Where neighbours are searched, and the in-context network is asked.
    n_views : int
        How often the in-context network looks.
    seconds_of_look : float
        That a look may take.
    """
    unlabelled = codes < 0
    found: list[Name] = []
    labels: list[Codes] = []
    edges: list[NDArray[np.int64]] = []
    seen: list[Codes] = []
    task = DiscoveryTask(rows, codes, int(codes.max()) + 1, n_classes, layout)
    generator = np.random.RandomState(rng.randint(2**31 - 1))  # the network works beside the others

    def measure_distances() -> None:
        wanted = None if names is None else frozenset(representation for representation, _ in names)
        for representation, represented in spaces.representations(rows, codes, layout, rng, wanted):
            own = represented[unlabelled]
            own = own + _JITTER * own.std() * rng.standard_normal(own.shape)
            neighbours = cuts.neighbour_graph(own, device)
            edges.append(neighbours[0][:, :_EDGES])
            methods = None if names is None else frozenset(method for name, method in names if name == representation)
            for method, partition in cuts.partitions(own, neighbours, n_classes, rng, methods):
                found.append((representation, method))
                labels.append(partition)
            if deadline.passed:
                break

    def ask_network() -> None:
        if (names is None or NETWORK in names) and can_look(task):
            seconds = min(seconds_of_look, deadline.room)
            partition = network_partition(task, generator, n_views=n_views, seconds=seconds, device=device)
            seen.extend([] if partition is None else [partition])

    work = (measure_distances, ask_network)
    in_parallel(lambda part: work[part.start](), [slice(0, 1), slice(1, 2)])
    found += [NETWORK] * len(seen)
    labels += seen
    information, within = np.array([told_by(edges, partition, n_classes) for partition in labels]).T
    entropies = np.array([cuts.entropy(partition) for partition in labels])
    return Portfolio(
        found,
        np.array(labels),
        information=information - _BALANCE * entropies,
        within=within,
        told=information / np.maximum(entropies, _SMALLEST_ENTROPY),
        is_lopsided=(within >= _CLEAN) & (entropies < _EVEN * math.log(n_classes)),
        is_empty=np.exp(entropies) < 1 + _FEWEST_CLASSES * (n_classes - 1),
        is_holes=holds_holes(np.array(labels), rows[unlabelled], layout, n_classes),
        graphs=edges,
    )


def holds_holes(partitions: Codes, rows: Floats, layout: Layout, n_classes: int) -> NDArray[np.bool_]:
    """Whether a class of each partition (c, n) overlaps mostly with the rows that lack one cell; (c,)."""
    lacks = rows[:, [name.endswith("=missing") for name in layout.names]] > 0
    found = np.zeros(len(partitions), dtype=bool)
    for place, partition in enumerate(partitions):
        belongs = partition[:, None] == np.arange(n_classes)
        both = belongs.T.astype(np.float64) @ lacks
        either = belongs.sum(axis=0)[:, None] + lacks.sum(axis=0) - both
        found[place] = bool((both > _HOLES * either).any())
    return found


def information_of(graphs: Sequence[NDArray[np.int64]], partition: Codes, n_classes: int) -> float:
    """Return the information of a partition, less a share of its entropy, as that of a portfolio."""
    return float(told_by(graphs, partition, n_classes)[0] - _BALANCE * cuts.entropy(partition))


def told_by(graphs: Sequence[NDArray[np.int64]], partition: Codes, n_classes: int) -> Floats:
    """Mean over graphs of the information, and of the share of edges within classes; (2,)."""
    told: Floats = np.mean([cuts.edge_information(partition, graph, n_classes) for graph in graphs], axis=0)
    return told
