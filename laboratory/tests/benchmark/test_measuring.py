from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laboratory.tests.benchmark.made import made_rows, made_table
from laboratory.tests.benchmark.test_methods import ADAPTER
from newfound import __version__
from newfound.errors import InputError
from newfound.incontext.weights import weights_card
from newfound_lab.benchmark.measuring import Plan, measure, measure_missing
from newfound_lab.benchmark.methods import Answer, Method
from newfound_lab.benchmark.problems import BenchmarkTable, make_problem
from newfound_lab.runner.results import ResultFile

TABLES = [made_table("rings"), made_table("rings", 5, "fresh"), made_table("pair", 3)]
PLAN = Plan(["by hand", ADAPTER], n_splits=1)
TIMES = ("fit_seconds",)


def lines_of(folder: Path, **settings: Any) -> list[dict[str, Any]]:
    results = ResultFile(folder)
    assert not [outcome.error for _, outcome in measure_missing(TABLES, PLAN, results, **settings) if outcome.error]
    return results.lines


def test_lines_say_what_was_measured_with_what(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    assert len(lines) == 2 * 2 * 2  # the table of three classes is skipped
    assert {(line["dataset"], line["settings"]["set"]) for line in lines} == {("rings", "old"), ("rings", "fresh")}
    assert {line["method"] for line in lines} == {"by hand", "adapter:nearest_centroids"}
    assert {line["weights"] for line in lines} == {weights_card()["sha256"]}
    assert {line["versions"]["newfound"] for line in lines} == {__version__}
    assert json.loads((tmp_path / "results.jsonl").read_text().splitlines()[0]) == lines[0]


def test_processes_measure_the_same(tmp_path: Path) -> None:
    alone, together = (lines_of(tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    shown = [
        sorted(json.dumps({name: line[name] for name in line if name not in TIMES}) for line in lines)
        for lines in (alone, together)
    ]
    assert shown[0] == shown[1]


def test_what_is_measured_is_not_measured_again_nor_read(tmp_path: Path) -> None:
    plan = replace(PLAN, methods=[ADAPTER], modes=["pure"], n_splits=2)
    measurement = measure_missing(TABLES[:2], plan, ResultFile(tmp_path))
    for _ in range(3):
        next(measurement)
    measurement.close()  # type: ignore[attr-defined]
    assert len(list(measure_missing(TABLES[:2], plan, ResultFile(tmp_path)))) == 1
    unreadable = [BenchmarkTable(table.set, table.name, lambda: pytest.fail("read")) for table in TABLES[:2]]
    assert list(measure_missing(unreadable, plan, ResultFile(tmp_path))) == []


def test_a_failure_has_no_line_and_stops_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("def answer(*given):\n    raise ValueError('no idea')\n")
    plan = Plan([f"{broken}:answer", ADAPTER], ["pure"], 1)
    results = ResultFile(tmp_path / "out")
    errors = [outcome.error for _, outcome in measure_missing(TABLES[:1], plan, results)]
    assert errors == ["ValueError: no idea", ""]
    assert [line["method"] for line in results.lines] == ["adapter:nearest_centroids"]


def test_lines_of_other_weights_are_not_mixed_with_ours(tmp_path: Path) -> None:
    (line, *_) = lines_of(tmp_path / "ours")
    (tmp_path / "results.jsonl").write_text(json.dumps(line | {"weights": "0" * 64}) + "\n")
    with pytest.raises(InputError, match="with the weights 000000000000, but this is"):
        list(measure_missing(TABLES, PLAN, ResultFile(tmp_path)))


def test_mistakes_in_a_plan(tmp_path: Path) -> None:
    for plan, message in (
        (replace(PLAN, n_splits=0), "Got splits=0"),
        (replace(PLAN, modes=["mixd"]), "Got the mode 'mixd', but expected some of pure, mixed"),
        (replace(PLAN, methods=["magic"]), "Got the method 'magic'"),
    ):
        with pytest.raises(InputError, match=message):
            list(measure_missing(TABLES, plan, ResultFile(tmp_path)))


def test_scores_of_an_answer_that_is_known() -> None:
    """Known rows right, novel ones all in one class, which is paired with the larger of two."""
    problem = make_problem("rings", *made_rows(), 0, "pure")
    assert problem is not None
    novel = ~np.isin(problem.truth_test, problem.known)
    merged = np.where(novel, "one", problem.truth_test)
    free = problem.unlabelled
    labels = np.where(free, "one", problem.truth_train)

    def answer(*given: Any) -> Answer:
        return Answer(merged, novel.astype(float), merged, problem.truth_test, labels, 0.25, 7.0)

    line = measure(problem, Method("merged", answer))
    share = np.unique(problem.truth_test[novel], return_counts=True)[1].max() / novel.sum()
    assert line["known_acc"] == line["auroc"] == line["told_known_acc"] == 1
    assert line["novel_acc"] == line["acc"] == pytest.approx(share)
    assert line["bacc"] == pytest.approx(0.5)
    assert line["all_acc"] == pytest.approx(1 - novel.mean() * (1 - share))
    counts = np.unique(problem.truth_train[free], return_counts=True)[1]
    assert line["unlabelled_acc"] == pytest.approx(counts.max() / free.sum())
    assert (line["confidence"], line["fit_seconds"], line["n_known"], line["n_novel"]) == (0.25, 7.0, 2, 2)
