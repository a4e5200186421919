"""NCDKMeans: k-means that starts away from the known classes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from newfound.clustering.centroids import fit_centroids
from newfound.discoverers.centroid import CentroidDiscoverer
from newfound.discoverers.fitted import Codes, Floats
from newfound.routing.router import Mode
from newfound.tables import TableEncoder


class NCDKMeans(CentroidDiscoverer):
    """Novel classes by k-means whose first centroids are drawn far from the known classes.

    The centroids of the known classes are their means and stay where they are. Those of the novel classes start at
    unlabelled rows, drawn with a probability in proportion to the squared distance to the nearest centroid, known or
    drawn before (k-means++ that goes on from the known classes), and then move by k-means on the unlabelled rows.

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has it estimated.
    unlabelled : {"novel", "mixed", "auto"}, default="novel"
        What the unlabelled rows are: all of novel classes, or mixed with rows of known classes, which then get their
        known class. "auto" finds out, and ``unlabelled_reason_`` says how.
    n_init : int, default=10
        Starts of k-means, of which the best is kept.
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
    centroids_ : ndarray of shape (n_classes, d)
        Centroid of each class in the encoded table.

    References
    ----------
    Troisemaine et al., "A Practical Approach to Novel Class Discovery in Tabular Data", Data Mining and Knowledge
    Discovery, 2024.

    Examples
    --------
    >>> from newfound import NCDKMeans
    >>> X, y = [[0.0], [0.1], [2.0], [2.1], [5.0], [5.1], [5.2], [9.0], [9.1]], [0, 0, 1, 1, -1, -1, -1, -1, -1]
    >>> NCDKMeans(n_novel_classes=2, random_state=0).fit(X, y).labels_.tolist()
    [0, 0, 1, 1, 2, 2, 2, 3, 3]
    """

    def __init__(
        self,
        n_novel_classes: int | Literal["auto"] = "auto",
        *,
        unlabelled: Mode = "novel",
        n_init: int = 10,
        encoder: TableEncoder | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_novel_classes = n_novel_classes
        self.unlabelled = unlabelled
        self.n_init = n_init
        self.encoder = encoder
        self.random_state = random_state

    def _find_centroids(
        self, latent: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState
    ) -> tuple[Floats, float]:
        return fit_centroids(latent, codes, n_novel, self.n_init, rng, around_known=True)
