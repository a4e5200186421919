"""The choice of a partition of the unlabelled rows: one rule for tables of every size.

The vectors of the in-context network are grouped by k-means. Graphs of nearest neighbours have a say as far as their
edges tell the known classes apart: first the vectors are smoothed along them; and where they tell the known classes
nearly without a mistake, a cut of the graphs that tells more is preferred.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from newfound.clustering import partitions as cuts
from newfound.clustering.graphs import fuzzy_graph
from newfound.clustering.spaces import compact
from newfound.clustering.whitening import WhitenedSpace
from newfound.deadline import NEVER, Deadline
from newfound.incontext.look import Look
from newfound.records import Records
from newfound.routing.forest import Forest
from newfound.tables.sampling import sample, sample_of_each
from newfound.tables.task import DiscoveryTask

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# Set by hand while looking at 58 development tables and the paper's; tables left out have not judged them yet.
_HEARD = 0.5  # of what there is to tell of the known classes: from here on edges smooth the vectors
_BELIEVED = 0.85  # ... from here on a cut of the graphs may replace the network's partition
_AS_EVEN = 0.02  # of log k: a cut is compared with the network's partition only if its entropy differs by no more,
# since the information of edges prefers even classes
_STEPS, _OWN = 3, 0.1  # of the smoothing, and the weight that a row's own vector keeps in each
_BALANCE = 0.2  # weight of the entropy in the score of a partition: large classes are no proof of information
_RIDGE = 0.5
_MOST_ROWS = 30_000  # of each kind, labelled and unlabelled, between which distances are measured
_FEWEST_ROWS = 1_000
_SECONDS_A_PAIR, _SECONDS_A_PRODUCT, _WIDEST = 2.4e-9, 8e-11, 100  # of distances, on one slow core; columns at most
_TIME = 0.15  # share of the time that is left
_N_EDGES = 10  # neighbours of each row that judge a partition
_MOST_LABELLED = 12_000  # rows on which edges are tried
_JITTER = 1e-6  # of the spread: equal rows get neighbours at random instead of in the order of the table


@dataclass(frozen=True, eq=False)
class Choice:
    """A partition of the unlabelled rows.

    Attributes
    ----------
    partition : ndarray of shape (n_unlabelled,), int64
        Novel class of each unlabelled row, the largest class first.
    leaderboard : Records
        The partitions that were compared, the chosen one first, and what was said of each.
    shown : ndarray of shape (m,), int
        Places of the unlabelled rows that the network has seen, among all unlabelled rows.
    views : ndarray of shape (n_views, m), int64
        Partitions of these rows by each view of the network alone.
    """

    partition: Codes
    leaderboard: Records
    shown: NDArray[np.intp]
    views: Codes

    def agreement(self) -> float:
        """Say how far the views alone agree with the partition: their mean adjusted Rand index; 0 where none is."""
        own = self.partition[self.shown]
        return float(np.mean([adjusted_rand_score(own, view) for view in self.views])) if len(self.views) else 0.0

    def class_agreement(self, n_novel: int) -> Floats:
        """Say how far the views alone find each class: the mean overlap with the most similar class; (n_novel,)."""
        inside = self.partition[self.shown] == np.arange(n_novel)[:, None]
        overlaps = np.array([_overlaps(inside, view, n_novel) for view in self.views])
        return overlaps.mean(axis=0) if len(overlaps) else np.ones(n_novel)


@dataclass(frozen=True, eq=False)
class _Candidate:
    representation: str
    method: str
    partition: Codes
    information: float | None = None
    within: float | None = None

    @property
    def entropy(self) -> float:
        return cuts.entropy(self.partition)

    @property
    def score(self) -> float:
        return (self.information or 0.0) - _BALANCE * self.entropy

    def judged(self, graphs: list[NDArray[np.int64]], k: int) -> _Candidate:
        """Ask the edges of some graphs."""
        information, within = np.mean([cuts.edge_information(self.partition, graph, k) for graph in graphs], axis=0)
        return replace(self, information=float(information), within=float(within))


def choose(
    task: DiscoveryTask,
    seen: Look | None,
    rng: np.random.RandomState,
    *,
    with_graphs: bool = True,
    deadline: Deadline = NEVER,
    device: torch.device | str = "cpu",
) -> Choice:
    """Choose a partition of the unlabelled rows.

    Of large tables a part is looked at, and a forest learns from it to which class the other rows belong.

    Parameters
    ----------
    task : DiscoveryTask
        With at least one unlabelled row for each novel class.
    seen : Look or None
        What the network says of the rows; None where it was not asked.
    rng : RandomState
    with_graphs : bool, default=True
        Whether graphs of neighbours have a say.
    deadline : Deadline
        Where there is little time, a smaller part is looked at.
    device : torch.device or str, default="cpu"
        Where neighbours are sought.

    Returns
    -------
    Choice
    """
    free, k = np.flatnonzero(task.codes < 0), task.n_novel
    if k < 2 or len(free) < k + 2:
        return _only(np.arange(len(free), dtype=np.int64) % max(1, k))
    used = _affordable(task, seen, deadline, rng)
    if len(used) < len(task.codes):
        part = task.take(used)
        choice = choose(part, seen and seen.of(used), rng, with_graphs=with_graphs, device=device)
        places = np.searchsorted(free, used[part.codes < 0])
        partition = _spread(task.rows[free], places, choice.partition, k, int(rng.randint(2**31 - 1)))
        return replace(choice, partition=partition, shown=places[choice.shown])
    spaces = _Spaces(task, rng, device)
    told = spaces.told() if with_graphs else 0.0
    shown = np.flatnonzero(np.isin(free, seen.places)) if seen is not None else np.arange(len(free))
    seen_views: list[Floats] = []
    if seen is not None and len(shown) >= k + 2:
        vectors = seen.embedding[np.isin(seen.places, free)]
        seen_views = np.split(vectors, seen.n_views, axis=1)
        name = ("network", "k-means")
    else:
        shown, vectors = np.arange(len(free)), spaces.placed["whitened"][free]
        name = ("whitened", "k-means")
    if told >= _HEARD:
        vectors = _smoothed(vectors, spaces.joint(free[shown], vectors))
        name = (f"{name[0]}, smoothed", name[1])
    groups = cuts.kmeans(vectors, k, rng)
    partition = _spread(task.rows[free], shown, groups, k, int(rng.randint(2**31 - 1)))
    candidates = [_Candidate(*name, partition)]
    if told >= _BELIEVED:
        candidates = _with_graphs(candidates[0], spaces, free, k, rng)
    views = np.array([cuts.kmeans(view, k, rng) for view in seen_views], dtype=np.int64).reshape(-1, len(shown))
    return _ranked(candidates, shown, views, k)


def _affordable(
    task: DiscoveryTask, seen: Look | None, deadline: Deadline, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw the rows that are looked at: as many of each kind as there is time for, and those that the network saw."""
    seconds = _SECONDS_A_PAIR + _SECONDS_A_PRODUCT * min(task.layout.n_columns, _WIDEST)
    most = int(min(_MOST_ROWS, max(_FEWEST_ROWS, np.sqrt(min(_TIME * deadline.room / seconds, _MOST_ROWS**2)))))
    some = sample_of_each(task.codes, most, rng)
    return some if seen is None else np.union1d(some, seen.places)


def _with_graphs(
    first: _Candidate, spaces: _Spaces, free: NDArray[np.intp], k: int, rng: np.random.RandomState
) -> list[_Candidate]:
    """Cut the graphs of the unlabelled rows, and put what is preferred first."""
    own = {space: placed[free] for space, placed in spaces.placed.items()}
    edges = {space: spaces.neighbours(rows) for space, rows in own.items()}
    judges = [indices[:, :_N_EDGES] for indices, _ in edges.values()]
    others = [
        _Candidate(space, method, cut).judged(judges, k)
        for space in own
        for method, cut in cuts.spectral_cuts(edges[space], k, rng)
    ]
    first = first.judged(judges, k)
    as_even = [other for other in others if abs(other.entropy - first.entropy) <= _AS_EVEN * np.log(k)]
    chosen = max([first, *as_even], key=lambda one: one.score)
    rest = sorted((one for one in [first, *others] if one is not chosen), key=lambda one: -one.score)
    return [chosen, *rest]


class _Spaces:
    """Ways to measure how far rows of a task are apart without the network."""

    def __init__(self, task: DiscoveryTask, rng: np.random.RandomState, device: torch.device | str) -> None:
        self._task, self._rng, self._device = task, rng, device
        columns = compact(task.rows)
        self.placed = {"columns": columns, "whitened": WhitenedSpace.learn(columns, task.codes, _RIDGE).place(columns)}

    def neighbours(self, rows: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Nearest neighbours among rows (n, d)."""
        jitter = _JITTER * rows.std() * self._rng.standard_normal(rows.shape)
        return cuts.neighbour_graph(rows + jitter, self._device)

    def told(self) -> float:
        """Say how much of what there is to tell of the known classes the edges among labelled rows tell.

        The columns alone are asked, since the other space was made with the known classes.
        """
        rows = sample(np.flatnonzero(self._task.codes >= 0), _MOST_LABELLED, self._rng)
        codes = np.unique(self._task.codes[rows], return_inverse=True)[1].astype(np.int64)
        if len(rows) <= _N_EDGES or codes.max() < 1:
            return 0.0
        edges = self.neighbours(self.placed["columns"][rows])[0][:, :_N_EDGES]
        return cuts.edge_information(codes, edges, int(codes.max()) + 1)[0] / cuts.entropy(codes)

    def joint(self, rows: NDArray[np.intp], vectors: Floats) -> Any:
        """Join the graphs of some rows in all spaces and among their vectors; csr_array of shape (n, n)."""
        every = [*(placed[rows] for placed in self.placed.values()), vectors]
        total = sum(fuzzy_graph(*self.neighbours(own)) for own in every)
        return csr_array(total)


def _smoothed(vectors: Floats, graph: Any) -> Floats:
    """Move vectors (n, d) towards those of their neighbours."""
    degrees = np.maximum(np.asarray(graph.sum(axis=1)).ravel(), np.finfo(float).tiny)
    means = csr_array(graph.multiply(1 / degrees[:, None]))
    smoothed = vectors
    for _ in range(_STEPS):
        smoothed = (1 - _OWN) * (means @ smoothed) + _OWN * vectors
    return smoothed


def _spread(rows: Floats, shown: NDArray[np.intp], groups: Codes, k: int, seed: int) -> Codes:
    """Give all rows (n, d) a group: a forest learns from those that were shown; (n,)."""
    if len(shown) == len(rows):
        return groups
    everywhere: Codes = Forest.grow(rows[shown], np.eye(k)[groups], seed).proba(rows).argmax(axis=1)
    everywhere[shown] = groups
    return everywhere


def _ranked(candidates: list[_Candidate], shown: NDArray[np.intp], views: Codes, k: int) -> Choice:
    """Take the first candidate, with its classes in the order of their sizes, and tell of all."""
    chosen = candidates[0].partition
    compared: list[tuple[_Candidate, Codes]] = [(one, one.partition[shown]) for one in candidates]
    compared += [(_Candidate(f"network, view {place + 1}", "k-means", view), view) for place, view in enumerate(views)]
    board = Records(
        {
            "rank": place + 1,
            "representation": candidate.representation,
            "method": candidate.method,
            "score": None if candidate.information is None else candidate.score,
            "information": candidate.information,
            "within": candidate.within,
            "agreement": float(adjusted_rand_score(chosen[shown], groups)),
        }
        for place, (candidate, groups) in enumerate(compared)
    )
    order = np.argsort(-np.bincount(chosen, minlength=k), kind="stable")
    return Choice(np.argsort(order)[chosen], board, shown, views)


def _overlaps(inside: NDArray[np.bool_], groups: Codes, k: int) -> Floats:
    """Overlap of classes, given by their rows (k, n), with the most similar of some groups (n,); (k,)."""
    theirs = groups == np.arange(k)[:, None]
    both = inside.astype(np.float64) @ theirs.T
    either = inside.sum(axis=1)[:, None] + theirs.sum(axis=1) - both
    overlaps: Floats = (both / np.maximum(1, either)).max(axis=1)
    return overlaps


def _only(partition: Codes) -> Choice:
    none = np.empty(0, dtype=np.intp)
    return Choice(partition, Records(), none, np.empty((0, 0), dtype=np.int64))
