"""Trainers of networks in whose latent space k-means finds the novel classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding  # picks rows several times as fast as an index

from newfound.clustering.centroids import fit_centroids
from newfound.learning.batches import MixedBatches, passes_over, shuffled_batches
from newfound.learning.fitted import CentroidNetworks, FittedNetworks
from newfound.learning.losses import classification_loss
from newfound.learning.machine import prepared_for
from newfound.learning.optimisers import adamw
from newfound.learning.progress import Progress
from newfound.learning.replay import Replayed
from newfound.learning.shards import TensorTask, parts_of
from newfound.learning.stages import Learner, steps
from newfound.learning.trainer import PackedTrainer
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedLinear, PackedMLP, UnitLength
from newfound.tables.task import DiscoveryTask

_NARROWEST_CLASSIFIER = 4
_NARROWEST_PBN = 64  # in fewer dimensions the directions of a narrow table's rows cannot tell its classes apart


class ProjectionTrainer(PackedTrainer):
    """Base of trainers whose networks know of no novel class: k-means finds those in what the encoder makes of rows."""

    @property
    def n_epochs(self) -> int:
        """Epochs of the training."""
        return int(self.settings["epochs"])

    def find(self, networks: FittedNetworks, task: DiscoveryTask, rng: np.random.RandomState) -> FittedNetworks:
        """Make each class, known or novel, a centroid in the latent space of each member."""
        latents, n_init = networks.member_latents(task.rows), self.settings["n_init"]
        fitted = [fit_centroids(latent, task.codes, task.n_novel, n_init, rng) for latent in latents]
        centroids = np.stack([centroids for centroids, _ in fitted])
        return CentroidNetworks.of(networks, centroids, np.array([variance for _, variance in fitted]))


class ClassifierTrainer(ProjectionTrainer):
    """Trains the networks of `ClassifierProjection`, which classify the known classes."""

    def default_layers(self, n_features: int) -> list[int]:
        """Half and a third as wide as the table."""
        return [max(_NARROWEST_CLASSIFIER, n_features // share) for share in (2, 3)]

    def build(self, widths: list[int], n_known: int, n_novel: int, streams: MemberStreams | None) -> DiscoveryNetwork:
        """Build an encoder with a classification head."""
        n_members, dropout = self.settings.n_members, self.settings.each("dropout")
        # One classifier for both readings; the encoder is the part of it that projects rows for k-means.
        activated = self.settings["projection"] == "after"
        encoder = PackedMLP(n_members, widths, dropout=dropout, activate_last=activated, streams=streams)
        head_dropout = None if activated else dropout
        return DiscoveryNetwork(encoder, n_members, widths[-1], n_known, 0, streams, head_dropout=head_dropout)

    def teach(
        self, network: DiscoveryNetwork, tasks: Sequence[TensorTask], streams: MemberStreams, progress: Progress
    ) -> None:
        """Train the network in place."""
        settings, batch_size = self.settings, self.settings["batch_size"]

        def part(_: int, task: TensorTask) -> tuple[TensorTask, Tensor]:
            return task, (task.codes >= 0).nonzero()[:, 0]

        def epoch(part: tuple[TensorTask, Tensor], streams: MemberStreams) -> Iterator[Tensor]:
            n = part[1].shape[0]
            return shuffled_batches(n, batch_size, streams) if n else iter(())

        optimiser = adamw(network.parameters(), settings.each("learning_rate"))
        passes = passes_over(parts_of(tasks, part), epoch, streams)
        learner = Learner({"network": network}, [optimiser], streams)
        network.train()

        def update(batch: Tensor, codes: Tensor) -> dict[str, Tensor]:
            loss = classification_loss(network.classification(network.encoder(batch)), codes)
            optimiser.zero_grad()
            loss.sum().backward()
            optimiser.step()
            return {"cross_entropy": loss}

        step = Replayed(update, streams, enabled=progress.peer is None)
        with prepared_for(settings.n_members * batch_size * network.widest_product, self.device):
            for losses, (labelled, batch) in steps(progress, "classification", settings["epochs"], passes, learner):
                task, index = labelled[0], labelled[1][batch]
                losses.add(**step(embedding(index, task.rows), task.codes[index]))


class PBNTrainer(ProjectionTrainer):
    """Trains the networks of `PBN`, which classify the known classes and restore all rows."""

    def default_layers(self, n_features: int) -> list[int]:
        """Two layers as wide as the table."""
        return [max(_NARROWEST_PBN, n_features)] * 2

    def build(self, widths: list[int], n_known: int, n_novel: int, streams: MemberStreams | None) -> DiscoveryNetwork:
        """Build an encoder to unit length with a classification head."""
        n_members = self.settings.n_members
        encoder = PackedMLP(n_members, widths, dropout=self.settings.each("dropout"), streams=streams)
        # A part of the encoder, so that no step can leave it out.
        encoder.append(UnitLength())
        return DiscoveryNetwork(encoder, n_members, widths[-1], n_known, 0, streams)

    def teach(
        self, network: DiscoveryNetwork, tasks: Sequence[TensorTask], streams: MemberStreams, progress: Progress
    ) -> None:
        """Train the network in place."""
        settings, n_members, device = self.settings, self.settings.n_members, self.device
        # What restores the rows serves the training only and is thrown away afterwards.
        widths = [layer.weight.shape[-1] for layer in network.encoder.children() if isinstance(layer, PackedLinear)]
        mirrored = [*reversed(widths), tasks[0].layout.n_columns]
        decoder = PackedMLP(n_members, mirrored, dropout=settings.each("dropout"), streams=streams).to(device)

        def part(_: int, task: TensorTask) -> tuple[TensorTask, MixedBatches]:
            labelled, unlabelled = ((task.codes >= 0).nonzero()[:, 0], (task.codes < 0).nonzero()[:, 0])
            return task, MixedBatches(labelled, unlabelled, settings["batch_size"])

        parts = parts_of(tasks, part)
        w = torch.as_tensor(settings.each("w"), dtype=torch.float32, device=device)
        optimiser = adamw([*network.parameters(), *decoder.parameters()], settings.each("learning_rate"))
        passes = passes_over(parts, lambda part, streams: part[1].epoch(streams), streams)
        learner = Learner({"network": network, "decoder": decoder}, [optimiser], streams)
        network.train()

        def update(batch: Tensor, codes: Tensor) -> dict[str, Tensor]:
            latent = network.encoder(batch)
            cross_entropy = classification_loss(network.classification(latent[:, : codes.shape[1]]), codes)
            reconstruction = (decoder(latent) - batch).square().mean(dim=(1, 2))
            optimiser.zero_grad()
            (w * cross_entropy + (1 - w) * reconstruction).sum().backward()
            optimiser.step()
            return {"cross_entropy": cross_entropy, "reconstruction": reconstruction}

        step = Replayed(update, streams, enabled=progress.peer is None)
        with prepared_for(n_members * parts[0][1].batch_rows * network.widest_product, device):
            for losses, ((task, batches), index) in steps(progress, "projection", settings["epochs"], passes, learner):
                labelled = index[:, : batches.n_labelled]
                losses.add(**step(embedding(index, task.rows), task.codes[labelled]))
