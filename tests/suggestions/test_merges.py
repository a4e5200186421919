"""Classes that may be one, and their hierarchy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram

import newfound as nf
from newfound import InputError
from newfound.suggestions.merges import _overlaps
from tests.discoverers.common import ncd_kmeans
from tests.discoverers.test_living import rows_of


def cut_in_two() -> nf.NCDKMeans:
    """A model that has found two classes in fly, and one in moth."""
    table, truth = rows_of({"ant": 60, "bee": 60, "fly": 90, "moth": 60})
    table = table.drop(columns="colour")
    known = np.isin(truth, ["ant", "bee"])
    model = ncd_kmeans(n_novel_classes=2).fit(table, np.where(known, truth, None))
    fly = model.predict(table[truth == "fly"])[0]
    return model.split(fly, 2, table, training=True)


def test_halves_of_a_class_come_first() -> None:
    model = cut_in_two()
    found = nf.suggest_merges(model)
    first = found.pairs[0]
    halves = {name for name in model.novel_classes_.tolist() if name.count("_") == 2}
    assert {first["first"], first["second"]} == halves
    assert first["likely"]
    assert not any(pair["likely"] for pair in found.pairs[1:])
    assert first["distance"] < found.pairs[1]["distance"]
    model.merge([first["first"], first["second"]])
    assert not any(pair["likely"] for pair in nf.suggest_merges(model).pairs)


def test_the_hierarchy_is_one_that_scipy_draws() -> None:
    found = nf.suggest_merges(cut_in_two())
    assert found.linkage.shape == (2, 4)
    drawn = dendrogram(found.linkage, labels=found.classes, no_plot=True)
    assert sorted(drawn["ivl"]) == sorted(found.classes)
    lines = found.tree().splitlines()
    assert sorted(line.split("─ ")[-1] for line in lines) == sorted(found.classes)
    assert json.loads(json.dumps(found.to_dict()))["classes"] == found.classes
    assert "likely" in str(found)
    assert repr(found) == "MergeSuggestions(3 pairs, 1 likely)"


def test_the_hierarchy_is_drawn(tmp_path: Path) -> None:
    nf.suggest_merges(cut_in_two()).plot(tmp_path / "tree.svg")
    assert (tmp_path / "tree.svg").stat().st_size > 1000


def test_one_class_has_no_pairs() -> None:
    table, truth = rows_of({"ant": 30, "fly": 30})
    found = nf.suggest_merges(ncd_kmeans(n_novel_classes=1).fit(table, np.where(truth == "ant", truth, None)))
    assert len(found) == 0
    assert found.tree() == "novel_0"


def test_without_rows_it_says_what_is_missing(tmp_path: Path) -> None:
    nf.save(cut_in_two(), tmp_path / "model.newfound", rows=False)
    with pytest.raises(InputError, match="keeps no rows"):
        nf.suggest_merges(nf.load(tmp_path / "model.newfound"))


def test_overlap_is_one_where_nothing_is_told_apart() -> None:
    codes = np.repeat([0, 1, 2], 4)
    proba = np.eye(3)[codes]
    proba[:8] = [0.5, 0.5, 0]
    overlap = _overlaps(proba, codes)
    assert overlap[0, 1] == pytest.approx(1)
    assert overlap[0, 2] == overlap[1, 2] == 0


def test_a_class_without_rows_is_no_part_of_it() -> None:
    model = cut_in_two()
    table, truth = rows_of({"moth": 30, "fly": 30}, seed=1)
    moth = model.predict(table.drop(columns="colour"))[0]
    model.update(table.drop(columns="colour"), np.where(truth == "moth", truth, None))
    assert moth not in nf.suggest_merges(model).classes
    assert model.predict(table.drop(columns="colour"))[0] == "moth"
