"""Novel classes that people rename, merge and split, and the labels they go on with."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import newfound as nf
from newfound import InputError
from newfound.discoverers.curation import Curation, Merge, Split
from tests.discoverers.common import (
    KINDS,
    LABEL_TYPES,
    NOVEL,
    PACKED,
    SMALL,
    TRUTH,
    LabelType,
    Maker,
    auto,
    frame,
    integer_labels,
    kmeans,
    ncd_kmeans,
    numbers,
)
from tests.oracles import curation as oracle

pytestmark = SMALL

TEXTS = np.array(["ant" if code == 0 else "bee" if code == 1 else None for code in integer_labels()], dtype=object)
GROUPS = np.random.default_rng(1).normal(0, 0.3, (6, 15, 2)) + np.array(
    [[0, 0], [6, 0], [0, 6], [6, 6], [12, 0], [0, 12]]
).reshape(6, 1, 2)
MANY = GROUPS.reshape(-1, 2)
MANY_LABELS = np.repeat(np.array(["ant", "bee", None, None, None, None], dtype=object), 15)


@pytest.fixture(scope="module")
def fitted() -> dict[Maker, Any]:
    """One discoverer of each kind, fitted once; tests work on copies."""
    return {make: make().fit(frame(), TEXTS) for make in KINDS}


@pytest.fixture(scope="module")
def four() -> Any:
    """A discoverer of two known and four novel classes; tests work on copies."""
    return ncd_kmeans(n_novel_classes=4).fit(MANY, MANY_LABELS)


def agrees_with_itself(model: Any, X: Any) -> None:
    """What users see of the classes fits together."""
    assert_array_equal(model.classes_, np.concatenate([model.known_classes_, model.novel_classes_]))
    assert len(set(model.classes_.tolist())) == len(model.classes_)
    assert model.n_novel_classes_ == len(model.novel_classes_) == model.curation_.n_novel
    proba = model.predict_proba(X)
    assert proba.shape == (len(X), len(model.classes_))
    assert (proba >= 0).all()
    assert_allclose(proba.sum(axis=1), 1)
    assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    assert_allclose(model.novelty_score(X), proba[:, len(model.known_classes_) :].sum(axis=1))
    assert set(model.labels_.tolist()) <= set(model.classes_.tolist())
    if len(model.novel_classes_):
        assert np.isin(model.predict_novel(X), model.novel_classes_).all()


# ---- rename


@pytest.mark.parametrize("make", KINDS)
def test_names_show_everywhere(make: Maker, fitted: dict[Maker, Any]) -> None:
    before, model = fitted[make], copy.deepcopy(fitted[make])
    assert model.rename({"novel_1": "a much longer name", np.str_("novel_0"): "wasp"}) is model
    assert model.novel_classes_.tolist() == ["wasp", "a much longer name"]
    names = dict(zip(before.classes_.tolist(), model.classes_.tolist(), strict=True))
    for of in (
        lambda curated: curated.labels_,
        lambda curated: curated.predict(frame(1)),
        lambda curated: curated.predict_novel(frame(1)),
    ):
        assert of(model).tolist() == [names[label] for label in of(before)]
    if make in PACKED:
        assert model.member_labels_.tolist() == [[names[label] for label in row] for row in before.member_labels_]
    assert_array_equal(model.predict_proba(frame(1)), before.predict_proba(frame(1)))
    agrees_with_itself(model, frame(1))
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_array_equal(twin.predict(frame(1)), model.predict(frame(1)))


def test_names_can_be_swapped(four: Any) -> None:
    model = copy.deepcopy(four).rename({"novel_0": "novel_1", "novel_1": "novel_0"})
    assert model.novel_classes_.tolist() == ["novel_1", "novel_0", "novel_2", "novel_3"]
    assert (model.labels_[four.labels_ == "novel_0"] == "novel_1").all()


@pytest.mark.parametrize("labels", LABEL_TYPES, ids=lambda labels: labels.name)
def test_names_are_of_the_type_of_the_classes(labels: LabelType) -> None:
    model = kmeans().fit(numbers(), labels.y)
    new: Any = "wasp" if labels.kind == "O" else 77
    model.rename({labels.novel[0]: new})
    assert model.novel_classes_.tolist() == [new, labels.novel[1]]
    assert model.classes_.dtype.kind == model.labels_.dtype.kind == labels.kind
    for wrong in (7, None, "") if labels.kind == "O" else ("wasp", 1.5, None, True, np.nan, 10**30):
        with pytest.raises(InputError, match="as the name of a novel class, but expected a"):
            model.rename({new: wrong})


WRONG_NAMES: list[tuple[Any, str]] = [
    (["novel_0"], "expected a dict"),
    ({"novel_9": "x"}, r"'novel_9', which is none of the classes; novel classes are \['novel_0'"),
    ({"ant": "x"}, "'ant', which is a known class"),
    ({"novel_0": "ant"}, "'ant' .* is there already"),
    ({"novel_0": "novel_1"}, "'novel_1' .* is there already"),
    ({"novel_0": "x", "novel_1": "x"}, "'x' .* is there already"),
    ({"novel_0": "nan"}, "mark unlabelled rows"),
    ({"novel_0": "-1"}, "mark unlabelled rows"),
    ({"novel_0": ""}, "not empty"),
    ({"novel_0": "novel_1\0"}, "expected a text"),
    ({"novel_0": b"x"}, "expected a text"),
    ({3: "x"}, "none of the classes"),
    ({None: "x"}, "none of the classes"),
    ({("a", "b"): "x"}, "none of the classes"),
]


@pytest.mark.parametrize(("names", "match"), WRONG_NAMES, ids=[str(case[0]) for case in WRONG_NAMES])
def test_wrong_names_change_nothing(names: Any, match: str, four: Any) -> None:
    refused(four, lambda model: model.rename(names), match)


def refused(model: Any, act: Callable[[Any], Any], match: str) -> None:
    twin = copy.deepcopy(model)
    before = dict(vars(twin))
    with pytest.raises(InputError, match=match):
        act(twin)
    assert vars(twin) == before


def test_the_mark_of_numbers_is_no_name() -> None:
    model = kmeans().fit(numbers(), integer_labels())
    refused(model, lambda curated: curated.rename({2: -1}), "other than -1")
    refused(model, lambda curated: curated.rename({2: 1}), "1 as the name .* is there already")
    assert model.rename({2: np.int32(-7), 3: 2**40}).novel_classes_.tolist() == [-7, 2**40]


@pytest.mark.parametrize(
    "act",
    [
        lambda model: model.rename({"a": "b"}),
        lambda model: model.merge(["a", "b"]),
        lambda model: model.split("a", 2, numbers()),
        lambda model: model.keep_names(kmeans().fit(numbers(), integer_labels()), numbers()),
        lambda model: model.novelty_score(numbers()),
        lambda model: model.to_labels(numbers()),
        lambda model: model.predict(numbers(), abstain=0.5),
    ],
    ids=["rename", "merge", "split", "keep_names", "novelty_score", "to_labels", "abstain"],
)
def test_nothing_can_be_done_before_fit(act: Callable[[Any], Any]) -> None:
    with pytest.raises(InputError, match="not fitted yet"):
        act(kmeans())


# ---- merge


@pytest.mark.parametrize("make", KINDS)
def test_merged_classes_add_up(make: Maker, fitted: dict[Maker, Any]) -> None:
    before, model = fitted[make], copy.deepcopy(fitted[make])
    assert model.merge(["novel_1", "novel_0"]) is model
    assert model.classes_.tolist() == ["ant", "bee", "novel_1"]
    old, new = before.predict_proba(frame(1)), model.predict_proba(frame(1))
    assert_array_equal(new[:, :2], old[:, :2])
    assert_allclose(new[:, 2], old[:, 2] + old[:, 3])
    assert (model.labels_[NOVEL] == "novel_1").all()
    assert_array_equal(model.labels_[~NOVEL], before.labels_[~NOVEL])
    assert_array_equal(model.predict_novel(frame(1)), np.full(len(TRUTH), "novel_1"))
    assert_allclose(model.novelty_score(frame(1)), before.novelty_score(frame(1)))
    agrees_with_itself(model, frame(1))


@pytest.mark.parametrize("make", KINDS)
def test_a_novel_class_can_be_a_known_one_after_all(make: Maker, fitted: dict[Maker, Any]) -> None:
    before, model = fitted[make], copy.deepcopy(fitted[make])
    model.merge(["novel_0", "bee"])
    assert model.classes_.tolist() == ["ant", "bee", "novel_1"]
    old, new = before.predict_proba(frame(1)), model.predict_proba(frame(1))
    assert_allclose(new, np.column_stack([old[:, 0], old[:, 1] + old[:, 2], old[:, 3]]))
    assert (model.labels_[before.labels_ == "novel_0"] == "bee").all()
    if make in PACKED:
        assert (model.member_labels_[before.member_labels_ == "novel_0"] == "bee").all()
    agrees_with_itself(model, frame(1))


def test_merged_classes_have_the_place_of_the_first_and_any_free_name(four: Any) -> None:
    model = copy.deepcopy(four).merge(["novel_3", "novel_1"])
    assert model.novel_classes_.tolist() == ["novel_0", "novel_3", "novel_2"]
    model.merge(iter(["novel_3", "novel_2"]), into="wasp")
    assert model.novel_classes_.tolist() == ["novel_0", "wasp"]
    model.merge(["wasp", "novel_0"], into="novel_0")
    assert model.novel_classes_.tolist() == ["novel_0"]
    assert model.merge(["ant", "novel_0"], into="ant").classes_.tolist() == ["ant", "bee"]
    assert set(model.labels_.tolist()) == {"ant", "bee"}
    with pytest.raises(InputError, match="all were merged with known classes"):
        model.predict_novel(MANY)


def test_booleans_are_booleans_again_without_novel_classes() -> None:
    model = kmeans().fit(numbers(), [None if code < 0 else bool(code) for code in integer_labels()])
    assert model.merge([True, 2]).merge([False, 3]).classes_.dtype == np.bool_
    assert model.labels_.dtype == model.predict(numbers()).dtype == np.bool_


WRONG_MERGES: list[tuple[Any, Any, str]] = [
    ("novel_0", None, "expected a list"),
    (7, None, "expected a list"),
    ([], None, "at least two different classes"),
    (["novel_0"], None, "at least two different classes"),
    (["novel_0", "novel_0"], None, "at least two different classes"),
    (["ant", "bee", "novel_0"], None, "at most one is a known class"),
    (["novel_0", "wasp"], None, "'wasp', which is none of the classes"),
    (["novel_0", ["novel_1"]], None, "none of the classes"),
    (["novel_0", "novel_1"], "ant", "'ant' .* is there already"),
    (["novel_0", "novel_1"], "novel_2", "'novel_2' .* is there already"),
    (["novel_0", "novel_1"], "None", "mark unlabelled rows"),
    (["novel_0", "novel_1"], 3, "expected a text"),
    (["novel_0", "ant"], "wasp", "'ant' among the classes to merge keeps its name"),
]


@pytest.mark.parametrize(
    ("classes", "into", "match"), WRONG_MERGES, ids=[f"{case[0]} {case[1]}" for case in WRONG_MERGES]
)
def test_wrong_merges_change_nothing(classes: Any, into: Any, match: str, four: Any) -> None:
    refused(four, lambda model: model.merge(classes, into=into), match)


# ---- split


@pytest.mark.parametrize("make", KINDS)
def test_parts_share_what_the_class_had(make: Maker, fitted: dict[Maker, Any]) -> None:
    whole = copy.deepcopy(fitted[make]).merge(["novel_0", "novel_1"])
    model = copy.deepcopy(whole)
    assert model.split("novel_0", 2, frame(), training=True) is model
    assert model.classes_.tolist() == ["ant", "bee", "novel_0_1", "novel_0_2"]
    old, new = whole.predict_proba(frame(1)), model.predict_proba(frame(1))
    assert_array_equal(new[:, :2], old[:, :2])
    assert_allclose(new[:, 2] + new[:, 3], old[:, 2])
    sizes = [int((model.labels_ == name).sum()) for name in model.novel_classes_]
    assert sizes[0] >= sizes[1] > 0
    assert sum(sizes) == NOVEL.sum()
    if make in PACKED:
        assert set(model.member_labels_[0][NOVEL].tolist()) <= {"novel_0_1", "novel_0_2"}
    agrees_with_itself(model, frame(1))


def test_a_split_finds_classes_that_were_thrown_together() -> None:
    model = kmeans(n_novel_classes=1).fit(MANY, MANY_LABELS).split("novel_0", 4, MANY, training=True)
    assert nf.metrics.clustering_accuracy(np.repeat(np.arange(4), 15), model.labels_[30:]) == 1.0
    assert nf.metrics.clustering_accuracy(np.repeat(np.arange(4), 15), model.predict(MANY)[30:]) == 1.0
    again = kmeans(n_novel_classes=1, random_state=7).fit(MANY, MANY_LABELS).split("novel_0", 4, MANY, training=True)
    assert_array_equal(again.labels_, model.labels_)


def test_numbers_go_on_for_parts() -> None:
    model = kmeans().fit(numbers(), integer_labels()).rename({2: 9}).split(9, 3, numbers(), training=True)
    assert model.novel_classes_.tolist() == [4, 5, 6, 3]  # 2 was used


def test_a_model_is_split_alike_before_and_after_it_is_saved(four: Any, tmp_path: Path) -> None:
    nf.save(four, tmp_path / "model.newfound")
    model: Any = nf.load(tmp_path / "model.newfound")
    split, kept = model.split("novel_0", 2, MANY, training=True), copy.deepcopy(four)
    kept.split("novel_0", 2, MANY, training=True)
    assert_array_equal(split.labels_, kept.labels_)
    assert_array_equal(split.predict_proba(MANY), kept.predict_proba(MANY))


def test_another_table_leaves_training_rows_in_the_largest_part(four: Any) -> None:
    model = copy.deepcopy(four)
    inside = four.labels_ == "novel_0"
    with pytest.warns(UserWarning, match=r"15 training rows of 'novel_0' all count to its largest part") as all_:
        model.split("novel_0", 2, MANY[::-1])  # as many rows, and others
    assert all_[0].filename == __file__
    assert (model.labels_[inside] == "novel_0_1").all()
    # the parts are of the rows that are predicted to be of the class, not of those in the same places
    assert set(model.predict(MANY[inside]).tolist()) == {"novel_0_1", "novel_0_2"}


def test_the_table_of_fit_has_as_many_rows_as_fit_saw(four: Any) -> None:
    words = rf"training=True with a table of 9 rows, but that of fit had {len(MANY)}"
    refused(four, lambda model: model.split("novel_0", 2, MANY[:9], training=True), words)
    refused(four, lambda model: model.split("novel_0", 2, None), "X=None, but expected a table")


@pytest.mark.parametrize(
    ("class_", "n", "match"),
    [
        ("ant", 2, "'ant', which is a known class"),
        ("wasp", 2, "none of the classes"),
        ("novel_0", 1, "n=1.*at least 2"),
        ("novel_0", 2.5, "n=2.5"),
        ("novel_0", 16, "n=16, but there are 15 different rows of 'novel_0'"),
    ],
)
def test_wrong_splits_change_nothing(class_: Any, n: Any, match: str, four: Any) -> None:
    refused(four, lambda model: model.split(class_, n, MANY, training=True), match)


@pytest.mark.parametrize("make", KINDS)
def test_no_discoverer_splits_a_class_without_rows(make: Maker) -> None:
    model = make().fit(numbers(), integer_labels())
    novel = model.novel_classes_[0]
    others = numbers()[model.predict(numbers()) != novel]
    refused(model, lambda model: model.split(novel, 2, others), f"X has no rows of {novel} to divide")


def test_a_table_without_rows_of_the_class_cannot_split_it(four: Any) -> None:
    refused(four, lambda model: model.split("novel_0", 2, GROUPS[0]), "X has no rows of 'novel_0' to divide")
    refused(four, lambda model: model.split("novel_0", 2, pd.DataFrame({"a": ["x"]})), "features|columns")


# ---- facts of each class


def test_confidence_follows_the_classes() -> None:
    model = auto(n_novel_classes=3).fit(MANY, MANY_LABELS)
    model.class_confidence_ = np.array([0.9, 0.6, 0.3])
    sizes = np.array([(model.labels_ == name).sum() for name in model.novel_classes_])
    parts = copy.deepcopy(model).split("novel_0", 2, MANY, training=True)
    assert_array_equal(parts.class_confidence_, [0.9, 0.9, 0.6, 0.3])
    merged = copy.deepcopy(model).merge(["novel_2", "novel_0"])
    mean = (0.9 * sizes[0] + 0.3 * sizes[2]) / (sizes[0] + sizes[2])
    assert_allclose(merged.class_confidence_, [mean, 0.6])
    assert_allclose(copy.deepcopy(model).merge(["novel_1", "ant"]).class_confidence_, [0.9, 0.3])
    assert_array_equal(model.rename({"novel_0": "x"}).class_confidence_, [0.9, 0.6, 0.3])


# ---- any sequence of steps


def assert_same(model: Any, other: Any) -> None:
    for name in ("classes_", "labels_", "novel_classes_"):
        assert_array_equal(getattr(model, name), getattr(other, name), strict=True)
    for act in ("predict_proba", "novelty_score", "predict"):
        assert_array_equal(getattr(model, act)(MANY), getattr(other, act)(MANY))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_sequence_of_steps(data: st.DataObject, four: Any, tmp_path: Path) -> None:
    model = copy.deepcopy(four)
    latent = model.transform(MANY)
    rows = [dict(zip(model.classes_.tolist(), row, strict=True)) for row in model.predict_proba(MANY).tolist()]
    for i in range(data.draw(st.integers(1, 6))):
        novel = model.novel_classes_.tolist()
        act = data.draw(st.sampled_from(["rename", "merge", "merge with known", "split"]))
        if act == "rename" and novel:
            names = dict(zip(novel, data.draw(st.permutations([*novel[1:], f"name {i}"])), strict=True))
            model.rename(names)
            rows = [oracle.rename(row, names) for row in rows]
        elif act == "merge" and len(novel) > 1:
            some = data.draw(st.lists(st.sampled_from(novel), min_size=2, unique=True))
            model.merge(some)
            rows = [oracle.merge(row, some, some[0]) for row in rows]
        elif act == "merge with known" and novel:
            some = [data.draw(st.sampled_from(novel)), data.draw(st.sampled_from(["ant", "bee"]))]
            model.merge(some)
            rows = [oracle.merge(row, some, some[1]) for row in rows]
        elif act == "split" and novel:
            class_, n = data.draw(st.sampled_from(novel)), data.draw(st.integers(2, 3))
            if (model.labels_ == class_).sum() < n:
                continue
            place = novel.index(class_)
            parts = model.split(class_, n, MANY, training=True).novel_classes_.tolist()[place : place + n]
            step = model.curation_.steps[-1]
            rows = [
                oracle.split(row, class_, parts, at, step.centroids, step.variance)
                for row, at in zip(rows, latent, strict=True)
            ]
    agrees_with_itself(model, MANY)
    expected = [[row[name] for name in model.classes_.tolist()] for row in rows]
    assert_allclose(model.predict_proba(MANY), expected, rtol=1e-9, atol=1e-12)
    nf.save(model, tmp_path / "model.newfound")
    assert_same(model, nf.load(tmp_path / "model.newfound"))


def test_steps_on_codes_and_facts() -> None:
    merge, codes = Merge((0, 2, 3)), np.arange(5)
    assert merge.codes(codes, None).tolist() == [0, 1, 0, 0, 2]
    assert merge.facts(np.array([1.0, 2, 3, 5, 7]), np.array([0, 9, 1, 3, 9])).tolist() == [4.5, 2, 7]
    assert merge.facts(np.array([1.0, 2, 3, 5, 7]), np.zeros(5, dtype=int)).tolist() == [3, 2, 7]
    split = Split(1, np.zeros((3, 2)), 1.0)
    assert split.codes(codes, np.array([2, 2, 2, 2, 2])).tolist() == [0, 3, 4, 5, 6]
    assert split.facts(np.array([1.0, 2, 3]), np.ones(3, dtype=int)).tolist() == [1, 2, 2, 2, 3]
    assert Curation(1, 4, (merge, split)).n_novel == 4


# ---- labels for the next fit


@pytest.mark.parametrize("labels", LABEL_TYPES, ids=lambda labels: labels.name)
def test_labels_are_ready_for_the_next_fit(labels: LabelType) -> None:
    model = ncd_kmeans().fit(numbers(), labels.y)
    y = model.to_labels(numbers(), labels.y)
    assert_array_equal(np.asarray(y, dtype=model.labels_.dtype), model.labels_)
    again = ncd_kmeans(n_novel_classes=1)
    with pytest.warns(UserWarning, match="no unlabelled rows"):
        again.fit(numbers(), y)
    assert again.known_classes_.tolist() == model.classes_.tolist()
    some = model.to_labels(numbers(1), accept=[labels.novel[1]])
    left = model.predict(numbers(1)) == labels.novel[0]
    assert left.any()
    again.fit(numbers(1), some)
    assert again.known_classes_.tolist() == [*labels.known, labels.novel[1]]
    assert_array_equal(again.labels_ == again.novel_classes_[0], left)


def test_labels_that_are_there_stay() -> None:
    model = kmeans().fit(numbers(), TEXTS)
    y = TEXTS.copy()
    y[0], y[-1] = "bee", "a class of tomorrow"
    labels = model.to_labels(numbers(), y, accept=[])
    assert labels[[0, -1]].tolist() == ["bee", "a class of tomorrow"]
    assert set(labels[NOVEL][:-1].tolist()) == {None}
    unsure = model.to_labels(numbers(), y, abstain=1.0)
    sure = model.predict_proba(numbers()).max(axis=1) >= 1.0
    given = np.array([label is not None for label in y])
    assert_array_equal(np.array([label is not None for label in unsure]), sure | given)


def test_labels_of_floats_and_integers() -> None:
    model = kmeans().fit(numbers(), integer_labels())
    floats = np.where(NOVEL, np.nan, TRUTH)
    assert model.to_labels(numbers(), floats).dtype == np.float64
    assert np.isnan(model.to_labels(numbers(), floats, accept=[])[NOVEL]).all()
    whole = kmeans().fit(numbers(), floats).to_labels(numbers(), integer_labels(), accept=[2.0])
    assert whole.dtype == np.int64
    assert set(whole.tolist()) == {0, 1, 2, -1}


def test_labels_of_booleans() -> None:
    y = [None if code < 0 else bool(code) for code in integer_labels()]
    model = kmeans().fit(numbers(), y)
    assert set(model.to_labels(numbers(), y, accept=[]).tolist()) == {True, False, None}
    assert set(model.to_labels(numbers(), y, accept=[2]).tolist()) == {0, 1, 2, -1}


def test_labels_without_any_class() -> None:
    model = kmeans(n_novel_classes=4).fit(numbers())
    assert set(model.to_labels(numbers(), accept=[]).tolist()) == {-1}
    assert set(model.to_labels(numbers(), accept=[1, 1, 3]).tolist()) == {-1, 1, 3}


def test_labels_after_curation(four: Any) -> None:
    model = copy.deepcopy(four).merge(["novel_0", "novel_1"], into="wasp").merge(["novel_2", "ant"])
    y = model.to_labels(MANY, MANY_LABELS, accept=["wasp"])
    assert {label for label in y if label is not None} == {"ant", "bee", "wasp"}
    again = ncd_kmeans(n_novel_classes=1).fit(MANY, y)
    assert again.known_classes_.tolist() == ["ant", "bee", "wasp"]


@pytest.mark.parametrize(
    ("settings_", "match"),
    [
        ({"accept": "novel_0"}, "expected a list of novel classes"),
        ({"accept": 3}, "expected a list of novel classes"),
        ({"accept": ["ant"]}, "'ant', which is a known class"),
        ({"accept": ["wasp"]}, "none of the classes"),
        ({"y": MANY_LABELS[:5]}, "5 labels but X has 90 rows"),
        ({"y": np.zeros(90, dtype=int)}, "y with labels such as 0, but the classes are such as 'ant'"),
    ],
    ids=["text", "number", "known", "unknown", "short y", "y of another type"],
)
def test_labels_that_cannot_be(settings_: dict[str, Any], match: str, four: Any) -> None:
    with pytest.raises(InputError, match=match):
        four.to_labels(MANY, **settings_)
