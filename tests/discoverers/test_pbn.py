"""What is particular to PBN."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from newfound.metrics import clustering_accuracy
from tests.discoverers.common import NOVEL, TRUTH, frame, integer_labels, numbers, pbn


@pytest.mark.parametrize("n_members", [1, 2])
def test_latent_rows_have_unit_length_in_prediction_too(n_members: int) -> None:
    model = pbn(n_members=n_members).fit(frame(), integer_labels())
    for seed in (0, 1):
        lengths = np.linalg.norm(model.transform(frame(seed)).reshape(len(TRUTH), n_members, -1), axis=2)
        assert_allclose(lengths, 1, rtol=1e-12)


@pytest.mark.parametrize(("w", "learned"), [(0.0, "reconstruction"), (1.0, "cross_entropy")])
def test_the_weight_says_what_is_learned(w: float, learned: str) -> None:
    history = pbn(w=w, epochs=30, dropout=0).fit(numbers(), integer_labels()).history_
    fallen = {name: history[-1][name] / history[0][name] for name in ("cross_entropy", "reconstruction")}
    assert fallen.pop(learned) < 0.5
    (other,) = fallen.values()
    assert other > 0.5


def test_without_unlabelled_rows_it_is_a_classifier() -> None:
    with pytest.warns(UserWarning, match="no unlabelled rows"):
        model = pbn(epochs=20).fit(numbers(), TRUTH)
    assert model.score(numbers(1), TRUTH) > 0.95


def test_few_labelled_rows_are_repeated() -> None:
    y = np.full(len(TRUTH), -1)
    y[[0, 15]] = [0, 1]
    model = pbn(n_novel_classes=4, epochs=20).fit(numbers(), y)
    assert clustering_accuracy(TRUTH[NOVEL], model.labels_[NOVEL]) > 0.9
