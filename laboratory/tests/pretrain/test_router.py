"""The router's constants are read off synthetic tasks."""

from __future__ import annotations

import numpy as np
import torch

from newfound.routing.judgement import ShareEstimates
from newfound_lab.pretrain.router import Outcome, constants, discovery_task, outcomes
from newfound_lab.prior import sample_tasks
from newfound_lab.prior.source import Source


def test_a_task_is_encoded_as_users_tables_are() -> None:
    tasks = sample_tasks(Source(5, torch.device("cpu")), 2, 150, 6)
    task, novel = discovery_task(tasks, 1)
    labels = tasks.context.labels[1].numpy()
    assert len(task.rows) == 150
    assert task.layout.n_groups <= 6
    np.testing.assert_array_equal(task.codes < 0, labels < 0)
    assert task.n_known == len(np.unique(labels[labels >= 0]))
    assert len(novel) == (labels < 0).sum()


def test_outcomes_hold_shares() -> None:
    found = list(outcomes(2, seed=3))
    assert len(found) == 2
    for task in found:
        assert 0 <= task.share <= 1
        assert 0 <= task.estimates.share <= 1


def test_constants() -> None:
    """Errors are a tenth of the doubt everywhere but on one task of twenty, so nine in ten are within that."""
    estimates = ShareEstimates((0.5, 0.5), 0.5, 0.4, 0.1, 5.0)
    found = [Outcome(estimates, 0.01, 0.48)] * 19 + [Outcome(estimates, 0.01, 0.0)] + [Outcome(estimates, 0.9, 1.0)] * 5
    read = constants(found)
    np.testing.assert_allclose(read["width"], 0.1)
    np.testing.assert_allclose(read["error"], (19 * 0.02 + 0.5) / 20)
    assert 0.01 < read["nothing"] < 0.9
    assert np.isnan(constants(found[:20])["nothing"])


def test_calibrated_probabilities_of_balanced_tasks_are_corrected_for_the_prior() -> None:
    rng = np.random.default_rng(0)
    none = rng.uniform(0.01, 0.99, 20_000)
    truth = rng.random(20_000) < none
    estimates = ShareEstimates((0.5,), 0.5, 0.5, 0.1, 0.0)
    read = constants([Outcome(estimates, p, float(yes)) for p, yes in zip(none.tolist(), truth.tolist(), strict=True)])
    np.testing.assert_allclose(read["nothing"], 0.9, atol=0.02)
