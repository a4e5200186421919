"""Measuring what a discoverer says of rows of known and novel classes alike, and the rules it gives for novel ones."""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.datasets import Dataset
from newfound.discoverers.base import BaseDiscoverer
from newfound.explanation import ClassExplanation, explain
from newfound.metrics import open_world_scores
from newfound_lab.runner.measure import Lines
from newfound_lab.runner.methods import build
from newfound_lab.suites.experiments import EXPLAINED_METHODS
from newfound_lab.suites.trials import Trial


def measure_open_world(trials: tuple[Trial, ...], data: Dataset, device: str) -> Lines:
    """Fit a discoverer with calibration, score it on all test rows and, for some methods, explain its novel classes."""
    (trial,) = trials
    model = build(trial.method, data, trial.settings, trial.seed, device)
    start = time.perf_counter()
    model.fit(data.X_train, data.y_train)
    seconds = round(time.perf_counter() - start, 3)
    line = scores_of(model, data) | {"fit_seconds": seconds, "n_packed": 1}
    return [line | rules_of(model, data.X_train) if trial.method in EXPLAINED_METHODS else line]


def scores_of(model: BaseDiscoverer, data: Dataset) -> dict[str, Any]:
    """Scores of a fitted discoverer on all test rows; ECE also before calibration, which is at temperature 1."""
    start = time.perf_counter()
    proba = model.predict_proba(data.X_test)
    seconds = time.perf_counter() - start
    uncalibrated = copy.copy(model)
    uncalibrated.temperature_ = 1.0
    scores, before = (_scores(model, one, data) for one in (proba, uncalibrated.predict_proba(data.X_test)))
    return {
        **{f"{rows}_acc": scores[rows]["acc"] for rows in ("known", "novel", "all")},
        "auroc": scores["auroc"],
        **{f"{rows}_ece": scores[rows]["ece"] for rows in ("known", "all")},
        **{f"{rows}_ece_before": before[rows]["ece"] for rows in ("known", "all")},
        "temperature": model.temperature_,
        "n_novel": len(data.novel_classes),
        "predict_seconds": round(seconds, 3),
    }


def _scores(model: BaseDiscoverer, proba: NDArray[np.float64], data: Dataset) -> dict[str, Any]:
    return open_world_scores(
        data.y_test,
        model.classes_[proba.argmax(axis=1)],
        model.known_classes_,
        novelty=proba[:, len(model.known_classes_) :].sum(axis=1),
        confidence=np.minimum(proba.max(axis=1), 1.0),  # sums are rounded
    )


def rules_of(model: BaseDiscoverer, X: Any) -> dict[str, Any]:
    """Figures of the rules of each novel class on held-out rows, and of all of them.

    The precision of a class is the mean of its rules', its coverage that of all its rules together. A class without a
    rule has no precision, and nothing of it is covered.
    """
    start = time.perf_counter()
    explanation = explain(model, X)
    seconds = time.perf_counter() - start
    classes = [_rules_of_class(one) for one in explanation.classes]
    precisions = [one["precision"] for one in classes if one["precision"] is not None]
    coverages = [one["coverage"] for one in classes]
    return {
        "rules": classes,
        "rules_precision": float(np.mean(precisions)) if precisions else None,
        "rules_coverage": float(np.mean(coverages)),
        "lowest_precision": min(precisions, default=None),
        "lowest_coverage": min(coverages),
        "n_rules": sum(one["n_rules"] for one in classes),
        "most_conditions": max(one["most_conditions"] for one in classes),
        "explain_seconds": round(seconds, 3),
    }


def _rules_of_class(one: ClassExplanation) -> dict[str, Any]:
    precisions = [rule.precision for rule in one.rules if rule.precision is not None]
    return {
        "n_rows": one.n_rows,
        "precision": float(np.mean(precisions)) if precisions else None,
        "precision_together": one.rules_precision,
        "coverage": one.rules_coverage or 0.0,
        "n_rules": len(one.rules),
        "most_conditions": max((len(rule.conditions) for rule in one.rules), default=0),
    }
