"""Measuring what a user can do who has no novel label: methods with a given and with an estimated number of classes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone

from newfound.datasets import Dataset
from newfound.discoverers.base import BaseDiscoverer
from newfound.errors import InputError
from newfound_lab.runner.measure import Lines, fit_all, scored
from newfound_lab.runner.methods import build
from newfound_lab.suites.trials import Trial


def measure_n_classes(trials: tuple[Trial, ...], data: Dataset, device: str) -> Lines:
    """Estimate the number of novel classes among the training rows; with what each criterion says."""
    from newfound.selection.n_classes import estimate_n_novel_classes

    (trial,) = trials
    start = time.perf_counter()
    estimate = estimate_n_novel_classes(data.X_train, data.y_train, encoder=data.encoder(), random_state=trial.seed)
    seconds = round(time.perf_counter() - start, 3)
    low, high = estimate.interval
    criteria = [
        {
            "criterion": str(one["criterion"]),
            "n_classes": int(one["n_classes"]),
            "weight": round(float(one["weight"]), 4),
        }
        for one in estimate.criteria
    ]
    return [
        {
            "n_classes": int(estimate.n_classes),
            "interval": [int(low), int(high)],
            "criteria": criteria,
            "n_novel": len(data.novel_classes),
            "fit_seconds": seconds,
            "predict_seconds": 0.0,
            "n_packed": 1,
        }
    ]


def measure_label_free(
    trials: tuple[Trial, ...], data: Dataset, device: str, earlier: Mapping[str, Mapping[str, Any]]
) -> Lines:
    """Fit and score a method for each seed, with the true number of novel classes and with the estimate of it.

    Where the estimate is right, the fit with the number given is also that with the estimate.

    Parameters
    ----------
    trials : tuple of Trial
        Of one method and class split.
    data : Dataset
        With the classes of that split.
    device : str
    earlier : mapping of str to mapping
        Lines of the estimates, by key.

    Returns
    -------
    list of dict
        Scores and cost of each trial, the number of classes asked for (``n_classes``), and whether the fit is that of
        another trial (``reused``).
    """
    n_classes = [_n_classes(trial, data, earlier) for trial in trials]
    wanted: dict[int, dict[int, None]] = {}
    for trial, k in zip(trials, n_classes, strict=True):
        wanted.setdefault(k, {})[trial.seed] = None
    found = {}
    for k, seeds in wanted.items():
        for seed, line in zip(seeds, _scores(trials[0], data, device, k, list(seeds)), strict=True):
            found[seed, k] = line
    given = {trial.seed for trial in trials if trial.k == "given"}
    return [
        found[trial.seed, k]
        | {"n_classes": k}
        | {"reused": trial.k == "estimated" and trial.seed in given and k == len(data.novel_classes)}
        for trial, k in zip(trials, n_classes, strict=True)
    ]


def _n_classes(trial: Trial, data: Dataset, earlier: Mapping[str, Mapping[str, Any]]) -> int:
    estimate = trial.builds_on
    if estimate is None:
        return len(data.novel_classes)
    if estimate.key not in earlier:
        raise InputError(
            f"The number of novel classes of {trial.dataset!r}, class split {trial.class_split}, seed {trial.seed}, "
            "has no estimate, so no method can be fitted with it; measure the experiment n_classes first."
        )
    return int(earlier[estimate.key]["n_classes"])


def _scores(trial: Trial, data: Dataset, device: str, k: int, seeds: Sequence[int]) -> Lines:
    """Fit the method of a trial with so many novel classes for each seed, and score it on the test rows."""
    notes: dict[str, Any] = {}
    search_seconds = 0.0
    if trial.method == "tuned_tabular_ncd":
        start = time.perf_counter()
        tuned, notes = _tuned(data, device, k, **trial.settings)
        search_seconds = time.perf_counter() - start
        models = [clone(tuned).set_params(random_state=seed) for seed in seeds]
    else:
        models = [build(trial.method, data, trial.settings, seed, device, k) for seed in seeds]
    start = time.perf_counter()
    fitted = fit_all(models, data.X_train, data.y_train)
    seconds = time.perf_counter() - start
    if search_seconds:  # whoever tunes for one seed pays for the whole search
        cost = {"fit_seconds": round(search_seconds + seconds / len(seeds), 3), "n_packed": 1}
    else:
        cost = {"fit_seconds": round(seconds, 3), "n_packed": len(seeds)}
    return [scored(model, data) | notes | cost for model in fitted]


def _tuned(data: Dataset, device: str, k: int, **budget: Any) -> tuple[BaseDiscoverer, dict[str, Any]]:
    """Find the hyper-parameters of TabularNCD that are best on hidden classes; no novel label is looked at.

    One search serves all seeds, as in the paper. Returns TabularNCD with them, unfitted, and what lines say of the
    search.
    """
    from newfound.selection.tune import tune

    model = build("tuned_tabular_ncd", data, {}, 0, device, k)
    found = tune(model, data.X_train, data.y_train, storage=":memory:", random_state=0, **budget)
    notes = {
        "found": found.best_params,
        "n_tried": len(found.trials),
        "hidden_score": found.best_score,
        "hidden_score_of_defaults": found.default_score,
    }
    return found.discoverer, notes
