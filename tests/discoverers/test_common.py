"""What every discoverer promises.

What each does by itself is checked on all of them. What the base class does for them is checked in full on one, and
where it matters in short on the others.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from newfound import InputError, TableEncoder
from newfound.learning.progress import Progress
from newfound.metrics import clustering_accuracy
from tests.discoverers.common import (
    DISCOVERERS,
    FEW_KNOWN,
    KINDS,
    LABEL_TYPES,
    NOVEL,
    PACKED,
    PLAIN,
    SMALL,
    TRUTH,
    WITHOUT_LABELS,
    WITHOUT_TRAINING,
    LabelType,
    Maker,
    as_format,
    classifier_projection,
    frame,
    in_context,
    integer_labels,
    kmeans,
    ncd_kmeans,
    numbers,
    spectral,
    tabular_ncd,
    whitened_kmeans,
)

pytestmark = SMALL

every = pytest.mark.parametrize("make", DISCOVERERS)
plain = pytest.mark.parametrize("make", [PLAIN])  # what only the base class does
of_each_kind = pytest.mark.parametrize("make", KINDS)
packed = pytest.mark.parametrize("make", PACKED)
with_members = pytest.mark.parametrize("make", PACKED)


@pytest.fixture(scope="module")
def fitted() -> dict[Maker, Any]:
    """Each discoverer, fitted once to the mixed table; tests must not change it."""
    return {make: make().fit(frame(), integer_labels()) for make in DISCOVERERS}


def assert_same_model(model: Any, other: Any, rows: Any) -> None:
    """Assert that two discoverers found the same classes and predict alike, to the bit."""
    assert_array_equal(model.labels_, other.labels_)
    assert_array_equal(model.classes_, other.classes_)
    assert_array_equal(model.predict_proba(rows), other.predict_proba(rows))
    assert_array_equal(model.predict_novel(rows), other.predict_novel(rows))
    assert_array_equal(model.transform(rows), other.transform(rows))


def unexpected(caught: Iterable[warnings.WarningMessage]) -> list[warnings.WarningMessage]:
    """Warnings but for that of AutoDiscoverer that two known classes are few."""
    return [warning for warning in caught if "The evidence for these novel classes" not in str(warning.message)]


# ---- labels and classes


@pytest.mark.parametrize(
    ("make", "labels"),
    [(PLAIN, labels) for labels in LABEL_TYPES]
    + [(make, LABEL_TYPES[i]) for make in DISCOVERERS if make is not PLAIN for i in (0, 5)],
    ids=lambda value: getattr(value, "name", None),
)
def test_label_types(make: Maker, labels: LabelType) -> None:
    fast = {"epochs": 1} if make in PACKED else {}
    model = make(**fast).fit(numbers(), labels.y)
    assert model.known_classes_.tolist() == labels.known
    assert model.novel_classes_.tolist() == labels.novel
    assert model.classes_.tolist() == labels.known + labels.novel
    assert model.n_novel_classes_ == 2
    for returned in (model.labels_, model.classes_, model.predict(numbers()), model.predict_novel(numbers())):
        assert returned.dtype.kind == labels.kind
    assert_array_equal(model.labels_[~NOVEL], np.array(labels.known)[TRUTH[~NOVEL]])
    assert set(model.labels_[NOVEL].tolist()) <= set(labels.novel)


@of_each_kind
def test_without_novel_classes_booleans_stay_booleans(make: Maker) -> None:
    with pytest.warns(UserWarning, match="no unlabelled rows"):
        model = make().fit(numbers(), TRUTH >= 2)
    assert model.classes_.dtype == np.bool_
    assert model.predict(numbers()).dtype == np.bool_


@every
def test_novel_classes_are_found(make: Maker) -> None:
    model = make().fit(numbers(), integer_labels())
    assert clustering_accuracy(TRUTH[NOVEL], model.labels_[NOVEL]) > 0.9
    assert np.mean(model.predict(numbers(1))[~NOVEL] == TRUTH[~NOVEL]) > 0.9
    assert clustering_accuracy(TRUTH[NOVEL], model.predict_novel(numbers(1))[NOVEL]) > 0.9


@every
def test_predictions_agree_with_each_other(make: Maker, fitted: dict[Maker, Any]) -> None:
    model, rows = fitted[make], frame(1)
    proba = model.predict_proba(rows)
    assert proba.shape == (len(rows), len(model.classes_))
    assert (proba >= 0).all()
    assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    assert_array_equal(model.predict(rows), model.classes_[proba.argmax(axis=1)])
    assert np.isin(model.predict_novel(rows), model.novel_classes_).all()
    assert -1 not in model.labels_
    latent = model.transform(rows)
    assert latent.shape == (len(rows), len(model.get_feature_names_out()))
    assert np.isfinite(latent).all()


# ---- how much is labelled


@every
def test_no_unlabelled_rows(make: Maker) -> None:
    with pytest.warns(UserWarning, match=r"no unlabelled rows.*nothing to discover") as caught:
        model = make(n_novel_classes=5).fit(numbers(), TRUTH)
    assert len(caught) == 1
    assert_array_equal(model.labels_, TRUTH)
    assert model.n_novel_classes_ == 0
    assert model.predict_proba(numbers()).shape == (len(TRUTH), 4)
    assert model.score(numbers(1), TRUTH) > 0.9
    with pytest.raises(InputError, match=r"no novel class to predict.*Fit with some labels missing"):
        model.predict_novel(numbers())


@pytest.mark.parametrize("make", WITHOUT_LABELS)
@pytest.mark.parametrize("y", [None, np.full(len(TRUTH), -1), [None] * len(TRUTH)], ids=["no y", "-1", "None"])
def test_no_labelled_rows(make: Maker, y: Any) -> None:
    model = make(n_novel_classes=4).fit(numbers(), y)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert len(model.known_classes_) == 0
    assert clustering_accuracy(TRUTH, model.labels_) > 0.9
    assert_array_equal(model.predict(numbers()), model.predict_novel(numbers()))


@every
def test_one_known_class(make: Maker) -> None:
    y = np.where(TRUTH == 0, "only", None)
    if make in WITHOUT_LABELS:
        model = make().fit(numbers(), y)
    else:
        with pytest.warns(UserWarning, match="one known class"):
            model = make().fit(numbers(), y)
    assert model.classes_.tolist() == ["only", "novel_0", "novel_1"]
    assert (model.labels_[TRUTH == 0] == "only").all()


@every
@pytest.mark.parametrize("n_unlabelled", [1, 2, 5])
def test_as_many_novel_classes_as_unlabelled_rows(make: Maker, n_unlabelled: int) -> None:
    y = TRUTH.copy()
    y[:n_unlabelled] = -1
    model = make(n_novel_classes=n_unlabelled).fit(numbers(), y)
    assert model.n_novel_classes_ == n_unlabelled
    assert (model.labels_[:n_unlabelled] >= 4).all()
    assert_array_equal(model.labels_[n_unlabelled:], TRUTH[n_unlabelled:])


@every
def test_number_of_novel_classes_is_estimated(make: Maker) -> None:
    model = make(n_novel_classes="auto").fit(numbers(), integer_labels())
    if make is in_context:  # so few rows of two columns are too little for the network to be sure, and it says so
        low, high = model.n_classes_estimate_.interval
        assert low <= 2 <= high
    else:
        assert model.n_novel_classes_ == 2
    assert model.n_novel_classes == "auto"


@every
def test_one_novel_class(make: Maker) -> None:
    model = make(n_novel_classes=np.int32(1)).fit(numbers(), integer_labels())
    assert model.n_novel_classes_ == 1
    assert set(model.labels_[NOVEL].tolist()) == {2}


@every
def test_equal_unlabelled_rows_are_warned_of_once(make: Maker) -> None:
    rows = numbers()
    rows[NOVEL] = 1.0
    with pytest.warns(
        UserWarning, match=r"1 of the 2 novel classes have no rows.*Fit with n_novel_classes=1"
    ) as caught:
        model = make().fit(rows, integer_labels())
    assert len(unexpected(caught)) == 1
    assert len(set(model.labels_[NOVEL])) == 1


# ---- tables


@pytest.mark.parametrize(
    ("make", "to"),
    [(PLAIN, "pyarrow"), (PLAIN, "numpy"), *((make, "polars") for make in DISCOVERERS)],
)
def test_tables_of_all_libraries_give_the_same(make: Maker, to: str, fitted: dict[Maker, Any]) -> None:
    model = make().fit(as_format(frame(), to), integer_labels())
    assert_array_equal(model.labels_, fitted[make].labels_)
    assert_array_equal(model.predict_proba(as_format(frame(1), to)), fitted[make].predict_proba(frame(1)))


@plain
def test_columns_are_matched_by_name(make: Maker, fitted: dict[Maker, Any]) -> None:
    model, rows = fitted[make], frame(1)
    shuffled = rows[["round", "height", "colour", "width"]].assign(extra="not seen at fit")
    assert_array_equal(model.predict_proba(shuffled), model.predict_proba(rows))
    assert model.feature_names_in_.tolist() == ["width", "height", "colour", "round"]
    assert model.n_features_in_ == 4


@every
def test_unseen_categories_and_new_missing_cells(make: Maker, fitted: dict[Maker, Any]) -> None:
    rows = frame(1).assign(colour="violet", height=np.nan, round=None)
    assert_allclose(fitted[make].predict_proba(rows).sum(axis=1), 1)


@every
def test_single_rows_are_predicted_as_in_the_batch(make: Maker, fitted: dict[Maker, Any]) -> None:
    model, rows = fitted[make], frame(1).iloc[::6]
    proba = np.concatenate([model.predict_proba(rows.iloc[[i]]) for i in range(len(rows))])
    assert_allclose(proba, model.predict_proba(rows), rtol=1e-9, atol=1e-12)
    alone = np.concatenate([model.predict(rows.iloc[[i]]) for i in range(len(rows))])
    assert_array_equal(alone, model.predict(rows))


@every
def test_long_tables_are_predicted_in_parts(
    make: Maker, fitted: dict[Maker, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, table = fitted[make], frame(3).to_numpy(dtype=object)
    monkeypatch.setattr("newfound.discoverers.base._ROWS_AT_A_TIME", 7)
    with pytest.warns(UserWarning, match="valid feature names") as told:
        in_parts = model.predict_proba(table)
    assert len(told) == 1
    monkeypatch.undo()
    assert_allclose(in_parts, model.predict_proba(frame(3)), rtol=1e-12, atol=1e-15)


@every
def test_inputs_stay_as_they_are(make: Maker) -> None:
    table, y, encoder = frame(), integer_labels(), TableEncoder(max_categories=2)
    array = numbers()
    for X in (table, array):
        before = copy.deepcopy((X, y))
        make(encoder=encoder).fit(X, y).predict(X)
        assert np.array_equal(y, before[1])
        assert X.equals(before[0]) if X is table else np.array_equal(X, before[0])
    assert not hasattr(encoder, "schema_")


@plain
def test_all_missing_columns_are_ignored_with_one_warning(make: Maker, fitted: dict[Maker, Any]) -> None:
    with pytest.warns(UserWarning, match="'empty' \\(every cell is missing\\)") as caught:
        model = make().fit(frame().assign(empty=np.nan), integer_labels())
    assert len(unexpected(caught)) == 1
    assert_array_equal(model.labels_, fitted[make].labels_)
    assert_array_equal(model.predict(frame(1)), fitted[make].predict(frame(1)))


# ---- random numbers


@every
def test_the_same_seed_gives_the_same_labels(make: Maker, fitted: dict[Maker, Any]) -> None:
    assert_same_model(make().fit(frame(), integer_labels()), fitted[make], frame(1))
    seeded = [make(random_state=np.random.RandomState(4)).fit(frame(), integer_labels()) for _ in range(2)]
    assert_same_model(*seeded, frame(1))


@with_members
def test_another_seed_gives_another_network(make: Maker, fitted: dict[Maker, Any]) -> None:
    other = make(random_state=1).fit(frame(), integer_labels())
    assert not np.array_equal(other.transform(frame(1)), fitted[make].transform(frame(1)))


@pytest.mark.parametrize(("make", "random_state"), [(PLAIN, 0), *((make, None) for make in DISCOVERERS)])
def test_global_random_state_is_left_alone(make: Maker, random_state: int | None) -> None:
    numpy_before, torch_before = np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    model = make(n_novel_classes="auto", random_state=random_state).fit(numbers(), integer_labels())
    model.predict(numbers())
    numpy_after = np.random.get_state()  # noqa: NPY002
    assert all(np.array_equal(before, other) for before, other in zip(numpy_before, numpy_after, strict=True))
    assert torch.equal(torch_before, torch.get_rng_state())


# ---- habits of scikit-learn


@of_each_kind
def test_clone_and_parameters(make: Maker, fitted: dict[Maker, Any]) -> None:
    model = clone(fitted[make])
    assert not hasattr(model, "classes_")
    assert model.get_params() == fitted[make].get_params()
    assert model.set_params(n_novel_classes=3, random_state=7) is model
    assert model.get_params()["n_novel_classes"] == 3
    assert model.fit(numbers(), integer_labels()).n_novel_classes_ == 3
    nested = make(encoder=TableEncoder()).set_params(encoder__numeric_scaling="quantile")
    assert nested.fit(frame(), integer_labels()).encoder_.numeric_scaling == "quantile"


@every
def test_parameters_set_after_fit_wait_for_the_next_fit(make: Maker, fitted: dict[Maker, Any]) -> None:
    model = copy.deepcopy(fitted[make])
    model.set_params(n_novel_classes=5, encoder=TableEncoder(numeric_scaling="none"), random_state=9)
    if make in PACKED:
        model.set_params(hidden_layers=[3])
    if make in PACKED:
        model.set_params(n_members=4)
    assert_same_model(model, fitted[make], frame(1))


@plain
def test_pipeline(make: Maker) -> None:
    pipeline = make_pipeline(StandardScaler(), make()).fit(numbers(), integer_labels())
    assert clustering_accuracy(TRUTH[NOVEL], pipeline.predict(numbers(1))[NOVEL]) > 0.9
    assert pipeline.predict_proba(numbers(1)).shape == (len(TRUTH), 4)
    assert pipeline.transform(numbers(1)).shape[0] == len(TRUTH)
    assert pipeline.get_params()[f"{type(make()).__name__.lower()}__n_novel_classes"] == 2


@plain
def test_fit_transform_and_data_frame_output(make: Maker, fitted: dict[Maker, Any]) -> None:
    latent = make().set_output(transform="pandas").fit_transform(frame(), integer_labels())
    assert isinstance(latent, pd.DataFrame)
    assert latent.columns.tolist() == fitted[make].get_feature_names_out().tolist()
    assert_array_equal(latent.to_numpy(), fitted[make].transform(frame()))


@every
def test_pickle_and_deep_copy(make: Maker, fitted: dict[Maker, Any]) -> None:
    for model in (pickle.loads(pickle.dumps(fitted[make])), copy.deepcopy(fitted[make])):
        assert_same_model(model, fitted[make], frame(1))
        assert model.get_params() == fitted[make].get_params()


@with_members
def test_predicting_makes_no_pickle_larger(make: Maker, fitted: dict[Maker, Any]) -> None:
    fresh = copy.deepcopy(fitted[make])
    before = len(pickle.dumps(fresh))
    fresh.predict(frame(1))
    assert len(pickle.dumps(fresh)) < before + 1000


@every
def test_a_second_fit_forgets_the_first(make: Maker, fitted: dict[Maker, Any]) -> None:
    model = make().fit(numbers(5), np.where(NOVEL, None, np.where(TRUTH, "one", "other")))
    assert_same_model(model.fit(frame(), integer_labels()), fitted[make], frame(1))
    model.fit(numbers(), integer_labels())
    assert not hasattr(model, "feature_names_in_")
    assert set(vars(model)) == set(vars(make().fit(numbers(), integer_labels())))


@plain
def test_fit_returns_self_and_shows_itself(make: Maker) -> None:
    model = make()
    assert model.fit(numbers(), integer_labels()) is model
    assert repr(model).startswith(type(model).__name__)
    assert type(model).__name__ in model._repr_html_()


@of_each_kind
def test_warnings_name_the_line_that_called(make: Maker) -> None:
    table, y = frame().assign(same=1), integer_labels()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make().fit(table, y)
        model.predict(table.to_numpy())
        make().fit(numbers(), TRUTH)
        make_pipeline(StandardScaler(), make()).fit(numbers(), TRUTH)
        make().fit_transform(numbers(), TRUTH[:, None])
    telling = [
        "ignored column",
        "valid feature names",
        "no unlabelled",
        "no unlabelled",
        "column-vector",
        "no unlabelled",
    ]
    assert all(warning.filename == __file__ for warning in caught)
    for warning, words in zip(unexpected(caught), telling, strict=True):
        assert words in str(warning.message)


@every
def test_silence(make: Maker, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=FEW_KNOWN.partition(":")[2])
        make().fit(frame(), integer_labels()).predict(frame(1))
    assert capfd.readouterr() == ("", "")


# ---- training: history, progress, interruption


@with_members
def test_history_is_a_table(make: Maker, fitted: dict[Maker, Any]) -> None:
    model = fitted[make]
    history = pd.DataFrame(model.history_)
    assert len(history) == model.epochs + getattr(model, "pretrain_epochs", 0)
    assert {"stage", "epoch", "seconds"} < set(history)
    assert history["seconds"].is_monotonic_increasing
    losses = history.drop(columns=["stage", "epoch", "seconds"])
    assert losses.notna().any(axis=None)
    assert np.isfinite(losses.to_numpy()[losses.notna().to_numpy()]).all()


@pytest.mark.parametrize("make", WITHOUT_TRAINING + WITHOUT_LABELS)
def test_history_of_what_has_no_epochs_is_empty(make: Maker, fitted: dict[Maker, Any]) -> None:
    assert fitted[make].history_ == []


@pytest.mark.parametrize(("make", "verbose"), [*((make, 1) for make in PACKED), (tabular_ncd, True)])
def test_progress_bar_on_request(
    make: Maker, verbose: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "240")
    model = make(verbose=verbose).fit(numbers(), integer_labels())
    shown = capsys.readouterr().out
    n_epochs = len(model.history_)
    assert f"{n_epochs}/{n_epochs}" in shown
    assert model.history_[-1]["stage"] in shown.replace("\n", " ")
    assert_array_equal(model.labels_, make().fit(numbers(), integer_labels()).labels_)


@pytest.mark.parametrize(
    ("make", "n_epochs"),
    [(make, n) for make in PACKED for n in (0, 1, 4)],
)
def test_interrupted_training_leaves_a_usable_model(
    make: Maker, n_epochs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(progress: Progress, text: str) -> None:
        if len(progress.history) == n_epochs:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "announce", interrupted)
    with pytest.warns(UserWarning, match="interrupted") as caught:
        model = make().fit(numbers(), integer_labels())
    about_training = [warning for warning in unexpected(caught) if "have no rows" not in str(warning.message)]
    assert [warning.filename for warning in about_training] == [__file__]
    assert len(model.history_) == n_epochs
    last = f"{model.history_[-1]['stage']} {model.history_[-1]['epoch']}" if n_epochs else "none"
    assert f"last completed epoch is: {last}" in str(about_training[0].message)
    assert_allclose(model.predict_proba(numbers(1)).sum(axis=1), 1)
    assert np.isin(model.labels_[NOVEL], model.novel_classes_).all()


@with_members
def test_an_interrupted_first_step_restores_the_earlier_fit(
    make: Maker, fitted: dict[Maker, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    model = copy.deepcopy(fitted[make])
    monkeypatch.setattr(TableEncoder, "fit_table", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(numbers(), integer_labels())
    assert_same_model(model, fitted[make], frame(1))


# ---- members


class Draws(np.random.RandomState):
    """A generator whose whole numbers are given."""

    def __init__(self, draws: list[int]) -> None:
        super().__init__(0)
        self.draws = draws

    def randint(self, *_: Any, size: int | None = None, **__: Any) -> Any:
        taken, self.draws = self.draws[: size or 1], self.draws[size or 1 :]
        return taken[0] if size is None else np.array(taken)


@with_members
def test_members_keep_their_own_labels(make: Maker) -> None:
    model = make(n_members=3).fit(frame(), integer_labels())
    assert model.member_labels_.shape == (3, len(TRUTH))
    assert_array_equal(model.member_labels_[:, ~NOVEL], np.tile(TRUTH[~NOVEL], (3, 1)))
    alone = [model.member(i) for i in range(3)]
    for member, labels in zip(alone, model.member_labels_, strict=True):
        assert member.n_members == 1
        assert_array_equal(member.labels_, labels)
        assert_array_equal(member.member_labels_, [labels])
        assert_array_equal(member.predict_novel(frame())[NOVEL], labels[NOVEL])
    together = np.mean([member.predict_proba(frame(1)) for member in alone], axis=0)
    assert_allclose(model.predict_proba(frame(1)), together, rtol=1e-9, atol=1e-12)
    assert model.transform(frame(1)).shape[1] == sum(member.transform(frame(1)).shape[1] for member in alone)


@with_members
def test_consensus_of_members_finds_the_novel_classes(make: Maker) -> None:
    model = make(n_members=5).fit(numbers(), integer_labels())
    assert clustering_accuracy(TRUTH[NOVEL], model.labels_[NOVEL]) > 0.9
    aligned = [np.mean(labels == model.labels_) for labels in model.member_labels_]
    assert np.median(aligned) > 0.9


@packed
def test_a_member_of_a_pack_is_the_same_alone(make: Maker) -> None:
    seeds, starts = [11, 12, 13], [21, 22, 23]
    pack = make(n_members=3, random_state=Draws(seeds + starts)).fit(numbers(), integer_labels())
    for i in range(3):
        solo = make(random_state=Draws([seeds[i], starts[i]])).fit(numbers(), integer_labels())
        member = pack.member(i)
        # Members draw the same numbers in a pack and alone; the matrix products may round differently in float32.
        assert_allclose(member.transform(numbers(1)), solo.transform(numbers(1)), rtol=1e-5, atol=1e-5)
        assert clustering_accuracy(solo.labels_, member.labels_) == 1.0


@with_members
def test_a_member_is_independent_of_the_pack(make: Maker) -> None:
    pack = make(n_members=2).fit(numbers(), integer_labels())
    before = pack.predict_proba(numbers(1))
    pack.member(0).fit(numbers(3), np.where(NOVEL, -1, 1 - TRUTH))
    assert_array_equal(pack.predict_proba(numbers(1)), before)


@packed
def test_parameters_that_are_set_after_fit_do_not_change_the_members(make: Maker) -> None:
    pack = make(n_members=2).fit(numbers(), integer_labels())
    before = pack.member(1).predict_proba(numbers(1))
    later: dict[str, Any] = {"hidden_layers": [3], "dropout": 0.5}
    later |= {"activation": "tanh"} if make is tabular_ncd else {"n_init": 2}
    later |= {"projection": "after"} if make is classifier_projection else {}
    assert_array_equal(pack.set_params(**later).member(1).predict_proba(numbers(1)), before)


@pytest.mark.parametrize("make", [tabular_ncd])
@pytest.mark.parametrize("index", [2, -1, 0.5, "first"])
def test_there_is_no_such_member(make: Maker, index: Any, fitted: dict[Maker, Any]) -> None:
    with pytest.raises(InputError, match=r"index"):
        fitted[make].member(index)


# ---- particular to one


@pytest.mark.parametrize("part", ["ssl", "ce", "bce", "mse"])
def test_parts_of_tabular_ncd_can_be_left_out(part: str) -> None:
    model = tabular_ncd(without=[part], epochs=2).fit(frame(), integer_labels())
    losses = {name for epoch in model.history_ for name in epoch} - {"stage", "epoch", "seconds"}
    left_out = {
        "ssl": {"reconstruction", "mask"},
        "ce": {"cross_entropy"},
        "bce": {"pairwise"},
        "mse": {"classification_consistency", "clustering_consistency"},
    }
    everything = set().union(*left_out.values())
    assert losses == everything - left_out[part]


@packed
def test_no_epochs_at_all(make: Maker) -> None:
    settings = {"pretrain_epochs": 0} if make is tabular_ncd else {}
    model = make(epochs=0, **settings).fit(numbers(), integer_labels())
    assert model.history_ == []
    assert_allclose(model.predict_proba(numbers()).sum(axis=1), 1)


def test_spectral_clusters_a_sample_of_many_rows() -> None:
    model = spectral(max_rows=20).fit(numbers(), integer_labels())
    assert clustering_accuracy(TRUTH[NOVEL], model.labels_[NOVEL]) > 0.9
    with pytest.raises(InputError, match=r"max_rows=3.*too few for 5 novel classes"):
        spectral(max_rows=3, n_novel_classes=5).fit(numbers(), integer_labels())


@pytest.mark.parametrize("make", [kmeans, ncd_kmeans, whitened_kmeans])
def test_kmeans_predicts_the_nearest_centroid(make: Maker) -> None:
    model = make().fit(numbers(), integer_labels())
    rows = model.transform(numbers(1))
    nearest = ((rows[:, None] - model.centroids_) ** 2).sum(axis=2).argmin(axis=1)
    assert_array_equal(model.predict(numbers(1)), model.classes_[nearest])


@with_members
def test_novel_classes_are_ordered_by_size(make: Maker) -> None:
    model = make().set_params(n_members=4).fit(numbers(), integer_labels())
    sizes = [int((model.labels_ == label).sum()) for label in model.novel_classes_]
    assert sizes == sorted(sizes, reverse=True)


@plain
def test_the_target_among_the_columns_is_noticed(make: Maker) -> None:
    labels = integer_labels()
    X = np.column_stack([numbers(), np.where(labels < 0, np.nan, labels * 7.0)])
    with pytest.warns(UserWarning, match="says what y says"):
        make().fit(X, labels)
