"""From trials to lines of results: fit, predict, score, and what it took."""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.datasets import Dataset
from newfound.discoverers.base import BaseDiscoverer
from newfound.discoverers.packed import PackedDiscoverer, fit_together
from newfound.errors import TrainingInterrupted
from newfound.learning.machine import one_thread
from newfound.metrics import novel_scores
from newfound.tables import TableEncoder
from newfound.tables.schema import Kind
from newfound_lab import datasets
from newfound_lab.datasets import BenchmarkDataset
from newfound_lab.datasets.registry import BENCHMARKS
from newfound_lab.runner.cost import circumstances, peak_memory
from newfound_lab.runner.methods import build
from newfound_lab.suites.experiments import NETWORKS, UNSUPERVISED
from newfound_lab.suites.mixed import MIXED_EXPERIMENTS
from newfound_lab.suites.trials import Trial

Lines = list[dict[str, Any]]

_MOST_TOGETHER = 60  # members of a pack, so that its memory is bounded ...
_MOST_WIDE_TOGETHER = 20  # ... and of a pack of wide networks
_WIDE = 200
# settings that experiments vary, and in which `fit_together` lets trials of a pack differ
_OWN_SETTINGS = ("top_k", "k_neighbors", "w1", "w2", "similarity_threshold")
# methods of the label-free comparison whose seeds are members of one pack
_FITTED_TOGETHER = ("tabular_ncd", "tuned_tabular_ncd", "pbn")
# rough costs of packs in the label-free comparison and in the open world
_LABEL_FREE_COSTS = {
    "tuned_tabular_ncd": 100.0,
    "auto": 15.0,
    "tabular_ncd": 7.0,
    "pbn": 7.0,
    "spectral": 1.0,
    "ncd_spectral": 1.0,
}
_MIXED_AUTO = "mixed_auto"  # its fits take a minute each, so that each is a pack


def pack(trials: Sequence[Trial]) -> list[tuple[Trial, ...]]:
    """Group trials that are measured together, in the order of their first one.

    Networks with equal shapes are fitted at once; the representations of one fit serve both protocols; a search and
    the trials of what it finds belong together; one fit serves a number of novel classes that is given and an estimate
    that is right; all methods on one mixture of known and novel rows. Every other trial is alone.
    """
    groups: dict[Hashable, list[Trial]] = defaultdict(list)
    for trial in trials:
        groups[_companions(trial)].append(trial)
    return [
        tuple(group[start : start + most])
        for group in groups.values()
        for most in [_most_together(group[0])]
        for start in range(0, len(group), most)
    ]


def _companions(trial: Trial) -> Hashable:
    """Trials with an equal answer are measured together."""
    shared = (trial.dataset, trial.method, trial.variant, trial.class_split)
    if trial.experiment in ("search", "searched"):
        return ("search", *shared)
    if trial.experiment == "representations":
        return (trial.experiment, *shared)
    if trial.experiment in MIXED_EXPERIMENTS and trial.experiment != _MIXED_AUTO:  # all methods on one problem
        return (trial.experiment, trial.dataset, trial.class_split, repr(sorted(trial.settings.items())))
    if trial.experiment == "label_free":
        return (trial.experiment, *shared, None if trial.method in _FITTED_TOGETHER else trial.seed)
    if trial.experiment in (*_EXHIBITS, "n_classes", "open_world", _MIXED_AUTO) or trial.method in UNSUPERVISED:
        return trial.key
    alike = {name: value for name, value in trial.settings.items() if name not in _OWN_SETTINGS}
    return (trial.experiment, *shared, trial.protocol, repr(sorted(alike.items())))


def _most_together(trial: Trial) -> int:
    if trial.experiment in ("search", "searched", "representations", "label_free", *MIXED_EXPERIMENTS):
        return 10**6  # what belongs together must not be parted
    counts = BENCHMARKS[trial.dataset].paper
    return _MOST_WIDE_TOGETHER if counts is not None and counts.attributes > _WIDE else _MOST_TOGETHER


def weight(trials: tuple[Trial, ...]) -> float:
    """Rough relative cost of measuring trials together, for the time left."""
    if trials[0].experiment in MIXED_EXPERIMENTS:
        return 1.0 if trials[0].experiment == _MIXED_AUTO else len(trials) / 10
    counts = BENCHMARKS[trials[0].dataset].paper
    size = 1.0 if counts is None else (counts.train_labeled + counts.train_unlabeled) * (20 + counts.attributes) / 3e5
    if trials[0].method in UNSUPERVISED and trials[0].experiment == "main":
        return size / 4
    if trials[0].experiment in ("label_free", "open_world"):
        return size * _LABEL_FREE_COSTS.get(trials[0].method, 0.25)
    fits = 20.0 if trials[0].experiment in ("search", "searched") else 1.0
    return size * fits * (4 + len(trials))


def measure(
    trials: tuple[Trial, ...],
    device: str,
    data_dir: Path | None = None,
    earlier: Mapping[str, Mapping[str, Any]] | None = None,
) -> Lines:
    """Measure trials of one pack.

    Parameters
    ----------
    trials : tuple of Trial
        One of those that `pack` returns.
    device : str
        As the discoverers take it.
    data_dir : Path or None
        Where the data lies; see :func:`newfound.datasets.load`.
    earlier : mapping of str to mapping, optional
        Lines of the trials that these build on, by key.

    Returns
    -------
    list of dict
        One line for each trial, in their order.
    """
    peak_memory(reset=True)
    with one_thread(), _strict_about_interruptions():
        if trials[0].experiment in MIXED_EXPERIMENTS:
            from newfound_lab.runner.mixed import load_problem, measure_mixed

            measured, reduced, used = measure_mixed(trials, load_problem(trials[0], data_dir)), False, "cpu"
        else:
            data = _load(trials[0].dataset, data_dir).resplit(trials[0].class_split)
            measured = _measurer(trials[0].experiment, earlier or {})(trials, data, device)
            reduced, used = data.reduced, device if _uses_networks(trials[0]) else "cpu"
    shared = {"peak_memory_mib": round(peak_memory(), 1), "reduced": reduced, **circumstances(used)}
    return [trial.line(own | shared) for trial, own in zip(trials, measured, strict=True)]


def _uses_networks(trial: Trial) -> bool:
    """Whether something runs on the device that was asked for; what knows only the CPU does not."""
    if trial.experiment == "representations":
        return trial.variant != "original"
    return trial.method in NETWORKS


@lru_cache(maxsize=1)
def _load(name: str, data_dir: Path | None) -> BenchmarkDataset:
    return datasets.load(name, data_dir=data_dir)


@contextmanager
def _strict_about_interruptions() -> Iterator[None]:
    with warnings.catch_warnings():
        # What a user should know of his table, e.g. of a class left empty, is a result here, and shows in the scores.
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", TrainingInterrupted)  # half a training is no result
        yield


def _measurer(
    experiment: str, earlier: Mapping[str, Mapping[str, Any]]
) -> Callable[[tuple[Trial, ...], Dataset, str], Lines]:
    if experiment in ("n_classes", "label_free"):
        from newfound_lab.runner import label_free

        if experiment == "n_classes":
            return label_free.measure_n_classes
        return partial(label_free.measure_label_free, earlier=earlier)
    if experiment == "open_world":
        from newfound_lab.runner.open_world import measure_open_world

        return measure_open_world
    if experiment in ("search", "searched"):
        from newfound_lab.runner.search import measure_search

        return measure_search
    if experiment == "representations":
        return _measure_representations
    return _measure_exhibit if experiment in _EXHIBITS else measure_scores


# ---- trials with scores


def measure_scores(trials: tuple[Trial, ...], data: Dataset, device: str) -> Lines:
    """Fit the discoverers of the trials together, and score each on the novel test rows."""
    models = [build(trial.method, data, trial.settings, trial.seed, device) for trial in trials]
    start = time.perf_counter()
    if trials[0].protocol == "transductive" and trials[0].method in UNSUPERVISED:
        (model,) = models
        return [_fitted_on_test(model, data)]
    fitted = fit_all(models, data.X_train, data.y_train)
    cost = {"fit_seconds": round(time.perf_counter() - start, 3), "n_packed": len(models)}
    if trials[0].protocol == "transductive":
        return [_clustered(model, data, trial.seed) | cost for trial, model in zip(trials, fitted, strict=True)]
    return [scored(model, data) | cost for model in fitted]


def fit_all(models: Sequence[BaseDiscoverer], X: Any, y: Any) -> list[BaseDiscoverer]:
    """Fit discoverers, at once where they are packed networks of one member each."""
    packed = [model for model in models if isinstance(model, PackedDiscoverer) and model.n_members == 1]
    if len(packed) == len(models):
        return [*fit_together(packed, X, y)]
    return [model.fit(X, y, calibrate=False) for model in models]


def scored(model: BaseDiscoverer, data: Dataset) -> dict[str, Any]:
    """Scores of a fitted discoverer on the test rows, and the time of the prediction."""
    novel = data.test_novel
    start = time.perf_counter()
    found = model.predict_novel(data.X_test[novel])
    known = model.predict(data.X_test[~novel])
    seconds = time.perf_counter() - start
    known_acc = float(np.mean(known == data.y_test[~novel]))
    return _scores(data, found) | {"known_acc": known_acc, "predict_seconds": round(seconds, 3)}


def _fitted_on_test(model: BaseDiscoverer, data: Dataset) -> dict[str, Any]:
    """Fit an unsupervised discoverer on the novel test rows, prepared as the training rows are, and score it there."""
    rows = data.encoder().fit(data.X_train).transform(data.X_test[data.test_novel])
    kinds: dict[str, Kind] = {f"x{i}": "numeric" for i in range(rows.shape[1])}
    start = time.perf_counter()
    found = model.set_params(encoder=TableEncoder(kinds=kinds, numeric_scaling="none")).fit(rows).labels_
    seconds = round(time.perf_counter() - start, 3)
    return _scores(data, found) | {"known_acc": None, "fit_seconds": seconds, "predict_seconds": 0.0, "n_packed": 1}


def _clustered(model: BaseDiscoverer, data: Dataset, seed: int) -> dict[str, Any]:
    """Scores of k-means on the novel test rows as a fitted discoverer maps them: the paper's baseline."""
    start = time.perf_counter()
    latent = model.transform(data.X_test[data.test_novel])
    found = _kmeans(latent, len(data.novel_classes), seed).labels_
    return _scores(data, found) | {"known_acc": None, "predict_seconds": round(time.perf_counter() - start, 3)}


def _scores(data: Dataset, found: NDArray[Any]) -> dict[str, Any]:
    """Scores of the classes found for the novel test rows."""
    return {
        **novel_scores(data.y_test[data.test_novel], found),
        "n_found": len(np.unique(found)),
        "n_novel": len(data.novel_classes),
    }


# ---- k-means on representations


def _measure_representations(trials: tuple[Trial, ...], data: Dataset, device: str) -> Lines:
    """Score k-means on the rows as they are, or as each seed's TabularNCD maps them."""
    seeds = sorted({trial.seed for trial in trials})
    X_train, X_test = data.X_train[data.train_novel], data.X_test[data.test_novel]
    start = time.perf_counter()
    if trials[0].variant == "original":
        encoder = data.encoder().fit(data.X_train)
        maps = dict.fromkeys(seeds, encoder.transform)
    else:
        models = [build("tabular_ncd", data, trials[0].settings, seed, device) for seed in seeds]
        fitted = fit_all(models, data.X_train, data.y_train)
        maps = {seed: model.transform for seed, model in zip(seeds, fitted, strict=True)}
    fit = {"fit_seconds": round(time.perf_counter() - start, 3), "n_packed": len(seeds), "known_acc": None}
    lines = []
    for trial in trials:
        start = time.perf_counter()
        target = maps[trial.seed](X_test)
        source = target if trial.protocol == "transductive" else maps[trial.seed](X_train)
        found = _kmeans(source, len(data.novel_classes), trial.seed).predict(target)
        seconds = round(time.perf_counter() - start, 3)
        lines.append(_scores(data, found) | fit | {"predict_seconds": seconds})
    return lines


def _kmeans(rows: NDArray[Any], n_classes: int, seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(n_classes, n_init=10, random_state=seed).fit(rows)


# ---- what pictures show


def _measure_exhibit(trials: tuple[Trial, ...], data: Dataset, device: str) -> Lines:
    from newfound_lab.runner import exhibits

    (trial,) = trials
    start = time.perf_counter()
    shown = getattr(exhibits, _EXHIBITS[trial.experiment])(trial, data, device)
    seconds = round(time.perf_counter() - start, 3)
    return [{"data": shown, "fit_seconds": seconds, "predict_seconds": 0.0, "n_packed": 1}]


_EXHIBITS = {"coefficients": "coefficients", "map": "latent_map", "pairs": "pseudo_label_pairs"}
