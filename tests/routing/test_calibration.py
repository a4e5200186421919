"""Probabilities that were calibrated, predictions that abstain, and novelty."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from newfound import InputError, hidden_class_score
from newfound.routing import calibration
from newfound.routing.calibration import at_temperature, fit_temperature, rows_to_hold_out
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
    ncd_kmeans,
    numbers,
    spectral,
    tabular_ncd,
    whitened_kmeans,
)
from tests.oracles import calibration as oracle

pytestmark = SMALL

CENTRES = np.array([[0, 0], [2, 0], [0, 2], [6, 6], [9, 0]], dtype=float)
MANY = np.repeat(np.arange(5), 200)  # three known classes that overlap, and two novel ones
MANY_LABELS = np.where(MANY < 3, MANY, -1)


def many(seed: int = 0) -> np.ndarray:
    return CENTRES[MANY] + np.random.default_rng(seed).normal(0, 1.0, (len(MANY), 2))


def expected_error(proba: np.ndarray, right: np.ndarray, n_bins: int = 10) -> float:
    """Expected calibration error of the largest probabilities."""
    sure = proba.max(axis=1)
    bins = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    gaps = [abs(sure[bins == b].sum() - right[bins == b].sum()) for b in range(n_bins)]
    return float(np.sum(gaps) / len(sure))


# ---- rows held out


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [
        ([200, 100], [20, 10]),
        ([300, 19], [30, 0]),  # small classes keep their rows
        ([299], [0]),  # 29 rows say nothing
        ([40_000, 20_000], [1333, 666]),
        ([], []),
    ],
    ids=["a tenth", "small class", "too few", "many", "none"],
)
def test_rows_are_held_out_of_every_class_alike(sizes: list[int], wanted: list[int]) -> None:
    codes = np.random.RandomState(0).permutation(np.repeat(np.arange(-1, len(sizes)), [50, *sizes]))
    rng = np.random.RandomState(3)
    held_out = rows_to_hold_out(codes, rng)
    assert np.bincount(codes[held_out], minlength=len(sizes)).tolist() == wanted
    assert (np.diff(held_out) > 0).all()
    if not sum(wanted):
        assert rng.randint(10**6) == np.random.RandomState(3).randint(10**6)


@pytest.mark.parametrize("make", [kmeans, ncd_kmeans, whitened_kmeans, spectral])
def test_held_out_rows_are_not_learned_from(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []
    learn = type(make())._learn

    def remember(self: Any, task: Any, rng: Any) -> Any:
        seen.append(np.bincount(task.codes + 1))
        return learn(self, task, rng)

    monkeypatch.setattr(type(make()), "_learn", remember)
    model = make().fit(many(), MANY_LABELS)
    assert seen[0].tolist() == [400, 180, 180, 180]
    assert_array_equal(model.labels_[MANY < 3], MANY[MANY < 3])
    assert model.temperature_ != 1.0
    assert make().fit(many(), MANY_LABELS, calibrate=False).temperature_ == 1.0
    assert seen[1].tolist() == [400, 200, 200, 200]


def test_members_have_labels_of_rows_that_were_held_out() -> None:
    model = tabular_ncd(epochs=2, n_members=2).fit(many(), MANY_LABELS)
    assert model.temperature_ != 1.0
    assert model.member_labels_.shape == (2, len(MANY))
    assert_array_equal(model.member_labels_[:, MANY < 3], np.tile(MANY[MANY < 3], (2, 1)))
    unlabelled = MANY_LABELS < 0
    for i in range(2):
        assert_array_equal(model.member(i).predict_novel(many())[unlabelled], model.member_labels_[i, unlabelled])


def test_few_rows_are_all_learned_from() -> None:
    calibrated, plain = (kmeans().fit(numbers(), integer_labels(), calibrate=yes) for yes in (True, False))
    assert calibrated.temperature_ == 1.0
    assert_array_equal(calibrated.predict_proba(numbers(1)), plain.predict_proba(numbers(1)))


def test_scores_on_hidden_classes_do_not_calibrate(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("rows were held out")

    monkeypatch.setattr("newfound.discoverers.base.rows_to_hold_out", refuse)
    y = np.where(MANY < 4, MANY, -1)
    assert hidden_class_score(kmeans(n_novel_classes=1), many(), y, random_state=0) > 0


@pytest.mark.parametrize("calibrate", [None, 1, "yes"])
def test_calibrate_is_yes_or_no(calibrate: Any) -> None:
    with pytest.raises(InputError, match=r"calibrate=.*expected True or False"):
        kmeans().fit(numbers(), integer_labels(), calibrate=calibrate)


# ---- the temperature


def drawn(temperature: float, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of four classes that are right at this temperature, and classes drawn from them."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(4, 0.7), n)
    codes = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(max=3)
    return at_temperature(truth, 1 / temperature), codes


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.0, 8.0])
def test_a_temperature_is_found_again(temperature: float) -> None:
    proba, codes = drawn(temperature, 4000)
    assert fit_temperature(proba, codes) == pytest.approx(temperature, rel=0.1)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.3, 5), st.integers(30, 60), st.integers(0, 99))
def test_temperature_agrees_with_trying_them_all(temperature: float, n: int, seed: int) -> None:
    proba, codes = drawn(temperature, n, seed)
    proba = at_temperature(0.99 * proba + 0.0025, 1.0)
    tried = np.exp(np.linspace(np.log(0.01), np.log(100), 200))
    best, fitted = oracle.best_temperature(proba, codes, tried), fit_temperature(proba, codes)
    assert fitted == pytest.approx(best, rel=0.06)
    assert oracle.misfit(proba, codes, fitted) <= oracle.misfit(proba, codes, best) + 1e-6


@settings(max_examples=50, deadline=None)
@given(st.floats(0.01, 100), st.lists(st.lists(st.floats(0.001, 1), min_size=3, max_size=3), min_size=1, max_size=5))
def test_temperature_is_a_power(temperature: float, weights: list[list[float]]) -> None:
    proba = np.array(weights) / np.sum(weights, axis=1, keepdims=True)
    corrected = at_temperature(proba, temperature)
    assert_allclose(corrected, oracle.at_temperature(proba.tolist(), temperature), rtol=1e-9, atol=1e-200)
    assert_allclose(corrected.sum(axis=1), 1)
    assert at_temperature(proba, 1.0) is proba


def test_rows_that_are_all_right_keep_the_temperature_in_bounds() -> None:
    sure = np.tile([0.98, 0.02], (200, 1))
    assert 0.2 < fit_temperature(sure, np.zeros(200, dtype=np.int64)) < 1


def test_rows_that_no_temperature_can_help_are_left_out() -> None:
    proba, codes = drawn(2.0, 500)
    hopeless = np.tile([1.0, 0.0, 0.0, 0.0], (100, 1))
    more = fit_temperature(np.concatenate([proba, hopeless]), np.concatenate([codes, np.ones(100, dtype=np.int64)]))
    assert more == fit_temperature(proba, codes)
    assert fit_temperature(hopeless, np.ones(100, dtype=np.int64)) == 1.0


def test_too_few_rows_say_nothing() -> None:
    proba, codes = drawn(5.0, 29)
    assert fit_temperature(proba, codes) == 1.0


def test_calibrated_probabilities_are_nearer_to_what_happens() -> None:
    model = ncd_kmeans().fit(many(), MANY_LABELS)
    known, rows = MANY < 3, many(1)
    plain = copy.deepcopy(model)
    plain.temperature_ = 1.0
    right = model.predict(rows)[known] == MANY[known]
    before, after = (expected_error(fitted.predict_proba(rows)[known], right) for fitted in (plain, model))
    assert after < before
    assert after < 0.05


@pytest.mark.parametrize("temperature", [calibration.COLDEST, 0.5, 3.0, calibration.HOTTEST])
def test_predictions_do_not_depend_on_the_temperature(temperature: float) -> None:
    model = ncd_kmeans().fit(many(), MANY_LABELS, calibrate=False)
    before = model.predict(many(1)), model.predict_novel(many(1))
    model.temperature_ = temperature
    assert_array_equal(model.predict(many(1)), before[0])
    assert_array_equal(model.predict_novel(many(1)), before[1])


# ---- novelty and abstaining


@pytest.mark.parametrize("make", DISCOVERERS)
def test_novelty_is_the_probability_of_all_novel_classes(make: Maker) -> None:
    model = make().fit(numbers(), integer_labels())
    scores = model.novelty_score(numbers(1))
    assert_allclose(scores, model.predict_proba(numbers(1))[:, 2:].sum(axis=1))
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores[NOVEL].mean() > scores[~NOVEL].mean() + 0.5


@pytest.mark.filterwarnings("ignore:y has no unlabelled rows")
def test_without_novel_classes_nothing_is_novel() -> None:
    assert_array_equal(kmeans().fit(numbers(), TRUTH).novelty_score(numbers(1)), np.zeros(len(TRUTH)))


@pytest.mark.parametrize("labels", LABEL_TYPES, ids=lambda labels: labels.name)
def test_abstaining_marks_rows_in_the_type_of_y(labels: LabelType) -> None:
    model = ncd_kmeans().fit(numbers(), labels.y)
    model.temperature_ = 20.0
    rows = numbers(1)
    proba = model.predict_proba(rows)
    threshold = float(np.median(proba.max(axis=1)))
    unsure = proba.max(axis=1) < threshold
    predicted = model.predict(rows, abstain=threshold)
    assert 0 < unsure.sum() < len(rows)
    assert_array_equal(predicted[~unsure], model.predict(rows)[~unsure])
    mark = {"i": -1, "O": None}.get(labels.kind, np.nan)
    assert all(
        label is None if mark is None else np.array_equal(label, mark, equal_nan=True) for label in predicted[unsure]
    )
    assert predicted.dtype.kind == labels.kind


@pytest.mark.filterwarnings("ignore:y has no unlabelled rows")
def test_abstaining_among_booleans() -> None:
    predicted = kmeans().fit(numbers(), TRUTH >= 2).predict(numbers(), abstain=1.0)
    assert set(predicted.tolist()) <= {True, False, None}
    assert predicted.dtype == object


def test_abstaining_at_the_ends() -> None:
    model = kmeans().fit(many(), MANY_LABELS)
    assert_array_equal(model.predict(many(1), abstain=0), model.predict(many(1)))
    some = model.predict(many(1), abstain=1)
    assert (some == -1).any()


@pytest.mark.parametrize("abstain", [-0.1, 1.1, np.nan, "0.5", True, [0.5]])
def test_abstain_is_a_probability(abstain: Any) -> None:
    model = kmeans().fit(numbers(), integer_labels())
    for act in (model.predict, model.to_labels):
        with pytest.raises(InputError, match=r"abstain=.*at most 1"):
            act(numbers(), abstain=abstain)
