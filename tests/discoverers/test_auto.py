"""AutoDiscoverer: what it tells about its result, and the tables that a user may come with."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import newfound as nf
from newfound.discoverers import preparation
from newfound.discoverers.packed import fit_together
from newfound.incontext import look as looking
from newfound.metrics import balanced_clustering_accuracy, clustering_accuracy
from newfound.records import Records
from tests.discoverers.common import auto

Table = tuple[np.ndarray, np.ndarray, np.ndarray]


def blobs(n_known: int = 6, sizes: tuple[int, ...] = (30, 30, 30), spread: float = 1.0, seed: int = 0) -> Table:
    """Round classes at the corners of a cube; rows, labels, and all classes, for tests alone."""
    rng = np.random.default_rng(seed)
    counts = [30] * n_known + list(sizes)
    truth = np.repeat(np.arange(len(counts)), counts)
    corners = 8.0 * np.array([[c >> b & 1 for b in range(4)] for c in np.random.default_rng(0).permutation(16)])
    X = corners[truth] + rng.normal(0, spread, (len(truth), 4))
    return X, np.where(truth < n_known, truth, -1), truth


def mixed(spread: float = 1.0) -> Table:
    """The same with half of the rows of known classes unlabelled."""
    X, y, truth = blobs(spread=spread)
    return X, np.where(np.arange(len(y)) % 2, -1, y), truth


def noise() -> Table:
    """Unlabelled rows without any classes."""
    X, y, truth = blobs()
    X[y < 0] = np.random.default_rng(1).normal(4, 8, (int((y < 0).sum()), 4))
    return X, y, truth


def quiet(model: Any, X: Any, y: Any) -> Any:
    """Fit; any warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model.fit(X, y)


def hushed(model: Any, X: Any, y: Any) -> Any:
    """Fit, whatever is warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.fixture(scope="module")
def clear(small_forests: None) -> Any:
    """Six known and three novel classes that nobody can miss."""
    X, y, _ = blobs()
    return hushed(auto(n_novel_classes=3), X, y)


# ---- one model for the rows of the fit and for new ones


@pytest.mark.parametrize("table", [blobs(), blobs(spread=4.0), noise()], ids=["clear", "overlapping", "noise"])
def test_unlabelled_rows_get_what_the_model_predicts(table: Table) -> None:
    X, y, _ = table
    model = hushed(auto(n_novel_classes=3, unlabelled="novel"), X, y)
    assert_array_equal(model.labels_[y < 0], model.predict(X[y < 0]))
    assert_array_equal(model.labels_[y >= 0], y[y >= 0])


@pytest.mark.parametrize("unlabelled", ["mixed", "auto"])
@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_so_do_rows_of_known_classes_among_them(unlabelled: Any, spread: float) -> None:
    X, y, truth = mixed(spread)
    model = hushed(auto(n_novel_classes=3, unlabelled=unlabelled), X, y)
    assert model.unlabelled_ == "mixed"
    assert_array_equal(model.labels_[y < 0], model.predict(X[y < 0]))
    assert_array_equal(model.labels_[y >= 0], y[y >= 0])
    if spread == 1.0:
        free = y < 0
        assert nf.metrics.open_world_accuracy(truth[free], model.labels_[free], np.arange(6)) > 0.97


def test_new_rows(clear: Any) -> None:
    X, y, truth = blobs(seed=5)
    assert np.mean(clear.predict(X)[y >= 0] == y[y >= 0]) > 0.95
    assert clustering_accuracy(truth[y < 0], clear.predict_novel(X)[y < 0]) > 0.95
    assert_allclose(clear.predict_proba(X).sum(axis=1), 1)


def test_held_out_rows_of_known_classes_are_named_as_a_forest_names_them() -> None:
    from sklearn.ensemble import ExtraTreesClassifier

    data = nf.datasets.make_table(800, random_state=0)
    model = hushed(nf.AutoDiscoverer(3, unlabelled="novel", device="cpu", random_state=0), data.X_train, data.y_train)
    known = np.isin(data.y_test, model.known_classes_)
    ours = np.mean(model.predict(data.X_test)[known] == data.y_test[known])
    encoder = nf.TableEncoder().fit(data.X_train)
    labelled = np.isin(data.y_train, model.known_classes_)
    plain = ExtraTreesClassifier(300, random_state=0)
    plain.fit(encoder.transform(data.X_train)[labelled], data.y_train[labelled].astype(str))
    theirs = np.mean(plain.predict(encoder.transform(data.X_test))[known] == data.y_test[known].astype(str))
    assert ours > theirs - 0.1  # some rows look novel, which the plain forest cannot say


@pytest.mark.parametrize("unlabelled", ["novel", "auto"])
def test_the_network_looks_once(unlabelled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    look_at = preparation.look_at
    monkeypatch.setattr(preparation, "look_at", lambda *args, **more: (looks.append(1), look_at(*args, **more))[1])
    X, y, _ = blobs()
    for n_novel in (3, "auto"):
        looks.clear()
        hushed(auto(n_novel_classes=n_novel, unlabelled=unlabelled), X, y)
        assert looks == [1]


def test_every_row_of_a_small_table_is_shown_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[int] = []
    look = looking.look

    def count(context: Any, *args: Any, **more: Any) -> Any:
        shown.append(context.labels.shape[1])
        return look(context, *args, **more)

    monkeypatch.setattr(looking, "look", count)
    X, y, _ = blobs()
    hushed(auto(n_novel_classes="auto", unlabelled="auto"), X, y)
    assert shown == [len(X)]


# ---- what it tells


def test_a_clear_table_is_found(clear: Any) -> None:
    _, y, truth = blobs()
    assert clustering_accuracy(truth[y < 0], clear.labels_[y < 0]) == 1.0
    assert clear.confidence_ > 0.5
    assert (clear.class_confidence_ > 0.9).all()
    assert not hasattr(clear, "member_labels_")


def test_the_leaderboard_has_one_schema(clear: Any) -> None:
    board = clear.leaderboard_
    assert isinstance(board, Records)
    assert board.columns[:4] == ["rank", "representation", "method", "score"]
    assert {"information", "within"} < set(board.columns)
    assert [record["rank"] for record in board] == list(range(1, len(board) + 1))
    assert len({(record["representation"], record["method"]) for record in board}) == len(board)
    assert str(board).splitlines()[0].split() == board.columns
    assert board.to_frame().shape == (len(board), len(board.columns))
    assert hushed(auto(n_novel_classes=3), *noise()[:2]).leaderboard_.columns == board.columns


@pytest.mark.parametrize("n_novel", [1, 2, 3, 7])
def test_confidences_are_shares(n_novel: int) -> None:
    X, y, _ = blobs(4)
    model = hushed(auto(n_novel_classes=n_novel), X, y)
    assert 0 <= model.confidence_ <= 1
    assert model.class_confidence_.shape == (n_novel,)
    assert ((model.class_confidence_ >= 0) & (model.class_confidence_ <= 1)).all()


def test_noise_is_trusted_less_and_doubted(clear: Any) -> None:
    X, y, _ = noise()
    with pytest.warns(UserWarning, match="evidence"):
        model = auto(n_novel_classes=8).fit(X, y)
    assert model.confidence_ < min(0.5, clear.confidence_)
    assert model.weaknesses_


def test_nothing_novel_is_not_certain_for_that() -> None:
    X, y, truth = blobs(6, sizes=())
    y = np.where(np.arange(len(y)) % 2, -1, y)
    model = hushed(auto(n_novel_classes="auto", unlabelled="auto"), X, y)
    assert model.n_novel_classes_ == 0
    assert model.class_confidence_.shape == (0,)
    assert 0 <= model.confidence_ <= 1
    assert np.mean(model.labels_ == truth) > 0.97


# ---- tables


def test_novel_classes_of_very_different_sizes() -> None:
    X, y, truth = blobs(sizes=(1000, 100, 20))
    model = hushed(auto(n_novel_classes=3), X, y)
    assert balanced_clustering_accuracy(truth[y < 0], model.labels_[y < 0]) > 0.9
    sizes = [int((model.labels_ == label).sum()) for label in model.novel_classes_]
    assert sizes == sorted(sizes, reverse=True)


def test_a_table_of_everything() -> None:
    data = nf.datasets.make_table(
        400, n_numeric=4, n_categorical=3, n_dates=1, n_noise=2, missing=0.1, separation=6.0, random_state=0
    )
    model = hushed(auto(n_novel_classes=3), data.X_train, data.y_train)
    assert len(model.labels_) == len(data.y_train)
    assert np.isin(model.labels_, model.classes_).all()
    unseen = data.X_test.copy()
    unseen["category_0"] = "never seen"
    assert np.isfinite(model.predict_proba(unseen)).all()


def test_a_heavy_tail_does_not_hide_the_classes() -> None:
    X, y, truth = blobs()
    X = np.column_stack([X, np.random.default_rng(0).standard_cauchy(len(X)) * 1e3])
    model = hushed(auto(n_novel_classes=3), X, y)
    assert np.mean(model.predict(X)[y >= 0] == y[y >= 0]) > 0.9
    assert clustering_accuracy(truth[y < 0], model.labels_[y < 0]) > 0.9


def test_one_novel_class() -> None:
    X, y, _ = blobs(sizes=(30,))
    model = hushed(auto(n_novel_classes=1), X, y)
    assert np.mean(model.labels_[y < 0] == 6) > 0.95


def test_no_unlabelled_rows() -> None:
    X, _, truth = blobs()
    with pytest.warns(UserWarning, match="nothing to discover") as caught:
        model: Any = auto().fit(X, truth)
    assert len(caught) == 1
    assert model.score(X, truth) > 0.95
    assert model.weaknesses_ == []
    assert model.confidence_ == 1
    assert model.class_confidence_.shape == (0,)


@pytest.mark.parametrize("n_novel", [28, 29, 30])
def test_about_as_many_novel_classes_as_rows(n_novel: int) -> None:
    X, y, _ = blobs(4, sizes=(30,))
    model = hushed(auto(n_novel_classes=n_novel), X, y)
    assert model.n_novel_classes_ == n_novel
    assert np.isin(model.labels_, model.classes_).all()


@pytest.mark.parametrize("equal", ["known", "novel"])
def test_rows_that_are_all_the_same(equal: str) -> None:
    X, y, _ = blobs(4)
    X[(y >= 0) if equal == "known" else (y < 0)] = 1.0
    model = hushed(auto(n_novel_classes=3), X, y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert 0 <= model.confidence_ <= 1
    if equal == "novel":
        assert len(set(model.labels_[y < 0].tolist())) == 1
        assert np.mean(model.predict(X)[y >= 0] == y[y >= 0]) > 0.9


def test_more_known_classes_than_the_network_takes() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(73), 10)
    X = 9 * rng.normal(size=(73, 6))[truth] + rng.normal(size=(len(truth), 6))
    y = np.where(truth < 70, truth, -1)
    model = hushed(auto(n_novel_classes=3), X, y)
    assert clustering_accuracy(truth[y < 0], model.labels_[y < 0]) > 0.9
    assert 0 <= model.confidence_ <= 1


def test_many_rows_are_shown_in_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "_FEWEST_ROWS", 200)
    monkeypatch.setattr(looking, "_MOST_ROWS", 200)
    X, y, truth = blobs(sizes=(150, 150, 150))
    model = hushed(auto(n_novel_classes=3), X, y)
    assert clustering_accuracy(truth[y < 0], model.labels_[y < 0]) > 0.95


def test_a_known_class_of_one_row() -> None:
    X, y, truth = blobs()
    X, y = np.vstack([X, [[40.0] * 4]]), np.append(np.where(y >= 0, y + 1, y), 0)
    model = hushed(auto(n_novel_classes=3), X, y)
    assert np.isin(model.predict(X[:-1][truth >= 6]), model.novel_classes_).mean() > 0.9


# ---- time, chance and files


def test_the_time_limit_is_kept() -> None:
    data = nf.datasets.make_table(3_000, n_numeric=30, random_state=0)
    began = time.monotonic()
    model = hushed(auto(n_novel_classes=3, time_limit=3.0), data.X_train, data.y_train)
    assert time.monotonic() - began < 12  # what cannot be cut short, on a machine that is busy
    assert len(model.labels_) == len(data.y_train)


def test_a_look_that_would_take_too_long_falls_away() -> None:
    X, y, truth = blobs()
    model = hushed(auto(n_novel_classes=3, time_limit=1e-3), X, y)
    assert model.n_novel_classes_ == 3
    assert clustering_accuracy(truth[y < 0], model.labels_[y < 0]) > 0.9


def test_the_same_seed_gives_the_same_labels(clear: Any) -> None:
    X, y, _ = blobs()
    again = hushed(auto(n_novel_classes=3), X, y)
    assert_array_equal(again.labels_, clear.labels_)
    assert_array_equal(again.predict_proba(X), clear.predict_proba(X))
    assert again.leaderboard_ == clear.leaderboard_
    assert again.confidence_ == clear.confidence_


def test_a_file_brings_everything_back(clear: Any, tmp_path: Path) -> None:
    X, _, _ = blobs()
    nf.save(clear, tmp_path / "model")
    again: Any = nf.load(tmp_path / "model")
    assert_array_equal(again.predict_proba(X), clear.predict_proba(X))
    assert_array_equal(again.transform(X), clear.transform(X))
    assert_array_equal(again.class_confidence_, clear.class_confidence_)
    assert again.confidence_ == clear.confidence_
    assert again.leaderboard_ == clear.leaderboard_
    assert again.weaknesses_ == clear.weaknesses_


@pytest.mark.parametrize("given", [{"n_members": 1}, {"training_steps": 20}, {"n_members": 2, "training_steps": 0}])
def test_settings_of_the_training_that_is_gone_are_told_to_do_nothing(given: dict[str, int], clear: Any) -> None:
    X, y, _ = blobs()
    with pytest.warns(FutureWarning, match=" and ".join(given)) as caught:
        model: Any = auto(n_novel_classes=3, **given).fit(X, y)
    assert sum(issubclass(warning.category, FutureWarning) for warning in caught) == 1
    assert_array_equal(model.labels_, clear.labels_)


def test_it_cannot_be_fitted_together_with_others() -> None:
    X, y, _ = blobs()
    with pytest.raises(nf.InputError, match="cannot be fitted together"):
        fit_together([auto(random_state=seed) for seed in (0, 1)], X, y)  # type: ignore[arg-type]


def test_nothing_is_left_to_tune() -> None:
    assert auto().search_space() == {}
