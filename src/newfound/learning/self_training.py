"""Self-training: the rows that a discoverer is sure of teach one classifier of all classes, known and novel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding  # picks rows several times as fast as an index

from newfound.learning.batches import Passes, rows_in_batch, shuffled_batches
from newfound.learning.losses import classification_loss
from newfound.learning.machine import prepared_for
from newfound.learning.optimisers import adamw
from newfound.learning.progress import Progress
from newfound.learning.replay import Replayed
from newfound.learning.stages import Learner, steps
from newfound.nn import DiscoveryNetwork, MemberStreams

STAGE = "self_training"
_MIN_STEPS = 30  # in an epoch: where rows are few it is several passes, or the new head would hardly be trained


@dataclass(frozen=True)
class SelfTrainingSettings:
    """Settings of one round of self-training.

    Parameters
    ----------
    share : float
        Share of each novel class that is kept: its most confident rows.
    epochs, batch_size : int
        Passes over the labelled and the confident rows, several an epoch where these are few, and largest number of
        rows in a step.
    learning_rate : float
        Learning rate of AdamW.
    smoothing : float
        Share of a label that is spread over all classes, since some of the confident rows are wrong.
    """

    share: float = 0.5
    epochs: int = 10
    batch_size: int = 128
    learning_rate: float = 3e-3
    smoothing: float = 0.1


def confident_classes(probabilities: NDArray[np.float64], share: float) -> NDArray[np.int64]:
    """Novel class of the rows that can be trusted.

    The rows are chosen class by class: over all rows at once, a class that is small or hard to tell would be lost.

    Parameters
    ----------
    probabilities : ndarray of shape (n, n_novel)
        Of each novel class. As a mean over members they are high where members are sure and agree.
    share : float
        Share of the rows of each class that is kept, rounded up.

    Returns
    -------
    ndarray of shape (n,), int64
        The most probable class, or -1 for the rows that are left out.
    """
    best, confidence = probabilities.argmax(axis=1), probabilities.max(axis=1)
    kept = np.full(len(best), -1)
    for novel in range(probabilities.shape[1]):
        rows = np.flatnonzero(best == novel)
        surest = rows[np.argsort(-confidence[rows], kind="stable")]
        kept[surest[: int(np.ceil(share * len(rows)))]] = novel
    return kept


def train_classifier(
    network: DiscoveryNetwork,
    rows: Tensor,
    codes: Tensor,
    settings: SelfTrainingSettings,
    streams: MemberStreams,
    progress: Progress,
) -> None:
    """Train encoder and classification head in place.

    Parameters
    ----------
    network : DiscoveryNetwork
        Its classification head has an output for each class, known or novel.
    rows : Tensor of shape (n, d)
    codes : Tensor of shape (n,), int64
        Known class of each row, or the novel class of a confident row; -1 for rows that are left out.
    settings : SelfTrainingSettings
    streams : MemberStreams
    progress : Progress
    """
    taught = (codes >= 0).nonzero()[:, 0]
    optimiser = adamw([*network.encoder.parameters(), *network.classification.parameters()], settings.learning_rate)
    # Without dropout: a narrow latent space that already tells the classes apart loses them to it.
    network.eval()
    n, b = taught.shape[0], rows_in_batch(taught.shape[0], settings.batch_size)
    n_passes = -(-_MIN_STEPS // (n // b))

    def draw() -> Iterator[Tensor]:
        # All at once, as `Passes` wants it.
        return chain.from_iterable([list(shuffled_batches(n, b, streams)) for _ in range(n_passes)])

    def update(batch: Tensor, classes: Tensor) -> dict[str, Tensor]:
        loss = classification_loss(network.classification(network.encoder(batch)), classes, settings.smoothing)
        optimiser.zero_grad()
        loss.sum().backward()
        optimiser.step()
        return {"cross_entropy": loss}

    step = Replayed(update, streams, enabled=progress.peer is None)
    passes, learner = Passes(draw, streams), Learner({"network": network}, [optimiser], streams)
    with prepared_for(streams.n_members * b * network.widest_product, rows.device):
        for losses, batch in steps(progress, STAGE, settings.epochs, passes, learner):
            index = taught[batch]
            losses.add(**step(embedding(index, rows), codes[index]))
