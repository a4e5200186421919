"""Datasets know the classes of novel rows; whatever is measured without novel labels must not find out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from newfound_lab import datasets
from newfound_lab.runner import measure as measuring
from newfound_lab.runner import open_world
from newfound_lab.suites.trials import Protocol, Trial

SHORT: dict[str, Any] = {"epochs": 1, "pretrain_epochs": 1}


def trial(experiment: str, method: str, protocol: Protocol = "inductive", **settings: Any) -> Trial:
    variant = "original" if experiment == "representations" else "default"
    return Trial(experiment, "digits", method, variant, "label-free", protocol, 0, settings)


TRIALS = [
    trial("main", "kmeans"),
    trial("main", "kmeans", "transductive"),
    trial("main", "baseline", epochs=1),
    trial("main", "tabular_ncd", **SHORT),
    trial("main", "pbn", epochs=1),
    trial("representations", "kmeans"),
    trial("label_free", "whitened_kmeans"),
    trial("label_free", "ncd_kmeans"),
    trial("open_world", "kmeans"),
]


class Scored:
    """Takes the place of a function that scores, and keeps the true and the found classes that it is given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.truths: list[Any] = []
        self.found: list[Any] = []
        for module, name in ((measuring, "novel_scores"), (open_world, "open_world_scores")):
            monkeypatch.setattr(module, name, self._noting(getattr(module, name)))

    def _noting(self, score: Any) -> Any:
        def noted(y_true: Any, y_pred: Any, *others: Any, **options: Any) -> Any:
            self.truths.append(y_true)
            self.found.append(y_pred)
            return score(y_true, y_pred, *others, **options)

        return noted


@pytest.mark.parametrize(
    "tested", TRIALS, ids=lambda tested: f"{tested.experiment}, {tested.method}, {tested.protocol}"
)
def test_what_is_found_does_not_depend_on_the_classes_of_novel_rows(
    tested: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, rng = datasets.load("digits"), np.random.default_rng(0)
    truths = {"y_train_truth": data.y_train_truth.copy(), "y_test": data.y_test.copy()}
    for truth in truths.values():
        novel = np.isin(truth, data.novel_classes)
        truth[novel] = rng.permutation(truth[novel])
    scored, lines = Scored(monkeypatch), []
    for known_to_the_runner in (data, replace(data, **truths)):
        monkeypatch.setattr(measuring, "_load", lambda *_, loaded=known_to_the_runner: loaded)
        lines += measuring.measure((tested,), "cpu")
    half = len(scored.found) // 2
    assert half > 0
    for i in range(half):
        np.testing.assert_array_equal(scored.found[i], scored.found[half + i])
        assert not np.array_equal(scored.truths[i], scored.truths[half + i])
    acc = "novel_acc" if tested.experiment == "open_world" else "acc"
    assert lines[0][acc] > lines[1][acc], "the scores know"
    assert lines[0]["known_acc"] == lines[1]["known_acc"]
