"""The experiments and suites: which trials there are."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from newfound.errors import InputError
from newfound_lab.paper.published import PUBLISHED_SETTINGS, SETTINGS
from newfound_lab.suites.mixed import MIXED_DATASETS, MIXED_EXPERIMENTS, MIXED_METHODS
from newfound_lab.suites.trials import K, Protocol, Regime, Trial

_PAPERS_METHODS = ("tabular_ncd", "baseline", "spectral", "kmeans")
LABEL_FREE_METHODS = (
    "kmeans",
    "spectral",
    "whitened_kmeans",
    "ncd_kmeans",
    "ncd_spectral",
    "pbn",
    "tabular_ncd",
    "tuned_tabular_ncd",
    "auto",
)
"""Methods that are compared without novel labels; the tuned one has been by hidden classes."""

OPEN_WORLD_METHODS = ("kmeans", "whitened_kmeans", "tabular_ncd", "auto")
"""Methods whose classes and probabilities are judged on known and novel rows together."""

EXPLAINED_METHODS = ("whitened_kmeans", "auto")
"""Those of them whose novel classes are explained by rules."""

METHOD_NAMES = (*_PAPERS_METHODS, *(name for name in LABEL_FREE_METHODS if name not in _PAPERS_METHODS))
UNSUPERVISED = ("spectral", "kmeans")
"""Methods that use no known class."""

NETWORKS = ("tabular_ncd", "baseline", "pbn", "tuned_tabular_ncd", "auto")
"""Methods that run on the device that was asked for; all others know only the CPU."""

_PAPER = ("mnist", "forest", "letter", "human", "satimage", "pendigits")
_EXTRA = ("digits", "optdigits", "nsl_kdd", "adult_education", "soybean", "dermatology")
SUITES: dict[str, tuple[str, ...]] = {
    "paper": _PAPER,
    "extra": _EXTRA,
    "all": _PAPER + _EXTRA,
    "label-free": _PAPER + _EXTRA[1:],
    "open-world": ("pendigits", "letter", "satimage", "nsl_kdd"),
    "mixed": MIXED_DATASETS,
}
"""Benchmarks of each suite. The paper's seventh, census, is measured where it is asked for by name.

The suite "mixed" has development tables, which are no benchmarks.
"""

ABLATIONS: dict[str, list[str]] = {
    "full": [],
    "without_ssl": ["ssl"],
    "without_ce": ["ce"],
    "without_bce": ["bce"],
    "without_mse": ["mse"],
}
SWEEPS: dict[str, tuple[float, ...]] = {
    "top_k": (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 25, 30, 40, 50, 60, 70, 80, 100),
    "k_neighbors": (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90),
    "w1": (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1),
    "w2": (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1),
}
THRESHOLDS = (-1, -0.75, -0.5, -0.25, 0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 1)
_SWEEP_SEEDS = {"mnist": 1}  # of 784 columns, each network costs as much as ten of another benchmark ...
_MOST_SWEEP_SEEDS = 3  # ... which have so many
_N_SEARCHED = {"mnist": 30}  # settings that the search tries; 60 for the others
N_CLASS_SPLITS = 5
N_LABEL_FREE_SEEDS = 3
_TUNING = {"n_trials": 20, "time_limit": 120}  # what the tuning by hidden classes may take, in settings and seconds
# tables on whose rows a CPU tries one or two settings in that time, so that a sample has to do
_TUNED_ON_A_SAMPLE = {name: {"max_rows": 2500} for name in ("forest", "nsl_kdd", "adult_education")}


def plan(
    suite: str,
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    experiments: Sequence[str] | None = None,
    n_seeds: int = 10,
) -> list[Trial]:
    """List the trials of a suite.

    Parameters
    ----------
    suite : {"paper", "extra", "all", "label-free", "open-world", "mixed"}
    datasets, methods, experiments : sequence of str or None
        Names to which the trials are narrowed; None for all of the suite. Datasets and experiments that are named need
        not be of the suite, except that "mixed" has its own.
    n_seeds : int
        Number of seeds; sweeps (MNIST's 1), the comparison without novel labels and the open world have at most 3, and
        experiments that end in a picture one; in the suite "mixed", the number of class splits, at most 3 or 1.

    Returns
    -------
    list of Trial
        With those that they build on, whatever the methods.

    Raises
    ------
    InputError
        For an unknown name, for less than one seed, and where no trial is left.
    """
    _check("--suite", [suite], SUITES)
    apart = suite == "mixed"
    _check("--datasets", datasets, MIXED_DATASETS if apart else (*SUITES["all"], "census"))
    _check("--methods", methods, MIXED_METHODS if apart else METHOD_NAMES)
    _check("--experiments", experiments, [name for name in EXPERIMENTS if (name in MIXED_EXPERIMENTS) == apart])
    if n_seeds < 1:
        raise InputError(f"Got --seeds {n_seeds}, but expected at least 1.")
    asked = [
        trial
        for experiment in (experiments_of(suite) if experiments is None else experiments)
        for dataset in (SUITES[suite] if datasets is None else datasets)
        for trial in EXPERIMENTS[experiment](dataset, n_seeds)
        if methods is None or trial.method in methods
    ]
    # what others build on comes before them
    trials = list(
        {needed.key: needed for trial in asked for needed in (trial.builds_on, trial) if needed is not None}.values()
    )
    if not trials:
        raise InputError(
            f"The selection leaves nothing to measure: experiments {_listed(experiments)}, datasets "
            f"{_listed(datasets)}, methods {_listed(methods)}. `newfound-lab list` shows what there is."
        )
    return trials


def experiments_of(suite: str) -> tuple[str, ...]:
    """Names of the experiments of a suite."""
    apart = [name for names in _OWN_EXPERIMENTS.values() for name in names]
    return _OWN_EXPERIMENTS.get(suite, tuple(name for name in EXPERIMENTS if name not in apart))


def _check(option: str, given: Sequence[str] | None, accepted: Mapping[str, Any] | Sequence[str]) -> None:
    for name in given or ():
        if name not in accepted:
            near = difflib.get_close_matches(name, accepted, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(f"Got {option} {name}, but expected some of {', '.join(accepted)}.{hint}")


def _listed(names: Sequence[str] | None) -> str:
    return "all" if names is None else ", ".join(names)


def _trials(
    experiment: str,
    dataset: str,
    method: str,
    variant: str,
    regime: Regime,
    settings: Mapping[str, Any],
    n_seeds: int,
    protocols: tuple[Protocol, ...] = ("inductive",),
) -> Iterator[Trial]:
    for protocol in protocols:
        for seed in range(n_seeds):
            yield Trial(experiment, dataset, method, variant, regime, protocol, seed, settings)


def _main(dataset: str, n_seeds: int) -> Iterator[Trial]:
    """Every method with its defaults, and TabularNCD with the hyper-parameters of the paper."""
    if dataset in SETTINGS:
        yield from _trials("main", dataset, "tabular_ncd", "appendix", "oracle", SETTINGS[dataset], n_seeds)
    if dataset in PUBLISHED_SETTINGS:
        settings = PUBLISHED_SETTINGS[dataset]
        yield from _trials("main", dataset, "tabular_ncd", "published", "oracle", settings, n_seeds)
    for method in _PAPERS_METHODS:
        both: tuple[Protocol, ...] = ("inductive", "transductive")
        protocols = both[:1] if method == "tabular_ncd" else both
        yield from _trials("main", dataset, method, "default", "label-free", {}, n_seeds, protocols)


def _of_paper_settings(
    experiment: str, dataset: str, variants: Mapping[str, Mapping[str, Any]], n_seeds: int
) -> Iterator[Trial]:
    """Trials of TabularNCD that depart from the hyper-parameters of the paper, or from the defaults without them."""
    regime: Regime = "oracle" if dataset in SETTINGS else "label-free"
    for variant, changed in variants.items():
        settings = SETTINGS.get(dataset, {}) | dict(changed)
        yield from _trials(experiment, dataset, "tabular_ncd", variant, regime, settings, n_seeds)


def _ablation(dataset: str, n_seeds: int) -> Iterator[Trial]:
    variants = {name: {"without": parts} if parts else {} for name, parts in ABLATIONS.items()}
    return _of_paper_settings("ablation", dataset, variants, n_seeds)


def _representations(dataset: str, n_seeds: int) -> Iterator[Trial]:
    """k-means on what TabularNCD makes of the rows; the settings are TabularNCD's."""
    settings = SETTINGS.get(dataset)
    if settings is None:
        return
    for variant, made_by in {"original": {}, "after_ssl": settings | {"epochs": 0}, "after_joint": settings}.items():
        both: tuple[Protocol, ...] = ("inductive", "transductive")
        regime: Regime = "label-free" if variant == "original" else "oracle"
        yield from _trials("representations", dataset, "kmeans", variant, regime, made_by, n_seeds, both)


def _sweep_seeds(dataset: str, n_seeds: int) -> int:
    return min(n_seeds, _SWEEP_SEEDS.get(dataset, _MOST_SWEEP_SEEDS))


def _sweep(dataset: str, n_seeds: int) -> Iterator[Trial]:
    if dataset in SETTINGS:
        for name, values in SWEEPS.items():
            for value in values:
                yield from _of_paper_settings("sweep", dataset, {name: {name: value}}, _sweep_seeds(dataset, n_seeds))


def _threshold(dataset: str, n_seeds: int) -> Iterator[Trial]:
    name = "similarity_threshold"
    if dataset in SETTINGS:
        for value in THRESHOLDS:
            yield from _of_paper_settings("threshold", dataset, {name: {name: value}}, _sweep_seeds(dataset, n_seeds))


def _search(dataset: str, n_seeds: int) -> Iterator[Trial]:
    """Run the paper's Bayesian search, and score the settings that it finds on the test rows.

    Learning rates are drawn on a log scale, as is usual for such a range; except for MNIST, which costs too much, also
    uniformly, as the page of the paper's authors says they were.
    """
    if dataset not in SETTINGS:
        return
    log = {"n_trials": _N_SEARCHED.get(dataset, 60), "share": 0.2}
    searches: dict[str, dict[str, Any]] = {"bayesian": log}
    if dataset not in _N_SEARCHED:
        searches["bayesian_uniform"] = log | {"rates": "uniform"}
    for variant, settings in searches.items():
        yield from _trials("search", dataset, "tabular_ncd", variant, "oracle", settings, 1)
        yield from _trials("searched", dataset, "tabular_ncd", variant, "oracle", settings, n_seeds)


def _picture(experiment: str, method: str, regime: Regime) -> Callable[[str, int], Iterator[Trial]]:
    def trials(dataset: str, _: int) -> Iterator[Trial]:
        if dataset in SETTINGS:
            settings = SETTINGS[dataset] if method == "tabular_ncd" else {}
            yield from _trials(experiment, dataset, method, "", regime, settings, 1)

    return trials


def _n_classes(dataset: str, n_seeds: int) -> Iterator[Trial]:
    """Estimate the number of novel classes, for each class split."""
    for class_split in range(N_CLASS_SPLITS):
        for seed in range(min(n_seeds, N_LABEL_FREE_SEEDS)):
            yield Trial("n_classes", dataset, "estimate", "", "label-free", "inductive", seed, class_split=class_split)


def _label_free(dataset: str, n_seeds: int) -> Iterator[Trial]:
    """Every method on every class split, told the number of novel classes and with the estimate of it."""
    modes: tuple[K, ...] = ("given", "estimated")
    for class_split in range(N_CLASS_SPLITS):
        for method in LABEL_FREE_METHODS:
            settings = _TUNING | _TUNED_ON_A_SAMPLE.get(dataset, {}) if method == "tuned_tabular_ncd" else {}
            for seed in range(min(n_seeds, N_LABEL_FREE_SEEDS)):
                for k in modes:
                    yield Trial(
                        "label_free",
                        dataset,
                        method,
                        "default",
                        "label-free",
                        "inductive",
                        seed,
                        settings,
                        class_split,
                        k,
                    )


def _open_world(dataset: str, n_seeds: int) -> Iterator[Trial]:
    """Methods with their defaults, calibrated, on known and novel test rows together."""
    for method in OPEN_WORLD_METHODS:
        seeds = min(n_seeds, N_LABEL_FREE_SEEDS)
        yield from _trials("open_world", dataset, method, "default", "label-free", {}, seeds)


EXPERIMENTS: dict[str, Callable[[str, int], Iterator[Trial]]] = {
    "main": _main,
    "ablation": _ablation,
    "representations": _representations,
    "sweep": _sweep,
    "threshold": _threshold,
    "search": _search,
    "coefficients": _picture("coefficients", "logistic_regression", "oracle"),
    "map": _picture("map", "tabular_ncd", "oracle"),
    "pairs": _picture("pairs", "tabular_ncd", "oracle"),
    "n_classes": _n_classes,
    "label_free": _label_free,
    "open_world": _open_world,
    **MIXED_EXPERIMENTS,
}
"""Trials of each experiment, for a benchmark and a number of seeds."""

# all other suites share the rest
_OWN_EXPERIMENTS = {
    "label-free": ("n_classes", "label_free"),
    "open-world": ("open_world",),
    "mixed": tuple(MIXED_EXPERIMENTS),
}
