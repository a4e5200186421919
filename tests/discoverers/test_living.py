"""Updates: classes keep their names, further ones are found, and nothing else changes."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import newfound as nf
from newfound import InputError
from newfound.discoverers.update import drift_of
from newfound.routing import batches
from tests.discoverers.common import DISCOVERERS, PLAIN, SMALL, Maker, ncd_kmeans

pytestmark = SMALL

CENTRES = {"ant": (0, 0), "bee": (8, 0), "fly": (0, 8), "gnat": (8, 8), "moth": (16, 0), "wasp": (0, 16)}
every = pytest.mark.parametrize("make", DISCOVERERS)
N_TREES, N_CLASS_TREES = batches._N_TREES, batches._N_CLASS_TREES  # before a fixture makes them few


@pytest.fixture
def whole_forests(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many trees as users have, where few rows are all that tell of a class."""
    monkeypatch.setattr(batches, "_N_TREES", N_TREES)
    monkeypatch.setattr(batches, "_N_CLASS_TREES", N_CLASS_TREES)


def rows_of(sizes: dict[str, int], seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of round classes, and their classes."""
    rng = np.random.default_rng(seed)
    names = np.repeat(list(sizes), list(sizes.values()))
    centres = np.array([CENTRES[name] for name in names])
    table = pd.DataFrame(centres + rng.normal(0, 0.6, centres.shape), columns=["width", "height"])
    return table.assign(colour=rng.choice(["red", "blue"], len(names))), names.astype(object)


def fitted(make: Maker = PLAIN, **changes: Any) -> Any:
    """A discoverer that knows ant and bee, and has found fly."""
    table, truth = rows_of({"ant": 60, "bee": 60, "fly": 60})
    return make(n_novel_classes=1, **changes).fit(table, [None if name == "fly" else name for name in truth])


def facts_of(model: Any, table: Any) -> dict[str, Any]:
    """What users can see of a model."""
    return {
        "classes": model.classes_.tolist(),
        "labels": model.labels_.tolist(),
        "proba": model.predict_proba(table).tolist(),
        "batches": list(model.batches_),
        "used": model._used_names,
        "memory": model._memory.rows.tolist(),
    }


@every
def test_a_further_class_is_found_and_names_stay(make: Maker, tmp_path: Path) -> None:
    model = fitted(make)
    labels = model.labels_.copy()
    before = model.transform(rows_of({"ant": 3})[0])
    table, truth = rows_of({"ant": 50, "fly": 40, "gnat": 60}, seed=1)
    update = model.update(table)
    assert update.new_classes == ["novel_1"]
    assert model.classes_.tolist() == ["ant", "bee", "novel_0", "novel_1"]
    assert np.mean(update.labels[truth == "gnat"] == "novel_1") > 0.9
    assert np.mean(update.labels[truth == "ant"] == "ant") > 0.9
    assert np.mean(update.labels[truth == "fly"] == "novel_0") > 0.9
    assert_array_equal(model.labels_, labels)
    assert_array_equal(model.transform(rows_of({"ant": 3})[0]), before)
    proba = model.predict_proba(table)
    assert proba.shape == (150, 4)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert np.mean(model.predict(table)[truth == "gnat"] == "novel_1") > 0.9
    assert np.isin(model.predict_novel(table), ["novel_0", "novel_1"]).all()
    nf.save(model, tmp_path / "model.newfound")
    again = nf.load(tmp_path / "model.newfound")
    assert facts_of(again, table) == facts_of(model, table)
    assert again.update(table).to_dict() == model.update(table).to_dict()


def test_five_batches_keep_every_name_and_find_every_class(whole_forests: None) -> None:
    model = fitted()
    for batch, name in enumerate(("gnat", "moth", "wasp"), start=1):
        before = model.classes_.tolist()
        update = model.update(rows_of({"ant": 40, "bee": 40, name: 60}, seed=batch)[0])
        assert update.batch == batch
        assert model.classes_.tolist()[: len(before)] == before
        assert len(update.new_classes) == 1
    assert len(model._memory.codes) <= 6 * 300
    assert {record["batch"] for record in model.batches_} == {0, 1, 2, 3}
    absent = {record["class"]: record["absent"] for record in model.batches_ if record["batch"] == 3}
    assert absent["novel_0"] == 3
    assert absent["novel_1"] == 2
    assert absent["ant"] == 0


def test_nothing_new_is_no_new_class() -> None:
    model = fitted()
    update = model.update(rows_of({"ant": 80, "bee": 20, "fly": 50}, seed=1)[0])
    assert update.new_classes == []
    assert update.share_unexplained < 0.05
    assert model.n_novel_classes_ == 1


def test_rows_that_fit_no_class_wait_until_they_are_enough(whole_forests: None) -> None:
    model = fitted()
    first = model.update(rows_of({"ant": 50, "gnat": 12}, seed=1)[0])
    assert first.new_classes == []
    assert first.labels.tolist().count(None) >= 10
    second = model.update(rows_of({"ant": 50, "gnat": 12}, seed=2)[0])
    assert second.new_classes == ["novel_1"]


def test_one_row_is_a_batch_too() -> None:
    model = fitted()
    update = model.update(rows_of({"bee": 1}, seed=1)[0])
    assert update.labels.tolist() == ["bee"]


def test_labels_name_known_found_and_further_classes() -> None:
    model = fitted()
    table, truth = rows_of({"ant": 40, "fly": 40, "gnat": 40}, seed=1)
    y = np.where(truth == "fly", "novel_0", truth).astype(object)
    y[::2] = None
    update = model.update(table, y)
    assert model.known_classes_.tolist() == ["ant", "bee", "gnat"]
    assert model.novel_classes_.tolist() == ["novel_0"]
    assert_array_equal(update.labels[1::2], y[1::2])
    assert np.mean(update.labels == np.where(truth == "fly", "novel_0", truth)) > 0.95
    assert model.predict(table[truth == "gnat"]).tolist().count("gnat") > 35


def test_a_few_labels_name_the_rest_of_a_further_class() -> None:
    model = fitted()
    table, truth = rows_of({"ant": 40, "gnat": 60}, seed=1)
    y = np.full(100, None, dtype=object)
    y[[40, 50, 60]] = "gnat"
    update = model.update(table, y)
    assert update.new_classes == []
    assert np.mean(update.labels == truth) > 0.95
    assert np.mean(model.predict(table) == truth) > 0.95


def test_numbers_go_on_after_all_that_were_used() -> None:
    table, truth = rows_of({"ant": 60, "bee": 60, "fly": 60})
    model = ncd_kmeans(n_novel_classes=1).fit(table, np.select([truth == "ant", truth == "bee"], [3, 5], -1))
    model.rename({6: 9})
    update = model.update(rows_of({"ant": 40, "gnat": 60}, seed=1)[0])
    assert update.new_classes == [7]
    assert update.labels.dtype.kind == "i"


def test_curation_and_updates_take_turns(tmp_path: Path) -> None:
    model = fitted()
    model.update(rows_of({"ant": 40, "gnat": 60}, seed=1)[0])
    model.rename({"novel_1": "gnat"})
    assert "gnat" in {record["class"] for record in model.batches_}
    table, truth = rows_of({"gnat": 40, "moth": 60}, seed=2)
    model.update(table)
    model.merge(["gnat", "novel_2"])
    assert model.classes_.tolist() == ["ant", "bee", "novel_0", "gnat"]
    update = model.update(rows_of({"moth": 40, "ant": 40}, seed=3)[0])
    assert update.new_classes == []
    assert np.mean(update.labels[:40] == "gnat") > 0.9
    model.split("gnat", 2, table)
    again = model.update(rows_of({"gnat": 30, "moth": 30}, seed=4)[0])
    assert len(set(again.labels[:30].tolist())) == 1
    assert set(again.labels.tolist()) == {"gnat_1", "gnat_2"}
    nf.save(model, tmp_path / "model.newfound")
    assert facts_of(nf.load(tmp_path / "model.newfound"), table) == facts_of(model, table)
    assert truth[0] == "gnat"


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1] * 30, "with labels such as 1"),
        (["novel_0"] * 30, "renamed, merged or split"),
        (["ant"] * 29, "29 labels"),
    ],
)
def test_on_an_error_the_model_is_as_it_was(y: list[Any], message: str) -> None:
    model = fitted().rename({"novel_0": "fly"})
    table = rows_of({"ant": 30}, seed=1)[0]
    before = copy.deepcopy(facts_of(model, table))
    with pytest.raises(InputError, match=message):
        model.update(table, y)
    assert facts_of(model, table) == before


def test_an_update_that_fails_halfway_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted()
    table = rows_of({"ant": 30, "gnat": 30}, seed=1)[0]
    before = facts_of(model, table)
    monkeypatch.setattr("newfound.discoverers.living.later_records", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.update(table)
    assert facts_of(model, table) == before


def test_without_rows_an_update_says_what_is_missing(tmp_path: Path) -> None:
    model = fitted()
    table = rows_of({"ant": 30}, seed=1)[0]
    nf.save(model, tmp_path / "model.newfound", rows=False)
    bare = nf.load(tmp_path / "model.newfound")
    assert_array_equal(bare.predict_proba(table), model.predict_proba(table))
    with pytest.raises(InputError, match="keeps no rows"):
        bare.update(table)


def test_a_fit_forgets_all_updates() -> None:
    model = fitted()
    model.update(rows_of({"ant": 40, "gnat": 60}, seed=1)[0])
    table, truth = rows_of({"ant": 60, "bee": 60, "fly": 60})
    model.fit(table, [None if name == "fly" else name for name in truth])
    assert facts_of(model, table) == facts_of(fitted(), table)


def test_an_update_prints_as_a_table_and_is_json() -> None:
    model = fitted()
    update = model.update(rows_of({"ant": 40, "gnat": 60}, seed=1)[0])
    assert str(update).startswith("Batch 1: 100 rows, 1 new class, ")
    assert "novel_1" in str(update)
    assert "new_classes=['novel_1']" in repr(update)
    told = json.loads(json.dumps(update.to_dict()))
    assert told["new_classes"] == ["novel_1"]
    assert len(told["labels"]) == 100
    assert sum(record["rows"] for record in told["classes"]) + told["labels"].count(None) == 100


def test_a_class_that_moves_drifts() -> None:
    model = fitted()
    table = rows_of({"ant": 80, "bee": 80}, seed=1)[0]
    assert model.update(table).drifting == []
    table.loc[:79, "width"] += 1.0
    update = fitted().update(table)
    assert update.drifting == ["ant"]
    assert update.classes[0]["column"] == "width"


def test_drift_does_not_depend_on_the_unit() -> None:
    rows = np.random.default_rng(0).normal(size=(90, 3))
    least = np.zeros(3)
    distance = drift_of(rows[:40], rows[40:] + 1, least)[0]
    assert drift_of(9 * rows[:40], 9 * (rows[40:] + 1), least)[0] == pytest.approx(distance)
    assert drift_of(rows[:1], rows[:1], least) == (0.0, 0, False)
    assert drift_of(np.zeros((9, 2)), np.full((9, 2), 0.1), np.ones(2))[0] == pytest.approx(0.1)
