"""AutoDiscoverer: what it tells about its choice, and the tables that a user may come with."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import newfound as nf
from newfound.deadline import Deadline
from newfound.discoverers import auto as module
from newfound.discoverers.packed import fit_together
from newfound.learning import student
from newfound.metrics import balanced_clustering_accuracy, clustering_accuracy
from newfound.records import Records
from newfound.selection import chooser
from newfound.selection.evidence import Evidence
from newfound.selection.learned_chooser import LearnedChooser
from newfound.selection.ranking import Ranking
from tests.discoverers.common import auto

COLUMNS = ["rank", "representation", "method", "score", "hidden_accuracy", "information", "within", "agreement"]


def blobs(
    n_known: int = 6, sizes: tuple[int, ...] = (30, 30, 30), spread: float = 1.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Round classes at the corners of a cube; rows, labels, and all classes, for tests alone."""
    rng = np.random.default_rng(seed)
    counts = [30] * n_known + list(sizes)
    truth = np.repeat(np.arange(len(counts)), counts)
    corners = 8.0 * np.array([[c >> b & 1 for b in range(4)] for c in rng.permutation(16)])
    X = corners[truth] + rng.normal(0, spread, (len(truth), 4))
    return X, np.where(truth < n_known, truth, -1), truth


def quiet(model: Any, X: Any, y: Any) -> Any:
    """Fit; any warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model.fit(X, y)


@pytest.fixture(scope="module", autouse=True)
def large_tables() -> Iterator[None]:
    """These tests are about the way in which large tables are searched; `test_auto_learned` has the other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LearnedChooser, "choose", lambda *args: None)
        yield


@pytest.fixture(scope="module")
def clear(large_tables: None) -> Any:
    """Six known and three novel classes that nobody can miss."""
    X, y, _ = blobs()
    return quiet(auto(n_novel_classes=3, n_members=2, training_steps=60), X, y)


# ---- what it tells


def test_a_clear_table_is_found_without_a_warning(clear: Any) -> None:
    X, y, truth = blobs()
    assert clustering_accuracy(truth[y < 0], clear.labels_[y < 0]) == 1.0
    assert np.mean(clear.predict(X)[y >= 0] == y[y >= 0]) > 0.95
    assert clear.weaknesses_ == []
    assert clear.confidence_ > 0.9
    assert (clear.class_confidence_ > 0.9).all()


def test_the_leaderboard(clear: Any) -> None:
    board = clear.leaderboard_
    assert isinstance(board, Records)
    assert board.columns == COLUMNS
    assert [record["rank"] for record in board] == list(range(1, len(board) + 1))
    assert len({(record["representation"], record["method"]) for record in board}) == len(board)
    scores = [record["score"] for record in board]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= record["hidden_accuracy"] <= 1 for record in board)
    assert all(type(record[name]) is float for record in board for name in COLUMNS[3:])
    assert str(board).splitlines()[0].split() == COLUMNS
    assert board.to_frame().shape == (len(board), len(COLUMNS))


def test_without_hidden_classes_the_leaderboard_says_so() -> None:
    X, y, _ = blobs(2)
    with pytest.warns(UserWarning, match="evidence"):
        model = auto(n_novel_classes=3).fit(X, y)
    assert {record["hidden_accuracy"] for record in model.leaderboard_} == {None}
    assert "hidden_accuracy" in str(model.leaderboard_)


@pytest.mark.parametrize(("n_known", "words"), [(1, "is only 1 known class,"), (3, "are only 3 known classes,")])
def test_few_known_classes_are_warned_of(n_known: int, words: str) -> None:
    X, y, truth = blobs(n_known)
    with pytest.warns(UserWarning, match=f"evidence for these novel classes is weak: there {words}") as caught:
        model = auto(n_novel_classes=3).fit(X, y)
    assert caught[-1].filename == __file__
    assert any(words in reason for reason in model.weaknesses_)
    assert clustering_accuracy(truth[y < 0], model.labels_[y < 0]) > 0.9


def test_unstable_partitions_are_warned_of() -> None:
    X, y, _ = blobs()
    rng = np.random.default_rng(1)
    X[y < 0] = rng.normal(4, 8, (int((y < 0).sum()), 4))  # no classes at all
    with pytest.warns(UserWarning, match=r"the best candidates disagree \(confidence 0\.\d\d\)"):
        model = auto(n_novel_classes=12).fit(X, y)
    assert 0 <= model.confidence_ < 0.5


def test_known_classes_that_say_little_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {("columns", "k-means"): 0.6}
    X, y, _ = blobs()
    for evidence, words in (
        (Evidence(n_folds=8, accuracy=found), "the known classes say little about how the novel ones differ"),
        (Evidence(), "too few rows, or too little time, to test the candidates on hidden classes"),
    ):
        monkeypatch.setattr(chooser, "gather_evidence", lambda *args, told=evidence, **settings: told)
        with pytest.warns(UserWarning, match=words):
            auto(n_novel_classes=3).fit(X, y)


def test_progress_is_shown_from_the_start_where_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    X, y, _ = blobs()
    auto(n_novel_classes=3, n_members=2, training_steps=50, verbose=1).fit(X, y)
    shown = capsys.readouterr()
    assert "making the best anew" in shown.out + shown.err
    assert f"{chooser.N_TASKS + 2}/{chooser.N_TASKS + 2}" in shown.out + shown.err


@pytest.mark.parametrize("n_novel", [1, 2, 3, 7])
def test_confidences_are_shares(n_novel: int) -> None:
    X, y, _ = blobs(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = auto(n_novel_classes=n_novel).fit(X, y)
    assert 0 <= model.confidence_ <= 1
    assert model.class_confidence_.shape == (n_novel,)
    assert ((model.class_confidence_ >= 0) & (model.class_confidence_ <= 1)).all()


# ---- tables


@pytest.mark.parametrize(("is_lopsided", "by_network"), [(True, False), (False, True)])
def test_networks_keep_novel_classes_of_very_different_sizes(
    is_lopsided: bool, by_network: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, truth = blobs(sizes=(1000, 100, 20))
    right = truth[y < 0] - 6
    names = [("columns", "k-means")]
    informed = Records([{"information": 0.1}, {"information": 0.2}])
    choice = Ranking(right[None], names, np.zeros(1), 1.0, False, is_lopsided, Evidence(8), informed)
    chosen = chooser.Choice(right, by_network, choice, np.arange(len(X)))
    monkeypatch.setattr(chooser.Chooser, "choose", lambda *args: chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = auto(n_novel_classes=3, training_steps=300).fit(X, y)
    assert balanced_clustering_accuracy(truth[y < 0], model.labels_[y < 0]) > 0.95
    assert [int((model.labels_ == label).sum()) for label in model.novel_classes_] == [1000, 100, 20]


@pytest.mark.parametrize(
    ("is_lopsided", "by_network", "informations", "sharpened"),
    [
        (False, False, [0.1, 0.2], True),
        (False, True, [0.2, 0.1], True),
        (False, True, [0.1, 0.2], False),
        (False, True, [0.1], True),
        (True, False, [0.2, 0.1], False),
    ],
)
def test_what_is_sharpened(is_lopsided: bool, by_network: bool, informations: list[float], sharpened: bool) -> None:
    leaderboard = Records({"information": information} for information in informations)
    ranking = Ranking(np.zeros((1, 2), int), [], np.zeros(1), 1.0, False, is_lopsided, Evidence(), leaderboard)
    assert chooser.Choice(np.zeros(2, int), by_network, ranking, np.arange(2)).gains_by_sharpening is sharpened


def test_a_table_of_everything() -> None:
    data = nf.datasets.make_table(
        400, n_numeric=4, n_categorical=3, n_dates=1, n_noise=2, missing=0.1, separation=6.0, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model: Any = auto(n_novel_classes=3, training_steps=100).fit(data.X_train, data.y_train)
    assert len(model.labels_) == len(data.y_train)
    assert np.isin(model.labels_, model.classes_).all()
    unseen = data.X_test.copy()
    unseen["category_0"] = "never seen"
    assert np.isfinite(model.predict_proba(unseen)).all()


def test_a_heavy_tail_does_not_blind_the_networks() -> None:
    X, y, _ = blobs()
    X = np.column_stack([X, np.random.default_rng(0).standard_cauchy(len(X)) * 1e3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = auto(n_novel_classes=3, training_steps=100, n_members=2).fit(X, y)
    assert model._state.inputs.heavy.tolist() == [False] * 4 + [True]
    assert np.mean(model.predict(X)[y >= 0] == y[y >= 0]) > 0.9


def test_one_novel_class(clear: Any) -> None:
    X, y, _ = blobs(sizes=(30,))
    model = quiet(auto(n_novel_classes=1), X, y)
    assert set(model.labels_[y < 0]) == {6}
    assert model.leaderboard_ == []
    assert model.confidence_ == 1.0


def test_no_unlabelled_rows() -> None:
    X, _, truth = blobs()
    with pytest.warns(UserWarning, match="nothing to discover") as caught:
        model = auto(training_steps=60).fit(X, truth)
    assert len(caught) == 1
    assert model.score(X, truth) > 0.95
    assert (model.leaderboard_, model.weaknesses_, model.confidence_) == ([], [], 1.0)
    assert model.class_confidence_.shape == (0,)


@pytest.mark.parametrize("n_novel", [28, 29, 30])
def test_about_as_many_novel_classes_as_rows(n_novel: int) -> None:
    X, y, _ = blobs(4, sizes=(30,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = auto(n_novel_classes=n_novel).fit(X, y)
    assert model.n_novel_classes_ == n_novel
    assert np.isin(model.labels_[y < 0], model.novel_classes_).all()


def test_more_novel_classes_than_the_portfolio_has_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chooser, "_PORTFOLIO_ROWS", 20)
    X, y, _ = blobs(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert auto(n_novel_classes=25).fit(X, y).n_novel_classes_ == 25


@pytest.mark.parametrize("equal", ["known", "novel"])
def test_rows_that_are_all_the_same(equal: str) -> None:
    X, y, truth = blobs(4)
    X[(y >= 0) if equal == "known" else (y < 0)] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = auto(n_novel_classes=3).fit(X, y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    if equal == "known":
        assert clustering_accuracy(truth[y < 0], model.labels_[y < 0]) > 0.9
    else:
        assert len(set(model.labels_[y < 0].tolist())) == 1
        assert np.mean(model.predict(X)[y >= 0] == y[y >= 0]) > 0.9


def test_many_rows_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chooser, "_PORTFOLIO_ROWS", 40)
    monkeypatch.setattr(module, "_MOST_ROWS", 60)
    X, y, truth = blobs()
    model = quiet(auto(n_novel_classes=3, training_steps=100), X, y)
    assert clustering_accuracy(truth[y < 0], model.labels_[y < 0]) > 0.95
    assert len(model.labels_) == len(X)


# ---- time and chance


def test_steps_end_at_their_shares_of_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Deadline] = {}
    build, gather, distil = chooser.build_portfolio, chooser.gather_evidence, student.distil

    def note(name: str, call: Any) -> Any:
        def noted(*args: Any, **settings: Any) -> Any:
            asked[name] = settings["deadline"] if "deadline" in settings else args[5].deadline
            return call(*args, **settings)

        return noted

    monkeypatch.setattr(chooser, "build_portfolio", note("portfolio", build))
    monkeypatch.setattr(chooser, "gather_evidence", note("evidence", gather))
    monkeypatch.setattr(student, "distil", note("training", distil))
    X, y, _ = blobs()
    quiet(auto(n_novel_classes=3, training_steps=60, time_limit=1000.0), X, y)
    shares = [(asked[name].end - asked[name].started) / 1000 for name in ("portfolio", "evidence", "training")]
    assert shares == sorted(shares)
    assert shares[0] > 0
    assert shares[-1] < 1
    auto(n_novel_classes=3).fit(X, y)
    assert {deadline.end for deadline in asked.values()} == {np.inf}


def test_the_same_seed_gives_the_same_labels(clear: Any) -> None:
    X, y, _ = blobs()
    again = auto(n_novel_classes=3, n_members=2, training_steps=60).fit(X, y)
    assert_array_equal(again.labels_, clear.labels_)
    assert_array_equal(again.predict_proba(X), clear.predict_proba(X))
    assert again.leaderboard_ == clear.leaderboard_


def test_hidden_classes_may_be_looked_for_in_an_executor(clear: Any) -> None:
    X, y, _ = blobs()
    with ThreadPoolExecutor(1) as pool:
        again = auto(n_novel_classes=3, n_members=2, training_steps=60).fit(X, y, executor=pool)
    assert_array_equal(again.labels_, clear.labels_)
    assert again.leaderboard_ == clear.leaderboard_
    with pytest.raises(nf.InputError, match="executor=2, but expected None, or an executor"):
        auto().fit(X, y, executor=2)


def test_a_member_keeps_what_all_share(clear: Any) -> None:
    X, _, _ = blobs()
    member = clear.member(1)
    assert member.predict_proba(X).shape == (len(X), 9)
    assert member.leaderboard_ == clear.leaderboard_
    assert member.confidence_ == clear.confidence_


def test_it_cannot_be_fitted_together_with_others() -> None:
    X, y, _ = blobs()
    with pytest.raises(nf.InputError, match="cannot be fitted together"):
        fit_together([auto(random_state=seed) for seed in (0, 1)], X, y)


def test_nothing_is_left_to_tune() -> None:
    assert auto().search_space() == {}


# ---- rare classes


@pytest.mark.parametrize("rare", [0, 6])
def test_a_known_class_that_misses_every_sample(monkeypatch: pytest.MonkeyPatch, rare: int) -> None:
    """The bucket of the novel classes is not mistaken for the last known class, of which no row was drawn."""
    monkeypatch.setattr(module, "_MOST_ROWS", 150)
    X, y, truth = blobs()
    y = np.where((y >= rare) & (y >= 0), y + 1, y)
    X, y = np.vstack([X, [[40.0] * 4]]), np.append(y, rare)
    seed = next(s for s in range(99) if 270 not in module.sample_of_each(y, 150, np.random.RandomState(s)))
    model = quiet(auto(n_novel_classes=3, training_steps=200, random_state=seed), X, y)
    assert np.isin(model.predict(X[:-1][truth >= 6]), model.novel_classes_).mean() > 0.9
