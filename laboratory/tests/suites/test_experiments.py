from __future__ import annotations

from collections import Counter

import pytest

from newfound.errors import InputError
from newfound.registry import registered
from newfound_lab.datasets import names
from newfound_lab.datasets.mixed import Mixture
from newfound_lab.paper.published import SETTINGS
from newfound_lab.runner.methods import _OTHER_NAMES
from newfound_lab.suites.experiments import (
    EXPERIMENTS,
    LABEL_FREE_METHODS,
    METHOD_NAMES,
    SUITES,
    SWEEPS,
    experiments_of,
    plan,
)
from newfound_lab.suites.mixed import MIXED_DATASETS, MIXED_EXPERIMENTS, MIXED_METHODS


def test_every_name_is_known_to_the_rest() -> None:
    assert set(SUITES["all"]) <= set(names())
    for name in METHOD_NAMES:
        assert _OTHER_NAMES.get(name, name) in registered()
    assert set(SUITES["paper"]) | {"census"} == set(SETTINGS)


@pytest.mark.parametrize("suite", ["all", "label-free", "open-world", "mixed"])
def test_no_trial_is_planned_twice(suite: str) -> None:
    trials = plan(suite)
    assert max(Counter(trial.key for trial in trials).values()) == 1


def test_the_main_table_has_ten_seeds_of_everything() -> None:
    counts = Counter((t.dataset, t.method, t.variant, t.protocol) for t in plan("paper", experiments=["main"]))
    assert set(counts.values()) == {10}
    for dataset in SUITES["paper"]:
        assert (dataset, "tabular_ncd", "appendix", "inductive") in counts
        for method in ("kmeans", "spectral"):
            assert {(dataset, method, "default", p) for p in ("inductive", "transductive")} <= set(counts)


def test_only_the_papers_hyper_parameters_are_an_oracle_in_the_main_table() -> None:
    for trial in plan("all", experiments=["main"], n_seeds=1):
        assert (trial.regime == "oracle") == (trial.variant in ("appendix", "published"))
        assert bool(trial.settings) == (trial.regime == "oracle")


@pytest.mark.parametrize("name", SWEEPS)
def test_a_sweep_changes_one_hyper_parameter_of_the_papers(name: str) -> None:
    trials = [t for t in plan("paper", datasets=["letter"], experiments=["sweep"]) if t.variant == name]
    assert [t.settings[name] for t in trials if t.seed == 0] == list(SWEEPS[name])
    assert {t.seed for t in trials} == {0, 1, 2}
    for trial in trials:
        assert trial.settings | {name: None} == SETTINGS["letter"] | {name: None}


def test_sweeps_cover_the_ranges_of_the_paper() -> None:
    assert {name: (min(values), max(values)) for name, values in SWEEPS.items()} == {
        "top_k": (1, 100),
        "k_neighbors": (1, 90),
        "w1": (0, 1),
        "w2": (0, 1),
    }


def test_every_experiment_has_every_benchmark_of_the_paper() -> None:
    for experiment in EXPERIMENTS.keys() - MIXED_EXPERIMENTS:
        assert {t.dataset for t in plan("paper", experiments=[experiment])} == set(SUITES["paper"])


def test_label_free_compares_every_method_on_five_class_splits_with_three_seeds() -> None:
    trials = plan("label-free")
    assert {t.experiment for t in trials} == set(experiments_of("label-free")) == {"n_classes", "label_free"}
    assert {t.dataset for t in trials} == set(SUITES["all"]) - {"digits"}
    assert {t.regime for t in trials} == {"label-free"}
    counts = Counter((t.dataset, t.method, t.k) for t in trials if t.experiment == "label_free")
    assert set(counts) == {
        (d, m, k) for d in SUITES["label-free"] for m in LABEL_FREE_METHODS for k in ("given", "estimated")
    }
    assert set(counts.values()) == {15}
    runs = {(t.class_split, t.seed) for t in trials}
    assert runs == {(split, seed) for split in range(5) for seed in range(3)}
    assert {t.class_split for t in plan("label-free", n_seeds=1)} == set(range(5))


def test_every_search_has_the_same_budget_and_those_on_large_tables_a_sample() -> None:
    budgets = {t.dataset: t.settings for t in plan("label-free", methods=["tuned_tabular_ncd"]) if t.settings}
    assert set(budgets) == set(SUITES["label-free"])
    assert {(budget["n_trials"], budget["time_limit"]) for budget in budgets.values()} == {(20, 120)}
    assert {name for name, budget in budgets.items() if "max_rows" in budget} == {
        "forest",
        "nsl_kdd",
        "adult_education",
    }


def test_the_open_world_has_four_methods_on_four_benchmarks_own_classes_with_three_seeds() -> None:
    counts = Counter((t.experiment, t.dataset, t.method, t.class_split, t.k) for t in plan("open-world"))
    assert set(counts) == {
        ("open_world", dataset, method, 0, "given")
        for dataset in ("pendigits", "letter", "satimage", "nsl_kdd")
        for method in ("kmeans", "whitened_kmeans", "tabular_ncd", "auto")
    }
    assert set(counts.values()) == {3}


def test_mixtures_are_measured_with_every_router_and_the_oracle_is_told() -> None:
    trials = plan("mixed")
    assert {t.dataset for t in trials} == set(MIXED_DATASETS)
    assert len(MIXED_DATASETS) == 30
    assert {t.method for t in trials} == set(MIXED_METHODS)
    for trial in trials:
        Mixture(**trial.settings)
        assert (trial.regime == "oracle") == (trial.method in ("oracle", "supervised", "auto_oracle"))
    main = Counter(t.method for t in plan("mixed", datasets=["glass"], experiments=["mixed"]))
    assert set(main.values()) == {3}
    shares = {t.settings["known_share"] for t in trials if "known_share" in t.settings}
    assert shares == {0.0, 0.1, 0.3, 0.5, 0.8, 1.0}


@pytest.mark.parametrize(
    "options", [{"datasets": ["letter"], "methods": ["kmeans"]}, {"datasets": ["pendigits"]}, {"experiments": ["main"]}]
)
def test_the_suite_of_mixtures_has_names_of_its_own(options: dict[str, list[str]]) -> None:
    with pytest.raises(InputError, match="but expected some of"):
        plan("mixed", **options)  # type: ignore[arg-type]


def test_suites_with_experiments_of_their_own_share_none() -> None:
    own = [set(experiments_of(suite)) for suite in ("all", "label-free", "open-world", "mixed")]
    assert sum(map(len, own)) == len(set.union(*own)) == len(EXPERIMENTS)
    for suite in ("paper", "extra", "all"):
        assert {t.experiment for t in plan(suite)} - {"searched"} <= own[0]
    named = plan("extra", experiments=["label_free"], datasets=["digits"], n_seeds=1)
    assert {t.dataset for t in named} == {"digits"}


def test_what_others_build_on_is_planned_before_them_whatever_the_methods() -> None:
    trials = plan("label-free", datasets=["letter"], methods=["auto"], experiments=["label_free"])
    keys = [t.key for t in trials]
    assert len(set(keys)) == len(keys)
    for place, trial in enumerate(trials):
        assert trial.method in ("auto", "estimate")
        if trial.k == "estimated":
            assert trial.builds_on is not None
            assert trial.builds_on.key in keys[:place]
    everything = {t.key for t in plan("label-free", datasets=["letter"])}
    assert set(keys) <= everything


def test_a_benchmark_that_is_named_need_not_be_of_the_suite() -> None:
    assert {t.dataset for t in plan("paper", datasets=["census"], experiments=["main"])} == {"census"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"suite": "papr"}, "--suite papr.*Did you mean 'paper'"),
        ({"datasets": ["pendigit"]}, "--datasets pendigit.*Did you mean 'pendigits'"),
        ({"methods": ["k-means"]}, "--methods k-means.*Did you mean 'kmeans'"),
        ({"experiments": ["ablate"]}, "--experiments ablate"),
        ({"n_seeds": 0}, "--seeds 0"),
        ({"n_seeds": -3}, "--seeds -3"),
        ({"experiments": ["sweep"], "methods": ["kmeans"]}, "leaves nothing to measure"),
        ({"experiments": ["map"], "datasets": ["digits"]}, "leaves nothing to measure"),
    ],
)
def test_what_cannot_be_planned_is_one_clear_error(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan(**({"suite": "paper"} | options))  # type: ignore[arg-type]
