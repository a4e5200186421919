"""ClassifierProjection: k-means where a classifier of the known classes projects the rows, the paper's baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from newfound.clustering.centroids import centroid_proba, fit_centroids
from newfound.discoverers.base import Arrays, Codes, Floats
from newfound.discoverers.packed import PackedDiscoverer
from newfound.discoverers.parameters import check_dropout, check_integer, check_real
from newfound.learning.batches import shuffled_batches
from newfound.learning.losses import classification_loss
from newfound.learning.machine import prepared_for
from newfound.learning.optimisers import adamw
from newfound.learning.progress import Progress
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedMLP
from newfound.tables import TableEncoder
from newfound.tables.state import finite_floats

_MIN_WIDTH = 4


class ClassifierProjection(PackedDiscoverer):
    """Novel classes by k-means in the penultimate layer of a classifier of the known classes.

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has it estimated.
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
    n_init : int, default=10
        Starts of k-means, of which the best is kept.
    n_members : int, default=1
        Networks trained at once. With more than one, predictions are the members' common vote.
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
        Centroid of each class in each member's projection.

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
        hidden_layers: list[int] | None = None,
        dropout: float = 0.2,
        learning_rate: float = 0.001,
        epochs: int = 50,
        batch_size: int = 128,
        n_init: int = 10,
        n_members: int = 1,
        encoder: TableEncoder | None = None,
        device: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_novel_classes = n_novel_classes
        self.hidden_layers = hidden_layers
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.n_init = n_init
        self.n_members = n_members
        self.encoder = encoder
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_dropout(self.dropout)
        check_real("learning_rate", self.learning_rate, low=0, open_low=True)
        check_integer("epochs", self.epochs, low=0)
        check_integer("batch_size", self.batch_size, low=1)
        check_integer("n_init", self.n_init, low=1)

    def _default_layers(self, n_features: int) -> list[int]:
        return [max(_MIN_WIDTH, n_features // share) for share in (2, 3)]

    def _build(self, widths: list[int], n_known: int, n_novel: int, streams: MemberStreams | None) -> DiscoveryNetwork:
        encoder = PackedMLP(self.n_members, widths, dropout=self.dropout, activate_last=True, streams=streams)
        # The classifier knows of no novel class: k-means finds those in what the encoder makes of the rows.
        return DiscoveryNetwork(encoder, self.n_members, widths[-1], n_known, 0, streams)

    def _n_epochs(self) -> int:
        return self.epochs

    def _train(
        self, network: DiscoveryNetwork, rows: Tensor, codes: Tensor, streams: MemberStreams, progress: Progress
    ) -> None:
        labelled = (codes >= 0).nonzero()[:, 0]
        optimiser = adamw(network.parameters(), self.learning_rate)
        network.train()
        with prepared_for(self.n_members * self.batch_size * rows.shape[1], rows.device):
            for losses in progress.epochs("classification", self.epochs):
                for batch in shuffled_batches(labelled.shape[0], self.batch_size, streams):
                    index = labelled[batch]
                    loss = classification_loss(network.classification(network.encoder(rows[index])), codes[index])
                    optimiser.zero_grad()
                    loss.sum().backward()
                    optimiser.step()
                    losses.add(cross_entropy=loss)

    def _agree(self, rows: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState) -> Codes:
        latents = self._latents(rows)
        fitted = [fit_centroids(latent, codes, n_novel, self.n_init, rng) for latent in latents]
        self.centroids_ = np.stack([centroids for centroids, _ in fitted])
        self.variances_ = np.array([variance for _, variance in fitted])
        return super()._agree(rows, codes, n_novel, rng)

    def _latents(self, rows: Floats) -> Floats:
        """Each member's projection, (n, d) to (n_members, n, n_latent)."""
        return self._run(rows, lambda network, x: (network.encoder(x),))[0]

    def _member_proba(self, rows: Floats) -> tuple[Floats, Floats]:
        latents, n_known = self._latents(rows), len(self.known_classes_)
        members = list(zip(latents, self.centroids_, self.variances_, strict=True))
        everything = np.stack([centroid_proba(z, centroids, variance) for z, centroids, variance in members])
        if everything.shape[2] == n_known:
            return everything, everything[..., n_known:]
        novel = np.stack([centroid_proba(z, centroids[n_known:], variance) for z, centroids, variance in members])
        return everything, novel

    def _reorder_novel(self, order: NDArray[np.int64]) -> None:
        n_known = len(self.known_classes_)
        novel = np.take_along_axis(self.centroids_[:, n_known:], order[:, :, None], axis=1)
        self.centroids_ = np.concatenate([self.centroids_[:, :n_known], novel], axis=1)

    def _fitted_state(self) -> Arrays:
        return super()._fitted_state() | {"centroids": self.centroids_, "variances": self.variances_}

    def _restore_fitted(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._restore_fitted(arrays)
        shape = (self.n_members, len(self.classes_), self.network_.n_latent)
        self.centroids_ = finite_floats(arrays, "centroids", shape)
        self.variances_ = finite_floats(arrays, "variances", (self.n_members,), positive=True)
