"""Reports, explanations and pictures after an update."""

from __future__ import annotations

from pathlib import Path

import pytest

import newfound as nf
from newfound import InputError
from newfound.reporting import report_facts
from tests.discoverers.common import SMALL, auto
from tests.discoverers.conftest import keep_small_forests
from tests.discoverers.test_living import fitted, rows_of

pytestmark = SMALL


def test_a_report_tells_of_the_batches(tmp_path: Path) -> None:
    model = fitted()
    table = rows_of({"ant": 40, "gnat": 60}, seed=1)[0]
    assert report_facts(model, table)["batches"] == []
    model.update(table)
    assert {record["class"] for record in report_facts(model, table)["batches"]} >= {"ant", "novel_1", None}
    page = nf.write_report(model, table, None, tmp_path / "report.html").read_text()
    assert 'id="batches"' in page
    assert "novel_1" in str(nf.explain(model, table))


def test_members_have_no_say_after_an_update(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_small_forests(monkeypatch)
    model = fitted(auto, n_members=2, unlabelled="novel")
    table = rows_of({"ant": 40, "gnat": 60}, seed=1)[0]
    model.update(table)
    assert len(model.class_confidence_) == model.n_novel_classes_ == 2
    assert "novel_1" in str(nf.explain(model, table))


def test_batches_are_drawn(tmp_path: Path) -> None:
    model = fitted()
    with pytest.raises(InputError, match="no batches"):
        model.plot_batches()
    model.update(rows_of({"ant": 40, "gnat": 60}, seed=1)[0])
    model.plot_batches(tmp_path / "batches.svg")
    assert (tmp_path / "batches.svg").is_file()
