from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from laboratory.tests import fakes
from newfound.errors import InputError, TrainingInterrupted
from newfound_lab.datasets import registry
from newfound_lab.runner import measure as measuring
from newfound_lab.runner.progress import RunProgress, TimeLeft
from newfound_lab.runner.results import ResultFile
from newfound_lab.runner.runner import run
from newfound_lab.runner.workers import Outcome
from newfound_lab.suites.experiments import plan
from newfound_lab.suites.trials import Trial, key_of
from tests.processes import interrupt_when, is_alive, wait_for

TRIALS = [fakes.trial(seed) for seed in range(4)]


class Told(RunProgress):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def start(self, n_done: int, n_planned: int, left: TimeLeft) -> None:
        self.calls.append((n_done, n_planned))

    def ended(self, pack: Sequence[Trial], outcome: Outcome, n_done: int) -> None:
        self.calls.append(([trial.seed for trial in pack], n_done))

    def stop(self) -> None:
        self.calls.append("stop")


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_missing_is_measured_and_the_rest_is_not(tmp_path: Path, jobs: int) -> None:
    results = ResultFile(tmp_path)
    first = run(TRIALS[:2], results, jobs=jobs, device="cpu", measure=fakes.measure)
    assert (first.n_planned, first.n_before, first.n_measured) == (2, 0, 2)
    before = results.path.read_bytes()
    progress = Told()
    both = run(TRIALS + TRIALS[:1], results, jobs=jobs, measure=fakes.measure, data_dir=tmp_path, progress=progress)
    assert (both.n_planned, both.n_before, both.n_measured) == (4, 2, 2)
    assert (both.failures, both.interrupted, both.log) == ([], False, None)
    assert results.path.read_bytes().startswith(before)
    lines = {line["seed"]: line for line in ResultFile(tmp_path).lines}
    assert [lines[seed]["acc"] for seed in range(4)] == [0, 0.1, 0.2, 0.3]
    assert [lines[seed]["data_dir"] for seed in range(4)] == ["None", "None", str(tmp_path), str(tmp_path)]
    assert [lines[seed]["device"] for seed in range(4)] == ["cpu", "cpu", "auto", "auto"]
    assert (lines[3]["pid"] == os.getpid()) == (jobs == 1)
    assert progress.calls[0] == (2, 4)
    assert sorted(seeds for seeds, _ in progress.calls[1:-1]) == [[2], [3]]
    assert [n_done for _, n_done in progress.calls[1:-1]] == [3, 4]
    assert progress.calls[-1] == "stop"


def test_of_a_pack_that_has_some_lines_only_the_others_are_written(tmp_path: Path) -> None:
    """Packs are those of a first run, since what is fitted beside a trial changes its last digits."""
    trials = [fakes.trial(seed, "baseline") for seed in range(5)]
    packs = []

    def measure(pack: fakes.Pack, device: str, data_dir: Path | None, earlier: fakes.Earlier) -> list[dict[str, Any]]:
        packs.append([trial.seed for trial in pack])
        return [trial.line({"acc": len(packs)}) for trial in pack]

    results, progress = ResultFile(tmp_path), Told()
    run(trials[1:3], results, measure=measure)
    before = results.path.read_bytes()
    summary = run(trials, results, measure=measure, progress=progress)
    assert packs == [[1, 2], [0, 1, 2, 3, 4]]
    assert (summary.n_planned, summary.n_before, summary.n_measured) == (5, 2, 3)
    assert progress.calls == [(2, 5), ([0, 1, 2, 3, 4], 5), "stop"]
    assert results.path.read_bytes().startswith(before)
    assert {line["seed"]: line["acc"] for line in ResultFile(tmp_path).lines} == {0: 2, 1: 1, 2: 1, 3: 2, 4: 2}


def test_only_trials_without_a_result_count_as_failed(tmp_path: Path) -> None:
    trials = [fakes.trial(seed, "baseline") for seed in range(5)]
    results, progress = ResultFile(tmp_path), Told()
    run(trials[:2], results, measure=fakes.measure)
    summary = run(trials, results, measure=fakes.measure_badly, progress=progress)
    assert [failure.n_trials for failure in summary.failures] == [3]
    assert progress.calls[1:-1] == [([0, 1, 2, 3, 4], 2)]


def test_a_torn_line_of_a_pack_of_networks_gets_the_scores_it_had(tmp_path: Path) -> None:
    settings = {"epochs": 2, "pretrain_epochs": 1}
    trials = [
        Trial("main", "digits", "tabular_ncd", "default", "label-free", "inductive", seed, settings)
        for seed in range(3)
    ]
    results = ResultFile(tmp_path)
    run(trials, results, device="cpu")
    whole = results.path.read_bytes()
    results.path.write_bytes(whole[:-30])
    assert run(trials, ResultFile(tmp_path), device="cpu").n_measured == 1
    *kept, torn = whole.splitlines()
    *same, redone = results.path.read_bytes().splitlines()
    assert same == kept
    took = ("fit_seconds", "predict_seconds", "peak_memory_mib")
    assert json.loads(redone) | dict.fromkeys(took) == json.loads(torn) | dict.fromkeys(took)


def test_nothing_is_loaded_where_all_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = ResultFile(tmp_path)
    run(TRIALS, results, measure=fakes.measure)
    before = results.path.read_bytes()
    monkeypatch.setattr("newfound_lab.datasets.load", None)
    assert run(TRIALS, results).n_measured == 0
    assert results.path.read_bytes() == before


def test_packs_are_written_as_soon_as_they_are_done(tmp_path: Path) -> None:
    results = ResultFile(tmp_path)

    def measure(pack: fakes.Pack, device: str, data_dir: Path | None, earlier: fakes.Earlier) -> list[dict[str, Any]]:
        assert len(results.path.read_text().splitlines()) == pack[0].seed
        return fakes.measure(pack, device, data_dir, earlier)

    assert run(TRIALS, results, measure=measure).failures == []


def test_one_process_keeps_the_order_and_several_begin_with_the_longest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "weight", lambda pack: 1.0 + pack[0].seed)
    progress = Told()
    run(TRIALS, ResultFile(tmp_path / "one"), measure=fakes.measure, progress=progress)
    assert progress.calls[1:-1] == [([0], 1), ([1], 2), ([2], 3), ([3], 4)]
    given: list[Trial] = []

    def record(call: Any, works: list[tuple[Trial, ...]], n_workers: int) -> Any:
        given.extend(pack[0] for pack in works)
        yield from ((pack, Outcome(call(pack))) for pack in works)

    monkeypatch.setattr("newfound_lab.runner.runner.outcomes", record)
    run(TRIALS, ResultFile(tmp_path / "two"), jobs=2, measure=fakes.measure)
    assert given == TRIALS[::-1]


def estimated_trials() -> list[Trial]:
    return plan("label-free", datasets=["digits"], methods=["kmeans", "auto"], n_seeds=1)


def test_an_executor_measures_too(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        summary = run(TRIALS, ResultFile(tmp_path), jobs=2, executor=pool, measure=fakes.measure)
    assert (summary.n_measured, summary.failures) == (len(TRIALS), [])
    assert {line["pid"] for line in ResultFile(tmp_path).lines} == {os.getpid()}


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_builds_on_others_is_measured_after_them_and_told_their_lines(tmp_path: Path, jobs: int) -> None:
    trials = estimated_trials()
    results = ResultFile(tmp_path)
    summary = run(trials[::-1], results, jobs=jobs, measure=fakes.measure_with_estimates)
    assert (summary.n_measured, summary.failures) == (len(trials), [])
    experiments = [line["experiment"] for line in results.lines]
    assert experiments == sorted(experiments, reverse=True), "all of n_classes before all of label_free"
    for line in results.lines:
        if line["experiment"] == "label_free" and line["k"] == "estimated":
            assert line["n_classes"] == 100 + line["class_split"]


def test_estimates_of_an_earlier_run_or_another_machine_count(tmp_path: Path) -> None:
    trials = estimated_trials()
    estimates = [trial for trial in trials if trial.experiment == "n_classes"]
    run(estimates, ResultFile(tmp_path), measure=fakes.measure_with_estimates)
    (tmp_path / "results.jsonl").rename(tmp_path / "elsewhere.jsonl")
    summary = run(trials, ResultFile(tmp_path), measure=fakes.measure_with_estimates)
    assert (summary.n_before, summary.n_measured) == (len(estimates), len(trials) - len(estimates))


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_failure_does_not_stop_the_others(tmp_path: Path, jobs: int) -> None:
    methods = ("kmeans", "baseline", "spectral", "tabular_ncd")
    trials = [fakes.trial(seed, method) for method in methods for seed in range(2)]
    results = ResultFile(tmp_path)
    summary = run(trials, results, jobs=jobs, measure=fakes.measure_badly)
    assert [(line["method"], line["seed"]) for line in sorted(results.lines, key=lambda line: line["seed"])] == [
        ("kmeans", 0),
        ("kmeans", 1),
    ]
    failures = {failure.name: failure for failure in summary.failures}
    ours = failures["main: digits, baseline, default, inductive, 2 trials"]
    assert ours.error == "ZeroDivisionError: we did not think of this"
    assert (ours.n_trials, ours.users_mistake) == (2, False)
    users = failures["main: digits, spectral, default, inductive, seed 0"]
    assert (users.error, users.users_mistake) == ("Got data, but expected other; get it.", True)
    assert "JSON" in failures["main: digits, tabular_ncd, default, inductive, 2 trials"].error
    assert summary.log == tmp_path / "failures.log"
    log = summary.log.read_text()
    assert "main: digits, baseline, default, inductive, 2 trials\nTraceback" in log
    assert "spectral" not in log
    # failures are no results: they are tried again
    again = run(trials, results, measure=fakes.measure)
    assert (again.n_before, again.n_measured, again.failures) == (2, 6, [])


def test_a_killed_process_is_noticed_and_the_others_go_on(tmp_path: Path) -> None:
    trials = [fakes.trial(0, "tabular_ncd"), *TRIALS]
    results = ResultFile(tmp_path)
    summary = run(trials, results, jobs=2, device="cuda", measure=fakes.measure_badly)
    [failure] = summary.failures
    assert failure.error.startswith("Its process was killed, perhaps because memory ran out")
    assert failure.name == "main: digits, tabular_ncd, default, inductive, seed 0"
    assert summary.n_measured == 4
    assert sorted(line["seed"] for line in results.lines) == [0, 1, 2, 3]


@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_a_run_that_was_killed_ends_as_one_that_was_not(tmp_path: Path) -> None:
    code = (
        "import sys; from newfound_lab.runner.results import ResultFile; from newfound_lab.runner.runner import run\n"
        "from laboratory.tests import fakes; trials = [fakes.trial(seed) for seed in range(4)]\n"
        "run(trials, ResultFile(sys.argv[1]), device='cpu', measure=fakes.measure_until_it_hangs)"
    )
    killed, whole = ResultFile(tmp_path / "killed"), ResultFile(tmp_path / "whole")
    process = subprocess.Popen([sys.executable, "-c", code, str(killed.folder)])
    try:
        wait_for(lambda: killed.path.exists() and killed.path.read_bytes().count(b"\n") == 2, process=process)
    finally:
        process.kill()
        process.wait()
    kept = killed.path.read_bytes()
    summary = run(TRIALS, killed, device="cpu")
    assert (summary.n_before, summary.n_measured, summary.failures) == (2, 2, [])
    assert killed.path.read_bytes().startswith(kept)
    run(TRIALS, whole, device="cpu")
    took = dict.fromkeys(("fit_seconds", "predict_seconds", "peak_memory_mib"))
    resumed, other = (sorted((line | took for line in results.lines), key=key_of) for results in (killed, whole))
    assert resumed == other


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_what_is_done(tmp_path: Path, jobs: int) -> None:
    results = ResultFile(tmp_path)
    summaries = []

    def work() -> None:
        summaries.append(run(TRIALS, results, jobs=jobs, measure=fakes.measure_slowly))

    interrupt_when(lambda: results.path.exists() and bool(results.path.read_bytes()), work)
    [summary] = summaries
    assert (summary.interrupted, summary.n_measured, summary.failures) == (True, 1, [])
    [line] = ResultFile(tmp_path).lines
    assert jobs == 1 or not is_alive(line["pid"])
    assert run(TRIALS, results, measure=fakes.measure).n_measured == 3


def test_half_a_training_is_an_interruption_and_no_failure(tmp_path: Path) -> None:
    def measure(pack: fakes.Pack, device: str, data_dir: Path | None, earlier: fakes.Earlier) -> list[dict[str, Any]]:
        raise TrainingInterrupted("stopped early")

    summary = run(TRIALS, ResultFile(tmp_path), measure=measure)
    assert (summary.interrupted, summary.n_measured, summary.failures) == (True, 0, [])


def test_lines_of_other_trials_are_refused(tmp_path: Path) -> None:
    summary = run(TRIALS[:1], ResultFile(tmp_path), measure=fakes.measure_other_trials)
    assert "not those of the trials" in summary.failures[0].error
    assert (tmp_path / "results.jsonl").read_bytes() == b""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_ends_the_run_and_keeps_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    results = ResultFile(tmp_path)
    append = results.append

    def append_until_full(lines: Any) -> None:
        if len(results.lines) < 2:
            return append(lines)
        raise InputError("Cannot write")

    monkeypatch.setattr(results, "append", append_until_full)
    with pytest.raises(InputError, match="Cannot write"):
        run(TRIALS, results, jobs=jobs, measure=fakes.measure)
    monkeypatch.undo()
    assert len(ResultFile(tmp_path).lines) == 2
    assert run(TRIALS, results, measure=fakes.measure).n_measured == 2


def test_missing_data_is_noticed_before_anything_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("NEWFOUND_DATA", "NEWFOUND_CACHE"):
        (tmp_path / variable).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / variable))
    lacking = Trial("main", "nsl_kdd", "kmeans", "default", "label-free", "inductive", 0, {})
    with pytest.raises(InputError, match=r"nsl_kdd\.parquet"):
        run([*TRIALS, lacking], ResultFile(tmp_path / "out"), measure=fakes.measure)
    assert ResultFile(tmp_path / "out").lines == []


def test_a_sample_is_not_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    monkeypatch.setitem(registry.BENCHMARKS, "digits", replace(registry.BENCHMARKS["digits"], scoreable=False))
    with pytest.raises(InputError, match="only a sample is here"):
        run(TRIALS, ResultFile(tmp_path), measure=fakes.measure)


def test_jobs_must_be_positive(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Got jobs=0, but expected a whole number of at least 1"):
        run(TRIALS, ResultFile(tmp_path), jobs=0)
