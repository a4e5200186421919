from __future__ import annotations

import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans

from newfound import TabularNCD, datasets
from newfound.datasets import Dataset
from newfound.errors import InputError, TrainingInterrupted
from newfound.metrics import novel_scores
from newfound_lab.runner import exhibits
from newfound_lab.runner.measure import measure, pack, weight
from newfound_lab.runner.methods import build
from newfound_lab.suites.experiments import METHOD_NAMES, plan
from newfound_lab.suites.trials import Protocol, Trial, key_of

SHORT: dict[str, Any] = {"epochs": 3, "pretrain_epochs": 1}


def trial(method: str = "tabular_ncd", seed: int = 0, **others: Any) -> Trial:
    settings = others.pop("settings", SHORT if method == "tabular_ncd" else {})
    experiment, variant = others.pop("experiment", "main"), others.pop("variant", "default")
    protocol: Protocol = others.pop("protocol", "inductive")
    return Trial(experiment, "digits", method, variant, "label-free", protocol, seed, settings)


# ---- packs


@pytest.mark.parametrize("suite", ["all", "label-free", "open-world", "mixed"])
def test_packs_hold_every_trial_once_and_in_an_order_that_stays(suite: str) -> None:
    trials = plan(suite)
    packs = pack(trials)
    assert sorted(t.key for together in packs for t in together) == sorted(t.key for t in trials)
    assert packs == pack(trials)
    assert all(weight(together) > 0 for together in packs)


def test_networks_of_one_shape_are_packed_and_no_others() -> None:
    trials = plan("paper", datasets=["satimage"])
    for together in pack(trials):
        assert len({(t.dataset, t.method, t.variant) for t in together}) == 1
        if together[0].experiment == "main" and together[0].method in ("kmeans", "spectral"):
            assert len(together) == 1
        if together[0].experiment == "sweep":
            assert len(together) > 30
            assert len({t.settings["activation"] for t in together}) == 1


def test_wide_networks_make_smaller_packs() -> None:
    assert (
        max(len(together) for together in pack(plan("paper", experiments=["threshold", "sweep"], datasets=["mnist"])))
        <= 20
    )


def test_a_search_and_what_it_finds_stay_together() -> None:
    packs = pack(plan("paper", datasets=["letter"], experiments=["search"]))
    assert [together[0].variant for together in packs] == ["bayesian", "bayesian_uniform"]
    for together in packs:
        assert [t.experiment for t in together] == ["search"] + ["searched"] * 10


def test_label_free_packs_hold_both_ways_to_come_by_k() -> None:
    networks = ("tabular_ncd", "tuned_tabular_ncd", "pbn")
    for together in pack(plan("label-free", datasets=["letter"])):
        assert len({(t.experiment, t.method, t.class_split) for t in together}) == 1
        if together[0].experiment == "n_classes":
            assert len(together) == 1
            continue
        assert Counter(t.k for t in together) == {"given": len(together) // 2, "estimated": len(together) // 2}
        assert {t.seed for t in together} == ({0, 1, 2} if together[0].method in networks else {together[0].seed})


# ---- scores


def test_packed_seeds_have_the_scores_of_each_seed_alone() -> None:
    data = datasets.load("digits")
    lines = measure((trial(seed=3), trial(seed=5)), "cpu")
    for seed, line in zip((3, 5), lines, strict=True):
        alone = TabularNCD(5, encoder=data.encoder(), random_state=seed, device="cpu", **SHORT)
        found = alone.fit(data.X_train, data.y_train, calibrate=False).predict_novel(data.X_test[data.test_novel])
        expected = novel_scores(data.y_test[data.test_novel], found)
        assert {name: line[name] for name in expected} == pytest.approx(expected, abs=0.02)  # rounding moves a few rows
        known = alone.predict(data.X_test[~data.test_novel]) == data.y_test[~data.test_novel]
        assert line["known_acc"] == pytest.approx(known.mean(), abs=0.02)
        assert (line["n_packed"], line["n_novel"], line["seed"]) == (2, 5, seed)
        assert key_of(line) == trial(seed=seed).key


@pytest.mark.parametrize("method", METHOD_NAMES)
def test_every_method_is_told_that_all_unlabelled_rows_are_novel(method: str) -> None:
    assert build(method, datasets.load("digits"), {}, 0, "cpu").unlabelled == "novel"


def test_a_line_says_what_it_took_and_on_what() -> None:
    (line,) = measure((trial("kmeans"),), "cpu")
    assert line["fit_seconds"] >= 0
    assert line["predict_seconds"] >= 0
    assert line["peak_memory_mib"] > 50
    assert (line["device"], line["reduced"]) == ("cpu", False)
    assert {"newfound", "python", "torch", "numpy", "scikit-learn"} == set(line["versions"])


def test_transductive_is_fitted_on_the_novel_test_rows() -> None:
    data = datasets.load("digits")
    rows = data.encoder().fit(data.X_train).transform(data.X_test[data.test_novel])  # prepared as for training
    (line,) = measure((trial("kmeans", protocol="transductive"),), "cpu")
    found = KMeans(5, n_init=10, random_state=0).fit(rows).labels_
    assert line["acc"] == pytest.approx(novel_scores(data.y_test[data.test_novel], found)["acc"], abs=0.03)
    assert line["known_acc"] is None


def test_the_baseline_is_also_clustered_on_the_test_rows() -> None:
    first, other = (trial("baseline", protocol=protocol) for protocol in ("inductive", "transductive"))
    assert pack([first, other]) == [(first,), (other,)]
    (line,) = measure((other,), "cpu")
    assert 0.2 < line["acc"] < 1
    assert line["known_acc"] is None


def test_the_same_trial_has_the_same_scores_again() -> None:
    names = ("acc", "bacc", "nmi", "ari", "known_acc", "n_found")
    first, second = (measure((trial(), trial(seed=1)), "cpu") for _ in range(2))
    assert [[line[name] for name in names] for line in first] == [[line[name] for name in names] for line in second]


def test_half_a_training_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(models: Any, X: Any, y: Any) -> Any:
        warnings.warn("stopped early", TrainingInterrupted, stacklevel=1)
        return models

    monkeypatch.setattr("newfound_lab.runner.measure.fit_all", fit)
    with pytest.raises(TrainingInterrupted):
        measure((trial(),), "cpu")


def test_representations_of_one_fit_serve_both_protocols() -> None:
    trials = tuple(
        trial("kmeans", seed, experiment="representations", variant="after_ssl", protocol=protocol, settings=settings)
        for settings in [SHORT | {"epochs": 0}]
        for protocol in ("inductive", "transductive")
        for seed in (0, 1)
    )
    assert pack(trials) == [trials]
    lines = measure(trials, "cpu")
    assert [line["protocol"] for line in lines] == ["inductive"] * 2 + ["transductive"] * 2
    assert len({line["acc"] for line in lines}) > 1
    assert {line["n_packed"] for line in lines} == {2}
    original = tuple(trial("kmeans", experiment="representations", variant="original", protocol=p) for p in
                     ("inductive", "transductive"))  # fmt: skip
    assert [line["acc"] > 0.5 for line in measure(original, "cpu")] == [True, True]


# ---- what pictures show


def test_coefficients_are_those_of_the_columns_of_each_class() -> None:
    (line,) = measure((trial("logistic_regression", experiment="coefficients"),), "cpu")
    data = line["data"]
    assert set(data["known"]) == set("01234")
    assert set(data["novel"]) == set("56789")
    assert all(len(own) == len(data["attributes"]) for side in ("known", "novel") for own in data[side].values())
    assert "pixel_0_2" in data["attributes"]


def test_the_map_has_a_place_for_every_row_in_every_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exhibits, "_MAPPED", 60)  # t-SNE of many rows takes long
    (line,) = measure((trial(experiment="map", settings={"pretrain_epochs": 1}),), "cpu")
    data = line["data"]
    assert [panel["title"] for panel in data["panels"]][-1] == "Joint training, epoch 30"
    assert len(data["panels"]) == 4
    assert {len(panel[axis]) for panel in data["panels"] for axis in "xy"} == {60} == {len(data["codes"])}
    assert len({tuple(panel["x"]) for panel in data["panels"]}) == 4
    assert sorted(data["class_names"]) == list("0123456789")
    assert data["novel"] == [False] * 5 + [True] * 5
    truth = datasets.load("digits").y_test
    mapped = truth[np.random.RandomState(0).permutation(len(truth)) < 60]
    assert [data["class_names"][code] for code in data["codes"]] == mapped.astype(str).tolist()


def test_pseudo_labels_of_a_few_rows_follow_from_their_similarities() -> None:
    (line,) = measure((trial(experiment="pairs", settings={"pretrain_epochs": 2}),), "cpu")
    data = line["data"]
    similarities, positives = np.array(data["similarities"]), np.array(data["positives"])
    assert len(data["points"]) == len(data["codes"]) == len(similarities) == 12
    np.testing.assert_allclose(similarities, similarities.T, atol=1e-6)
    np.testing.assert_array_equal(positives, positives.T)
    np.fill_diagonal(similarities, -np.inf)
    nearest = np.argsort(-similarities, axis=1)[:, : data["k"]]
    chosen = np.zeros_like(positives)
    np.put_along_axis(chosen, nearest, 1, axis=1)
    np.testing.assert_array_equal(positives, np.maximum(chosen, chosen.T))


# ---- the search


def test_the_search_scores_on_rows_that_it_sets_apart_and_then_on_the_test_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("optuna")

    def build_shortly(method: str, data: Dataset, settings: dict[str, Any], seed: int, device: str) -> Any:
        return build(method, data, settings | SHORT, seed, device)

    for module in ("search", "measure"):
        monkeypatch.setattr(f"newfound_lab.runner.{module}.build", build_shortly)
    settings = {"n_trials": 3, "share": 0.2}
    trials = (
        trial(experiment="search", variant="bayesian", settings=settings),
        trial(experiment="searched", variant="bayesian", settings=settings),
        trial(experiment="searched", variant="bayesian", settings=settings, seed=1),
    )
    searched, first, second = measure(trials, "cpu")
    tried = searched["data"]["trials"]
    assert len(tried) == 3
    best = max(tried, key=lambda setting: setting["acc"])
    assert searched["data"]["best"] == first["found"] == second["found"] == best["settings"]
    assert first["settings"] == settings, "the key of a trial must be known before the search"
    assert 0 <= first["acc"] <= 1
    ranges = {"top_k": (1, 40), "k_neighbors": (1, 50), "w1": (0.1, 1), "w2": (0.1, 1), "dropout": (0, 0.6)}
    for setting in tried:
        for name, (low, high) in ranges.items():
            assert low <= setting["settings"][name] <= high


def test_a_search_without_optuna_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    search = trial(experiment="search", variant="bayesian", settings={"n_trials": 1, "share": 0.2})
    with pytest.raises(ImportError, match=r"newfound\[tune\]"):
        measure((search,), "cpu")


def test_a_device_that_is_not_there_is_the_users_mistake() -> None:
    with pytest.raises(InputError, match="device"):
        measure((trial(),), "cuda:99")
