"""Lines of results that nobody measured, for tests of what is made of lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from newfound.benchmark.experiments import plan
from newfound.benchmark.trials import Protocol, Regime, Trial

Line = dict[str, Any]
FOUND = {"top_k": 7.25, "w1": 0.5, "w2": 0.75, "lr_classification": 0.00123456, "activation": "relu"}


def line(
    acc: float,
    *,
    experiment: str = "main",
    dataset: str = "pendigits",
    method: str = "tabular_ncd",
    variant: str = "appendix",
    regime: Regime = "oracle",
    protocol: Protocol = "inductive",
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    **measured: Any,
) -> Line:
    trial = Trial(experiment, dataset, method, variant, regime, protocol, seed, settings or {})
    return made(trial, acc) | measured


def made(trial: Trial, acc: float) -> Line:
    """A line with scores; those that are not acc follow from it."""
    scores = {"acc": acc, "bacc": acc - 0.01, "nmi": acc - 0.1, "ari": acc - 0.2}
    known = {"known_acc": None if trial.protocol == "transductive" else 0.9, "n_found": 5, "n_novel": 5}
    return trial.line(scores | known | _circumstances(trial))


def lines_of_the_plan(n_seeds: int = 2) -> list[Line]:
    """A line for every trial that there is."""
    lines = []
    for place, trial in enumerate(plan("all", n_seeds=n_seeds)):
        if trial.experiment == "search":
            tried = [{"settings": FOUND, "acc": 0.9}, {"settings": FOUND | {"w1": 0.1}, "acc": 0.2}]
            lines.append(trial.line({"data": {"trials": tried, "best": FOUND}} | _circumstances(trial)))
        elif trial.experiment in ("coefficients", "map", "pairs"):
            lines.append(trial.line({"data": {}} | _circumstances(trial)))
        else:
            found = {"found": FOUND} if trial.experiment == "searched" else {}
            lines.append(made(trial, 0.5 + place % 37 / 100) | found)
    return lines


def _circumstances(trial: Trial) -> Line:
    cuda = trial.dataset == "mnist"
    return {
        "fit_seconds": 10.0,
        "predict_seconds": 0.1,
        "n_packed": 4,
        "peak_memory_mib": 1000.0 + trial.seed,
        "device": "cuda" if cuda else "cpu",
        "device_name": "NVIDIA H200" if cuda else "x86_64",
        "versions": {"newfound": "0.2.0", "torch": "2.13.0+cu130" if cuda else "2.13.0"},
        "reduced": trial.dataset == "human",
    }
