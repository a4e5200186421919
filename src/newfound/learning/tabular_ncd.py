"""TabularNCD's trainer: VIME pre-training, then both heads in turn on one encoder."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from newfound.learning.augmentation import Views, majority_categories
from newfound.learning.batches import MixedBatches
from newfound.learning.joint import JointSettings, train_jointly
from newfound.learning.neighbours import neighbours_within
from newfound.learning.pretraining import PretrainingSettings, pretrain
from newfound.learning.progress import Progress
from newfound.learning.trainer import PackedTrainer, TensorTask
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedMLP

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

    def teach(self, network: DiscoveryNetwork, task: TensorTask, streams: MemberStreams, progress: Progress) -> None:
        """Train the network in place."""
        rows, codes, layout = task
        groups = torch.as_tensor(layout.groups, device=rows.device)
        alone = None if layout.n_groups == rows.shape[1] else groups
        pretraining = PretrainingSettings(epochs=self._pretrain_epochs)
        pretrain(network.encoder, network.n_latent, rows, alone, pretraining, streams, progress)
        progress.announce("neighbour search")
        categorical = torch.as_tensor(layout.categorical, device=rows.device)
        views = _views(rows, codes, groups, categorical, self.settings.each("k_neighbors"))
        n_novel = 0 if network.clustering is None else int(network.clustering.bias.shape[-1])
        train_jointly(network, views, codes, self._joint_settings(codes, n_novel), streams, progress)

    def _joint_settings(self, codes: Tensor, n_novel: int) -> JointSettings:
        settings, batch_size = self.settings, self.settings["batch_size"]
        batches = MixedBatches((codes >= 0).nonzero()[:, 0], (codes < 0).nonzero()[:, 0], batch_size)

        def positives(top_k: float | None) -> int:
            if top_k is None:
                return max(1, int(batches.n_unlabelled / max(1, n_novel) * _POSITIVES))
            return max(1, int(batches.batch_rows / 2 * top_k / 100))

        top_k = settings.each("top_k")
        return JointSettings(
            n_positives=[positives(one) for one in top_k] if isinstance(top_k, list) else positives(top_k),
            threshold=settings.each("similarity_threshold"),
            w1=settings.each("w1"),
            w2=settings.each("w2"),
            lr_classification=settings.each("lr_classification"),
            lr_clustering=settings.each("lr_clustering"),
            epochs=settings["epochs"],
            batch_size=batch_size,
            without=frozenset(settings["without"]),
        )


def _views(rows: Tensor, codes: Tensor, groups: Tensor, categorical: Tensor, k_neighbors: int | Sequence[int]) -> Views:
    """Make the SMOTE-NC views of the training rows."""
    of_members = k_neighbors if isinstance(k_neighbors, Sequence) else [k_neighbors]
    # Neighbours by direction, as in the paper's published code.
    neighbours = neighbours_within(torch.nn.functional.normalize(rows, dim=1), codes, max(of_members))
    own_k = None if len(of_members) == 1 else torch.tensor(of_members, device=rows.device)[:, None]
    if not categorical.any():
        return Views(rows, neighbours, own_k=own_k)
    majorities = {k: majority_categories(rows, neighbours[:, :k], groups, categorical) for k in set(of_members)}
    majority = majorities[of_members[0]] if own_k is None else torch.stack([majorities[k] for k in of_members])
    return Views(rows, neighbours, categorical, majority, own_k)
