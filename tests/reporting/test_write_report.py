from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound as nf
from newfound import reporting
from newfound.errors import InputError
from newfound.reporting import write_report
from tests.reporting.conftest import Case


def test_it_is_a_public_name() -> None:
    assert nf.write_report is write_report


def test_the_file_is_one_small_document(mixed_file: Path) -> None:
    content = mixed_file.read_text(encoding="utf-8")
    assert content.startswith("<!doctype html>")
    assert content.endswith("</html>\n")
    assert mixed_file.stat().st_size < 3_000_000
    assert os.listdir(mixed_file.parent) == [mixed_file.name]


def test_an_earlier_file_is_replaced(numeric: Case, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    assert write_report(numeric.model, numeric.X, None, str(path), n_map_rows=30) == path
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_where_something_fails_an_earlier_file_is_as_it_was(
    numeric: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InputError, match=r"cannot be written.*No space left"):
        write_report(numeric.model, numeric.X, None, path, n_map_rows=30)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


@pytest.mark.parametrize(("name", "message"), [("", "is a folder"), ("no/such/report.html", "which is no folder")])
def test_a_bad_path_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.setattr(reporting, "report_facts", None)  # never called
    with pytest.raises(InputError, match=message):
        write_report(nf.KMeansDiscoverer(2), [[0.0]], None, tmp_path / name)


def test_half_a_character_does_no_harm(tmp_path: Path) -> None:
    X = np.array([[i, "a\ud800" if i % 2 else "b"] for i in range(12)], dtype=object)
    y = np.array(["k", "l", None] * 4, dtype=object)
    model = nf.KMeansDiscoverer(1, random_state=0).fit(X, y)
    path = write_report(model, X, y, tmp_path / "r.html")
    assert "</html>" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("n_rows", [1, 2])
def test_tiny_tables(numeric: Case, tmp_path: Path, n_rows: int) -> None:
    few = numeric.X[:n_rows]
    content = write_report(numeric.model, few, numeric.y[:n_rows], tmp_path / "r.html").read_text(encoding="utf-8")
    assert f"novel classes in {n_rows} row" in content
    assert content.rstrip().endswith("</html>")


def test_after_curation_the_report_speaks_of_the_new_classes(numeric: Case, tmp_path: Path) -> None:
    model = nf.KMeansDiscoverer(3, random_state=0).fit(numeric.X, numeric.y)
    first, second, third = model.novel_classes_.tolist()
    model.merge([first, second]).rename({third: "4711"})
    content = write_report(model, numeric.X, numeric.y, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "2 novel classes in" in content
    assert "Class 4711" in content


def test_a_name_that_the_system_refuses(numeric: Case, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_report(numeric.model, numeric.X, None, tmp_path / ("x" * 300), n_map_rows=5)


@pytest.mark.parametrize(
    ("first", "unit", "word"), [("12000-03-01", "s", "12"), ("100000-01-01", "ms", "100"), ("-0500-01-01", "s", "-")]
)
def test_dates_that_no_calendar_of_python_has_are_put_into_words(
    first: str, unit: str, word: str, tmp_path: Path
) -> None:
    """Dates after the year 9999, or before the year 1, are told as they are, in rules, rows and profiles."""
    pa = pytest.importorskip("pyarrow")
    truth = np.repeat(np.arange(4), 30)
    step = np.timedelta64(400, "D") + np.timedelta64(7_000, "s")
    when = np.datetime64(first, unit) + step.astype(f"timedelta64[{unit}]") * (truth * 40 + np.arange(120) % 30)
    table = pa.table({"when": pa.array(when.astype(np.int64)).cast(pa.timestamp(unit)), "x": 3.0 * truth})
    y = [str(code) if code < 2 else None for code in truth]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = nf.KMeansDiscoverer(2, random_state=0).fit(table, y)
        nf.write_report(model, table, y, tmp_path / "report.html")
    told = nf.explain(model, table)
    assert str(told.classes[0].exemplars[0].values["when"]).startswith(word)
    assert "when" in str(told)
    assert not re.search(r"\b(9999|0001)-", str(told))  # the last and the first year that Python has
