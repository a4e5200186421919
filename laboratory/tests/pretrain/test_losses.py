"""Losses reward what they are meant to reward."""

from __future__ import annotations

import torch
from torch.nn import functional

from newfound.incontext import NetworkOutput
from newfound_lab.pretrain.losses import WEIGHTS, centre_loss, losses, pair_losses
from newfound_lab.prior import Tasks, sample_tasks
from newfound_lab.prior.source import Source

SCALE, BIAS = torch.tensor(10.0), torch.tensor(-5.0)


def make_output(tasks: Tasks, *, right: bool) -> NetworkOutput:
    rows = tasks.classes.shape[1]
    classes = tasks.classes if right else (tasks.classes + torch.arange(rows)) % 40
    known = functional.one_hot(classes, 64).float() * 20
    novelty = (tasks.novel.float() - 0.5) * (20 if right else -20)
    count = functional.one_hot(tasks.n_novel if right else 40 - tasks.n_novel, 41).float() * 20
    return NetworkOutput(functional.one_hot(classes, 64).float(), SCALE, BIAS, known, novelty, count)


def test_right_answers_cost_little() -> None:
    tasks = sample_tasks(Source(0), 16, 80, 6)
    right, wrong = losses(make_output(tasks, right=True), tasks), losses(make_output(tasks, right=False), tasks)
    assert set(right) == {"all", *WEIGHTS}
    for name in WEIGHTS:
        assert right[name] < wrong[name] - 0.1
    for name in ("pairs", "known", "novelty", "count"):
        assert right[name] < 0.02
    torch.testing.assert_close(right["all"], sum(weight * right[name] for name, weight in WEIGHTS.items()))


def test_pairs_of_labelled_rows_do_not_count() -> None:
    classes = torch.tensor([[0, 0, 1, 1, 2, 2, 3, 3]])
    labelled = classes < 2
    good = functional.one_hot(classes, 8).float()
    bad = good.clone()
    bad[:, :4] = functional.one_hot(torch.tensor([4, 5, 6, 7]), 8).float()  # labelled rows apart from each other
    assert torch.equal(
        torch.stack(pair_losses(good, SCALE, BIAS, classes, labelled)),
        torch.stack(pair_losses(bad, SCALE, BIAS, classes, labelled)),
    )


def test_small_classes_count() -> None:
    """Merging a class of two rows into one of forty costs almost as much as the balanced loss can."""
    classes = torch.tensor([[0] * 10 + [1] * 40 + [2] * 2])
    labelled = classes == 0
    good = functional.one_hot(classes, 8).float()
    merged = functional.one_hot(classes.clamp(max=1), 8).float()
    assert (
        pair_losses(merged, SCALE, BIAS, classes, labelled)[0]
        > pair_losses(good, SCALE, BIAS, classes, labelled)[0] + 0.1
    )


def test_centres_leave_the_row_itself_out() -> None:
    """An oracle in loops: distances to the mean of each class, and to that of the other rows of the own class."""
    torch.manual_seed(0)
    classes, labelled = torch.randint(0, 4, (1, 30)), torch.rand(1, 30) < 0.3
    vectors = functional.normalize(torch.randn(1, 30, 6), dim=2)
    free = [row for row in range(30) if not labelled[0, row]]
    total, weights = 0.0, 0.0
    for row in free:
        logits = []
        for name in range(4):
            others = [place for place in free if classes[0, place] == name and place != row]
            distance = (vectors[0, others].mean(0) - vectors[0, row]).square().sum()
            logits.append(-distance / 0.2)
        own = classes[0, row]
        weight = sum(int(classes[0, place] == own) for place in free) ** -0.5
        total += weight * float(functional.cross_entropy(torch.stack(logits), own))
        weights += weight
    assert min(sum(int(classes[0, place] == name) for place in free) for name in range(4)) >= 2
    torch.testing.assert_close(centre_loss(vectors, classes, labelled), torch.tensor(total / weights))


def test_only_one_class_is_finite() -> None:
    classes = torch.zeros(1, 6, dtype=torch.long)
    found = pair_losses(
        functional.normalize(torch.randn(1, 6, 4), dim=2), SCALE, BIAS, classes, torch.zeros(1, 6, dtype=torch.bool)
    )
    assert all(loss.isfinite() for loss in found)
