"""Tasks hold together: labels, novelty and counts agree with the classes, and sizes are as asked for."""

from __future__ import annotations

import pytest
import torch

from newfound.incontext import ALL_NOVEL, MIXED, UNKNOWN
from newfound_lab.prior import FAMILIES, Tasks, sample_tasks
from newfound_lab.prior.source import Source


@pytest.fixture(scope="module", params=[4, 12, 70])
def tasks(request: pytest.FixtureRequest) -> Tasks:
    return sample_tasks(Source(7), 40, 120, request.param)


def test_shapes_and_values(tasks: Tasks) -> None:
    context = tasks.context
    assert context.values.shape[:2] == tasks.classes.shape == (40, 120)
    assert context.values.isfinite().all()
    codes = context.values[context.categorical[:, None] & ~context.missing]
    assert torch.equal(codes, codes.round())
    assert codes.min() >= 0
    assert codes.max() < 64
    assert (context.values[context.missing] == 0).all()


def test_labels_agree_with_classes(tasks: Tasks) -> None:
    labelled = tasks.context.labels >= 0
    assert torch.equal(tasks.context.labels[labelled], tasks.classes[labelled])
    assert labelled.any(1).all()
    assert (~labelled).any(1).float().mean() > 0.9


def test_novel_rows_are_those_of_classes_without_labels(tasks: Tasks) -> None:
    for labels, classes, novel, n_novel in zip(
        tasks.context.labels, tasks.classes, tasks.novel, tasks.n_novel, strict=True
    ):
        known = labels.unique()
        assert torch.equal(novel, ~torch.isin(classes, known))
        values, counts = classes[novel].unique(return_counts=True)
        assert n_novel == (counts >= 3).sum() <= len(values)


def test_told_modes_are_true(tasks: Tasks) -> None:
    mode, free = tasks.context.unlabelled, tasks.context.labels < 0
    hidden_known = (free & ~tasks.novel).any(1)
    assert not hidden_known[mode == ALL_NOVEL].any()
    assert hidden_known[mode == MIXED].float().mean() > 0.7
    assert set(mode.tolist()) == {ALL_NOVEL, MIXED, UNKNOWN}


def test_variety() -> None:
    tasks = sample_tasks(Source(3), 400, 150, 8, parts=16)
    labelled = tasks.context.labels >= 0
    assert (tasks.n_novel == 0).any()
    assert (tasks.n_novel > 5).any()
    assert (labelled.sum(1) < 30).any()
    assert (labelled.float().mean(1) > 0.6).any()
    assert tasks.context.categorical.all(1).any()
    assert (~tasks.context.categorical).all(1).any()
    assert tasks.context.missing.any()


def test_few_known_classes_are_no_sign_of_few_novel_ones() -> None:
    tasks = sample_tasks(Source(4), 400, 300, 8, parts=16)
    n_known = torch.tensor([len(labels[labels >= 0].unique()) for labels in tasks.context.labels])
    beside_two = tasks.n_novel[n_known == 2]
    assert len(beside_two) > 50
    assert (beside_two >= 5).float().mean() > 0.2
    assert (beside_two <= 2).float().mean() > 0.1


def test_same_seed_same_tasks() -> None:
    first, other = (sample_tasks(Source(5), 8, 60, 6) for _ in range(2))
    assert torch.equal(first.context.values, other.context.values)
    assert torch.equal(first.context.labels, other.context.labels)
    assert not torch.equal(first.classes, sample_tasks(Source(6), 8, 60, 6).classes)


@pytest.mark.parametrize("name", FAMILIES)
def test_one_family_alone(name: str) -> None:
    tasks = sample_tasks(Source(0), 4, 80, 20, weights={name: 1.0})
    assert tasks.context.values.shape == (4, 80, 20)
