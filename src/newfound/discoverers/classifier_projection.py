"""ClassifierProjection: k-means where a classifier of the known classes projects the rows, the paper's baseline."""

from __future__ import annotations

from typing import Any, Literal

from newfound.discoverers.latent_kmeans import LatentKMeans
from newfound.discoverers.parameters import check_choice, pick_device
from newfound.learning.members import MemberSettings
from newfound.learning.projection import ClassifierTrainer
from newfound.routing.router import Mode
from newfound.tables import TableEncoder

_PROJECTIONS = ("before", "after")


class ClassifierProjection(LatentKMeans):
    """Novel classes by k-means in the last hidden layer of a classifier of the known classes.

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has it estimated.
    unlabelled : {"novel", "mixed", "auto"}, default="novel"
        What the unlabelled rows are: all of novel classes, or mixed with rows of known classes, which then get their
        known class. "auto" finds out, and ``unlabelled_reason_`` says how.
    hidden_layers : list of int or None, default=None
        Widths of the classifier's hidden layers; None is [d/2, d/3] for d encoded columns, at
        least 4 and at most 1,024 wide.
    dropout : float, default=0.2
        Share of hidden values zeroed in training.
    learning_rate : float, default=0.001
        Learning rate of AdamW.
    epochs : int, default=50
        Passes over the labelled rows.
    batch_size : int, default=128
        Largest number of rows in a step.
    projection : {"before", "after"}, default="before"
        Where in the last hidden layer k-means works: before its activation, as the code that the paper's authors
        published, or after it.
    n_init : int, default=10
        Starts of k-means, of which the best is kept.
    n_members : int, default=1
        Networks trained at once. With more than one, predictions are the members' common vote.
    self_training : int, default=0
        Rounds of self-training after that: each keeps the half of every novel class that the members are surest of, and
        re-trains the encoder under one classifier of the known and the novel classes, which then predicts.
    encoder : TableEncoder or None, default=None
        How the table is prepared; None is ``TableEncoder()``.
    device : str, default="auto"
        "cpu", "cuda", or "auto" for a GPU where there is one.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    classes_, known_classes_, novel_classes_ : ndarray
        All classes, the known ones, then the novel ones (the largest first).
    labels_ : ndarray of shape (n,)
        Class of each training row: its known class, or the novel class found for it.
    member_labels_ : ndarray of shape (n_members, n)
        The same according to each member alone.
    history_ : list of dict
        Loss of each epoch.
    centroids_ : ndarray of shape (n_members, n_classes, n_latent)
        Centroid of each class in each member's projection; not there after self-training, which needs none.

    Examples
    --------
    >>> import numpy as np
    >>> from newfound import ClassifierProjection
    >>> X = np.repeat(np.eye(4), 20, axis=0)
    >>> y = np.repeat([0, 1, -1, -1], 20)
    >>> ClassifierProjection(n_novel_classes=2, random_state=0).fit(X, y).classes_.tolist()
    [0, 1, 2, 3]
    """

    def __init__(
        self,
        n_novel_classes: int | Literal["auto"] = "auto",
        *,
        unlabelled: Mode = "novel",
        hidden_layers: list[int] | None = None,
        dropout: float = 0.2,
        learning_rate: float = 0.001,
        epochs: int = 50,
        batch_size: int = 128,
        projection: Literal["before", "after"] = "before",
        n_init: int = 10,
        n_members: int = 1,
        self_training: int = 0,
        encoder: TableEncoder | None = None,
        device: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_novel_classes = n_novel_classes
        self.unlabelled = unlabelled
        self.hidden_layers = hidden_layers
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.projection = projection
        self.n_init = n_init
        self.n_members = n_members
        self.self_training = self_training
        self.encoder = encoder
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("projection", self.projection, _PROJECTIONS)

    def _trainer(self, settings: MemberSettings) -> ClassifierTrainer:
        return ClassifierTrainer(settings, pick_device(self.device))
