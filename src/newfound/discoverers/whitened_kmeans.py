"""WhitenedKMeans: k-means on rows that are whitened by the known classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from numpy.typing import NDArray

from newfound.clustering.whitening import WhitenedSpace
from newfound.discoverers.centroid import CentroidDiscoverer
from newfound.discoverers.parameters import check_real
from newfound.routing.router import Mode
from newfound.selection.space import ENCODINGS, Real
from newfound.tables import TableEncoder
from newfound.tables.state import finite_floats
from newfound.tables.task import DiscoveryTask


class WhitenedKMeans(CentroidDiscoverer):
    """Novel classes by k-means on rows whitened by the known classes.

    What varies within the known classes says little about what makes a class. So the rows are whitened first: they are
    rescaled such that every known class varies equally in all directions. Then k-means runs on the unlabelled rows.
    There is no training, and a fit takes seconds at most. Of rows that lie far out only the direction counts, so that
    rare values cannot become a class of their own.

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has it estimated.
    unlabelled : {"novel", "mixed", "auto"}, default="novel"
        What the unlabelled rows are: all of novel classes, or mixed with rows of known classes, which then get their
        known class. "auto" finds out, and ``unlabelled_reason_`` says how.
    ridge : float, default=0.5
        How far whitening goes: added to the within-class covariance as a multiple of its mean variance, on top of what
        the number of labelled rows asks for (Ledoit and Wolf). 0 whitens entirely, 10 hardly at all.
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
        Centroid of each class among the whitened rows, which `transform` gives.

    Examples
    --------
    >>> import numpy as np
    >>> from newfound import WhitenedKMeans
    >>> X = np.repeat(np.eye(4), [5, 5, 5, 4], axis=0)
    >>> y = np.repeat(["ant", "bee", None, None], [5, 5, 5, 4])
    >>> WhitenedKMeans(n_novel_classes=2, random_state=0).fit(X, y).labels_[::5].tolist()
    ['ant', 'bee', 'novel_0', 'novel_1']
    """

    _search_space = ENCODINGS | {"ridge": Real(0.01, 10, log=True)}

    def __init__(
        self,
        n_novel_classes: int | Literal["auto"] = "auto",
        *,
        unlabelled: Mode = "novel",
        ridge: float = 0.5,
        n_init: int = 10,
        encoder: TableEncoder | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_novel_classes = n_novel_classes
        self.unlabelled = unlabelled
        self.ridge = ridge
        self.n_init = n_init
        self.encoder = encoder
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("ridge", self.ridge, low=0)

    def _space(self, task: DiscoveryTask) -> WhitenedSpace:
        return WhitenedSpace.learn(task.rows, task.codes, self.ridge)

    def _restore_space(self, arrays: Mapping[str, NDArray[Any]]) -> WhitenedSpace:
        d = self.encoder_.layout_.n_columns
        return WhitenedSpace(
            centre=finite_floats(arrays, "centre", (d,)),
            mapping=finite_floats(arrays, "mapping", (d, d)),
            softening=float(finite_floats(arrays, "softening", (1,), positive=True)[0]),
        )
