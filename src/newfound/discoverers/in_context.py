"""InContextDiscoverer: no training; a network that has seen many tables looks at this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from newfound.clustering.centroids import centroid_proba, fit_centroids
from newfound.discoverers.base import BaseDiscoverer
from newfound.discoverers.fitted import Arrays, Discovery, Floats
from newfound.discoverers.parameters import check_integer, pick_device
from newfound.incontext.context import MAX_CLASSES
from newfound.incontext.look import Look, context_rows
from newfound.routing.forest import Forest
from newfound.routing.router import Mode
from newfound.selection.looking import look_at, spread
from newfound.selection.space import Space
from newfound.tables import TableEncoder
from newfound.tables.sampling import sample_in_proportion
from newfound.tables.task import DiscoveryTask

_N_INIT = 10  # starts of k-means
_N_LATENT = 8  # directions of the network's embedding that new rows get
_MOST_TAUGHT = 20_000  # rows that the forest of all classes learns from
_FEWEST_OF_CLASS = 3
LEAST_WEIGHT = 1e-6  # weight of a class that no tree speaks for


@dataclass(frozen=True, eq=False)
class ForestState:
    """Two forests that answer for the network, so that new rows need no context.

    Attributes
    ----------
    classes : Forest
        Probabilities of the known, then the novel classes.
    directions : Forest
        Where rows lie in the main directions of the network's embedding.
    n_known : int
    """

    classes: Forest
    directions: Forest
    n_known: int

    def proba(self, rows: Floats) -> Floats:
        """Probabilities of the known, then the novel classes; (n, d) to (n, n_classes)."""
        return _shares(self.classes.proba(rows))

    def novel_proba(self, rows: Floats) -> Floats:
        """Probabilities of the novel classes alone; (n, d) to (n, n_novel)."""
        return _shares(self.classes.proba(rows)[:, self.n_known :])

    def latent(self, rows: Floats) -> Floats:
        """Rows in the directions of the embedding; (n, d) to (n, n_latent)."""
        return self.directions.proba(rows)

    def arrays(self) -> Arrays:
        """Arrays for the model file."""
        return self.classes.arrays("classes.") | self.directions.arrays("directions.")


def _shares(weights: Floats) -> Floats:
    """Weights (n, m) as shares of their sums, all alike where there is none."""
    some = weights + LEAST_WEIGHT
    shares: Floats = some / some.sum(axis=1, keepdims=True)
    return shares


class InContextDiscoverer(BaseDiscoverer):
    """Novel classes at a look: nothing is trained on the table.

    A network that was trained on synthetic tables alone is shown the labelled and the unlabelled rows together, and
    gives each row a vector: rows of one class lie in one direction. The unlabelled rows are grouped by these vectors.
    Of large tables the network sees a sample. A forest learns what was found, so that all other rows, and new ones,
    get their classes without another look.

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has the network estimate it.
    unlabelled : {"novel", "mixed", "auto"}, default="auto"
        What the unlabelled rows are: all of novel classes, or mixed with rows of known classes, which then get their
        known class. "auto" finds out, and ``unlabelled_reason_`` says how.
    n_views : int, default=2
        How often the network looks, each time with other random names for columns, levels and classes.
    encoder : TableEncoder or None, default=None
        How the table is prepared; None is ``TableEncoder()``.
    device : str, default="auto"
        "cpu", "cuda", or "auto" for a GPU where there is one.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    classes_, known_classes_, novel_classes_ : ndarray
        All classes, the known ones, then the novel ones (the largest first).
    labels_ : ndarray of shape (n,)
        Class of each training row: its known class, or the novel class found for it.
    n_classes_estimate_ : NClassesEstimate
        How many novel classes there may be, where ``n_novel_classes`` is "auto"; model files do not keep it.

    Notes
    -----
    The network takes at most 64 known classes. What it was trained on, and what it cannot do, is in its card:
    ``newfound.incontext.weights.weights_card()``.

    Examples
    --------
    >>> from newfound import InContextDiscoverer
    >>> from newfound.datasets import make_table
    >>> data = make_table(300, random_state=0)
    >>> model = InContextDiscoverer(n_novel_classes=3, random_state=0).fit(data.X_train, data.y_train)
    >>> model.n_novel_classes_
    3
    """

    _search_space: ClassVar[Mapping[str, Space]] = {}
    _most_known = MAX_CLASSES

    _state: ForestState

    def __init__(
        self,
        n_novel_classes: int | Literal["auto"] = "auto",
        *,
        unlabelled: Mode = "auto",
        n_views: int = 2,
        encoder: TableEncoder | None = None,
        device: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_novel_classes = n_novel_classes
        self.unlabelled = unlabelled
        self.n_views = n_views
        self.encoder = encoder
        self.device = device
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_integer("n_views", self.n_views, low=1)
        pick_device(self.device)

    def _learn(self, task: DiscoveryTask, rng: np.random.RandomState) -> Discovery:
        seen, found = self._look(task, rng)
        seed = int(rng.randint(2**31 - 1))
        novel = np.zeros((int((task.codes < 0).sum()), task.n_novel))
        if task.n_novel:
            codes = task.codes[seen]
            centroids, variance = fit_centroids(found.embedding, codes, task.n_novel, _N_INIT, rng)
            told = centroid_proba(found.embedding[codes < 0], centroids[-task.n_novel :], variance)
            novel = _spread(task, seen[codes < 0], told, seed)
        state = ForestState(
            _forest_of_classes(task, novel, rng),
            Forest.grow(task.rows[seen], _main_directions(found.embedding), seed),
            task.n_known,
        )
        groups = novel.argmax(axis=1) if task.n_novel else np.empty(0, dtype=np.int64)
        return Discovery(state, groups)

    def _look(self, task: DiscoveryTask, rng: np.random.RandomState) -> tuple[NDArray[np.intp], Look]:
        """Show a sample of the rows to the network; return their numbers, and what it says of them."""
        seen = context_rows(task, rng)
        return seen, look_at(task, seen, rng, n_views=self.n_views, device=pick_device(self.device))

    def _restore_state(self, arrays: Mapping[str, NDArray[Any]]) -> ForestState:
        n_known, n_columns = len(self.known_classes_), self.encoder_.layout_.n_columns
        classes = Forest.restore(arrays, "classes.", n_columns, n_known + self._n_found)
        return ForestState(classes, Forest.restore(arrays, "directions.", n_columns, None), n_known)


def _spread(task: DiscoveryTask, seen: NDArray[np.intp], told: Floats, seed: int) -> Floats:
    """Novel classes of all unlabelled rows, as by `spread`; the largest class first."""
    novel = spread(task, seen, told, seed)
    if len(seen) == len(novel):
        return novel  # classes of a k-means come in the order of their sizes
    novel = _shares(novel)
    sizes = np.bincount(novel.argmax(axis=1), minlength=task.n_novel)
    return novel[:, np.argsort(-sizes, kind="stable")]


def _forest_of_classes(task: DiscoveryTask, novel: Floats, rng: np.random.RandomState) -> Forest:
    """Grow a forest that knows all classes: the known ones, and the novel ones (n_unlabelled, n_novel) as found."""
    targets = np.zeros((len(task.codes), task.n_known + task.n_novel))
    labelled = np.flatnonzero(task.codes >= 0)
    targets[labelled, task.codes[labelled]] = 1.0
    targets[task.codes < 0, task.n_known :] = novel
    taught = sample_in_proportion(task.codes, _MOST_TAUGHT, _FEWEST_OF_CLASS, rng)
    return Forest.grow(task.rows[taught], targets[taught], int(rng.randint(2**31 - 1)))


def _main_directions(embedding: Floats) -> Floats:
    """Principal components of the embedding; (n, e) to (n, n_latent)."""
    centred = embedding - embedding.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    places: Floats = centred @ directions[:_N_LATENT].T
    return places
