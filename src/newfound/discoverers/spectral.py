"""SpectralDiscoverer: spectral clustering of the unlabelled rows, the paper's unsupervised competitor."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import SpectralClustering
from sklearn.neighbors import KNeighborsClassifier

from newfound.discoverers.fitted import Arrays, Codes, Discovery, Floats
from newfound.discoverers.neighbour import NeighbourDiscoverer
from newfound.routing.router import Mode
from newfound.selection.space import ENCODINGS, Whole
from newfound.tables import TableEncoder
from newfound.tables.task import DiscoveryTask


@dataclass(frozen=True, eq=False)
class VoterState:
    """Training rows that vote, the nearest ones on each new row.

    Attributes
    ----------
    voters : ndarray of shape (m, d)
    codes : ndarray of shape (m,), int64
        Their classes, known or novel.
    n_known, n_novel, n_neighbors : int
        Number of known and of novel classes, and of the voters on a row.
    """

    voters: Floats
    codes: Codes
    n_known: int
    n_novel: int
    n_neighbors: int

    def proba(self, rows: Floats) -> Floats:
        """Shares of the votes for the known, then the novel classes; (n, d) to (n, n_classes)."""
        return self._votes(rows, 0)

    def novel_proba(self, rows: Floats) -> Floats:
        """Shares of the votes where only rows of novel classes vote; (n, d) to (n, n_novel)."""
        return self._votes(rows, self.n_known)

    def latent(self, rows: Floats) -> Floats:
        """Return the rows themselves."""
        return rows

    def arrays(self) -> Arrays:
        """Arrays for the model file."""
        return {"voters": self.voters, "voter_codes": self.codes.astype(np.int32)}

    def _votes(self, rows: Floats, first_class: int) -> Floats:
        """Votes of the nearest rows of the classes from ``first_class`` on; (n, d) to (n, number of these classes)."""
        may_vote = self.codes >= first_class
        n_neighbors = min(self.n_neighbors, int(may_vote.sum()))
        # The nearer a voter the more it counts, so that a training row keeps its own class.
        classifier = KNeighborsClassifier(n_neighbors, weights="distance")
        classifier.fit(self.voters[may_vote], self.codes[may_vote] - first_class)
        votes = np.zeros((len(rows), self.n_known + self.n_novel - first_class))
        votes[:, classifier.classes_] = classifier.predict_proba(rows)
        return votes


class SpectralDiscoverer(NeighbourDiscoverer):
    """Novel classes by spectral clustering of a neighbour graph; new rows by the vote of their neighbours.

    The known classes do not influence which novel classes are found, so it also works without any.

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has it estimated.
    unlabelled : {"novel", "mixed", "auto"}, default="novel"
        What the unlabelled rows are: all of novel classes, or mixed with rows of known classes, which then get their
        known class. "auto" finds out, and ``unlabelled_reason_`` says how.
    n_neighbors : int, default=10
        Neighbours in the graph, and of a new row in the vote.
    max_rows : int, default=20000
        Of more unlabelled (or labelled) rows, a random sample of this size is clustered (or votes).
    encoder : TableEncoder or None, default=None
        How the table is prepared; None is ``TableEncoder()``.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    classes_, known_classes_, novel_classes_ : ndarray
        All classes, the known ones, then the novel ones (the largest first).
    labels_ : ndarray of shape (n,)
        Class of each training row: its known class, or the novel class found for it.

    Examples
    --------
    >>> from newfound import SpectralDiscoverer
    >>> model = SpectralDiscoverer(n_novel_classes=2, n_neighbors=1, random_state=0)
    >>> model.fit([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]], [0, 0, -1, -1, -1, -1]).labels_.tolist()
    [0, 0, 1, 1, 2, 2]
    """

    _search_space = ENCODINGS | {"n_neighbors": Whole(3, 50, log=True)}

    def __init__(
        self,
        n_novel_classes: int | Literal["auto"] = "auto",
        *,
        unlabelled: Mode = "novel",
        n_neighbors: int = 10,
        max_rows: int = 20_000,
        encoder: TableEncoder | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_novel_classes = n_novel_classes
        self.unlabelled = unlabelled
        self.n_neighbors = n_neighbors
        self.max_rows = max_rows
        self.encoder = encoder
        self.random_state = random_state

    def _learn(self, task: DiscoveryTask, rng: np.random.RandomState) -> Discovery:
        known, sample = self._sample(task.codes, task.n_novel, rng)
        found = self._cluster(task.rows[sample], task.n_novel, rng)
        voters = np.concatenate([task.rows[known], task.rows[sample]])
        codes = np.concatenate([task.codes[known], task.n_known + found])
        state = VoterState(voters, codes, task.n_known, task.n_novel, self.n_neighbors)
        return Discovery(state, state.novel_proba(task.unlabelled_rows).argmax(axis=1) if task.n_novel else found)

    def _cluster(self, rows: Floats, n_novel: int, rng: np.random.RandomState) -> Codes:
        """Spectral clusters 0, 1, ..., the largest first; (n, d) to (n,)."""
        if n_novel in (0, 1, len(rows)):
            return np.arange(len(rows)) % max(1, n_novel)
        with warnings.catch_warnings():
            # A graph in several pieces is no mistake of the user: the pieces are what is sought.
            warnings.filterwarnings("ignore", message="Graph is not fully connected")
            found = SpectralClustering(
                n_novel,
                affinity="nearest_neighbors",
                n_neighbors=min(self.n_neighbors, len(rows) - 1) + 1,  # scikit-learn counts the row itself
                random_state=int(rng.randint(2**31 - 1)),
                assign_labels="cluster_qr",
            ).fit_predict(rows)
        by_size = np.argsort(-np.bincount(found, minlength=n_novel), kind="stable")
        ordered: Codes = np.argsort(by_size)[found].astype(np.int64)
        return ordered

    def _restore_state(self, arrays: Mapping[str, NDArray[Any]]) -> VoterState:
        voters, codes = self._restore_voters(arrays)
        return VoterState(voters, codes, len(self.known_classes_), self._n_found, self.n_neighbors)
