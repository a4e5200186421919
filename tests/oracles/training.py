"""One member trained alone with plain torch layers, a step at a time, from the equations of the paper."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from newfound.learning.augmentation import Views
from newfound.learning.batches import MixedBatches, rows_in_batch, shuffled_batches
from newfound.learning.joint import JointSettings
from newfound.learning.losses import _SMALLEST
from newfound.learning.pretraining import PretrainingSettings
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedDropout, PackedLinear
from tests.oracles import layers, neighbours


def plain(module: nn.Module, streams: MemberStreams) -> nn.Module:
    """The only member of a packed layer, or of layers in a row, as plain torch layers."""
    if isinstance(module, nn.Sequential):
        return nn.Sequential(*(plain(layer, streams) for layer in module))
    if isinstance(module, PackedLinear):
        return layers.linear(module, 0)
    if isinstance(module, PackedDropout):
        return layers.Dropout(module.probability, streams) if module.probability else nn.Identity()
    return module


class PlainNetwork:
    """Encoder and heads of one member; only the initial weights come from the packed network."""

    def __init__(self, network: DiscoveryNetwork, streams: MemberStreams) -> None:
        assert network.clustering is not None
        self.encoder = plain(network.encoder, streams)
        self.classification = plain(network.classification, streams)
        self.clustering = plain(network.clustering, streams)

    def weights(self) -> list[Tensor]:
        """Weights in the order and orientation of the packed network's parameters."""
        modules = (self.encoder, self.classification, self.clustering)
        parameters = [parameter.detach() for module in modules for parameter in module.parameters()]
        return [parameter.T if parameter.ndim == 2 else parameter for parameter in parameters]


def pretrain(
    encoder: nn.Module,
    n_latent: int,
    rows: Tensor,
    groups: list[int],
    settings: PretrainingSettings,
    streams: MemberStreams,
) -> None:
    d = rows.shape[1]
    mask_estimator = layers.linear(PackedLinear(1, n_latent, d, streams), 0)
    value_estimator = layers.linear(PackedLinear(1, n_latent, d, streams), 0)
    trained = [*encoder.parameters(), *mask_estimator.parameters(), *value_estimator.parameters()]
    optimiser = torch.optim.AdamW(trained, lr=settings.learning_rate)
    for _ in range(settings.epochs):
        # The table is so small that a whole epoch is corrupted at a time.
        index = torch.cat(list(shuffled_batches(rows.shape[0], settings.batch_size, streams)), dim=1)[0]
        n_groups = max(groups) + 1
        swap = streams.coins(settings.corruption, len(index), n_groups)[0]
        donor = streams.integers(rows.shape[0], len(index), n_groups)[0]
        originals = rows[index]
        corrupted, mask = originals.clone(), torch.zeros_like(originals)
        for i in range(len(index)):
            for j, group in enumerate(groups):
                if swap[i, group]:
                    corrupted[i, j] = rows[donor[i, group], j]
                    mask[i, j] = 1
        b = rows_in_batch(rows.shape[0], settings.batch_size)
        for i in range(0, len(index), b):
            latent = encoder(corrupted[i : i + b])
            reconstruction = F.mse_loss(value_estimator(latent), originals[i : i + b])
            mask_loss = F.binary_cross_entropy(torch.sigmoid(mask_estimator(latent)), mask[i : i + b])
            optimiser.zero_grad()
            (settings.alpha * reconstruction + mask_loss).backward()
            optimiser.step()


def train_jointly(
    network: PlainNetwork, views: Views, codes: Tensor, settings: JointSettings, streams: MemberStreams
) -> None:
    n_known = int(codes.max()) + 1
    batches = MixedBatches((codes >= 0).nonzero()[:, 0], (codes < 0).nonzero()[:, 0], settings.batch_size)
    shared = list(network.encoder.parameters())
    first = torch.optim.AdamW([*shared, *network.classification.parameters()], lr=settings.lr_classification)
    second = torch.optim.AdamW([*shared, *network.clustering.parameters()], lr=settings.lr_clustering)
    for _ in range(settings.epochs):
        for index in batches.epoch(streams):
            row, view = views.pair(index, streams)[0].chunk(2)
            unlabelled = codes[index[0]] < 0
            targets = torch.where(unlabelled, n_known, codes[index[0]])
            _classification_step(network, row, view, targets, settings.w1, first)
            _clustering_step(network, row[unlabelled], view[unlabelled], settings, second)


def _classification_step(
    network: PlainNetwork, row: Tensor, view: Tensor, targets: Tensor, w1: float, optimiser: torch.optim.Optimizer
) -> None:
    """Equation (8)."""
    logits, view_logits = network.classification(network.encoder(torch.cat([row, view]))).chunk(2)
    optimiser.zero_grad()
    (w1 * F.cross_entropy(logits, targets) + (1 - w1) * F.mse_loss(logits, view_logits)).backward()
    optimiser.step()


def _clustering_step(
    network: PlainNetwork, row: Tensor, view: Tensor, settings: JointSettings, optimiser: torch.optim.Optimizer
) -> None:
    """Equation (9)."""
    latent = network.encoder(torch.cat([row, view]))
    logits, view_logits = network.clustering(latent).chunk(2)
    b = row.shape[0]
    z = latent[:b].tolist()
    similarities = [[neighbours.cosine(z[i], z[j]) for j in range(b)] for i in range(b)]
    if settings.threshold is None:
        positive = neighbours.top_k_positives(similarities, settings.n_positives)
    else:
        positive = neighbours.threshold_positives(similarities, settings.threshold)
    chances = torch.softmax(logits, dim=1) @ torch.softmax(logits, dim=1).T
    pairs = ~torch.eye(b, dtype=torch.bool)
    # The packed loss keeps chances this far from 0 and 1, and weights should agree to more digits than that.
    t = torch.tensor(positive, dtype=row.dtype)[pairs]
    q = chances[pairs]
    bce = -(t * torch.log(q + _SMALLEST) + (1 - t) * torch.log(1 - q + _SMALLEST)).mean()
    optimiser.zero_grad()
    (settings.w2 * bce + (1 - settings.w2) * F.mse_loss(logits, view_logits)).backward()
    optimiser.step()
