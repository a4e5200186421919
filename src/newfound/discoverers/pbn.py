"""PBN: projection-based discovery, k-means where an encoder has learned to classify known rows and to restore all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from newfound.discoverers.latent_kmeans import LatentKMeans
from newfound.discoverers.parameters import check_real, pick_device
from newfound.learning.members import MemberSettings
from newfound.learning.projection import PBNTrainer
from newfound.routing.router import Mode
from newfound.selection.space import Real, Space
from newfound.tables import TableEncoder


class PBN(LatentKMeans):
    """Novel classes by k-means in the latent space of an encoder that serves two ends.

    What the encoder makes of a row must tell the known classes apart and must suffice to restore the row: the first
    teaches it what makes a class, the second keeps it from forgetting what only novel classes need. Latent rows have
    unit length, in training as in prediction, so that k-means compares directions.

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has it estimated.
    unlabelled : {"novel", "mixed", "auto"}, default="novel"
        What the unlabelled rows are: all of novel classes, or mixed with rows of known classes, which then get their
        known class. "auto" finds out, and ``unlabelled_reason_`` says how.
    w : float, default=0.05
        Weight of the cross entropy on labelled rows, from 0 to 1; the rest goes to the mean squared error of the
        restored rows.
    learning_rate : float, default=0.003
        Learning rate of AdamW.
    dropout : float, default=0.1
        Share of hidden values zeroed in training.
    hidden_layers : list of int or None, default=None
        Widths of the encoder's layers, the last of which is the latent space; the decoder mirrors them. None is [d, d]
        for d encoded columns, but at least 64 and at most 1,024 wide.
    epochs : int, default=30
        Passes over the table.
    batch_size : int, default=512
        Rows in a step. Small tables are cut into smaller batches; where labelled or unlabelled rows are rare, they are
        repeated so that a step has enough of both, and has more rows.
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
        Seed; the same seed gives the same labels on the same machine.
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
        Losses of each epoch.
    centroids_ : ndarray of shape (n_members, n_classes, n_latent)
        Centroid of each class in each member's latent space; not there after self-training, which needs none.

    References
    ----------
    Troisemaine et al., "A Practical Approach to Novel Class Discovery in Tabular Data", Data Mining and Knowledge
    Discovery, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from newfound import PBN
    >>> X = np.repeat(np.eye(4), 20, axis=0)
    >>> y = np.repeat([0, 1, -1, -1], 20)
    >>> PBN(n_novel_classes=2, random_state=0).fit(X, y).classes_.tolist()
    [0, 1, 2, 3]
    """

    _own_parameters = LatentKMeans._own_parameters | {"w"}
    # Nothing in which networks of one pack may not differ.
    _search_space: ClassVar[Mapping[str, Space]] = {
        "w": Real(0.01, 0.9, log=True),
        "learning_rate": Real(1e-4, 1e-2, log=True),
        "dropout": Real(0, 0.6),
    }

    def __init__(
        self,
        n_novel_classes: int | Literal["auto"] = "auto",
        *,
        unlabelled: Mode = "novel",
        w: float = 0.05,
        learning_rate: float = 0.003,
        dropout: float = 0.1,
        hidden_layers: list[int] | None = None,
        epochs: int = 30,
        batch_size: int = 512,
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
        self.w = w
        self.learning_rate = learning_rate
        self.dropout = dropout
        self.hidden_layers = hidden_layers
        self.epochs = epochs
        self.batch_size = batch_size
        self.n_init = n_init
        self.n_members = n_members
        self.self_training = self_training
        self.encoder = encoder
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("w", self.w, low=0, high=1)

    def _trainer(self, settings: MemberSettings) -> PBNTrainer:
        return PBNTrainer(settings, pick_device(self.device))
