from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from newfound import datasets
from newfound.errors import InputError
from newfound.metrics import novel_scores
from newfound_lab.runner import label_free
from newfound_lab.runner.measure import measure
from newfound_lab.suites.trials import K, Trial

SHORT: dict[str, Any] = {"epochs": 1, "pretrain_epochs": 1}
SCORES = ("acc", "bacc", "nmi", "ari", "known_acc", "n_found")


def trial(method: str = "kmeans", seed: int = 0, k: K = "given", class_split: int = 2, **settings: Any) -> Trial:
    where = ("label_free", "digits", method, "default", "label-free", "inductive", seed)
    return Trial(*where, settings, class_split, k)  # type: ignore[arg-type]


def estimates(n_classes: dict[int, int], class_split: int = 2) -> dict[str, dict[str, Any]]:
    """Lines with an estimate for each seed, by key."""
    found = {}
    for seed, k in n_classes.items():
        estimate = trial(seed=seed, k="estimated", class_split=class_split).builds_on
        assert estimate is not None
        found[estimate.key] = estimate.line({"n_classes": k})
    return found


class Counted:
    """Counts the fits behind `fit_all`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fits: list[list[tuple[int, int]]] = []
        self._fit_all = label_free.fit_all
        monkeypatch.setattr(label_free, "fit_all", self)

    def __call__(self, models: Any, X: Any, y: Any) -> Any:
        self.fits.append([(model.random_state, model.n_novel_classes) for model in models])
        return self._fit_all(models, X, y)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


def test_scores_are_those_of_the_class_split() -> None:
    (line,) = measure((trial(),), "cpu")
    data = datasets.load("digits").resplit(2)
    from newfound import KMeansDiscoverer

    model = KMeansDiscoverer(5, encoder=data.encoder(), random_state=0).fit(data.X_train, data.y_train, calibrate=False)
    expected = novel_scores(data.y_test[data.test_novel], model.predict_novel(data.X_test[data.test_novel]))
    assert {name: line[name] for name in expected} == expected
    assert (line["class_split"], line["k"], line["n_classes"], line["n_novel"]) == (2, "given", 5, 5)
    assert (line["reused"], line["device"], line["n_packed"]) == (False, "cpu", 1)


def test_where_the_estimate_is_right_the_fit_with_k_given_is_the_result(counted: Counted) -> None:
    given, estimated = measure((trial(), trial(k="estimated")), "cpu", None, estimates({0: 5}))
    assert counted.fits == [[(0, 5)]]
    assert [given[name] for name in (*SCORES, "fit_seconds")] == [estimated[name] for name in (*SCORES, "fit_seconds")]
    assert (given["reused"], estimated["reused"]) == (False, True)
    assert (given["k"], estimated["k"]) == ("given", "estimated")


def test_where_the_estimate_is_wrong_there_is_a_fit_of_its_own(counted: Counted) -> None:
    given, estimated = measure((trial(), trial(k="estimated")), "cpu", None, estimates({0: 3}))
    assert counted.fits == [[(0, 5)], [(0, 3)]]
    assert (estimated["n_classes"], estimated["n_novel"], estimated["n_found"]) == (3, 5, 3)
    assert estimated["acc"] < given["acc"]
    assert not estimated["reused"]


def test_seeds_of_networks_are_fitted_together_for_each_number_of_classes(counted: Counted) -> None:
    modes: tuple[K, ...] = ("given", "estimated")
    trials = tuple(trial("tabular_ncd", seed, k, **SHORT) for seed in range(3) for k in modes)
    lines = measure(trials, "cpu", None, estimates({0: 4, 1: 5, 2: 4}))
    assert counted.fits == [[(0, 5), (1, 5), (2, 5)], [(0, 4), (2, 4)]]
    assert [line["n_packed"] for line in lines] == [3, 2, 3, 3, 3, 2]
    assert [line["n_classes"] for line in lines] == [5, 4, 5, 5, 5, 4]
    assert [line["reused"] for line in lines] == [False, False, False, True, False, False]
    json.dumps(lines, allow_nan=False)


def test_without_an_estimate_it_says_what_to_measure_first() -> None:
    with pytest.raises(InputError, match=r"'digits', class split 2, seed 0, has no estimate.*n_classes first"):
        measure((trial(), trial(k="estimated")), "cpu", None, estimates({1: 5}))


def test_tuning_gets_the_number_of_classes_and_no_novel_label(
    monkeypatch: pytest.MonkeyPatch, counted: Counted
) -> None:
    data = datasets.load("digits").resplit(2)
    asked = []

    def tune(discoverer: Any, X: Any, y: Any, **options: Any) -> Any:
        asked.append((discoverer.n_novel_classes, options["n_trials"]))
        np.testing.assert_array_equal(y, data.y_train)
        assert options["storage"] == ":memory:"
        found = discoverer.set_params(**SHORT)
        return SimpleNamespace(discoverer=found, best_params=SHORT, best_score=0.7, default_score=0.6, trials=[{}] * 4)

    monkeypatch.setitem(sys.modules, "newfound.selection.tune", SimpleNamespace(tune=tune))  # type: ignore[arg-type]
    modes: tuple[K, ...] = ("given", "estimated")
    trials = tuple(trial("tuned_tabular_ncd", seed, k, n_trials=7) for seed in range(2) for k in modes)
    given, estimated, *_ = lines = measure(trials, "cpu", None, estimates({0: 3, 1: 5}))
    assert asked == [(5, 7), (3, 7)], "one search for each number of classes, whatever the seeds"
    assert counted.fits == [[(0, 5), (1, 5)], [(0, 3)]]
    assert given["settings"] == {"n_trials": 7}
    assert (given["found"], given["n_tried"]) == (SHORT, 4)
    assert (given["hidden_score"], given["hidden_score_of_defaults"]) == (0.7, 0.6)
    assert 0 < given["acc"] <= 1
    assert estimated["n_classes"] == 3
    assert {line["n_packed"] for line in lines} == {1}


def test_a_line_of_an_estimate_has_every_criterion(monkeypatch: pytest.MonkeyPatch) -> None:
    data = datasets.load("digits").resplit(1)

    def estimate(X: Any, y: Any, **options: Any) -> Any:
        np.testing.assert_array_equal(y, data.y_train)
        assert options["random_state"] == 4
        criteria = [
            {"criterion": "silhouette", "n_classes": np.int64(4), "weight": np.float64(0.25)},
            {"criterion": "stability", "n_classes": 7, "weight": 0.75},
        ]
        return SimpleNamespace(n_classes=np.int64(6), interval=(np.int64(5), 8), criteria=criteria)

    monkeypatch.setattr("newfound.selection.n_classes.estimate_n_novel_classes", estimate, raising=False)
    earlier = trial(seed=4, class_split=1, k="estimated").builds_on
    assert earlier is not None
    (line,) = measure((earlier,), "cuda:99")  # it knows no device
    assert (line["n_classes"], line["n_novel"], line["interval"], line["device"]) == (6, 5, [5, 8], "cpu")
    assert line["criteria"] == [
        {"criterion": "silhouette", "n_classes": 4, "weight": 0.25},
        {"criterion": "stability", "n_classes": 7, "weight": 0.75},
    ]
    json.dumps(line, allow_nan=False)
