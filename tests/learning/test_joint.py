from __future__ import annotations

import dataclasses
import inspect
import re
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from newfound.learning.batches import MixedBatches
from newfound.learning.joint import JointSettings, train_jointly
from newfound.learning.losses import classification_loss, consistency_loss
from newfound.learning.progress import Progress
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedMLP
from tests.learning.problems import JOINT, N_KNOWN, N_NOVEL, Problem, make_network, make_problem, weights

LOSSES = {
    "ce": {"cross_entropy"},
    "bce": {"pairwise"},
    "mse": {"classification_consistency", "clustering_consistency"},
}


@pytest.fixture(scope="module")
def problem() -> Problem:
    return make_problem()


def trained(
    problem: Problem, settings: JointSettings, codes: Tensor | None = None
) -> tuple[dict[str, Tensor], dict[str, Tensor], Progress]:
    """Weights before and after, and the progress."""
    streams = MemberStreams([1, 2], dtype=torch.float64)
    network = make_network(streams)
    before, progress = weights(network), Progress(settings.epochs)
    train_jointly(network, problem.views, problem.codes if codes is None else codes, settings, streams, progress)
    return before, weights(network), progress


def changed(before: dict[str, Tensor], after: dict[str, Tensor]) -> set[str]:
    """Parts of the network of which a weight moved."""
    return {name.split(".")[0] for name in before if not torch.equal(before[name], after[name])}


EVERYTHING = {"encoder", "classification", "clustering"}


@pytest.mark.parametrize(
    ("without", "moved"),
    [
        ((), EVERYTHING),
        (("ce",), EVERYTHING),
        (("bce",), EVERYTHING),
        (("mse",), EVERYTHING),
        (("ce", "bce"), EVERYTHING),
        (("ce", "mse"), {"encoder", "clustering"}),
        (("bce", "mse"), {"encoder", "classification"}),
        (("ce", "bce", "mse"), set()),
    ],
)
def test_each_loss_can_be_left_out(problem: Problem, without: tuple[str, ...], moved: set[str]) -> None:
    before, after, progress = trained(problem, replace(JOINT, without=frozenset(without), epochs=2))
    assert changed(before, after) == moved
    expected = set().union(*(names for loss, names in LOSSES.items() if loss not in without))
    for epoch in progress.history:
        assert set(epoch) - {"stage", "epoch", "seconds"} == expected
        assert epoch["stage"] == "joint training"


@pytest.mark.parametrize(("weights_at", "left_out"), [({"w1": 1.0, "w2": 1.0}, "mse"), ({"w1": 0.0}, "ce")])
def test_a_loss_of_no_weight_is_a_loss_left_out(problem: Problem, weights_at: dict[str, float], left_out: str) -> None:
    settings = replace(JOINT, **weights_at)  # type: ignore[arg-type]
    _, weightless, _ = trained(problem, settings)
    _, without, _ = trained(problem, replace(settings, without=frozenset([left_out])))
    for name, tensor in weightless.items():
        torch.testing.assert_close(tensor, without[name], atol=1e-10, rtol=1e-10)


def test_the_history_holds_the_mean_of_each_loss_over_steps_and_members(problem: Problem) -> None:
    """Learning rates of almost 0 keep the network as it is, so that each step's losses can be computed beforehand."""
    streams = MemberStreams([1, 2], dtype=torch.float64)
    network, progress = make_network(streams), Progress(1)
    settings = replace(JOINT, lr_classification=1e-12, lr_clustering=1e-12, epochs=1, batch_size=96)
    assert problem.rows.shape[0] == 96
    drawn, parts = MemberStreams([1, 2], dtype=torch.float64), []
    make_network(drawn)
    labelled, unlabelled = (problem.codes >= 0).nonzero()[:, 0], (problem.codes < 0).nonzero()[:, 0]
    for index in MixedBatches(labelled, unlabelled, settings.batch_size).epoch(drawn):
        both = problem.views.pair(index, drawn)
        logits, view_logits = network.classification(network.encoder(both)).chunk(2, dim=1)
        targets = torch.where(problem.codes < 0, N_KNOWN, problem.codes)[index]
        cross_entropy = classification_loss(logits, targets)
        consistency = consistency_loss(logits, view_logits)
        parts.append((cross_entropy.mean().item(), consistency.mean().item()))
    train_jointly(network, problem.views, problem.codes, settings, streams, progress)
    (epoch,) = progress.history
    means = torch.tensor(parts).mean(dim=0)
    assert epoch["cross_entropy"] == pytest.approx(means[0].item(), rel=1e-5)
    assert epoch["classification_consistency"] == pytest.approx(means[1].item(), rel=1e-5)


def test_losses_fall(problem: Problem) -> None:
    _, _, progress = trained(problem, replace(JOINT, epochs=40, n_positives=12))
    assert progress.history[-1]["cross_entropy"] < 0.5 * progress.history[0]["cross_entropy"]
    assert progress.history[-1]["pairwise"] < 0.8 * progress.history[0]["pairwise"]


def test_known_classes_and_blobs_of_novel_classes_are_found(problem: Problem) -> None:
    streams = MemberStreams([1, 2], dtype=torch.float64)
    network = make_network(streams)
    settings = replace(JOINT, epochs=60, n_positives=8)
    train_jointly(network, problem.views, problem.codes, settings, streams, Progress(60))
    known, novel = network.eval().proba(problem.rows.expand(2, -1, -1))
    labelled = problem.codes >= 0
    for m in range(2):
        assert (known[m].argmax(dim=1)[labelled] == problem.codes[labelled]).double().mean() > 0.95
        assert (known[m].argmax(dim=1)[~labelled] == N_KNOWN).double().mean() > 0.95
        found, truth = novel[m].argmax(dim=1)[~labelled], problem.truth[~labelled] - N_KNOWN
        table = torch.bincount(truth * N_NOVEL + found, minlength=N_NOVEL**2).view(N_NOVEL, N_NOVEL)
        assert table.amax(dim=0).sum() / table.sum() > 0.8


def test_only_unlabelled_rows_reach_the_clustering_head(problem: Problem) -> None:
    """Labelled rows that are not numbers leave the clustering step alone when the classification step is off."""
    rows = problem.rows.clone()
    rows[problem.codes >= 0] = torch.nan
    views = replace(problem.views, rows=rows)
    settings = replace(JOINT, without=frozenset(["ce", "mse"]))
    _, clean, _ = trained(problem, settings)
    _, stained, _ = trained(replace(problem, views=views), settings)
    for name, tensor in clean.items():
        assert torch.equal(tensor, stained[name])


def test_training_takes_no_labels_but_the_known_codes() -> None:
    assert list(inspect.signature(train_jointly).parameters) == [
        "network",
        "views",
        "codes",
        "settings",
        "streams",
        "progress",
    ]
    for setting in dataclasses.fields(JointSettings):
        # numbers alone: for all members or, in a sequence, for each of them
        assert set(re.findall(r"\w+", str(setting.type))) <= {"int", "float", "Sequence", "None", "frozenset", "str"}


def test_nothing_that_marks_an_unlabelled_row_tells_its_class(problem: Problem) -> None:
    telling = torch.where(problem.codes < 0, -1 - problem.truth, problem.codes)
    assert len(telling.unique()) == N_KNOWN + N_NOVEL
    _, plain, _ = trained(problem, JOINT)
    _, told, _ = trained(problem, JOINT, codes=telling)
    for name, tensor in plain.items():
        assert torch.equal(tensor, told[name])


def test_without_novel_classes_only_the_classifier_trains(problem: Problem) -> None:
    streams = MemberStreams([0], dtype=torch.float64)
    network = DiscoveryNetwork(PackedMLP(1, [6, 5], streams=streams), 1, 5, 5, 0, streams)
    progress = Progress(2)
    train_jointly(network, problem.views, problem.truth, replace(JOINT, epochs=2), streams, progress)
    assert set(progress.history[0]) == {"stage", "epoch", "seconds", "cross_entropy", "classification_consistency"}


def test_one_unlabelled_row_has_no_pairs_but_trains() -> None:
    problem = make_problem(30)
    codes = problem.truth % N_KNOWN
    codes[0] = -1
    _, after, progress = trained(problem, replace(JOINT, epochs=2), codes=codes)
    assert "pairwise" not in progress.history[0]
    assert all(tensor.isfinite().all() for tensor in after.values())


def test_more_positives_than_rows_are_capped() -> None:
    problem = make_problem(30)
    n_unlabelled = int((problem.codes < 0).sum())
    _, all_, _ = trained(problem, replace(JOINT, n_positives=n_unlabelled - 1, epochs=2))
    _, more, _ = trained(problem, replace(JOINT, n_positives=1_000, epochs=2))
    _, fewer, _ = trained(problem, replace(JOINT, n_positives=1, epochs=2))
    for name, tensor in all_.items():
        assert torch.equal(tensor, more[name])
    assert any(not torch.equal(tensor, fewer[name]) for name, tensor in all_.items())
