"""The score of a discoverer, and scikit-learn's tools that rest on it, with every type of labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score

import newfound as nf
from newfound import InputError
from newfound.errors import WeakEvidence
from newfound.metrics import clustering_accuracy, open_world_accuracy
from tests.discoverers.common import (
    DISCOVERERS,
    LABEL_TYPES,
    NOVEL,
    SMALL,
    TRUTH,
    LabelType,
    Maker,
    integer_labels,
    kmeans,
    numbers,
    whitened_kmeans,
)
from tests.oracles import metrics as oracle

pytestmark = SMALL

FOLDS = KFold(3, shuffle=True, random_state=0)


@pytest.mark.parametrize("make", DISCOVERERS)
def test_novel_classes_are_matched_before_they_are_scored(make: Maker) -> None:
    model = make().fit(numbers(), integer_labels())
    predicted = model.predict(numbers())
    known = (predicted == TRUTH)[~NOVEL].sum()
    taken_for_novel = NOVEL & ~np.isin(predicted, [0, 1])
    novel = 0.0
    if taken_for_novel.any():
        found, truth = predicted[taken_for_novel], TRUTH[taken_for_novel]
        novel = clustering_accuracy(truth, found) * len(truth)
    assert model.score(numbers(), TRUTH) == pytest.approx((known + novel) / len(TRUTH))


def test_names_of_novel_classes_do_not_matter_and_those_of_known_ones_do() -> None:
    model = kmeans().fit(numbers(), integer_labels())
    assert model.score(numbers(), TRUTH) == 1.0
    assert model.score(numbers(), np.where(NOVEL, 99 - TRUTH, TRUTH)) == 1.0
    assert model.score(numbers(), np.where(NOVEL, TRUTH, 1 - TRUTH)) == 0.5


def test_unlabelled_rows_are_left_out() -> None:
    model = kmeans().fit(numbers(), integer_labels())
    some = np.where(np.arange(60) % 4, -1, 1 - TRUTH % 2)  # wrong names for the known rows, and few of them
    kept = some >= 0
    assert model.score(numbers(), some) == model.score(numbers()[kept], some[kept]) < 1
    with pytest.warns(UserWarning, match="no labelled rows to score"):
        assert np.isnan(model.score(numbers(), np.full(60, -1)))


def test_rows_can_be_weighed() -> None:
    model = kmeans().fit(numbers(), integer_labels())
    wrong = np.where(TRUTH == 0, 1, TRUTH)
    assert model.score(numbers(), wrong) == 0.75
    assert model.score(numbers(), wrong, sample_weight=(TRUTH == 0).astype(float)) == 0.0


@pytest.mark.parametrize(
    "weights", [np.ones(3), np.zeros(60), np.full(60, np.nan), -np.ones(60), np.ones((60, 1)), ["heavy"] * 60, 2.0]
)
def test_weights_that_make_no_sense_are_refused(weights: Any) -> None:
    model = kmeans().fit(numbers(), integer_labels())
    with pytest.raises(InputError, match="sample_weight must be one number for each of the 60 rows") as caught:
        model.score(numbers(), TRUTH, sample_weight=weights)
    assert caught.value.parameter == "sample_weight"
    with pytest.raises(InputError, match="sample_weight"):
        open_world_accuracy(TRUTH, TRUTH, [0, 1], sample_weight=weights)


def test_labels_of_another_type_are_refused_instead_of_taken_for_novel_classes() -> None:
    texts = np.array(["0", "1", "2", "3"])[TRUTH]
    model = kmeans().fit(numbers(), integer_labels())
    with pytest.raises(InputError, match="y with labels such as '0', but the classes are such as 0"):
        model.score(numbers(), texts)
    assert model.score(numbers(), TRUTH.astype(float)) == 1.0
    model.fit(numbers(), np.where(NOVEL, None, texts.astype(object)))
    with pytest.raises(InputError, match="y with labels such as 0, but the classes are such as '0'"):
        model.score(numbers(), TRUTH)
    without_known = kmeans(n_novel_classes=4, n_init=10).fit(numbers())
    assert without_known.score(numbers(), texts) == without_known.score(numbers(), TRUTH) == 1.0


@pytest.mark.parametrize("labels", LABEL_TYPES, ids=lambda labels: labels.name)
def test_cross_validation_and_search_take_every_type_of_labels(labels: LabelType) -> None:
    y = labels.y if hasattr(labels.y, "__getitem__") else list(labels.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", WeakEvidence)  # a fold leaves few unlabelled rows
        scores = cross_val_score(whitened_kmeans(), numbers(), y, cv=FOLDS)
        assert scores.min() > 0.9  # of the labelled rows, which are of known classes
        folds = cross_val_predict(whitened_kmeans(), numbers(), y, cv=FOLDS)
        assert len(folds) == 60
        search = GridSearchCV(whitened_kmeans(), {"ridge": [0.1, 10.0]}, cv=FOLDS).fit(numbers(), y)
        assert search.best_score_ > 0.9
        assert search.best_estimator_.known_classes_.tolist() == labels.known


def test_cross_validation_by_number_of_folds() -> None:
    order = np.random.default_rng(0).permutation(60)
    y = np.where(NOVEL, None, np.array(["ant", "bee", "", ""], dtype=object)[TRUTH])[order]
    assert cross_val_score(kmeans(), numbers()[order], y, cv=4).min() > 0.9


@pytest.mark.parametrize("make", DISCOVERERS)
def test_fit_predict_gives_the_labels_of_the_training_rows(make: Maker) -> None:
    model = make()
    np.testing.assert_array_equal(model.fit_predict(numbers(), integer_labels()), model.labels_)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_seed_gives_one_number_of_novel_classes(seed: int, tmp_path: Any, capsys: Any) -> None:
    import json

    from newfound.cli.app import run

    data = nf.datasets.make_table(300, n_known=4, n_novel=4, separation=2.0, random_state=seed)
    wanted = nf.estimate_n_novel_classes(data.X_train, data.y_train, random_state=seed)
    for model in (kmeans(n_novel_classes="auto", random_state=seed), whitened_kmeans(n_novel_classes="auto")):
        model.set_params(random_state=seed).fit(data.X_train, data.y_train)
        assert model.n_classes_estimate_.curve == wanted.curve
        assert model.n_novel_classes_ == wanted.n_classes
    data.X_train.assign(target=data.y_train).to_csv(tmp_path / "table.csv", index=False)
    capsys.readouterr()
    assert run(["estimate", str(tmp_path / "table.csv"), "--target", "target", "--seed", str(seed), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["n_classes"] == wanted.n_classes
    assert told["interval"] == list(wanted.interval)


@given(data=st.data())
def test_open_world_accuracy_equals_the_best_of_all_matchings(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 12))
    truth = data.draw(st.lists(st.sampled_from("abxyz"), min_size=n, max_size=n))
    found = data.draw(st.lists(st.sampled_from("ab012"), min_size=n, max_size=n))
    assert open_world_accuracy(truth, found, ["a", "b"]) == pytest.approx(
        oracle.open_world_accuracy(truth, found, ["a", "b"])
    )
