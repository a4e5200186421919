"""Signals: what speaks for a partition without a novel label."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import log_expit

from newfound.selection.candidates import spaces_of
from newfound.selection.signals import FACTS, SIGNALS, Pairs, facts_of, graphs_of, signals_of, structure
from tests.selection.scenes import N_NOVEL, rng, scene, table


def test_the_truth_has_the_better_signals() -> None:
    some = scene()
    spaces = spaces_of(some, rng())
    pairs, graphs = Pairs(some.look.pair_logits(some.free)), graphs_of(some, spaces)
    truth = (table()[2][some.free] % N_NOVEL).astype(np.int64)
    right, wrong = (
        dict(zip(SIGNALS, signals_of(some, spaces, graphs, pairs, partition), strict=True))
        for partition in (truth, np.random.default_rng(0).permutation(truth))
    )
    for signal in set(SIGNALS) - {"entropy", "smallest", "largest"}:
        assert right[signal] > wrong[signal], signal
    for signal in ("entropy", "smallest", "largest"):
        assert right[signal] == wrong[signal]
    facts = dict(zip(FACTS, facts_of(some, spaces, pairs), strict=True))
    assert np.exp(facts["rows"]) == pytest.approx(some.free.sum())
    assert np.exp(facts["known"]) == pytest.approx(4)
    assert facts["categorical"] == 0


def test_likelihoods_are_means_over_pairs() -> None:
    noise = np.random.default_rng(0)
    logits = noise.normal(size=(7, 7))
    logits += logits.T
    partition = np.array([0, 0, 0, 0, 1, 1, 2])
    same, other, by_class = [], [], [[], [], []]
    for i, j in itertools.permutations(range(7), 2):
        if partition[i] == partition[j]:
            same.append(log_expit(logits[i, j]))
            by_class[partition[i]].append(log_expit(logits[i, j]))
        else:
            other.append(log_expit(-logits[i, j]))
    found = Pairs(logits.copy()).likelihood((partition[:, None] == np.arange(3)).astype(float))
    expected = np.mean(same), np.mean(other), np.mean([np.mean(by_class[0]), np.mean(by_class[1])])
    np.testing.assert_allclose(found, expected)


def test_structure() -> None:
    placed = np.array([[0.0], [1.0], [9.0], [10.0]])
    explained, apart = structure(placed, np.array([0, 0, 2, 2]))  # a class without rows does not count
    assert explained == pytest.approx(1 - 1 / 82)
    assert apart == pytest.approx(np.mean([(9.5 - 0.5) / 9.5, (8.5 - 0.5) / 8.5]))
    assert structure(placed, np.zeros(4, dtype=np.int64)) == (pytest.approx(0.0), 0.0)
