"""Candidates: partitions of the unlabelled rows, each a way to measure distances (a space) and a way to cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering

from newfound.clustering import partitions as cuts
from newfound.clustering import representations as banks
from newfound.clustering.whitening import WhitenedSpace
from newfound.deadline import NEVER, Deadline
from newfound.incontext.look import Look
from newfound.tables.layout import Layout

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Name = tuple[str, str]

_BANK = {"columns": "columns", "whitened 0.1": "whitened 0.1", "class mix of each value": "class mix"}
SPACES = ("columns", "whitened", "whitened 0.1", "class mix", "network", "learned", "joined")
METHODS = ("k-means", "Gaussian mixture", "average linkage", "Ward linkage", "spectral 0.1", "spectral 1")
PAIRS: Name = ("network", "pair likelihood")
CONSENSUS: Name = ("all", "consensus")
VOTERS = frozenset(
    {
        *((space, "k-means") for space in ("columns", "whitened", "network", "learned", "joined")),
        *((space, "spectral 1") for space in ("whitened", "network", "joined")),
        ("network", "average linkage"),
    }
)
_MOST_ROUNDS = 30
_JITTER = 1e-6  # of the spread: equal rows get neighbours at random instead of in the order of the table
_MOST_COLUMNS = 100
_RIDGE = 0.5
N_EDGES = 10
"""Neighbours of each row that vote on a partition."""


@dataclass(frozen=True, eq=False)
class Scene:
    """The rows among which candidates are made and compared: those that the network has looked at.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        Encoded rows.
    codes : ndarray of shape (n,), int64
        Known class of each row, -1 where unlabelled.
    layout : Layout
    n_classes : int
        Number of classes to cut the unlabelled rows into.
    look : Look
        What the network says of the rows.
    """

    rows: Floats
    codes: Codes
    layout: Layout
    n_classes: int
    look: Look

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which rows are unlabelled; (n,)."""
        return self.codes < 0


def spaces_of(scene: Scene, rng: np.random.RandomState) -> dict[str, Floats]:
    """Measure the rows in several ways; name to (n, m). Spaces that the table does not allow are left out."""
    found = {}
    for name, placed in banks.representations(scene.rows, scene.codes, scene.layout, rng, frozenset(_BANK)):
        found[_BANK[name]] = placed
    columns = found["columns"]
    found["whitened"] = WhitenedSpace.learn(columns, scene.codes, _RIDGE).place(columns)
    found["network"] = _main(scene.look.embedding)
    found["learned"] = _main(scene.look.learned)
    found["joined"] = _main(np.hstack([_unit(found["whitened"]), _unit(found["network"])]))
    return found


def cut(
    placed: Floats, n_classes: int, rng: np.random.RandomState, methods: tuple[str, ...] = METHODS
) -> dict[str, Codes]:
    """Cut rows of a space (n, m) by each method; a method that so few rows do not allow is left out."""
    own = placed + _JITTER * placed.std() * rng.standard_normal(placed.shape)
    graph = cuts.neighbour_graph(own) if any(method.startswith("spectral") for method in methods) else None
    return dict(cuts.partitions(own, graph, n_classes, rng, frozenset(methods)))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Partitions of the unlabelled rows of a scene.

    Attributes
    ----------
    names : list of (space, method)
    partitions : ndarray of shape (c, n_unlabelled), int64
    spaces : dict of name to ndarray of shape (n, m)
        Places of all rows, labelled ones too.
    """

    names: list[Name]
    partitions: Codes
    spaces: Mapping[str, Floats]


def make_candidates(
    scene: Scene, rng: np.random.RandomState, plan: Mapping[str, tuple[str, ...]], deadline: Deadline = NEVER
) -> Candidates:
    """Make the candidates of a plan.

    Parameters
    ----------
    scene : Scene
        With at least two classes, and two unlabelled rows more than classes.
    rng : RandomState
    plan : mapping of space to methods
        `PAIRS` and `CONSENSUS` are added.
    deadline : Deadline
        After which no further space is cut; the first always is.
    """
    spaces = spaces_of(scene, rng)
    found: dict[Name, Codes] = {}
    for space, methods in plan.items():
        if space not in spaces or (found and deadline.passed):
            continue
        for method, partition in cut(spaces[space][scene.free], scene.n_classes, rng, methods).items():
            found[space, method] = partition
    start = found.get(("network", "k-means"), next(iter(found.values())))
    found[PAIRS] = by_likelihood(scene.look.pair_logits(scene.free), start, scene.n_classes)
    found[CONSENSUS] = consensus([found[name] for name in found if name in VOTERS], scene.n_classes)
    return Candidates(list(found), np.array(list(found.values())), spaces)


def by_likelihood(logits: Floats, start: Codes, n_classes: int) -> Codes:
    """Move rows to the class whose rows they most likely are of, until nothing moves.

    Parameters
    ----------
    logits : ndarray of shape (n, n)
        Log odds that two rows are of one class; the diagonal does not count.
    start : ndarray of shape (n,), int64
    n_classes : int

    Returns
    -------
    ndarray of shape (n,), int64
        Classes may have lost all their rows.
    """
    own = logits - np.diag(np.diag(logits))
    found, before = start, np.inf
    for _ in range(_MOST_ROUNDS):
        member = (found[:, None] == np.arange(n_classes)).astype(np.float64)
        pull = own @ member
        gain = float(pull.max(axis=1).sum() - np.einsum("ij,ij->", pull, member))
        if gain <= 0 or gain >= before:  # all rows move at once, so they may go back and forth
            break
        before, found = gain, pull.argmax(axis=1)
    return found


def consensus(voters: list[Codes], n_classes: int) -> Codes:
    """Join rows that many partitions (n,) put into one class, by average linkage; (n,)."""
    together = np.zeros((len(voters[0]),) * 2, dtype=np.float32)
    for partition in voters:
        together += partition[:, None] == partition
    linkage = AgglomerativeClustering(n_classes, metric="precomputed", linkage="average")
    joined: Codes = linkage.fit_predict(1.0 - together / len(voters)).astype(np.int64)
    return joined


def _unit(placed: Floats) -> Floats:
    """Centre places and scale them to a mean squared length of 1."""
    centred = placed - placed.mean(axis=0)
    scaled: Floats = centred / np.sqrt(max(float((centred**2).sum(axis=1).mean()), np.finfo(float).tiny))
    return scaled


def _main(placed: Floats) -> Floats:
    """Centred places, or their main directions where there are many; (n, m) to (n, at most 100)."""
    centred: Floats = placed - placed.mean(axis=0)
    n, m = centred.shape
    if m <= _MOST_COLUMNS:
        return centred
    if n < m:  # the smaller of the two products
        values, vectors = np.linalg.eigh(centred @ centred.T)
        places: Floats = vectors * np.sqrt(np.maximum(values, 0.0))
    else:
        places = centred @ np.linalg.eigh(centred.T @ centred)[1]
    return places[:, ::-1][:, :_MOST_COLUMNS]
