"""KMeansDiscoverer: k-means on the unlabelled rows, the paper's unsupervised competitor."""

from __future__ import annotations

from typing import Any, Literal

from newfound.discoverers.centroid import CentroidDiscoverer
from newfound.routing.router import Mode
from newfound.tables import TableEncoder


class KMeansDiscoverer(CentroidDiscoverer):
    """Novel classes by k-means on the encoded unlabelled rows; known classes by their means.

    The known classes do not influence which novel classes are found, so it also works without any. A new row goes to
    the nearest centroid.

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

    Examples
    --------
    >>> from newfound import KMeansDiscoverer
    >>> model = KMeansDiscoverer(n_novel_classes=2, random_state=0)
    >>> model.fit([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]], [0, 0, -1, -1, -1, -1]).labels_.tolist()
    [0, 0, 1, 1, 2, 2]
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
