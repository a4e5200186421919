from __future__ import annotations

import dataclasses
import inspect

import pytest
import torch

from newfound.learning.pretraining import PretrainingSettings, corrupted_batches, pretrain
from newfound.learning.progress import Progress
from newfound.nn import MemberStreams
from tests.learning.problems import make_network, make_problem

SEEDS = [1, 2]


def pretrained(settings: PretrainingSettings, grouped: bool = True) -> tuple[list[torch.Tensor], Progress]:
    problem, streams = make_problem(), MemberStreams(SEEDS, dtype=torch.float64)
    network, progress = make_network(streams), Progress(settings.epochs)
    groups = problem.groups if grouped else None
    pretrain(network.encoder, network.n_latent, problem.rows, groups, settings, streams, progress)
    return [p.detach() for p in network.encoder.parameters()], progress


@pytest.mark.parametrize("grouped", [True, False])
def test_the_encoder_learns_to_undo_the_corruption(grouped: bool) -> None:
    _, progress = pretrained(PretrainingSettings(epochs=60, batch_size=32, learning_rate=0.01), grouped)
    first, last = progress.history[0], progress.history[-1]
    assert last["reconstruction"] < 0.6 * first["reconstruction"]
    assert last["mask"] < 0.95 * first["mask"]
    assert [epoch["stage"] for epoch in progress.history] == ["pretraining"] * 60


def test_every_weight_of_every_member_is_trained() -> None:
    start = list(make_network(MemberStreams(SEEDS, dtype=torch.float64)).encoder.parameters())
    after, _ = pretrained(PretrainingSettings(epochs=2, batch_size=32))
    for before, trained in zip(start, after, strict=True):
        assert ((before - trained).abs().amax(dim=(1, 2)) > 1e-4).all()


def test_no_epochs_change_nothing() -> None:
    start = list(make_network(MemberStreams(SEEDS, dtype=torch.float64)).encoder.parameters())
    after, progress = pretrained(PretrainingSettings(epochs=0))
    assert all(torch.equal(before, now) for before, now in zip(start, after, strict=True))
    assert progress.history == []


def test_alpha_weighs_the_reconstruction_loss() -> None:
    """The history holds the losses themselves; the weight shows in what is learned."""
    little, much = (pretrained(PretrainingSettings(epochs=20, alpha=alpha))[1].history[-1] for alpha in (0.01, 100))
    assert much["reconstruction"] < little["reconstruction"]
    assert much["mask"] > little["mask"]


def test_defaults_are_the_papers() -> None:
    assert dataclasses.asdict(PretrainingSettings()) == {
        "epochs": 30,
        "batch_size": 128,
        "learning_rate": 1e-3,
        "corruption": 0.3,
        "alpha": 2.0,
        "only_changed": False,
    }


@pytest.mark.parametrize("grouped", [True, False])
def test_the_mask_marks_swapped_values_or_only_changed_ones(grouped: bool) -> None:
    problem = make_problem()
    groups = problem.groups if grouped else None
    rows = problem.rows.round()  # many values are equal, so that many swaps change nothing
    index = torch.arange(64).expand(len(SEEDS), -1)
    both = (
        corrupted_batches(index, rows, groups, PretrainingSettings(only_changed=only), MemberStreams(SEEDS))
        for only in (False, True)
    )
    n_unchanged = 0
    for (batch, corrupted, swapped), (_, same, changed) in zip(*both, strict=True):
        assert torch.equal(corrupted, same)
        assert torch.equal(changed == 1, corrupted != batch)
        assert (swapped[changed == 1] == 1).all()
        n_unchanged += int((swapped - changed).sum())
    assert n_unchanged > 0


def test_pretraining_takes_no_labels_at_all() -> None:
    parameters = list(inspect.signature(pretrain).parameters)
    assert parameters == ["encoder", "n_latent", "rows", "groups", "settings", "streams", "progress"]
    assert all(field.type in ("int", "float", "bool") for field in dataclasses.fields(PretrainingSettings))
