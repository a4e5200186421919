from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from newfound.nn import (
    ACTIVATIONS,
    DiscoveryNetwork,
    MemberStreams,
    PackedBatchNorm,
    PackedHead,
    PackedLinear,
    PackedMLP,
)
from tests.oracles import layers as oracle

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": lambda x: x.clamp(min=0),
    "sigmoid": lambda x: 1 / (1 + torch.exp(-x)),
    "tanh": lambda x: (torch.exp(x) - torch.exp(-x)) / (torch.exp(x) + torch.exp(-x)),
}


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def member_by_hand(network: PackedMLP, member: int, x: Tensor, activation: str, activate_last: bool) -> Tensor:
    linears = [layer for layer in network if isinstance(layer, PackedLinear)]
    norms = iter([layer for layer in network if isinstance(layer, PackedBatchNorm)])
    for i, layer in enumerate(linears):
        x = oracle.linear(layer, member)(x)
        if activate_last or i < len(linears) - 1:
            norm = next(norms, None)
            x = x if norm is None else oracle.batch_norm(norm, member).train()(x)
            x = FUNCTIONS[activation](x)
    return x


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize(("activate_last", "batch_norm"), list(itertools.product([False, True], repeat=2)))
@pytest.mark.parametrize("sizes", [[5, 3], [4, 6, 2], [3, 4, 5, 6]])
def test_mlp_equals_plain_layers_of_each_member(
    activation: str, activate_last: bool, batch_norm: bool, sizes: list[int]
) -> None:
    network = PackedMLP(
        3,
        sizes,
        activation=activation,
        activate_last=activate_last,
        batch_norm=batch_norm,
        streams=MemberStreams([4, 5, 6], dtype=torch.float64),
    ).double()
    x = normal(3, 7, sizes[0])
    out = network(x)
    assert out.shape == (3, 7, sizes[-1])
    for m in range(3):
        torch.testing.assert_close(out[m], member_by_hand(network, m, x[m], activation, activate_last))


def test_dropout_follows_every_activation() -> None:
    streams = MemberStreams([0], dtype=torch.float64)
    network = PackedMLP(1, [4, 200, 200], activation="sigmoid", dropout=0.5, activate_last=True, streams=streams)
    out = network(normal(1, 20, 4))
    assert (out == 0).double().mean() == pytest.approx(0.5, abs=0.05)  # a sigmoid itself never gives 0
    assert (network.eval()(normal(1, 20, 4)) > 0).all()


def discovery_network(n_novel: int, n_members: int = 2) -> DiscoveryNetwork:
    streams = MemberStreams(range(n_members), dtype=torch.float64)
    encoder = PackedMLP(n_members, [4, 6, 5], streams=streams)
    return DiscoveryNetwork(encoder, n_members, 5, 3, n_novel, streams)


def test_probabilities_are_the_softmax_of_each_head() -> None:
    network, x = discovery_network(2), normal(2, 7, 4)
    known, novel = network.proba(x)
    assert known.shape == (2, 7, 3 + 1)
    assert novel.shape == (2, 7, 2)
    assert network.clustering is not None
    for m in range(2):
        latent = network.encoder(x)[m]
        for found, head in ((known, network.classification), (novel, network.clustering)):
            torch.testing.assert_close(found[m], nn.Softmax(dim=1)(oracle.linear(head, m)(latent)))


def test_an_activation_can_stand_before_the_classification_head() -> None:
    streams = MemberStreams([0, 1], dtype=torch.float64)
    network = DiscoveryNetwork(PackedMLP(2, [4, 9], streams=streams), 2, 9, 3, 0, streams, head_dropout=0.4)
    x = normal(2, 200, 4)
    latent = network.encoder(x)
    assert not torch.equal(network.classification(latent), network.classification(latent)), "dropout in training"
    network.eval()
    assert (latent < 0).any()
    for m in range(2):
        expected = oracle.linear(network.classification, m)(latent[m].clamp(min=0))
        torch.testing.assert_close(network.classification(latent)[m], expected)


def test_dropout_before_the_head_keeps_the_mean() -> None:
    streams = MemberStreams([0], dtype=torch.float64)
    head = PackedHead(1, 500, 1, 0.5, streams).train()
    x = torch.ones(1, 2000, 500, dtype=torch.float64)
    torch.testing.assert_close(head(x).mean(), head.eval()(x).mean(), atol=0.05, rtol=0)


def test_without_novel_classes_there_is_no_bucket_and_no_clustering_head() -> None:
    network = discovery_network(0)
    known, novel = network.proba(normal(2, 7, 4))
    assert network.clustering is None
    assert known.shape == (2, 7, 3)
    assert novel.shape == (2, 7, 0)
    torch.testing.assert_close(known.sum(dim=2), torch.ones(2, 7, dtype=torch.float64))


def test_reordering_renames_the_novel_classes_of_each_member_and_nothing_else() -> None:
    network, x = discovery_network(3), normal(2, 7, 4)
    known, novel = network.proba(x)
    order = torch.tensor([[2, 0, 1], [1, 0, 2]])
    network.reorder_novel(order)
    known_after, novel_after = network.proba(x)
    assert torch.equal(known, known_after)
    for m in range(2):
        for j in range(3):
            torch.testing.assert_close(novel_after[m, :, j], novel[m, :, order[m, j]])


def test_without_a_clustering_head_the_novel_classes_are_the_last_outputs_of_the_classification_head() -> None:
    network, x = discovery_network(0), normal(2, 7, 4)
    before = network.proba(x)[0]
    network.reorder_novel(torch.tensor([[1, 0], [0, 1]]))
    after = network.proba(x)[0]
    torch.testing.assert_close(after[0], before[0][:, [0, 2, 1]])
    torch.testing.assert_close(after[1], before[1])
