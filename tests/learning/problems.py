"""Small tables and networks to train on, in double precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from newfound.learning.augmentation import Views, majority_categories
from newfound.learning.joint import JointSettings, train_jointly
from newfound.learning.neighbours import neighbours_within
from newfound.learning.pretraining import PretrainingSettings, pretrain
from newfound.learning.progress import Progress
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedMLP

N_KNOWN, N_NOVEL = 2, 3
JOINT = JointSettings(n_positives=4, w1=0.7, w2=0.6, lr_classification=0.01, lr_clustering=0.005, epochs=3)
PRETRAINING = PretrainingSettings(epochs=2, batch_size=16)


@dataclass(frozen=True)
class Problem:
    rows: Tensor  # (n, d)
    codes: Tensor  # (n,), -1 where unlabelled
    truth: Tensor  # (n,), the class of every row, for tests alone
    groups: Tensor  # (d,)
    categorical: Tensor  # (d,), bool
    views: Views


def make_problem(n: int = 96, seed: int = 0) -> Problem:
    """Blobs of five classes, three of them novel, in three numbers and a category of three values."""
    generator = torch.Generator().manual_seed(seed)
    truth = torch.arange(n) % (N_KNOWN + N_NOVEL)
    centres = torch.randn(N_KNOWN + N_NOVEL, 3, generator=generator, dtype=torch.float64) * 2
    numbers = centres[truth] + 0.5 * torch.randn(n, 3, generator=generator, dtype=torch.float64)
    category = torch.eye(3, dtype=torch.float64)[torch.randint(3, (n,), generator=generator)]
    rows = torch.cat([numbers, category], dim=1)
    codes = torch.where(truth < N_KNOWN, truth, -1)
    groups, categorical = torch.tensor([0, 1, 2, 3, 3, 3]), torch.tensor([False] * 3 + [True] * 3)
    neighbours = neighbours_within(rows, codes, 4)
    majority = majority_categories(rows, neighbours, groups, categorical)
    return Problem(rows, codes, truth, groups, categorical, Views(rows, neighbours, categorical, majority))


def make_network(
    streams: MemberStreams, *, n_features: int = 6, dropout: float = 0.0, batch_norm: bool = False
) -> DiscoveryNetwork:
    n_members, sizes = streams.n_members, [n_features, 8, 5]
    encoder = PackedMLP(n_members, sizes, dropout=dropout, batch_norm=batch_norm, streams=streams)
    return DiscoveryNetwork(encoder, n_members, sizes[-1], N_KNOWN, N_NOVEL, streams).double()


def weights(network: DiscoveryNetwork) -> dict[str, Tensor]:
    """A copy of everything that training changes, (n_members, ...) each."""
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def train(
    problem: Problem,
    seeds: Sequence[int],
    *,
    dropout: float = 0.0,
    batch_norm: bool = False,
    pretraining: PretrainingSettings = PRETRAINING,
    joint: JointSettings = JOINT,
    broken_member: int | None = None,
) -> tuple[dict[str, Tensor], Progress]:
    """Train from the initial weights to the end; a broken member starts with weights that are not numbers."""
    streams = MemberStreams(seeds, dtype=torch.float64)
    network = make_network(streams, dropout=dropout, batch_norm=batch_norm)
    if broken_member is not None:
        with torch.no_grad():
            for parameter in network.parameters():
                parameter[broken_member] = torch.nan
    progress = Progress(pretraining.epochs + joint.epochs)
    pretrain(network.encoder, network.n_latent, problem.rows, problem.groups, pretraining, streams, progress)
    train_jointly(network, problem.views, problem.codes, joint, streams, progress)
    return weights(network), progress
