from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from newfound.deadline import Deadline
from newfound.learning import distillation
from newfound.learning.distillation import STEPS_IN_EPOCH, DistillationSettings, distil
from newfound.learning.neighbours import neighbours_within
from newfound.learning.progress import Progress
from newfound.metrics import clustering_accuracy
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedMLP
from tests.learning.problems import N_KNOWN, N_NOVEL, Problem, make_problem, weights

SEEDS = [11, 22, 33]
SHORT = DistillationSettings(imitation_steps=6, refinement_steps=5, batch_size=24)
LONG = DistillationSettings(imitation_steps=80, refinement_steps=80, batch_size=64, learning_rate=1e-2)


@pytest.fixture(scope="module")
def problem() -> Problem:
    return make_problem()


@pytest.fixture(scope="module")
def clear() -> Problem:
    """The same with classes far apart, the novel ones all on one side."""
    problem = make_problem()
    rows = problem.rows.clone()
    rows[:, :3] = (
        0.3 * rows[:, :3] + 4 * torch.tensor([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 1], [1, 1, 1]])[problem.truth]
    )
    return replace(problem, rows=rows)


def network_of(streams: MemberStreams) -> DiscoveryNetwork:
    encoder = PackedMLP(
        streams.n_members, [6, 32, 16], dropout=0.1, activate_last=True, batch_norm=True, streams=streams
    )
    return DiscoveryNetwork(encoder, streams.n_members, 16, N_KNOWN, N_NOVEL, streams).double()


def taught(problem: Problem, partition: Tensor | None = None) -> Tensor:
    classes = problem.truth - N_KNOWN if partition is None else partition
    return torch.where(problem.codes < 0, classes, -1)


def train(
    problem: Problem,
    seeds: list[int],
    distillation_settings: DistillationSettings = SHORT,
    *,
    partition: Tensor | None = None,
    broken_member: int | None = None,
) -> tuple[DiscoveryNetwork, Progress]:
    streams = MemberStreams(seeds, dtype=torch.float64)
    network = network_of(streams)
    if broken_member is not None:
        with torch.no_grad():
            for parameter in network.parameters():
                parameter[broken_member] = torch.nan
    progress = Progress(0)
    neighbours = neighbours_within(problem.rows, problem.codes, 4)
    double = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # for the decoder, which the training makes itself
    try:
        distil(
            network,
            problem.rows,
            neighbours,
            problem.codes,
            taught(problem, partition),
            distillation_settings,
            streams,
            progress,
        )
    finally:
        torch.set_default_dtype(double)
    return network.eval(), progress


def test_a_partition_and_the_known_classes_are_learned(clear: Problem) -> None:
    problem = clear
    network, _ = train(problem, SEEDS, LONG)
    with torch.inference_mode():
        known, novel = network.proba(problem.rows.expand(3, -1, -1))
    unlabelled = problem.codes < 0
    for of_known, of_novel in zip(known, novel, strict=True):
        found = of_novel[unlabelled].argmax(dim=1).numpy()
        assert clustering_accuracy(problem.truth[unlabelled].numpy(), found) > 0.95
        expected = torch.where(unlabelled, N_KNOWN, problem.codes)
        # Also by the statistics that batch norm remembers: those of the batches it was trained with.
        assert (of_known.argmax(dim=1) == expected).double().mean() > 0.9


def test_imitation_alone_learns_the_partition_it_is_shown(clear: Problem) -> None:
    problem = clear
    odd = (problem.rows[:, 2] > 2).long()
    network, progress = train(problem, SEEDS, replace(LONG, refinement_steps=0), partition=odd)
    with torch.inference_mode():
        novel = network.proba(problem.rows.expand(3, -1, -1))[1]
    unlabelled = problem.codes < 0
    assert (novel.argmax(dim=2)[:, unlabelled] == odd[unlabelled]).double().mean() > 0.9
    assert {epoch["stage"] for epoch in progress.history} == {"imitation"}


def test_the_history_tells_the_losses(problem: Problem) -> None:
    _, progress = train(problem, SEEDS, LONG)
    stages = [epoch["stage"] for epoch in progress.history]
    assert stages == ["imitation"] * 2 + ["refinement"] * 2
    assert {"classification", "reconstruction", "imitation"} < set(progress.history[0])
    assert {"classification", "information"} < set(progress.history[-1])
    assert progress.history[1]["imitation"] < progress.history[0]["imitation"]
    assert progress.history[-1]["information"] < 0


def test_a_pack_trains_as_each_member_alone(problem: Problem) -> None:
    together = weights(train(problem, SEEDS)[0])
    for m, seed in enumerate(SEEDS):
        alone = weights(train(problem, [seed])[0])
        for name, tensor in together.items():
            # A bias in front of batch norm has a gradient of 0 but for rounding, and AdamW divides it by itself.
            torch.testing.assert_close(tensor[m : m + 1], alone[name], atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("broken", [0, 2])
def test_a_member_that_diverged_harms_no_other(problem: Problem, broken: int) -> None:
    sound, harmed = weights(train(problem, SEEDS)[0]), weights(train(problem, SEEDS, broken_member=broken)[0])
    others = [m for m in range(3) if m != broken]
    for name, tensor in sound.items():
        torch.testing.assert_close(harmed[name][others], tensor[others], atol=1e-6, rtol=1e-6)


def test_the_deadline_ends_the_training(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []
    rate = distillation._learning_rate
    monkeypatch.setattr(distillation, "_FIRST_STEPS", 4)
    monkeypatch.setattr(distillation, "_learning_rate", lambda *args: (shares.append(args[1]), rate(*args))[1])
    train(problem, [1], replace(SHORT, deadline=Deadline(-math.inf)))
    assert len(shares) == 4 + 1  # the first steps of the imitation, with a falling rate, and one that refines
    assert shares[:4] == [0, 0.25, 0.5, 0.75]
    shares.clear()
    train(problem, [1], replace(SHORT, deadline=Deadline.after(1000.0)))
    assert len(shares) == 6 + 5


def test_no_novel_classes() -> None:
    problem = make_problem()
    codes = problem.truth % N_KNOWN
    streams = MemberStreams([1, 2], dtype=torch.float32)
    encoder = PackedMLP(2, [6, 8, 5], batch_norm=True, streams=streams)
    network = DiscoveryNetwork(encoder, 2, 5, N_KNOWN, 0, streams)
    rows, progress = problem.rows.float(), Progress(0)
    neighbours = neighbours_within(rows, codes, 4)
    distil(network, rows, neighbours, codes, torch.full_like(codes, -1), SHORT, streams, progress)
    assert [set(epoch) - {"stage", "epoch", "seconds"} for epoch in progress.history] == [
        {"classification", "reconstruction"},
        {"classification"},
    ]
    assert all(parameter.isfinite().all() for parameter in network.parameters())


def test_batch_norm_sees_one_kind_of_batch(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass of neighbours alone would draw the statistics for predictions away from the labelled rows."""
    batches: list[int] = []
    forward = PackedMLP.forward
    monkeypatch.setattr(PackedMLP, "forward", lambda self, x: (batches.append(x.shape[1]), forward(self, x))[1])
    train(problem, [1])
    assert len(batches) == SHORT.imitation_steps + SHORT.refinement_steps


def test_epochs_are_of_so_many_steps(problem: Problem) -> None:
    settings = replace(SHORT, imitation_steps=STEPS_IN_EPOCH + 1, refinement_steps=0)
    assert [epoch["epoch"] for epoch in train(problem, [1], settings)[1].history] == [1, 2]


def test_the_learning_rate_rises_and_falls() -> None:
    rates = [distillation._learning_rate(0.5, float(share)) for share in np.linspace(0, 0.99, 100)]
    top = int(np.argmax(rates))
    assert top == 10
    assert rates[top] == pytest.approx(0.5)
    assert (np.diff(rates[:top]) > 0).all()
    assert (np.diff(rates[top:]) <= 0).all()
    assert min(rates) == pytest.approx(0.005)


def test_small_classes_count_more_where_classes_are_levelled(problem: Problem) -> None:
    novel = (problem.codes < 0).nonzero()[:, 0]
    lopsided = torch.zeros_like(problem.codes)
    lopsided[novel[:4]] = 1  # four rows that nothing tells from the others
    few = replace(SHORT, imitation_steps=60, refinement_steps=0)
    shares = []
    for levelled in (False, True):
        network, _ = train(problem, SEEDS, replace(few, levelled=levelled), partition=lopsided)
        with torch.no_grad():
            shares.append(float(network.eval().proba(problem.rows[novel].expand(len(SEEDS), -1, -1))[1][..., 1].mean()))
    assert shares[1] > 1.1 * shares[0]
