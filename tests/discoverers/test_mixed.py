"""Known and novel rows mixed among the unlabelled ones: what every discoverer does about it, and what it says."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

import newfound as nf
from newfound import InputError
from newfound.deadline import Deadline
from newfound.discoverers import preparation
from newfound.discoverers.packed import fit_together
from newfound.metrics import clustering_accuracy
from newfound.routing import Forest, KnownShare, Routing
from tests.discoverers.common import (
    CENTRES,
    DISCOVERERS,
    KINDS,
    PACKED,
    PLAIN,
    SMALL,
    WITHOUT_LABELS,
    Maker,
    auto,
    kmeans,
    tabular_ncd,
)

pytestmark = SMALL

every = pytest.mark.parametrize("make", DISCOVERERS)
of_each_kind = pytest.mark.parametrize("make", KINDS)

N_EACH = 40
TRUTH = np.repeat(np.arange(4), N_EACH)
NOVEL = TRUTH >= 2


def rows(seed: int = 0) -> np.ndarray:
    """Four round groups of rows, two known and two novel; shape (160, 2)."""
    return CENTRES[TRUTH] + np.random.default_rng(seed).normal(0, 0.5, (len(TRUTH), 2))


LABELS = np.where(~NOVEL & (np.arange(len(TRUTH)) % 2 == 0), TRUTH, -1)
"""Every other row of the known classes has its label."""
FREE = LABELS < 0

NOTHING_NOVEL = np.where(np.arange(len(TRUTH)) % 2 == 0, TRUTH, -1)
"""Every other row of all four classes has its label."""


def quiet(model: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


TOLD: dict[tuple[Any, ...], tuple[Routing, Any]] = {}
"""What the router has answered to what, and the random state that it left."""


@contextmanager
def routing_once() -> Iterator[None]:
    """Let discoverers that ask the router the very same thing share its answer, which takes most of the time."""
    route = preparation.route

    def remembered(task: Any, look: Any, mode: Any, rng: np.random.RandomState, deadline: Deadline) -> Routing:
        state = rng.get_state(legacy=False)["state"]
        seen = look.novelty.tobytes() if look is not None else None
        asked = (task.rows.tobytes(), task.codes.tobytes(), seen, mode, state["key"].tobytes(), state["pos"])
        if asked not in TOLD:
            TOLD[asked] = route(task, look, mode, rng, deadline), rng.get_state()
        routing, after = TOLD[asked]
        rng.set_state(after)
        return routing

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preparation, "route", remembered)
        yield


@pytest.fixture
def shared_routing() -> Iterator[None]:
    """For tests of every kind of discoverer, which would all ask the router the same."""
    with routing_once():
        yield


@pytest.fixture(scope="module")
def mixed() -> dict[Maker, Any]:
    """Each discoverer, fitted once to mixed rows; tests must not change it."""
    with routing_once():
        return {make: make(unlabelled="mixed").fit(rows(), LABELS) for make in DISCOVERERS}


@pytest.fixture(scope="module")
def without_novel() -> dict[Maker, Any]:
    """Each discoverer, fitted once to rows of known classes alone."""
    with routing_once():
        return {make: quiet(make(unlabelled="mixed"), rows(), NOTHING_NOVEL) for make in DISCOVERERS}


# ---- rows get their classes


@every
def test_unlabelled_rows_of_known_classes_get_theirs(make: Maker, mixed: dict[Maker, Any]) -> None:
    model = mixed[make]
    assert model.unlabelled_ == "mixed"
    assert_array_equal(model.labels_[~FREE], TRUTH[~FREE])
    assert np.mean(model.labels_[FREE & ~NOVEL] == TRUTH[FREE & ~NOVEL]) > 0.9
    assert np.mean(np.isin(model.labels_[NOVEL], model.novel_classes_)) > 0.95
    assert clustering_accuracy(TRUTH[NOVEL], model.labels_[NOVEL]) > 0.9
    assert np.mean(model.labels_ == model.predict(rows())) > 0.95


@every
def test_new_rows_are_told_apart(make: Maker, mixed: dict[Maker, Any]) -> None:
    model = mixed[make]
    assert model.score(rows(1), TRUTH) > 0.9
    proba = model.predict_proba(rows(1))
    assert_allclose(proba.sum(axis=1), 1)
    assert_array_equal(model.predict(rows(1)), model.classes_[proba.argmax(axis=1)])
    assert clustering_accuracy(TRUTH[NOVEL], model.predict_novel(rows(1))[NOVEL]) > 0.9


@of_each_kind
def test_novelty_means_the_same_for_training_rows_and_new_rows(make: Maker, mixed: dict[Maker, Any]) -> None:
    model = mixed[make]
    score, fresh = model.novelty_score(rows()), model.novelty_score(rows(1))
    among_unlabelled = roc_auc_score(NOVEL[FREE], score[FREE])
    among_new = roc_auc_score(NOVEL, fresh)
    assert min(among_unlabelled, among_new) > 0.97
    assert abs(among_unlabelled - among_new) < 0.02
    known = [score[~NOVEL & ~FREE], score[~NOVEL & FREE], fresh[~NOVEL]]
    assert np.ptp([group.mean() for group in known]) < 0.2
    assert abs(score[NOVEL].mean() - fresh[NOVEL].mean()) < 0.1


def test_taking_all_unlabelled_rows_for_novel_fails_on_this_table() -> None:
    model = PLAIN(unlabelled="novel").fit(rows(), LABELS)
    assert np.isin(model.labels_[FREE], model.novel_classes_).all()
    assert not hasattr(model, "known_share_")
    assert not hasattr(model, "unlabelled_")


@pytest.mark.parametrize("make", PACKED)
def test_members_know_the_routed_rows_as_well(make: Maker, mixed: dict[Maker, Any]) -> None:
    model = mixed[make]
    routed = np.isin(model.labels_, model.known_classes_)
    assert_array_equal(model.member_labels_[0][routed], model.labels_[routed])
    assert_allclose(model.member(0).predict_proba(rows(1)), model.predict_proba(rows(1)))


def test_number_of_classes_is_estimated_among_the_rows_that_are_left() -> None:
    model = PLAIN(n_novel_classes="auto", unlabelled="mixed").fit(rows(), LABELS)
    routed = np.isin(model.labels_, model.known_classes_) & FREE
    left = nf.estimate_n_novel_classes(rows()[~routed], LABELS[~routed], random_state=0)
    assert model.n_classes_estimate_.n_classes == left.n_classes == model.n_novel_classes_


# ---- what is decided, and what is said


def test_defaults() -> None:
    modes = {type(make()).__name__: type(make())().unlabelled for make in DISCOVERERS}
    assert {name: mode for name, mode in modes.items() if mode != "novel"} == {
        "AutoDiscoverer": "auto",
        "InContextDiscoverer": "auto",
    }


@pytest.mark.parametrize("given", ["all", None, 1, ["mixed"]])
def test_another_mode_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match=re.escape(f"Got unlabelled={given!r}, but expected one of")):
        PLAIN(unlabelled=given).fit(rows(), LABELS)


def routed(unlabelled: Any, is_novel: np.ndarray, known: int = 0) -> Any:
    """A router that was told what to say."""

    def say(task: Any, look: Any, mode: str, rng: np.random.RandomState, deadline: Deadline) -> Routing:
        proba = np.zeros((len(is_novel), task.n_known + 1))
        proba[is_novel, -1] = 1
        proba[~is_novel, known] = 1
        targets = np.eye(task.n_known + 1)[task.codes]
        targets[task.codes < 0] = proba
        share = KnownShare(float(1 - is_novel.mean()), (0.1, 0.9))
        return Routing(unlabelled, "for a test", proba, share, lambda: Forest.grow(task.rows, targets, 0))

    return say


def test_where_all_are_taken_for_novel_nothing_else_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "route", routed("novel", np.zeros(FREE.sum(), dtype=bool)))
    told, plain = PLAIN(unlabelled="auto").fit(rows(), LABELS), PLAIN().fit(rows(), LABELS)
    assert (told.unlabelled_, told.unlabelled_reason_, told.known_share_.interval) == (
        "novel",
        "for a test",
        (0.1, 0.9),
    )
    assert_array_equal(told.labels_, plain.labels_)
    assert_array_equal(told.predict_proba(rows(1)), plain.predict_proba(rows(1)))


def test_what_the_router_says_is_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    one_class = TRUTH[FREE] == 3
    monkeypatch.setattr(preparation, "route", routed("mixed", one_class, known=1))
    model = PLAIN(n_novel_classes=1, unlabelled="mixed").fit(rows(), LABELS)
    assert np.mean(model.labels_[TRUTH == 2] == 1) > 0.9
    assert np.mean(model.labels_[TRUTH == 3] == model.novel_classes_[0]) > 0.9
    assert float(model.known_share_) == 1 - one_class.mean()


def test_an_earlier_routing_leaves_no_trace() -> None:
    model = PLAIN(unlabelled="mixed").fit(rows(), LABELS).set_params(unlabelled="novel").fit(rows(), LABELS)
    fresh = PLAIN().fit(rows(), LABELS)
    assert not hasattr(model, "known_share_")
    assert_array_equal(model.predict_proba(rows(1)), fresh.predict_proba(rows(1)))


@pytest.mark.parametrize("mode", ["mixed", "auto"])
@pytest.mark.parametrize("make", WITHOUT_LABELS)
def test_without_known_classes_there_is_nothing_to_mix(make: Maker, mode: str) -> None:
    model = make(unlabelled=mode).fit(rows())
    assert not hasattr(model, "unlabelled_")
    assert_array_equal(model.labels_, make().fit(rows()).labels_)


def test_without_unlabelled_rows_there_is_nothing_to_route() -> None:
    with pytest.warns(UserWarning, match="no unlabelled rows"):
        model = PLAIN(unlabelled="mixed").fit(rows(), TRUTH)
    assert not hasattr(model, "unlabelled_")
    assert model.n_novel_classes_ == 0


def test_the_same_seed_gives_the_same_labels() -> None:
    first, other = (PLAIN(unlabelled="mixed").fit(rows(), LABELS) for _ in range(2))
    assert_array_equal(first.labels_, other.labels_)
    assert_array_equal(first.predict_proba(rows(1)), other.predict_proba(rows(1)))
    assert clone(first).unlabelled == "mixed"


# ---- probabilities


def test_probabilities_are_the_answers_to_two_questions(mixed: dict[Maker, Any]) -> None:
    model = mixed[PLAIN]
    encoded = model._encode(rows(1))
    routed, inner, sharp = model._forest.proba(encoded), model._state.novel_proba(encoded), 1 / model.temperature_
    expected = np.zeros((len(routed), 4))
    for i, row in enumerate(routed):
        expected[i, :2] = row[:2].sum() * row[:2] ** sharp / (row[:2] ** sharp).sum()
        expected[i, 2:] = row[2] * inner[i]
    assert_allclose(model.predict_proba(rows(1)), expected, atol=1e-12)


def test_probabilities_of_novelty_mean_what_they_say() -> None:
    """Two known classes and a novel one that overlap a little: of rows at probability p, about p are novel."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=1500)
    centres = np.array([[0.0, 0], [1.8, 0], [0, 1.8]])
    X = centres[truth] + rng.normal(0, 0.6, (1500, 2))
    y = np.where((truth < 2) & (rng.random(1500) < 0.5), truth, -1)
    model = kmeans(n_novel_classes=1, unlabelled="mixed").fit(X, y)
    new = rng.integers(3, size=3000)
    score = model.novelty_score(centres[new] + rng.normal(0, 0.6, (3000, 2)))
    parts = np.digitize(score, [0.2, 0.4, 0.6, 0.8])
    gaps = [abs(score[parts == part].mean() - (new[parts == part] == 2).mean()) for part in np.unique(parts)]
    weights = [(parts == part).mean() for part in np.unique(parts)]
    assert np.dot(gaps, weights) < 0.1


def test_too_few_labelled_rows_for_a_temperature() -> None:
    y = np.where(np.isin(np.arange(len(TRUTH)), [0, 1, N_EACH, N_EACH + 1]), TRUTH, -1)
    assert quiet(PLAIN(unlabelled="mixed"), rows(), y).temperature_ == 1


# ---- unsure


@of_each_kind
def test_unsure_rows_are_those_without_half_of_the_probability(make: Maker, mixed: dict[Maker, Any]) -> None:
    between = np.array([[3.0, 3.0], [0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    model = mixed[make]
    unsure = model.unsure(between)
    assert unsure.dtype == np.bool_
    assert not unsure[1]
    assert_array_equal(unsure, model.predict_proba(between).max(axis=1) < 0.5)
    assert_array_equal(unsure, model.predict(between, abstain=0.5) == -1)


# ---- nothing novel


@of_each_kind
def test_nothing_novel_is_said_once(make: Maker, shared_routing: None) -> None:
    with pytest.warns(UserWarning, match="No novel class: all 80 unlabelled rows were taken for") as caught:
        model = make(unlabelled="mixed").fit(rows(), NOTHING_NOVEL)
    assert len(caught) == 1
    assert model.n_novel_classes_ == 0
    assert model.novel_classes_.tolist() == []
    assert model.known_share_ > 0.8


@every
def test_nothing_novel_and_no_method_fails(make: Maker, without_novel: dict[Maker, Any], tmp_path: Path) -> None:
    model, X = without_novel[make], rows(1)
    assert model.n_novel_classes_ == 0
    assert np.mean(model.labels_ == TRUTH) > 0.9
    assert model.score(X, TRUTH) > 0.9
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert_array_equal(model.novelty_score(X), 0)
    assert len(model.transform(X)) == len(X)
    assert model.transform(X).shape[1] == len(model.get_feature_names_out())
    assert_array_equal(model.to_labels(X), model.predict(X))
    assert_array_equal(model.unsure(X), model.predict_proba(X).max(axis=1) < 0.5)
    with pytest.raises(InputError, match="all unlabelled rows were taken for known classes"):
        model.predict_novel(X)
    with pytest.raises(InputError, match="known class"):
        model.merge([0, 1])
    with pytest.raises(InputError, match="which is a known class"):
        model.split(0, 2, X)
    assert model.keep_names(model, X).classes_.tolist() == [0, 1, 2, 3]
    assert model.rename({}).classes_.tolist() == [0, 1, 2, 3]
    nf.save(model, tmp_path / "model.newfound")
    assert_array_equal(nf.load(tmp_path / "model.newfound").predict_proba(X), model.predict_proba(X))


@of_each_kind
def test_nothing_novel_can_be_explained_and_reported(
    make: Maker, without_novel: dict[Maker, Any], tmp_path: Path
) -> None:
    model = without_novel[make]
    assert nf.explain(model, rows()).to_dict()["classes"] == []
    nf.write_report(model, rows(), NOTHING_NOVEL, tmp_path / "report.html")
    assert "No novel class" in (tmp_path / "report.html").read_text()


def test_rows_that_no_known_class_fits_get_one_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the forest is sure of novel, and there is no novel class, probabilities are still probabilities."""
    say = routed("mixed", np.zeros(80, dtype=bool))

    def novel_only(*given: Any) -> Routing:
        routing = say(*given)
        leaves = np.zeros_like(routing.forest.leaves)
        leaves[:, -1] = 1
        forest = routing.forest
        return Routing(
            "mixed",
            "",
            routing.proba,
            routing.known_share,
            lambda: Forest(forest.starts, forest.columns, forest.cuts, forest.children, leaves),
        )

    monkeypatch.setattr(preparation, "route", novel_only)
    model = quiet(PLAIN(unlabelled="mixed"), rows(), NOTHING_NOVEL)
    assert_allclose(model.predict_proba(rows(1)), 0.25)


# ---- tables that are hard


def test_fewer_rows_than_novel_classes_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "route", routed("mixed", TRUTH[FREE] == 3))
    with pytest.warns(UserWarning, match=r"Got n_novel_classes=60, but only \d\d unlabelled rows were taken"):
        model = PLAIN(n_novel_classes=60, unlabelled="mixed").fit(rows(), LABELS)
    assert model.n_novel_classes_ == np.isin(model.labels_, model.novel_classes_).sum() > 30


@of_each_kind
@pytest.mark.parametrize("n_labelled", [1, 2])
def test_one_or_two_labelled_rows_a_class(make: Maker, n_labelled: int, shared_routing: None) -> None:
    y = np.where(~NOVEL & (np.arange(len(TRUTH)) % N_EACH < n_labelled), TRUTH, -1)
    model = quiet(make(unlabelled="mixed"), rows(), y)
    assert len(model.labels_) == len(y)
    assert_allclose(model.predict_proba(rows(1)).sum(axis=1), 1)


@of_each_kind
@pytest.mark.parametrize("mode", ["mixed", "auto"])
def test_one_known_class_and_one_unlabelled_row(make: Maker, mode: str, shared_routing: None) -> None:
    one_known = np.where(TRUTH == 0, LABELS, -1)
    assert len(quiet(make(unlabelled=mode), rows(), one_known).labels_) == len(TRUTH)
    one_unlabelled = TRUTH.copy()
    one_unlabelled[-1] = -1
    model = quiet(make(n_novel_classes=1, unlabelled=mode), rows(), one_unlabelled)
    assert model.n_novel_classes_ in (0, 1)
    assert_allclose(model.predict_proba(rows(1)).sum(axis=1), 1)


def test_a_known_class_without_unlabelled_rows() -> None:
    y = np.where(TRUTH == 0, 0, LABELS)
    model = PLAIN(unlabelled="mixed").fit(rows(), y)
    assert np.mean(np.isin(model.labels_[NOVEL], model.novel_classes_)) > 0.95


# ---- where all unlabelled rows are novel by construction


def test_hidden_classes_are_never_routed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any) -> Routing:
        raise AssertionError("nobody asked")

    monkeypatch.setattr(preparation, "route", refuse)
    X = np.repeat(np.eye(6), 8, axis=0)
    y = np.repeat([0, 1, 2, 3, -1, -1], 8)
    assert nf.hidden_class_score(kmeans(unlabelled="mixed"), X, y, random_state=0) == 1.0


def test_discoverers_that_route_are_fitted_alone() -> None:
    assert tabular_ncd(unlabelled="novel")._together_key() is not None
    assert tabular_ncd(unlabelled="mixed")._together_key() is None
    with pytest.raises(InputError, match="unlabelled='novel'"):
        fit_together([tabular_ncd(unlabelled="auto")] * 2, rows(), LABELS)


def test_the_time_limit_counts_the_routing(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Deadline] = []
    say = routed("mixed", NOVEL[FREE])

    def late(task: Any, look: Any, mode: str, rng: np.random.RandomState, deadline: Deadline) -> Routing:
        given.append(deadline)
        return say(task, look, mode, rng, deadline)

    monkeypatch.setattr(preparation, "route", late)
    prepared = preparation.prepare(auto(unlabelled="mixed", time_limit=60), rows(), LABELS, calibrate=True)
    assert prepared.deadline.started <= given[0].started < given[0].end < prepared.deadline.end
    assert prepared.deadline.end == prepared.deadline.started + 60
