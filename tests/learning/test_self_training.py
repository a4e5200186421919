from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from torch import Tensor

from newfound.learning.progress import Progress
from newfound.learning.self_training import STAGE, SelfTrainingSettings, confident_classes, train_classifier
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedMLP
from tests.learning.problems import N_KNOWN, N_NOVEL, Problem, make_problem, weights

SETTINGS = SelfTrainingSettings(epochs=3, batch_size=16)


@pytest.fixture(scope="module")
def problem() -> Problem:
    return make_problem()


def joint_network(streams: MemberStreams, dropout: float = 0.0) -> DiscoveryNetwork:
    encoder = PackedMLP(streams.n_members, [6, 8, 5], dropout=dropout, streams=streams)
    return DiscoveryNetwork(encoder, streams.n_members, 5, N_KNOWN + N_NOVEL, 0, streams).double()


def trained(
    problem: Problem, codes: Tensor, seeds: list[int], settings: SelfTrainingSettings = SETTINGS, dropout: float = 0.0
) -> tuple[DiscoveryNetwork, Progress]:
    streams, progress = MemberStreams(seeds, dtype=torch.float64), Progress(settings.epochs)
    network = joint_network(streams, dropout)
    train_classifier(network, problem.rows, codes, settings, streams, progress)
    return network, progress


@given(
    arrays(np.float64, st.tuples(st.integers(0, 30), st.integers(1, 4)), elements=st.integers(0, 3).map(float)),
    st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
)
def test_of_each_class_the_surest_rows_are_kept(probabilities: NDArray[np.float64], share: float) -> None:
    kept = confident_classes(probabilities, share)
    best = [max(range(len(row)), key=list(row).__getitem__) for row in probabilities]
    for novel in range(probabilities.shape[1]):
        rows = sorted((i for i, b in enumerate(best) if b == novel), key=lambda i: -probabilities[i, novel])
        surest = rows[: math.ceil(share * len(rows))]
        assert [i for i, code in enumerate(kept) if code == novel] == sorted(surest)
    assert kept.dtype == np.int64
    assert set(kept) <= {-1, *range(probabilities.shape[1])}


def test_a_small_class_is_not_lost_to_a_large_sure_one() -> None:
    large, small = np.tile([0.99, 0.01], (98, 1)), np.tile([0.4, 0.6], (2, 1))
    assert np.bincount(confident_classes(np.concatenate([large, small]), 0.5) + 1).tolist() == [50, 49, 1]


def test_all_classes_are_learned_from_the_rows_that_are_given(problem: Problem) -> None:
    codes = torch.where(torch.arange(len(problem.truth)) % 3 == 0, problem.truth, -1)
    network, progress = trained(problem, codes, [1, 2], replace(SETTINGS, epochs=10))
    found = network.eval().proba(problem.rows.expand(2, -1, -1))[0].argmax(dim=2)
    assert (found == problem.truth).double().mean() > 0.9
    assert [epoch["epoch"] for epoch in progress.history] == list(range(1, 11))
    assert {epoch["stage"] for epoch in progress.history} == {STAGE}
    assert progress.history[-1]["cross_entropy"] < 0.5 * progress.history[0]["cross_entropy"]


def test_rows_that_are_left_out_have_no_part_in_it(problem: Problem) -> None:
    codes = torch.where(torch.arange(len(problem.truth)) % 3 == 0, problem.truth, -1)
    stained = replace(problem, rows=torch.where((codes >= 0)[:, None], problem.rows, torch.nan))
    for (name, clean), other in zip(
        weights(trained(problem, codes, [1])[0]).items(),
        weights(trained(stained, codes, [1])[0]).values(),
        strict=True,
    ):
        assert torch.equal(clean, other), name


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_a_pack_trains_as_each_member_alone_and_without_dropout(problem: Problem, dropout: float) -> None:
    together, _ = trained(problem, problem.truth, [1, 2], dropout=dropout)
    for m, seed in enumerate([1, 2]):
        alone, _ = trained(problem, problem.truth, [seed])
        for name, tensor in weights(together).items():
            torch.testing.assert_close(tensor[m : m + 1], weights(alone)[name], atol=1e-10, rtol=1e-10)


def test_training_equals_plain_torch(problem: Problem) -> None:
    network, _ = trained(problem, problem.truth, [7], replace(SETTINGS, epochs=2, batch_size=96))
    streams = MemberStreams([7], dtype=torch.float64)
    start = joint_network(streams)
    layers = [layer for layer in [*start.encoder.children(), start.classification] if hasattr(layer, "weight")]
    parameters = [p.detach()[0].clone().requires_grad_() for layer in layers for p in (layer.weight, layer.bias)]
    w1, b1, w2, b2, w3, b3 = parameters
    optimiser = torch.optim.AdamW(parameters, lr=SETTINGS.learning_rate)
    loss = torch.nn.CrossEntropyLoss(label_smoothing=SETTINGS.smoothing)
    for _ in range(2 * 30):  # a small table has one step in a pass, and many passes in an epoch
        for index in streams.permutation(96)[0][: 96 // 64 * 64].split(64):  # a small table has smaller batches
            logits = ((problem.rows[index] @ w1 + b1).relu() @ w2 + b2) @ w3 + b3
            optimiser.zero_grad()
            loss(logits, problem.truth[index]).backward()
            optimiser.step()
    torch.testing.assert_close(network.classification.weight[0], w3, atol=1e-9, rtol=1e-9)
    torch.testing.assert_close(network.encoder.get_parameter("0.weight")[0], w1, atol=1e-9, rtol=1e-9)
