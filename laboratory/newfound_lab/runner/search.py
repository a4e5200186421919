"""The paper's Bayesian search. Oracle: it scores settings with novel labels, which no user has."""

from __future__ import annotations

import time
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import train_test_split

from newfound.datasets import Dataset
from newfound.metrics import clustering_accuracy
from newfound.nn import ACTIVATIONS
from newfound.selection.packs import packs
from newfound.selection.space import Choice, Real, Space, Whole
from newfound.selection.studies import load_optuna, quiet_optuna
from newfound_lab.runner.measure import Lines, fit_all, measure_scores
from newfound_lab.runner.methods import build
from newfound_lab.suites.trials import Trial

_AT_ONCE = 20  # settings that are asked for and fitted before the search learns of any of them


def measure_search(trials: tuple[Trial, ...], data: Dataset, device: str) -> Lines:
    """Search once, then score the settings found with each seed; trials are of "search" and of "searched"."""
    start = time.perf_counter()
    tried = search(data, device, seed=0, **trials[0].settings)
    seconds = round(time.perf_counter() - start, 3)
    best = max(tried, key=lambda one: one["acc"])["settings"]
    finals = tuple(
        Trial("searched", data.name, trial.method, trial.variant, "oracle", trial.protocol, trial.seed, best)
        for trial in trials
        if trial.experiment == "searched"
    )
    scored = iter(measure_scores(finals, data, device) if finals else [])
    found = {"data": {"trials": tried, "best": best}, "fit_seconds": seconds, "predict_seconds": 0.0, "n_packed": 1}
    return [found if trial.experiment == "search" else next(scored) | {"found": best} for trial in trials]


@quiet_optuna()
def search(
    data: Dataset, device: str, *, n_trials: int, share: float, seed: int, rates: Literal["log", "uniform"] = "log"
) -> list[dict[str, Any]]:
    """Try settings of TabularNCD that a Bayesian search (a tree-structured Parzen estimator) proposes.

    Parameters
    ----------
    data : Dataset
    device : str
    n_trials : int
        Settings to try.
    share : float
        Share of the training rows that are set apart; settings are scored on those of novel classes.
    seed : int
    rates : {"log", "uniform"}
        How learning rates are drawn from their range.

    Returns
    -------
    list of dict
        ``settings`` and their ``acc`` on the rows set apart, in the order of trying.
    """
    optuna = load_optuna()
    rows = np.arange(len(data.y_train))
    _, set_apart = train_test_split(rows, test_size=share, random_state=seed, stratify=data.y_train_truth)
    fitted = ~np.isin(rows, set_apart)
    scored = ~fitted & data.train_novel
    X, y = data.X_train[fitted], data.y_train[fitted]
    X_scored, truth = data.X_train[scored], data.y_train_truth[scored]
    sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    space, tried = _paper_space(log_rates=rates == "log"), list[dict[str, Any]]()
    while len(tried) < n_trials:
        asked = [study.ask() for _ in range(min(_AT_ONCE, n_trials - len(tried)))]
        proposals = [{name: values.proposed(one, name) for name, values in space.items()} for one in asked]
        models = [build("tabular_ncd", data, settings, seed, device) for settings in proposals]
        for places in packs(models):
            for place, model in zip(places, fit_all([models[place] for place in places], X, y), strict=True):
                models[place] = model
        for one, settings, model in zip(asked, proposals, models, strict=True):
            acc = clustering_accuracy(truth, model.predict_novel(X_scored))
            study.tell(one, acc)
            tried.append({"settings": settings, "acc": acc})
    return tried


def _paper_space(*, log_rates: bool) -> dict[str, Space]:
    """Return the ranges of the authors' page, but for the activations: those are Sigmoid, ReLU and None there."""
    return {
        "lr_classification": Real(1e-6, 1e-2, log=log_rates),
        "lr_clustering": Real(1e-6, 1e-2, log=log_rates),
        "top_k": Real(1, 40),
        "k_neighbors": Whole(1, 50),
        "w1": Real(0.1, 1),
        "w2": Real(0.1, 1),
        "dropout": Real(0, 0.6),
        "activation": Choice(list(ACTIVATIONS)),
    }
