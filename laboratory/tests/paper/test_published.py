from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import newfound as nf
from newfound.learning.pretraining import PretrainingSettings
from newfound_lab.paper import published

PRINTED = Path(os.environ.get("NEWFOUND_DATA", "nowhere"), "../paper/results.json")


@pytest.fixture(scope="module")
def printed() -> dict[str, Any]:
    if not PRINTED.exists():
        pytest.skip("needs ../paper/results.json beside the benchmark files (NEWFOUND_DATA)")
    content: dict[str, Any] = json.loads(PRINTED.read_text())
    return content


def plain(scores: published.Scores | None) -> dict[str, Any] | None:
    """As the file has them: [mean, sd], or the mean alone."""
    if scores is None:
        return None
    return {metric: score.mean if score.sd is None else list(score) for metric, score in scores.items()}


def test_figures_are_those_printed(printed: dict[str, Any]) -> None:
    main = {
        dataset: {m: plain(scores) for m, scores in methods.items()} for dataset, methods in published.RESULTS.items()
    }
    assert main == printed["table_results"]
    assert {k: plain(v) for k, v in published.ABLATION.items()} == printed["ablation_satimage"]
    assert {k: plain(v) for k, v in published.REPRESENTATIONS.items()} == printed["kmeans_on_representations_mnist"]
    assert {k: plain(v) for k, v in published.CD_KNET.items()} == printed["cdknet_mnist"]
    assert printed["hyperparameters"] == published.SETTINGS


def test_what_the_paper_did_not_tune_is_the_default(printed: dict[str, Any]) -> None:
    constants, joint, pretraining = printed["constants"], nf.TabularNCD(), PretrainingSettings()
    assert [joint.batch_size, joint.epochs, joint.pretrain_epochs] == [
        constants[name] for name in ("batch_size", "epochs", "pretrain_epochs")
    ]
    assert [pretraining.batch_size, pretraining.learning_rate, pretraining.corruption, pretraining.alpha] == [
        constants[name] for name in ("pretrain_batch_size", "ssl_lr", "p_m", "alpha")
    ]


def test_figures_of_the_later_study_are_those_printed(printed: dict[str, Any]) -> None:
    study = {name: row for name, row in printed["followup_2024"].items() if name not in ("about", "columns")}
    columns = printed["followup_2024"]["columns"]
    for dataset, row in study.items():
        assert {method: scores["acc"].mean for method, scores in published.FOLLOW_UP[dataset].items()} == dict(
            zip(columns, row, strict=True)
        )
    assert study.keys() == published.FOLLOW_UP.keys()


def test_every_setting_is_a_valid_one() -> None:
    for settings in (*published.SETTINGS.values(), *published.PUBLISHED_SETTINGS.values()):
        nf.TabularNCD(3, **settings)._check_parameters()
    assert published.SETTINGS.keys() == published.RESULTS.keys()


def test_figures_are_found_by_what_a_line_measures() -> None:
    def acc(*path: str) -> float | None:
        scores = published.scores(*path)
        return None if scores is None else scores["acc"].mean

    assert acc("main", "letter", "tabular_ncd", "appendix", "inductive") == 71.8
    assert acc("main", "letter", "kmeans", "default", "transductive") == 49.9
    assert acc("ablation", "satimage", "tabular_ncd", "without_ce", "inductive") == 69.5
    assert acc("representations", "mnist", "kmeans", "after_joint", "transductive") == 85.4
    assert acc("cd_knet", "mnist", "cd_knet_exp", "", "inductive") == 94.5
    assert acc("follow_up", "optdigits", "spectral", "default", "transductive") == 89.7


@pytest.mark.parametrize(
    "path",
    [
        ("main", "letter", "kmeans", "default", "inductive"),  # the paper fits it on the test rows
        ("main", "letter", "tabular_ncd", "appendix", "transductive"),
        ("main", "mnist", "spectral", "default", "transductive"),  # did not finish
        ("main", "optdigits", "kmeans", "default", "transductive"),
        ("ablation", "letter", "tabular_ncd", "full", "inductive"),
        ("sweep", "letter", "tabular_ncd", "top_k", "inductive"),
    ],
)
def test_what_the_paper_does_not_have_is_none(path: tuple[str, ...]) -> None:
    assert published.scores(*path) is None
