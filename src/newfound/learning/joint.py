"""The joint training: classification and clustering heads in turn, on one encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from newfound.learning.augmentation import Views
from newfound.learning.batches import MixedBatches, passes_over
from newfound.learning.losses import classification_loss, consistency_loss, pairwise_loss
from newfound.learning.machine import prepared_for
from newfound.learning.optimisers import AdamW, adamw
from newfound.learning.progress import Progress
from newfound.learning.pseudo_labels import cosine_similarities, threshold_pseudo_labels, top_k_pseudo_labels
from newfound.learning.replay import Replayed
from newfound.learning.stages import Learner, steps
from newfound.nn import DiscoveryNetwork, MemberStreams


@dataclass(frozen=True)
class JointSettings:
    """Settings of the joint training, named as in the paper.

    Where a sequence is accepted, it has one value for each member; a single value holds for all of them.

    Parameters
    ----------
    n_positives : int or sequence of int
        Positives that each unlabelled row chooses in its batch.
    threshold : float, sequence of float, or None
        Cosine similarity from which pairs are positives, instead of ``n_positives``.
    w1, w2 : float or sequence of float
        Weight of the classification and of the pairwise loss; the rest goes to consistency.
    lr_classification, lr_clustering : float or sequence of float
        Learning rates of the two optimisers.
    epochs, batch_size : int
        Passes over the table and largest number of rows in a step.
    without : frozenset of {"ce", "bce", "mse"}
        Losses to leave out, for the ablation.
    """

    n_positives: int | Sequence[int]
    w1: float | Sequence[float]
    w2: float | Sequence[float]
    lr_classification: float | Sequence[float]
    lr_clustering: float | Sequence[float]
    threshold: float | Sequence[float] | None = None
    epochs: int = 30
    batch_size: int = 512
    without: frozenset[str] = field(default_factory=frozenset)

    @property
    def weights(self) -> tuple[float | Sequence[float], float | Sequence[float]]:
        """Both weights, of the classification and of the pairwise loss."""
        return self.w1, self.w2


class JointPart:
    """Rows to train on: all of a table, or a part of one that does not fit into memory.

    Parameters
    ----------
    codes : Tensor of shape (n,), int64
        Known class of each row, -1 where unlabelled. Nothing else about the classes enters.
    make_views : callable
        Makes the `Views` of the rows, once they are needed.
    batch_size : int
    """

    def __init__(self, codes: Tensor, make_views: Callable[[], Views], batch_size: int) -> None:
        self.codes = codes
        self.batches = MixedBatches((codes >= 0).nonzero()[:, 0], (codes < 0).nonzero()[:, 0], batch_size)
        self._make_views = make_views

    @cached_property
    def views(self) -> Views:
        """The rows, and how to make views of them."""
        return self._make_views()


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
    train_on_parts(network, [JointPart(codes, lambda: views, settings.batch_size)], settings, streams, progress)


def train_on_parts(
    network: DiscoveryNetwork,
    parts: Sequence[JointPart],
    settings: JointSettings,
    streams: MemberStreams,
    progress: Progress,
) -> None:
    """Do the same with a table in parts, which are loaded one after the other."""
    device, batches = parts[0].codes.device, parts[0].batches
    # By the head and not by the codes, of which a part may lack the last.
    bucket = network.classification.bias.shape[-1] - 1
    w1, w2 = (torch.as_tensor(w, dtype=network.classification.bias.dtype, device=device) for w in settings.weights)
    network.train()
    encoder = list(network.encoder.parameters())
    classifier = adamw([*encoder, *network.classification.parameters()], settings.lr_classification)
    clusterer = (
        adamw([*encoder, *network.clustering.parameters()], settings.lr_clustering) if network.clustering else None
    )
    optimisers = [classifier] if clusterer is None else [classifier, clusterer]
    passes = passes_over(parts, lambda part, streams: part.batches.epoch(streams), streams)
    learner = Learner({"network": network}, optimisers, streams)
    pseudo_labels = _pseudo_labeller(settings, device)

    def update(both: Tensor, targets: Tensor, unlabelled: Tensor) -> dict[str, Tensor]:
        losses = _classification_step(network, both, targets, w1, settings.without, classifier)
        if clusterer is not None:
            losses |= _clustering_step(network, unlabelled, w2, pseudo_labels, settings.without, clusterer)
        return losses

    step = Replayed(update, streams, enabled=progress.peer is None)
    layers = 2 * batches.batch_rows * network.widest_product
    similarities = batches.n_unlabelled**2 * network.n_latent
    with prepared_for(streams.n_members * max(layers, similarities), device):
        for losses, (part, index) in steps(progress, "joint training", settings.epochs, passes, learner):
            both, codes = part.views.pair(index, streams), part.codes[index]
            b, first = index.shape[1], part.batches.n_labelled
            unlabelled = torch.cat([both[:, first:b], both[:, b + first :]], dim=1)
            losses.add(**step(both, torch.where(codes < 0, bucket, codes), unlabelled))


def _classification_step(
    network: DiscoveryNetwork,
    both: Tensor,
    targets: Tensor,
    w1: Tensor,
    without: frozenset[str],
    optimiser: AdamW,
) -> dict[str, Tensor]:
    """Update encoder and classification head by equation (8); ``both`` is (n_members, 2b, d), rows then views."""
    logits, view_logits = network.classification(network.encoder(both)).chunk(2, dim=1)
    parts: dict[str, tuple[Tensor, Tensor]] = {}
    if "ce" not in without:
        parts["cross_entropy"] = w1, classification_loss(logits, targets)
    if "mse" not in without:
        parts["classification_consistency"] = 1 - w1, consistency_loss(logits, view_logits)
    return _update(optimiser, parts)


def _clustering_step(
    network: DiscoveryNetwork,
    both: Tensor,
    w2: Tensor,
    pseudo_labels: Callable[[Tensor], Tensor],
    without: frozenset[str],
    optimiser: AdamW,
) -> dict[str, Tensor]:
    """Update encoder and clustering head by equation (9); ``both`` is (n_members, 2b, d), rows then views."""
    assert network.clustering is not None
    latent = network.encoder(both)
    logits, view_logits = network.clustering(latent).chunk(2, dim=1)
    parts: dict[str, tuple[Tensor, Tensor]] = {}
    if "bce" not in without and logits.shape[1] > 1:
        positive = pseudo_labels(cosine_similarities(latent[:, : logits.shape[1]].detach()))
        parts["pairwise"] = w2, pairwise_loss(torch.softmax(logits, dim=-1), positive)
    if "mse" not in without:
        parts["clustering_consistency"] = 1 - w2, consistency_loss(logits, view_logits)
    return _update(optimiser, parts)


def _pseudo_labeller(settings: JointSettings, device: torch.device) -> Callable[[Tensor], Tensor]:
    """How similarities (n_members, b, b) become pairwise pseudo labels."""
    if settings.threshold is not None:
        threshold = torch.as_tensor(settings.threshold, device=device).view(-1, 1, 1)
        return lambda similarities: threshold_pseudo_labels(similarities, threshold)
    given = settings.n_positives

    def choose(similarities: Tensor) -> Tensor:
        most = similarities.shape[1] - 1
        k = [min(count, most) for count in given] if isinstance(given, Sequence) else min(given, most)
        return top_k_pseudo_labels(similarities, k)

    return choose


def _update(optimiser: AdamW, parts: dict[str, tuple[Tensor, Tensor]]) -> dict[str, Tensor]:
    """One optimiser step on the weighted sum of the losses; none where every loss was left out. Returns the losses."""
    if not parts:
        return {}
    optimiser.zero_grad()
    torch.stack([weight * loss for weight, loss in parts.values()]).sum().backward()
    optimiser.step()
    return {name: loss for name, (_, loss) in parts.items()}
