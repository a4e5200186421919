"""Trainings whose large products take factors in bf16."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import newfound as nf
from newfound.metrics import novel_scores
from newfound.nn import layers
from tests.learning.tasks import made_task


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_brief_factors_find_the_same_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    task, truth = made_task(2_000, 64)
    model = nf.TabularNCD(task.n_novel, n_members=4, epochs=10, pretrain_epochs=5, device="cuda")

    def found() -> tuple[np.ndarray, torch.Tensor]:
        trained = model._trainer(model._member_settings()).train(task, np.random.RandomState(0))
        return trained.found, next(trained.state.network.parameters())

    single, weights = found()
    monkeypatch.setattr(layers, "_LARGE_PRODUCT", 0)
    monkeypatch.setattr(layers, "_SHORTEST_SIDE", 1)
    brief, other_weights = found()
    assert not torch.equal(weights, other_weights), "products were those of other factors"
    assert novel_scores(single, brief)["ari"] > 0.95
    assert novel_scores(truth, brief)["ari"] > 0.95
