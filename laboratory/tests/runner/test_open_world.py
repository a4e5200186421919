from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from newfound import KMeansDiscoverer, datasets
from newfound.metrics import expected_calibration_error, match_classes
from newfound_lab.runner import open_world
from newfound_lab.runner.measure import measure
from newfound_lab.runner.open_world import rules_of
from newfound_lab.suites.trials import Trial


def trial(method: str, **settings: Any) -> Trial:
    return Trial("open_world", "digits", method, "default", "label-free", "inductive", 0, settings)


@pytest.fixture(scope="module")
def line() -> dict[str, Any]:
    (measured,) = measure((trial("kmeans"),), "cpu")
    return measured


@pytest.fixture(scope="module")
def model() -> KMeansDiscoverer:
    data = datasets.load("digits")
    return KMeansDiscoverer(5, encoder=data.encoder(), random_state=0).fit(data.X_train, data.y_train)


def right_rows(found: Any) -> Any:
    """Which test rows are right, by the definition."""
    data = datasets.load("digits")
    known = np.isin(data.y_test, data.known_classes)
    both = ~known & ~np.isin(found, data.known_classes)
    matching = match_classes(data.y_test[both], found[both])
    partner = dict(zip(matching.true_classes, matching.pred_classes[matching.pred_of_true], strict=True))
    return known, np.array(
        [f == (t if k else partner.get(t)) for t, f, k in zip(data.y_test, found, known, strict=True)]
    )


def test_accuracies_are_of_all_test_rows(line: dict[str, Any], model: KMeansDiscoverer) -> None:
    known, right = right_rows(model.predict(datasets.load("digits").X_test))
    accs = (line["known_acc"], line["novel_acc"], line["all_acc"])
    assert accs == pytest.approx((right[known].mean(), right[~known].mean(), right.mean()))
    assert 0.5 < line["auroc"] <= 1


def test_calibration_error_before_is_at_temperature_one(line: dict[str, Any], model: KMeansDiscoverer) -> None:
    X = datasets.load("digits").X_test
    assert line["temperature"] == model.temperature_ != 1.0
    for suffix, temperature in (("", model.temperature_), ("_before", 1.0)):
        model.temperature_ = temperature
        proba = model.predict_proba(X)
        known, right = right_rows(model.predict(X))
        sure = proba.max(axis=1)
        assert line[f"all_ece{suffix}"] == pytest.approx(expected_calibration_error(sure, right))
        assert line[f"known_ece{suffix}"] == pytest.approx(expected_calibration_error(sure[known], right[known]))
        model.temperature_ = line["temperature"]


def test_only_some_methods_are_explained(line: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "rules" not in line
    monkeypatch.setattr(open_world, "rules_of", lambda model, X: {"rules": [len(X)]})
    (explained,) = measure((trial("whitened_kmeans"),), "cpu")
    assert explained["rules"] == [len(datasets.load("digits").X_train)]
    assert (explained["n_novel"], explained["n_packed"], explained["device"]) == (5, 1, "cpu")
    json.dumps([line, explained], allow_nan=False)


def rule(precision: float | None, n_conditions: int) -> SimpleNamespace:
    return SimpleNamespace(precision=precision, conditions=[None] * n_conditions)


def test_figures_of_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = [
        SimpleNamespace(n_rows=9, rules=[rule(1.0, 2), rule(0.8, 4)], rules_precision=0.95, rules_coverage=0.7),
        SimpleNamespace(n_rows=8, rules=[rule(0.7, 1), rule(None, 3)], rules_precision=0.7, rules_coverage=0.5),
        SimpleNamespace(n_rows=0, rules=[], rules_precision=None, rules_coverage=None),
    ]
    monkeypatch.setattr(open_world, "explain", lambda model, X: SimpleNamespace(classes=classes))
    figures = rules_of(None, None)  # type: ignore[arg-type]
    assert [rules["precision"] for rules in figures["rules"]] == [pytest.approx(0.9), 0.7, None]
    assert [rules["coverage"] for rules in figures["rules"]] == [0.7, 0.5, 0.0]
    assert figures["rules_precision"] == pytest.approx(0.8)
    assert figures["rules_coverage"] == pytest.approx(0.4)
    assert (figures["lowest_precision"], figures["lowest_coverage"]) == (0.7, 0.0)
    assert (figures["n_rules"], figures["most_conditions"]) == (4, 4)
