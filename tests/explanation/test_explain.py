from __future__ import annotations

import copy
import json
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import newfound as nf
from newfound.explanation import Explanation, explainer
from tests.discoverers.common import DISCOVERERS, PACKED, Maker, tabular_ncd
from tests.explanation.tables import customers

FRAME, LABELS, TRUTH = customers()

CLASS_KEYS = ["name", "n_rows", "share", "confidence", "stability", "stability_source", "rules"]
CLASS_KEYS += ["rules_precision", "rules_coverage", "profile", "against_nearest", "nearest_known"]
CLASS_KEYS += ["identifiers", "exemplars", "borderline", "warnings"]


@pytest.fixture(scope="module")
def model() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the identifier is ignored
        return nf.WhitenedKMeans(n_novel_classes=3, random_state=0).fit(FRAME, LABELS)


@pytest.fixture(scope="module")
def explanation(model: Any) -> Explanation:
    return nf.explain(model, FRAME)


def same(first: Explanation, other: Explanation) -> bool:
    return first.to_dict() == other.to_dict()


# ---- what it says


def test_classes_are_told_in_the_words_of_the_table(model: Any, explanation: Explanation) -> None:
    assert [class_.name for class_ in explanation.classes] == model.novel_classes_.tolist()
    predicted = model.predict(FRAME)
    texts = {}
    for class_ in explanation.classes:
        truth = np.bincount(TRUTH[predicted == class_.name]).argmax()
        texts[truth] = class_.rules[0].text
        assert class_.n_rows == (predicted == class_.name).sum()
        assert class_.rules_precision >= 0.95
        assert class_.rules_coverage >= 0.95
        assert class_.nearest_known.name in ("a", "b")
        assert class_.warnings == []
    assert texts[2] == "plan is family"
    assert texts[3] in ("since is 2023-01-01 or later", "phone is missing and plan is pro")
    assert "age is" in texts[4] or "since is" in texts[4]
    third = next(class_ for class_ in explanation.classes if TRUTH[class_.exemplars[0].row] == 3)
    (phone,) = [shift for shift in third.profile if shift.column == "phone"]
    assert phone.text.startswith("phone is missing in 100 % of the rows, against")


def test_figures_are_those_of_held_out_rows(model: Any) -> None:
    """Rules that fit noise are caught: the labels of half the rows say nothing of the other half."""
    rng = np.random.RandomState(0)
    noise = rng.rand(400, 5)
    found = nf.KMeansDiscoverer(n_novel_classes=4, random_state=0).fit(noise, None)
    found.predict_proba = lambda X: np.eye(4)[rng.randint(4, size=len(X.rows))]
    explanation = nf.explain(found, noise)
    figures = [rule.precision for class_ in explanation.classes for rule in class_.rules if rule.precision is not None]
    assert all(figure < 0.6 for figure in figures)


def test_to_dict_is_plain(explanation: Explanation) -> None:
    facts = explanation.to_dict()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert list(facts) == ["n_rows", "n_novel_rows", "classes"]
    assert facts["n_rows"] == len(FRAME)
    assert facts["n_novel_rows"] == sum(class_["n_rows"] for class_ in facts["classes"])
    for class_ in facts["classes"]:
        assert list(class_) == CLASS_KEYS
        assert 0 <= class_["stability"] <= 1
        assert class_["stability_source"] == "bootstraps"
        assert len(class_["profile"]) <= 10
        effects = [abs(shift["effect"]) for shift in class_["profile"]]
        assert effects == sorted(effects, reverse=True)
        assert all(len(rule["conditions"]) <= 4 for rule in class_["rules"])
        assert len(class_["exemplars"]) == 5
        for row in [*class_["exemplars"], *class_["borderline"]]:
            assert row["values"]["id"] == FRAME["id"].iloc[row["row"]]


def test_to_frame(explanation: Explanation) -> None:
    frame = explanation.to_frame()
    assert frame["class"].tolist() == [class_.name for class_ in explanation.classes]
    assert frame["n_rows"].sum() == explanation.n_novel_rows


def test_one_class(explanation: Explanation) -> None:
    assert explanation["novel_1"] is explanation.classes[1]
    assert len(explanation) == 3
    assert list(explanation) == explanation.classes
    with pytest.raises(nf.InputError, match="no novel class 'other'; the novel classes are"):
        explanation["other"]


def test_text(explanation: Explanation) -> None:
    text = str(explanation)
    assert text.startswith("3 novel classes, with 175 of the 300 rows (58 %).")
    for part in ("plan is family", "Unlike the rest of the table", "Nearest known class: ", "Typical rows", "held-out"):
        assert part in text
    assert max(map(len, text.splitlines())) <= 110
    assert text.split("\n\n")[1:] == [str(class_) for class_ in explanation]
    assert repr(explanation["novel_1"]) == f"<ClassExplanation 'novel_1', n_rows={explanation['novel_1'].n_rows}>"


def test_html_is_escaped_and_needs_nothing_else(model: Any) -> None:
    renamed = copy.deepcopy(model).rename({"novel_0": "<script>alert(1)</script>"})
    explanation = nf.explain(renamed, FRAME.rename(columns=str))
    for html in (explanation._repr_html_(), explanation.classes[0]._repr_html_()):
        assert "<script" not in html
        assert "&lt;script&gt;" in html
        assert not re.search(r"https?:|src=|href=|url\(", html)


# ---- what it takes


def test_it_is_the_same_every_time_and_for_every_kind_of_table(model: Any, explanation: Explanation) -> None:
    assert same(nf.explain(model, pl.from_pandas(FRAME)), explanation)


def test_the_table_is_left_as_it_is(model: Any) -> None:
    before = FRAME.copy()
    nf.explain(model, FRAME, max_rules=1, max_conditions=1, n_exemplars=1)
    pd.testing.assert_frame_equal(FRAME, before)


def test_limits(model: Any) -> None:
    explanation = nf.explain(model, FRAME, max_rules=0, n_exemplars=2)
    assert all(class_.rules == [] and class_.rules_precision is None for class_ in explanation.classes)
    assert all(len(class_.exemplars) == 2 and len(class_.borderline) <= 2 for class_ in explanation.classes)
    assert not any("rule" in doubt for class_ in explanation.classes for doubt in class_.warnings)
    short = nf.explain(model, FRAME, max_conditions=1)
    assert all(len(rule.conditions) == 1 for class_ in short.classes for rule in class_.rules)


@pytest.mark.parametrize("rows", [[0], [2, 3], list(range(0, 300, 5)), list(range(2, 300, 5))], ids=len)
def test_few_rows_and_classes_without_rows(model: Any, rows: list[int]) -> None:
    explanation = nf.explain(model, FRAME.iloc[rows])
    assert explanation.n_rows == len(rows)
    assert len(explanation.classes) == 3
    json.dumps(explanation.to_dict(), allow_nan=False)
    for class_ in explanation.classes:
        if not class_.n_rows:
            assert class_.warnings == ["no row of this table is of the class"]
    assert str(explanation)


@pytest.mark.parametrize("make", DISCOVERERS, ids=lambda make: make.__name__)
def test_every_discoverer(make: Maker) -> None:
    rng = np.random.RandomState(0)
    truth = np.repeat(np.arange(4), 20)
    rows = rng.randn(80, 3) + 8 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])[truth]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changes = {"n_members": 2} if make in PACKED else {}
        changes |= {"epochs": 2} if make is tabular_ncd else {}
        found = make(**changes).fit(rows, np.where(truth < 2, truth, -1))
    explanation = nf.explain(found, rows)
    assert [class_.name for class_ in explanation.classes] == found.novel_classes_.tolist()
    source = "members" if make in PACKED else "bootstraps"
    assert all(class_.stability_source == source for class_ in explanation.classes if class_.stability is not None)
    assert any(class_.stability is not None for class_ in explanation.classes)
    json.dumps(explanation.to_dict(), allow_nan=False)


def test_curated_classes(model: Any) -> None:
    curated = copy.deepcopy(model).rename({"novel_0": "new plan"}).merge(["novel_1", "novel_2"])
    explanation = nf.explain(curated, FRAME)
    assert [class_.name for class_ in explanation.classes] == ["new plan", "novel_1"]
    assert explanation["novel_1"].n_rows == (curated.predict(FRAME) == "novel_1").sum()
    assert explanation["new plan"].rules_precision >= 0.95
    curated.split("novel_1", 2, FRAME, training=True)
    assert len(nf.explain(curated, FRAME).classes) == 3


def test_no_novel_class() -> None:
    with pytest.warns(UserWarning, match="no unlabelled rows"):
        found = nf.WhitenedKMeans(n_novel_classes=2, random_state=0).fit(FRAME[["age", "plan"]], TRUTH)
    explanation = nf.explain(found, FRAME)
    assert explanation.classes == []
    assert str(explanation) == "The model has no novel class; 300 rows of known classes."
    assert explanation.to_frame().empty


def test_wide_table() -> None:
    rng = np.random.RandomState(0)
    truth = np.arange(120) % 3
    rows = rng.randn(120, 320)
    rows[:, 7] += 12 * truth
    found = nf.KMeansDiscoverer(n_novel_classes=2, random_state=0).fit(rows, np.where(truth == 0, 0, -1))
    explanation = nf.explain(found, rows)
    assert len(explanation.classes[0].exemplars[0].values) == 200


# ---- what it refuses


def test_refusals(model: Any) -> None:
    with pytest.raises(nf.InputError, match="not fitted yet"):
        nf.explain(nf.WhitenedKMeans(), FRAME)
    with pytest.raises(nf.InputError, match="Got model='x', but expected a fitted discoverer"):
        nf.explain("x", FRAME)
    with pytest.raises(nf.InputError, match=r"Got model=.*, but expected a fitted discoverer"):
        nf.explain(nf.WhitenedKMeans, FRAME)
    with pytest.raises(nf.InputError, match="X lacks column 'age'"):
        nf.explain(model, FRAME.drop(columns="age"))
    for name, value in (("max_rules", -1), ("max_conditions", 0), ("n_exemplars", "x"), ("random_state", -1)):
        with pytest.raises(nf.InputError, match=f"Got {name}="):
            nf.explain(model, FRAME, **{name: value})


def test_a_boolean_may_count_further_in_another_table() -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(200) % 4
    table = np.c_[rng.normal(4 * truth, 0.3), truth % 2]
    model = nf.KMeansDiscoverer(2, random_state=0).fit(table, np.where(truth < 2, truth, -1))
    assert model.encoder_.schema_.kind_of("x1") == "boolean"
    later = table.copy()
    later[later[:, 1] == 1, 1] = 3
    for class_, same in zip(nf.explain(model, later).classes, nf.explain(model, table).classes, strict=True):
        assert class_.n_rows == same.n_rows
        assert [shift.effect for shift in class_.profile] == [shift.effect for shift in same.profile]


def test_booleans_are_matched_however_they_are_spelled() -> None:
    rng = np.random.RandomState(0)
    truth = np.arange(400) % 4
    spellings = np.array([["no", "No", "n"], ["yes", "Yes", "y"]], dtype=object)
    X = pd.DataFrame({"size": truth // 2 * 9 + rng.randn(400) * 0.1})
    X["flag"] = spellings[truth % 2, rng.randint(3, size=400)]
    X["flag"] = X["flag"].where(np.arange(400) != 1, "YES")  # the first of the table, and of no other row
    encoder = nf.TableEncoder(kinds={"flag": "boolean"})
    labels = np.where(truth < 2, np.array(list("ab??"), dtype=object)[truth], None)
    model = nf.KMeansDiscoverer(2, encoder=encoder, random_state=0).fit(X, labels)
    told = [class_ for class_ in nf.explain(model, X) if "flag" in str([rule.text for rule in class_.rules])]
    assert told
    assert all(rule.n_matched > 0 for class_ in told for rule in class_.rules)


def test_cells_that_tell_a_class_are_shown_of_wide_rows(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explainer, "_MOST_VALUES", 2)
    X, _, _ = customers()
    for class_ in nf.explain(model, X).classes:
        told = {condition.column for rule in class_.rules for condition in rule.conditions}
        told |= {*(shift.column for shift in class_.profile), *class_.identifiers}
        assert set(class_.exemplars[0].values) <= told
        assert class_.identifiers == ["id"]
        assert len(class_.exemplars[0].values) == 2


def test_whole_numbers_that_pandas_made_floats_are_named_as_such() -> None:
    X, labels, _ = customers()
    y = pd.Series(labels).map({"a": 1, "b": 2})
    explanation = nf.explain(nf.KMeansDiscoverer(3, random_state=0).fit(X.drop(columns="id"), y), X.drop(columns="id"))
    assert isinstance(explanation.classes[0].name, float)
    assert ".0:" not in str(explanation)
    assert ".0 (" not in str(explanation)
