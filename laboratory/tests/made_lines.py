"""Lines of results that nobody measured, for tests of what is made of lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from newfound_lab.datasets.registry import BENCHMARKS
from newfound_lab.suites.experiments import EXPLAINED_METHODS, plan
from newfound_lab.suites.trials import K, Protocol, Regime, Trial

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
    class_split: int = 0,
    k: K = "given",
    **measured: Any,
) -> Line:
    """A line with scores; those that are not acc follow from it."""
    trial = Trial(experiment, dataset, method, variant, regime, protocol, seed, settings or {}, class_split, k)
    return _scored(trial, acc) | measured


def compared(acc: float, method: str = "kmeans", **facts: Any) -> Line:
    """A line of the label-free comparison."""
    facts = {"experiment": "label_free", "variant": "default", "regime": "label-free"} | facts
    return line(acc, method=method, **facts)


def estimated(
    n_classes: int, criteria: Mapping[str, int], *, class_split: int = 0, seed: int = 0, **facts: Any
) -> Line:
    """A line with an estimate of the number of novel classes, of which there are 5."""
    dataset = facts.pop("dataset", "pendigits")
    trial = Trial("n_classes", dataset, "estimate", "", "label-free", "inductive", seed, {}, class_split)
    said = [{"criterion": name, "n_classes": k, "weight": 1 / len(criteria)} for name, k in criteria.items()]
    found = {"n_classes": n_classes, "interval": [n_classes - 1, n_classes + 1], "criteria": said, "n_novel": 5}
    return trial.line(found | _circumstances(trial) | facts)


def judged(
    all_acc: float,
    method: str = "auto",
    *,
    seed: int = 0,
    rules: Sequence[tuple[float | None, float]] = (),
    **facts: Any,
) -> Line:
    """A line of the open world; with precision and coverage of each novel class where its rules are measured."""
    dataset = facts.pop("dataset", "pendigits")
    trial = Trial("open_world", dataset, method, "default", "label-free", "inductive", seed)
    scores = {"known_acc": all_acc + 0.1, "novel_acc": all_acc - 0.1, "all_acc": all_acc, "auroc": 0.9}
    errors = {"known_ece": 0.02, "all_ece": 0.04, "known_ece_before": 0.1, "all_ece_before": 0.2, "temperature": 1.5}
    explained: Line = {}
    if rules:
        precisions = [precision for precision, _ in rules if precision is not None]
        explained = {
            "rules": [{"precision": precision, "coverage": coverage} for precision, coverage in rules],
            "rules_precision": float(np.mean(precisions)) if precisions else None,
            "rules_coverage": float(np.mean([coverage for _, coverage in rules])),
            "lowest_precision": min(precisions, default=None),
            "lowest_coverage": min(coverage for _, coverage in rules),
            "n_rules": 2 * len(precisions),
            "most_conditions": 3 + seed,
            "explain_seconds": 4.0,
        }
    return trial.line(scores | errors | explained | _circumstances(trial) | facts)


def mixed(trial: Trial, acc: float) -> Line:
    """A line of a trial of the suite "mixed", whose estimate of the share of known rows is 5 points too high."""
    share = trial.settings.get("known_share", 0.4)
    scores = {
        f"{prefix}{rows}_{metric}": acc
        for prefix in ("", "test_")
        for rows in ("all", "known", "novel")
        for metric in ("acc", "bacc")
    }
    n_novel = 0 if share == 1 else 3
    one_more = trial.method == "routed_counted" and trial.dataset == "glass"
    measured = {
        "auroc": None if share in (0, 1) else 0.9,
        "test_auroc": None if share == 1 else 0.85,
        "share": share,
        "n_labelled": 50,
        "n_unlabelled": 80,
        "n_known": 3,
        "n_novel": n_novel,
        "n_found": n_novel + one_more,
    }
    told = {
        "decided": "mixed" if share else "novel",
        "known_share": min(1.0, share + 0.05),
        "share_interval": [share, min(1.0, share + 0.1)],
    }
    routed = trial.method.startswith("routed") or trial.method == "auto"
    return trial.line(scores | measured | (told if routed else {}) | _circumstances(trial))


def lines_of_the_plan(n_seeds: int = 2, datasets: Sequence[str] | None = None) -> list[Line]:
    """A line for every trial that there is, and one for each experiment of the research log."""
    lines = []
    suites = ("all", "label-free", "open-world")
    planned = [trial for suite in suites for trial in plan(suite, n_seeds=n_seeds, datasets=datasets)]
    for place, trial in enumerate(planned):
        if trial.experiment == "n_classes":
            facts: dict[str, Any] = {"dataset": trial.dataset, "class_split": trial.class_split, "seed": trial.seed}
            lines.append(estimated(5 + place % 3, {"silhouette": 4, "stability": 5 + place % 7}, **facts))
        elif trial.experiment == "open_world":
            rules = [(0.9, 0.8)] if trial.method in EXPLAINED_METHODS else []
            facts = {"dataset": trial.dataset, "seed": trial.seed}
            lines.append(judged(0.5 + place % 37 / 100, trial.method, rules=rules, **facts))
        elif trial.experiment in _DATA:
            lines.append(trial.line({"data": _DATA[trial.experiment](trial.dataset)} | _circumstances(trial)))
        else:
            found = {"found": FOUND} if trial.experiment == "searched" else {}
            lines.append(_scored(trial, 0.5 + place % 37 / 100) | found)
    mixtures = [mixed(trial, 0.6) for trial in plan("mixed", datasets=["glass", "vowel"], n_seeds=n_seeds)]
    return [*lines, *mixtures, choice("segment", [0.4, 0.5, 0.6, 0.7]), counting(3, 4, (2, 5), prior=5)]


def _scored(trial: Trial, acc: float) -> Line:
    scores = {"acc": acc, "bacc": acc - 0.01, "nmi": acc - 0.1, "ari": acc - 0.2}
    known = {"known_acc": None if trial.protocol == "transductive" else 0.9, "n_found": 5, "n_novel": 5}
    asked = {"n_classes": 5, "reused": False} if trial.experiment == "label_free" else {}
    searched = {"n_tried": 20, "hidden_score": 0.9, "hidden_score_of_defaults": 0.8}
    tuned = searched if trial.method == "tuned_tabular_ncd" else {}
    return trial.line(scores | known | asked | tuned | _circumstances(trial))


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


# ---- data of lines without scores


def _classes(dataset: str) -> tuple[list[str], list[str]]:
    benchmark = BENCHMARKS[dataset]
    return [str(label) for label in benchmark.known], [str(label) for label in benchmark.novel]


def _searched(dataset: str) -> Line:
    tried = [{"settings": FOUND | {"w1": w1}, "acc": acc} for w1, acc in ((0.1, 0.2), (0.5, 0.9), (0.7, 0.4))]
    return {"trials": tried, "best": FOUND}


def _coefficients(dataset: str) -> Line:
    rng = np.random.default_rng(0)
    paper = BENCHMARKS[dataset].paper
    assert paper is not None
    weights = [{label: rng.normal(0, 2, paper.attributes).tolist() for label in side} for side in _classes(dataset)]
    return {"attributes": [f"p{i}" for i in range(paper.attributes)], "known": weights[0], "novel": weights[1]}


def _map(dataset: str) -> Line:
    """A cloud for each class, tighter in every panel."""
    rng = np.random.default_rng(0)
    known, novel = _classes(dataset)
    codes = np.arange(400) % len(known + novel)
    centres = rng.normal(0, 30, (len(known + novel), 2))
    titles = ("Original data", "After pre-training", "Joint training, epoch 15", "Joint training, epoch 30")
    panels = []
    for title, spread in zip(titles, (14, 12, 8, 4), strict=True):
        x, y = (centres[codes] + rng.normal(0, spread, (len(codes), 2))).T.round(2).tolist()
        panels.append({"title": title, "x": x, "y": y})
    return {
        "class_names": known + novel,
        "novel": [name in novel for name in known + novel],
        "codes": codes.tolist(),
        "panels": panels,
    }


def _pairs(dataset: str) -> Line:
    """Rows around a circle, each with its two nearest neighbours by angle."""
    rng = np.random.default_rng(0)
    names = _classes(dataset)[1][:4]
    codes = np.arange(12) % len(names)
    angles = 2 * np.pi * codes / len(names) + rng.normal(0, 0.25, 12)
    similarities = np.cos(angles[:, None] - angles)
    positives = np.zeros((12, 12), dtype=int)
    np.put_along_axis(positives, np.argsort(9 * np.eye(12) - similarities, axis=1)[:, :2], 1, axis=1)
    return {
        "points": np.column_stack([np.cos(angles), np.sin(angles)]).tolist(),
        "class_names": names,
        "codes": codes.tolist(),
        "similarities": similarities.tolist(),
        "positives": (positives | positives.T).tolist(),
        "k": 2,
    }


_DATA = {"search": _searched, "coefficients": _coefficients, "map": _map, "pairs": _pairs}


# ---- the research log

_CANDIDATES = [
    ("columns", "k-means"),
    ("whitened 1", "k-means"),
    ("directions, whitened 0.5", "k-means"),
    ("ranks", "Ward"),
]


def choice(dataset: str, acc: list[float], *, kind: str = "numeric", split: int = 1, **evidence: Any) -> dict[str, Any]:
    trial = Trial("choice", dataset, "", "", "label-free", "transductive", 0, {"n_rows": 600}, split)
    columns = {
        "representation": [representation for representation, _ in _CANDIDATES],
        "method": [method for _, method in _CANDIDATES],
        "acc": acc,
        "bacc": [value / 2 for value in acc],
        "information": [0.0, 3.0, 1.0, 0.0],
        "agreement": [0.0, 0.0, 1.0, 0.0],
        "hidden": [0.0, -1.0, 0.0, None],
    } | evidence
    facts = {"kind": kind, "chosen": 3, "n_folds": 4, "trust_in_information": 0.0, "trust_in_accuracy": 1.0}
    return trial.line({"candidates": columns, **facts})


def counting(truth: int, n_classes: int, interval: tuple[int, int], **criteria: int) -> dict[str, Any]:
    trial = Trial("counting", "segment", "", "", "label-free", "transductive", 0, {"n_rows": 600}, truth)
    return trial.line({"truth": truth, "n_classes": n_classes, "interval": [*interval], "criteria": criteria})
