"""TabularNCD: the method of the paper."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal

from newfound.discoverers.packed import PackedDiscoverer
from newfound.discoverers.parameters import check_choice, check_dropout, check_integer, check_real, pick_device
from newfound.errors import InputError
from newfound.learning.members import MemberSettings
from newfound.learning.tabular_ncd import TabularNCDTrainer
from newfound.nn import ACTIVATIONS
from newfound.routing.router import Mode
from newfound.selection.space import Choice, Real, Space, Whole
from newfound.tables import TableEncoder

STEPS = ("ssl", "ce", "bce", "mse")


class TabularNCD(PackedDiscoverer):
    """Novel class discovery by a shared encoder with a classification and a clustering head.

    First, an encoder is pre-trained on all rows, without labels (VIME). Then two heads are trained on it in turn. The
    classification head separates the known classes from each other, and from one more class that stands for all
    unlabelled rows. The clustering head gives similar unlabelled rows the same novel class. Both are also trained to
    give the same answer for a row and for a copy of it that was moved towards a neighbour (SMOTE-NC).

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has it estimated.
    unlabelled : {"novel", "mixed", "auto"}, default="novel"
        What the unlabelled rows are: all of novel classes, or mixed with rows of known classes, which then get their
        known class. "auto" finds out, and ``unlabelled_reason_`` says how.
    top_k : float or None, default=None
        Positives that each unlabelled row chooses in a batch, in percent of half a batch (the paper's reading). None
        chooses a third of the mean number of rows that a novel class has in a batch.
    w1, w2 : float, default=0.8
        Weight of the classification and of the pairwise loss, from 0 to 1; the rest goes to consistency.
    lr_classification, lr_clustering : float, default=0.005
        Learning rates of the two optimisers.
    k_neighbors : int, default=10
        Neighbours towards which views are moved.
    dropout : float, default=0.1
        Share of hidden values zeroed in training.
    activation : {"relu", "sigmoid", "tanh"}, default="relu"
        Activation between the encoder's layers.
    hidden_layers : list of int or None, default=None
        Widths of the encoder's layers. None is the paper's [d, d] for d encoded columns, but at
        least 16 and at most 1,024 wide.
    epochs, pretrain_epochs : int, default=30
        Passes over the table in the joint training and in the pre-training.
    batch_size : int, default=512
        Rows in a step of the joint training. Small tables are cut into smaller batches; where labelled or unlabelled
        rows are rare, they are repeated so that a step has enough of both, and has more rows.
    n_members : int, default=1
        Networks trained at once. With more than one, predictions are the members' common vote.
    self_training : int, default=0
        Rounds of self-training after that: each keeps the half of every novel class that the members are surest of, and
        re-trains the encoder under one classifier of the known and the novel classes, which then predicts.
    similarity_threshold : float or None, default=None
        Make pairs positive from this cosine similarity on, instead of by `top_k`.
    without : collection of {"ssl", "ce", "bce", "mse"}, default=()
        Parts of the method to leave out: pre-training, cross entropy, pairwise loss, consistency.
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
    n_novel_classes_ : int
        Number of novel classes.
    labels_ : ndarray of shape (n,)
        Class of each training row: its known class, or the novel class found for it.
    member_labels_ : ndarray of shape (n_members, n)
        The same according to each member alone.
    history_ : list of dict
        Losses of each epoch; ``pandas.DataFrame(model.history_)`` makes a table of it.
    encoder_ : TableEncoder
        The fitted encoder of the table.

    References
    ----------
    Troisemaine et al., "A Method for Discovering Novel Classes in Tabular Data", IEEE ICKG 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from newfound import TabularNCD
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(centre, 0.3, (60, 2)) for centre in ([0, 0], [4, 0], [0, 4], [4, 4])])
    >>> y = np.repeat(["a", "b", None, None], 60)
    >>> model = TabularNCD(n_novel_classes=2, random_state=0).fit(X, y)
    >>> model.classes_.tolist()
    ['a', 'b', 'novel_0', 'novel_1']
    """

    _own_parameters = frozenset(
        ["top_k", "similarity_threshold", "w1", "w2", "lr_classification", "lr_clustering", "k_neighbors", "dropout"]
    )
    # The paper's ranges, but for learning rates: those from 1e-6 to 1e-4 learn nothing in 30 epochs.
    _search_space: ClassVar[Mapping[str, Space]] = {
        "top_k": Real(1, 40, log=True, or_none=True),
        "w1": Real(0.1, 1),
        "w2": Real(0.1, 1),
        "lr_classification": Real(1e-4, 1e-2, log=True),
        "lr_clustering": Real(1e-4, 1e-2, log=True),
        "k_neighbors": Whole(1, 50),
        "dropout": Real(0, 0.6),
        "activation": Choice(list(ACTIVATIONS)),
    }

    def __init__(
        self,
        n_novel_classes: int | Literal["auto"] = "auto",
        *,
        unlabelled: Mode = "novel",
        top_k: float | None = None,
        w1: float = 0.8,
        w2: float = 0.8,
        lr_classification: float = 0.005,
        lr_clustering: float = 0.005,
        k_neighbors: int = 10,
        dropout: float = 0.1,
        activation: str = "relu",
        hidden_layers: list[int] | None = None,
        epochs: int = 30,
        pretrain_epochs: int = 30,
        batch_size: int = 512,
        n_members: int = 1,
        self_training: int = 0,
        similarity_threshold: float | None = None,
        without: Collection[str] = (),
        encoder: TableEncoder | None = None,
        device: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_novel_classes = n_novel_classes
        self.unlabelled = unlabelled
        self.top_k = top_k
        self.w1 = w1
        self.w2 = w2
        self.lr_classification = lr_classification
        self.lr_clustering = lr_clustering
        self.k_neighbors = k_neighbors
        self.dropout = dropout
        self.activation = activation
        self.hidden_layers = hidden_layers
        self.epochs = epochs
        self.pretrain_epochs = pretrain_epochs
        self.batch_size = batch_size
        self.n_members = n_members
        self.self_training = self_training
        self.similarity_threshold = similarity_threshold
        self.without = without
        self.encoder = encoder
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.top_k is not None:
            check_real("top_k", self.top_k, low=0, high=100, open_low=True)
        if self.similarity_threshold is not None:
            check_real("similarity_threshold", self.similarity_threshold, low=-1, high=1)
        for name in ("w1", "w2"):
            check_real(name, getattr(self, name), low=0, high=1)
        for name in ("lr_classification", "lr_clustering"):
            check_real(name, getattr(self, name), low=0, open_low=True)
        for name in ("k_neighbors", "batch_size"):
            check_integer(name, getattr(self, name), low=1)
        for name in ("epochs", "pretrain_epochs"):
            check_integer(name, getattr(self, name), low=0)
        check_dropout(self.dropout)
        check_choice("activation", self.activation, ACTIVATIONS)
        steps = self.without if isinstance(self.without, Collection) and not isinstance(self.without, str) else [None]
        if any(step not in STEPS for step in steps):
            raise InputError.of("without", self.without, f"a list of some of {', '.join(STEPS)}")

    def _trainer(self, settings: MemberSettings) -> TabularNCDTrainer:
        return TabularNCDTrainer(settings, pick_device(self.device))
