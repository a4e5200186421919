"""The joint training: classification and clustering heads in turn, on one encoder."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from newfound.learning.augmentation import Views
from newfound.learning.batches import MixedBatches
from newfound.learning.losses import classification_loss, consistency_loss, pairwise_loss
from newfound.learning.machine import prepared_for
from newfound.learning.optimisers import adamw
from newfound.learning.progress import EpochLosses, Progress
from newfound.learning.pseudo_labels import cosine_similarities, threshold_pseudo_labels, top_k_pseudo_labels
from newfound.nn import DiscoveryNetwork, MemberStreams


@dataclass(frozen=True)
class JointSettings:
    """Settings of the joint training, named as in the paper.

    Parameters
    ----------
    n_positives : int
        Positives that each unlabelled row chooses in its batch.
    threshold : float or None
        Cosine similarity from which pairs are positives, instead of ``n_positives``.
    w1, w2 : float
        Weight of the classification and of the pairwise loss; the rest goes to consistency.
    lr_classification, lr_clustering : float
        Learning rates of the two optimisers.
    epochs, batch_size : int
        Passes over the table and largest number of rows in a step.
    without : frozenset of {"ce", "bce", "mse"}
        Losses to leave out, for the ablation.
    """

    n_positives: int
    w1: float
    w2: float
    lr_classification: float
    lr_clustering: float
    threshold: float | None = None
    epochs: int = 30
    batch_size: int = 512
    without: frozenset[str] = field(default_factory=frozenset)


def train_jointly(
    network: DiscoveryNetwork,
    views: Views,
    codes: Tensor,
    settings: JointSettings,
    streams: MemberStreams,
    progress: Progress,
) -> None:
    """Train encoder and heads in place.

    For each batch the classification head and the encoder are updated first, then the clustering head and the encoder
    with the batch's unlabelled rows, each with an optimiser of its own.

    Parameters
    ----------
    network : DiscoveryNetwork
    views : Views
        The training rows and how to make views of them.
    codes : Tensor of shape (n,), int64
        Known class of each row, -1 where unlabelled. Nothing else about the classes enters.
    settings : JointSettings
    streams : MemberStreams
    progress : Progress
    """
    n_known = int(codes.max()) + 1
    targets = torch.where(codes < 0, n_known, codes)
    batches = MixedBatches((codes >= 0).nonzero()[:, 0], (codes < 0).nonzero()[:, 0], settings.batch_size)
    network.train()
    encoder = list(network.encoder.parameters())
    classifier = adamw([*encoder, *network.classification.parameters()], settings.lr_classification)
    clusterer = (
        adamw([*encoder, *network.clustering.parameters()], settings.lr_clustering) if network.clustering else None
    )
    rows_and_views = 2 * batches.batch_rows * max(views.rows.shape[1], network.n_latent)
    with prepared_for(streams.n_members * max(rows_and_views, batches.n_unlabelled**2), codes.device):
        for losses in progress.epochs("joint training", settings.epochs):
            for index in batches.epoch(streams):
                both = views.pair(index, streams)
                _classification_step(network, both, targets[index], settings, classifier, losses)
                if clusterer is not None:
                    b, first = index.shape[1], batches.n_labelled
                    unlabelled = torch.cat([both[:, first:b], both[:, b + first :]], dim=1)
                    _clustering_step(network, unlabelled, settings, clusterer, losses)


def _classification_step(
    network: DiscoveryNetwork,
    both: Tensor,
    targets: Tensor,
    settings: JointSettings,
    optimiser: torch.optim.Optimizer,
    losses: EpochLosses,
) -> None:
    """Update encoder and classification head by equation (8); ``both`` is (n_members, 2b, d), rows then views."""
    logits, view_logits = network.classification(network.encoder(both)).chunk(2, dim=1)
    parts: dict[str, tuple[float, Tensor]] = {}
    if "ce" not in settings.without:
        parts["cross_entropy"] = settings.w1, classification_loss(logits, targets)
    if "mse" not in settings.without:
        parts["classification_consistency"] = 1 - settings.w1, consistency_loss(logits, view_logits)
    _update(optimiser, parts, losses, both.shape[0])


def _clustering_step(
    network: DiscoveryNetwork,
    both: Tensor,
    settings: JointSettings,
    optimiser: torch.optim.Optimizer,
    losses: EpochLosses,
) -> None:
    """Update encoder and clustering head by equation (9); ``both`` is (n_members, 2b, d), rows then views."""
    assert network.clustering is not None
    latent = network.encoder(both)
    logits, view_logits = network.clustering(latent).chunk(2, dim=1)
    parts: dict[str, tuple[float, Tensor]] = {}
    if "bce" not in settings.without and logits.shape[1] > 1:
        positive = _pseudo_labels(latent[:, : logits.shape[1]].detach(), settings)
        parts["pairwise"] = settings.w2, pairwise_loss(torch.softmax(logits, dim=-1), positive)
    if "mse" not in settings.without:
        parts["clustering_consistency"] = 1 - settings.w2, consistency_loss(logits, view_logits)
    _update(optimiser, parts, losses, both.shape[0])


def _pseudo_labels(latent: Tensor, settings: JointSettings) -> Tensor:
    """Pairwise pseudo labels from the latent representation, (n_members, b, b)."""
    similarities = cosine_similarities(latent)
    if settings.threshold is not None:
        return threshold_pseudo_labels(similarities, settings.threshold)
    return top_k_pseudo_labels(similarities, min(settings.n_positives, latent.shape[1] - 1))


def _update(
    optimiser: torch.optim.Optimizer, parts: dict[str, tuple[float, Tensor]], losses: EpochLosses, n_members: int
) -> None:
    """One optimiser step on the weighted sum of the losses; none where every loss was left out."""
    if not parts:
        return
    optimiser.zero_grad()
    torch.stack([weight * loss for weight, loss in parts.values()]).sum().backward()
    optimiser.step()
    losses.add(n_members, **{name: loss for name, (_, loss) in parts.items()})
