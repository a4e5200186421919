from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from newfound import WhitenedKMeans
from newfound.metrics import open_world_accuracy
from newfound_lab.runner import mixed
from newfound_lab.runner.measure import measure, pack
from newfound_lab.runner.mixed import load_problem
from newfound_lab.suites.experiments import plan
from newfound_lab.suites.mixed import MIXED_METHODS
from newfound_lab.suites.trials import key_of


@pytest.fixture(autouse=True)
def small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six classes of 60 rows, apart from each other, in the place of every table."""

    def made(name: str, data_dir: Path | None) -> tuple[pd.DataFrame, pd.Series]:
        rng = np.random.default_rng(0)
        codes = np.repeat(range(6), 60)
        rows = 7 * rng.normal(size=(6, 5))[codes] + rng.normal(size=(360, 5))
        return pd.DataFrame(rows, columns=[*"abcde"]), pd.Series(codes)

    monkeypatch.setattr(mixed, "_table", made)


def lines_of(experiment: str, *methods: str) -> dict[str, dict[str, Any]]:
    trials = plan("mixed", datasets=["glass"], experiments=[experiment], methods=methods or None, n_seeds=1)
    (together,) = pack(trials)
    lines = measure(together, "cpu")
    assert [key_of(line) for line in lines] == [trial.key for trial in trials]
    json.dumps(lines, allow_nan=False)
    return {line["method"]: line for line in lines}


def test_methods_on_rows_that_are_apart() -> None:
    lines = lines_of("mixed")
    assert set(lines) == set(MIXED_METHODS) - {"auto", "auto_oracle"}
    assert {line["share"] for line in lines.values()} == {lines["oracle"]["known_share"]}
    for name in ("routed", "oracle", "supervised"):
        assert lines[name]["all_acc"] > 0.9
        assert lines[name]["auroc"] > 0.95
    assert lines["routed"]["decided"] == "mixed"
    assert (
        lines["routed"]["share_interval"][0] <= lines["routed"]["known_share"] <= lines["routed"]["share_interval"][1]
    )
    assert lines["all_novel"]["known_acc"] == 0.0
    assert lines["routed_mixed"]["all_acc"] == lines["routed"]["all_acc"]


def test_scores_are_those_of_the_unlabelled_rows_and_of_the_test_rows() -> None:
    line = lines_of("mixed", "all_novel")["all_novel"]
    problem = load_problem(plan("mixed", datasets=["glass"], n_seeds=1)[0], None)
    model = WhitenedKMeans(3, random_state=0).fit(problem.X_train, problem.y_train, calibrate=False)
    free, known = problem.unlabelled, problem.known_classes.astype(str)
    truth = problem.train_truth.astype(str)
    expected = open_world_accuracy(truth[free], model.labels_[free], known)
    assert line["all_acc"] == pytest.approx(expected, abs=1e-4)
    expected = open_world_accuracy(problem.y_test.astype(str), model.predict(problem.X_test), known)
    assert line["test_all_acc"] == pytest.approx(expected, abs=1e-4)
    assert (line["n_labelled"], line["n_unlabelled"]) == ((~free).sum(), free.sum())
    assert line["share"] == pytest.approx(1 - problem.is_novel.mean(), abs=1e-4)


def test_the_router_is_asked_once_and_a_fit_with_its_answer_is_that_of_a_user() -> None:
    lines = lines_of("mixed", "routed", "routed_counted")
    problem = load_problem(plan("mixed", datasets=["glass"], n_seeds=1)[0], None)
    free, known = problem.unlabelled, problem.known_classes.astype(str)
    for method, k in (("routed", 3), ("routed_counted", "auto")):
        model = WhitenedKMeans(k, unlabelled="auto", random_state=0).fit(problem.X_train, problem.y_train)
        expected = open_world_accuracy(problem.train_truth.astype(str)[free], model.labels_[free], known)
        assert lines[method]["all_acc"] == pytest.approx(expected, abs=1e-4)
        assert lines[method]["n_found"] == model.n_novel_classes_
        assert lines[method]["known_share"] == pytest.approx(float(model.known_share_), abs=1e-4)
    assert lines["routed_counted"]["fit_seconds"] > 0.5 * lines["routed"]["fit_seconds"]


def test_nothing_novel_and_all_novel() -> None:
    known = lines_of("mixed_known", "routed", "knn_distance", "oracle", "all_novel")
    assert {line["n_novel"] for line in known.values()} == {0}
    assert {line["novel_acc"] for line in known.values()} == {None} == {line["auroc"] for line in known.values()}
    assert known["oracle"]["n_found"] == 0
    assert known["oracle"]["all_acc"] > 0.9
    assert known["all_novel"]["all_acc"] == 0.0
    pure = lines_of("mixed_pure", "routed", "oracle", "all_novel")
    assert pure["oracle"]["all_acc"] == pure["all_novel"]["all_acc"] > 0.9
    assert pure["oracle"]["known_acc"] is None


def test_a_pack_is_all_methods_of_one_problem_and_autodiscoverer_is_alone() -> None:
    trials = plan("mixed", datasets=["glass", "vowel"], n_seeds=2)
    for together in pack(trials):
        assert len({(t.experiment, t.dataset, t.class_split, str(t.settings)) for t in together}) == 1
        assert (len(together) == 1) == (together[0].experiment == "mixed_auto")
