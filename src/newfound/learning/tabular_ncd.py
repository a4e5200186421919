"""TabularNCD's trainer: VIME pre-training, then both heads in turn on one encoder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from newfound.learning.augmentation import Views, majority_categories
from newfound.learning.batches import MixedBatches
from newfound.learning.joint import JointPart, JointSettings, train_on_parts
from newfound.learning.neighbours import neighbours_within
from newfound.learning.pretraining import PretrainingSettings, pretrain
from newfound.learning.progress import Progress
from newfound.learning.shards import Shards, TensorTask, parts_of
from newfound.learning.trainer import PackedTrainer
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedMLP
from newfound.tables.layout import Layout

_MIN_WIDTH = 16  # in fewer dimensions the directions of a narrow table's rows cannot tell its classes apart
_POSITIVES = 1 / 3


class TabularNCDTrainer(PackedTrainer):
    """Trains the networks of `TabularNCD`; its settings are that discoverer's parameters."""

    def default_layers(self, n_features: int) -> list[int]:
        """Two layers as wide as the table."""
        return [max(_MIN_WIDTH, n_features)] * 2

    def build(self, widths: list[int], n_known: int, n_novel: int, streams: MemberStreams | None) -> DiscoveryNetwork:
        """Build an encoder with a classification and a clustering head."""
        n_members, activation = self.settings.n_members, self.settings["activation"]
        encoder = PackedMLP(
            n_members, widths, activation=activation, dropout=self.settings.each("dropout"), streams=streams
        )
        return DiscoveryNetwork(encoder, n_members, widths[-1], n_known, n_novel, streams)

    @property
    def n_epochs(self) -> int:
        """Epochs of the pre-training and of the joint training."""
        return self._pretrain_epochs + int(self.settings["epochs"])

    @property
    def _pretrain_epochs(self) -> int:
        return 0 if "ssl" in self.settings["without"] else int(self.settings["pretrain_epochs"])

    def teach(
        self, network: DiscoveryNetwork, tasks: Sequence[TensorTask], streams: MemberStreams, progress: Progress
    ) -> None:
        """Train the network in place."""
        first = tasks[0]
        rows = parts_of(tasks, lambda _, task: task.rows)
        self._pretrain(network, rows, first.layout, streams, progress)
        settings = self._joint_settings(network, first.codes)

        def part(place: int, task: TensorTask) -> JointPart:
            if isinstance(tasks, Shards):
                kept = partial(tasks.kept_neighbours, place, lambda: self._neighbours(task))
                return JointPart(task.codes, lambda: self._views(task, kept()), settings.batch_size)
            # At once, and so with all threads, of which the training may use only one.
            progress.announce("neighbour search")
            views = self._views(task, self._neighbours(task))
            return JointPart(task.codes, lambda: views, settings.batch_size)

        train_on_parts(network, parts_of(tasks, part), settings, streams, progress)

    def _pretrain(
        self,
        network: DiscoveryNetwork,
        rows: Sequence[Tensor],
        layout: Layout,
        streams: MemberStreams,
        progress: Progress,
    ) -> None:
        groups = torch.as_tensor(layout.groups, device=self.device)
        alone = None if layout.n_groups == layout.n_columns else groups
        settings = PretrainingSettings(epochs=self._pretrain_epochs)
        pretrain(network.encoder, network.n_latent, rows, alone, settings, streams, progress)

    def _neighbours(self, task: TensorTask) -> Tensor:
        """Neighbours by direction, as in the paper's published code; (n, k) for the largest k of the members."""
        of_members = self.settings.each("k_neighbors")
        k = max(of_members) if isinstance(of_members, Sequence) else of_members
        directions = partial(torch.nn.functional.normalize, dim=1)
        if task.rows.is_cuda:  # where there may be no room for a second table
            return neighbours_within(task.rows, task.codes, k, seen_as=directions)
        return neighbours_within(directions(task.rows), task.codes, k)

    def _views(self, task: TensorTask, neighbours: Tensor) -> Views:
        """Make the SMOTE-NC views of the training rows."""
        rows, layout, k_neighbors = task.rows, task.layout, self.settings.each("k_neighbors")
        of_members = k_neighbors if isinstance(k_neighbors, Sequence) else [k_neighbors]
        own_k = None if len(of_members) == 1 else torch.tensor(of_members, device=rows.device)[:, None]
        categorical = torch.as_tensor(layout.categorical, device=rows.device)
        if not categorical.any():
            return Views(rows, neighbours, own_k=own_k)
        groups = torch.as_tensor(layout.groups, device=rows.device)
        majorities = {k: majority_categories(rows, neighbours[:, :k], groups, categorical) for k in set(of_members)}
        majority = majorities[of_members[0]] if own_k is None else torch.stack([majorities[k] for k in of_members])
        return Views(rows, neighbours, categorical, majority, own_k)

    def _joint_settings(self, network: DiscoveryNetwork, codes: Tensor) -> JointSettings:
        settings, batch_size = self.settings, self.settings["batch_size"]
        n_novel = 0 if network.clustering is None else int(network.clustering.bias.shape[-1])
        batches = MixedBatches((codes >= 0).nonzero()[:, 0], (codes < 0).nonzero()[:, 0], batch_size)

        def positives(top_k: float | None) -> int:
            if top_k is None:
                return max(1, int(batches.n_unlabelled / max(1, n_novel) * _POSITIVES))
            return max(1, int(batches.batch_rows / 2 * top_k / 100))

        top_k = settings.each("top_k")
        return JointSettings(
            n_positives=[positives(share) for share in top_k] if isinstance(top_k, list) else positives(top_k),
            threshold=settings.each("similarity_threshold"),
            w1=settings.each("w1"),
            w2=settings.each("w2"),
            lr_classification=settings.each("lr_classification"),
            lr_clustering=settings.each("lr_clustering"),
            epochs=settings["epochs"],
            batch_size=batch_size,
            without=frozenset(settings["without"]),
        )
