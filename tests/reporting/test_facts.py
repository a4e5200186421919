from __future__ import annotations

import copy
import json
import warnings
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

import newfound as nf
from newfound.deadline import Deadline
from newfound.errors import InputError
from newfound.records import Records
from newfound.reporting import facts as facts_module
from newfound.reporting import write_report
from newfound.reporting.facts import coded_column, plain, report_facts
from newfound.selection.n_classes import NClassesEstimate
from newfound.tables import TableEncoder
from newfound.tables.frame import as_table
from tests.reporting.conftest import Case


def test_facts_are_plain_and_have_no_numbers_that_json_lacks(mixed_facts: dict[str, Any]) -> None:
    assert json.loads(json.dumps(mixed_facts, allow_nan=False)) == mixed_facts


def test_plain_turns_everything_into_json() -> None:
    value = {1: np.float64("nan"), "a": (np.int64(3), np.array([True]), float("inf")), "b": pd.Timestamp("2020-01-01")}
    assert plain(value) == {"1": None, "a": [3, [True], None], "b": "2020-01-01 00:00:00"}


def test_counts_are_those_of_the_prediction(mixed: Case, mixed_facts: dict[str, Any]) -> None:
    predicted, unlabelled = mixed.model.predict(mixed.X), pd.isna(mixed.y)
    assert [class_["name"] for class_ in mixed_facts["classes"]] == mixed.model.classes_.tolist()
    for class_ in mixed_facts["classes"]:
        inside = predicted == class_["name"]
        assert class_["n_predicted"] == inside.sum()
        assert class_["n_unlabelled"] == (inside & unlabelled).sum()
        assert class_["n_labelled"] == (mixed.y == class_["name"]).sum()
        assert class_["n_agreeing"] == (inside & (mixed.y == class_["name"])).sum()
        assert class_["n_known_labels"] == (inside & ~unlabelled).sum()
    assert mixed_facts["table"]["n_labelled"] == (~unlabelled).sum()
    assert mixed_facts["explanation"]["n_rows"] == len(mixed.X)


def test_the_map_shows_the_rows_as_they_are(mixed: Case, mixed_facts: dict[str, Any]) -> None:
    points = mixed_facts["map"]
    rows = np.array(points["rows"])
    predicted = mixed.model.predict(mixed.X)[rows]
    assert_array_equal(mixed.model.classes_[points["classes"]], predicted)
    proba = mixed.model.predict_proba(mixed.X)[rows].max(axis=1)
    np.testing.assert_allclose(points["probabilities"], proba, atol=1e-3)
    assert_array_equal(np.array(points["probabilities"]) == 1, proba == 1)  # nothing is certain by rounding
    columns = {column["name"]: column for column in points["columns"]}
    assert list(columns) == list(mixed.X.columns)
    for i, row in enumerate(rows[:50]):
        age, city = columns["age"]["cells"][i], columns["<b>city</b>"]["cells"][i]
        assert age == mixed.X["age"].iloc[row]
        shown = None if city is None else columns["<b>city</b>"]["texts"][city]
        real = mixed.X["<b>city</b>"].iloc[row]
        assert (shown is None) == pd.isna(real)
        assert shown is None or real.startswith(shown.rstrip("…"))
    label_of = [None if code < 0 else points["label_names"][code] for code in points["labels"]]
    assert label_of == [None if pd.isna(label) else label for label in mixed.y[rows]]


def test_rows_are_counted_by_their_labels_where_they_have_known_ones(mixed: Case) -> None:
    predicted = mixed.model.predict(mixed.X)
    y = mixed.y.copy()
    stray = np.flatnonzero(np.isin(predicted, mixed.model.novel_classes_))[:5]
    y[stray] = "silver"
    facts = report_facts(mixed.model, mixed.X, y, n_map_rows=40)
    expected = Counter(label if isinstance(label, str) else found for label, found in zip(y, predicted, strict=True))
    assert {class_["name"]: class_["n_rows"] for class_ in facts["classes"]} == {
        **dict.fromkeys(map(str, mixed.model.classes_), 0),
        **expected,
    }
    assert {class_["name"]: class_["n_predicted"] for class_ in facts["classes"] if class_["n_predicted"]} == Counter(
        predicted
    )
    novel = [class_ for class_ in facts["classes"] if class_["is_novel"]]
    for class_, explained in zip(novel, facts["explanation"]["classes"], strict=True):
        assert explained["n_rows"] == class_["n_rows"]
        assert explained["share"] == class_["n_rows"] / len(y)
    assert facts["explanation"]["n_novel_rows"] == sum(class_["n_rows"] for class_ in novel)


def test_rows_that_the_cards_name_are_on_the_map(numeric: Case) -> None:
    facts = numeric.facts(n_map_rows=30)
    named = [
        r["row"] for class_ in facts["explanation"]["classes"] for r in (*class_["exemplars"], *class_["borderline"])
    ]
    assert named
    assert set(named) <= set(facts["map"]["rows"])
    assert len(facts["map"]["rows"]) <= 30 + len(named)


def test_the_same_seed_gives_the_same_facts(numeric: Case) -> None:
    first, second = ({**numeric.facts(n_map_rows=50), "made_at": ""} for _ in range(2))
    assert first == second


def test_history_becomes_curves(mixed: Case, mixed_facts: dict[str, Any]) -> None:
    curves = {(curve["stage"], curve["loss"]): curve for curve in mixed_facts["history"]}
    for epoch in mixed.model.history_:
        for loss, value in epoch.items():
            if loss not in ("stage", "epoch", "seconds"):
                curve = curves[epoch["stage"], loss]
                assert curve["means"][curve["epochs"].index(epoch["epoch"])] == value


def test_novelty_is_shared_out_over_bins(mixed: Case, mixed_facts: dict[str, Any]) -> None:
    score, unlabelled = mixed.model.novelty_score(mixed.X), pd.isna(mixed.y)
    novelty = mixed_facts["novelty"]
    assert sum(novelty["labelled"]) == pytest.approx(1, abs=0.01)
    assert novelty["n_unlabelled_novel"] == (score[unlabelled] >= 0.5).sum()


def test_without_labels_nothing_is_said_of_them(numeric: Case) -> None:
    facts = report_facts(numeric.model, numeric.X, None, n_map_rows=40)
    assert facts["table"]["n_labelled"] is None
    assert facts["novelty"] is None
    assert facts["map"]["labels"] is None
    assert {class_["n_labelled"] for class_ in facts["classes"]} == {None}


def test_labels_that_the_model_does_not_know_are_counted(numeric: Case) -> None:
    truth = np.array(["a", "b"], dtype=object)[np.arange(len(numeric.y)) % 2]
    facts = report_facts(numeric.model, numeric.X, truth, n_map_rows=40)
    assert sum(label["n_rows"] for class_ in facts["classes"] for label in class_["labels"]) == len(numeric.y)
    assert {class_["n_known_labels"] for class_ in facts["classes"]} == {0}
    assert facts["novelty"] is None


def test_a_model_without_novel_classes(numeric: Case) -> None:
    y = np.arange(len(numeric.y)) % 2
    with pytest.warns(UserWarning, match="no unlabelled rows"):
        model = nf.KMeansDiscoverer(2, random_state=0).fit(numeric.X, y)
    facts = report_facts(model, numeric.X, y, n_map_rows=40)
    assert facts["explanation"]["classes"] == []
    assert not any(class_["is_novel"] for class_ in facts["classes"])


def test_estimates_and_candidates_are_told_where_there_are_some(numeric: Case) -> None:
    model = copy.copy(numeric.model)
    model.n_classes_estimate_ = NClassesEstimate(
        3,
        (2, 4),
        Records({"k": k, "combined": 0.2, "prior": -0.1} for k in range(1, 6)),
        Records([{"criterion": "prior"}]),
    )
    model.leaderboard_ = Records([{"rank": np.int64(1), "score": np.float64("nan")}])
    model.confidence_, model.class_confidence_, model.weaknesses_ = 0.4, np.array([0.5, 0.3, 0.1]), ["few rows"]
    model.member_labels_ = np.stack([model.labels_] * 2)
    facts = report_facts(model, numeric.X, numeric.y, n_map_rows=40)
    assert facts["n_classes"]["n_classes"] == 3
    assert facts["n_classes"]["curve"][0] == {"k": 1, "probability": 0.2}
    assert facts["candidates"] == {
        "leaderboard": [{"rank": 1, "score": None}],
        "confidence": 0.4,
        "class_confidence": [0.5, 0.3, 0.1],
    }
    assert facts["weaknesses"] == ["few rows"]
    assert facts["model"]["n_members"] == 2


def test_polars_and_pandas_say_the_same(mixed: Case, mixed_facts: dict[str, Any]) -> None:
    other = report_facts(mixed.model, pl.from_pandas(mixed.X), mixed.y, title=mixed_facts["title"])
    assert {**other, "made_at": ""} == {**mixed_facts, "made_at": ""}


def test_wide_tables_keep_the_columns_that_tell_most(numeric: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts_module, "_MAP_BYTES", 1_500)
    facts = numeric.facts(n_map_rows=40)
    kept = [column["name"] for column in facts["map"]["columns"]]
    assert 0 < len(kept) < facts["table"]["n_columns"]
    assert facts["map"]["n_columns_left_out"] == facts["table"]["n_columns"] - len(kept)
    assert kept[0] in {name for class_ in facts["explanation"]["classes"] for name in facts_module.columns_of(class_)}


@pytest.mark.parametrize(
    ("values", "cells", "texts"),
    [
        ([1.0, float("nan"), 0.123456789], [1, None, 0.12346], None),
        ([123456.789, -2e300, float("inf")], [123456.79, -2e300, None], None),
        (["b", None, "a", "b"], [0, None, 1, 0], ["b", "a"]),
        ([True, None, False], [0, None, 1], ["true", "false"]),
        ([pd.Timestamp("2020-01-02"), pd.NaT], [0, None], ["2020-01-02"]),
        (["x" * 90], [0], ["x" * 59 + "…"]),
    ],
    ids=["numbers", "large", "texts", "booleans", "dates", "long"],
)
def test_columns_are_coded(values: list[Any], cells: list[Any], texts: list[str] | None) -> None:
    column = as_table(pd.DataFrame({"c": pd.Series(values)})).columns["c"]
    assert coded_column("c", column) == {"name": "c", "cells": cells} | ({} if texts is None else {"texts": texts})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": 3}, "needs a discoverer"),
        ({"model": nf.KMeansDiscoverer(2)}, "not fitted"),
        ({"y": [1, 2]}, "y has 2 labels"),
        ({"title": 3}, "title=3"),
        ({"n_map_rows": 0}, "n_map_rows=0"),
        ({"random_state": "x"}, "random_state='x'"),
    ],
    ids=["model", "unfitted", "y", "title", "n_map_rows", "random_state"],
)
def test_bad_input_is_refused(numeric: Case, change: dict[str, Any], message: str) -> None:
    given = {"model": numeric.model, "X": numeric.X, "y": numeric.y} | change
    with pytest.raises(InputError, match=message):
        report_facts(given.pop("model"), given.pop("X"), given.pop("y"), **given)


def test_boolean_labels_are_those_of_the_classes(numeric: Case) -> None:
    y = np.resize(np.array([True, False, False, None], dtype=object), len(numeric.X))
    facts = report_facts(nf.KMeansDiscoverer(2, random_state=0).fit(numeric.X, y), numeric.X, y, n_map_rows=20)
    assert [class_["n_labelled"] for class_ in facts["classes"]] == [
        y.tolist().count(label) for label in (False, True, 2, 3)
    ]
    assert facts["map"]["label_names"] == [class_["name"] for class_ in facts["classes"][:2]]


def test_huge_numbers_are_not_missing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert coded_column("a", np.array([1.7e308, -1.7e308]))["cells"] == [1.7e308, -1.7e308]


@pytest.mark.parametrize("name", ["mixed", "numeric"])
def test_the_table_is_encoded_once_and_predicted_once(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    case = request.getfixturevalue(name)
    kind, encode = type(case.model), TableEncoder.transform_table
    with (
        patch.object(TableEncoder, "transform_table", autospec=True, side_effect=encode) as encoded,
        patch.object(kind, "_curated_proba", autospec=True, side_effect=kind._curated_proba) as predicted,
    ):
        write_report(case.model, case.X, case.y, tmp_path / "report.html")
    assert encoded.call_count == 1
    # members of the model are asked as well
    asked = [len(call.args[1]) for call in predicted.call_args_list if call.args[0] is case.model]
    # besides the table, the rows that the explanation makes up by crossing some of them
    assert len(asked) == 2
    assert asked[0] == len(case.X)


# ---- in time


def test_without_time_there_is_a_plain_report(mixed: Case) -> None:
    steps: list[str] = []
    found = report_facts(mixed.model, mixed.X, mixed.y, deadline=Deadline(-np.inf), on_step=steps.append)
    assert len(steps) == mixed.model.n_novel_classes_ + 2
    assert found["map"]["method"] == "the first two principal components"
    for class_ in found["explanation"]["classes"]:
        assert (class_["rules"], class_["stability"]) == ([], None)
        assert class_["profile"]
        assert not any("rule" in doubt for doubt in class_["warnings"])


def test_a_report_without_a_map(mixed: Case, mixed_facts: dict[str, Any]) -> None:
    found = report_facts(mixed.model, mixed.X, mixed.y, with_map=False)
    assert found["map"] is None
    assert found["explanation"] == mixed_facts["explanation"]
