from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from laboratory.tests import fakes
from newfound.errors import InputError, TrainingInterrupted
from newfound_lab.runner.workers import outcome_of, outcomes, outcomes_in
from tests.decoys import environment, have_run, make_decoys
from tests.processes import interrupt_when, is_alive, wait_for


def test_every_piece_of_work_is_done_once() -> None:
    ended = list(outcomes(fakes.double, range(7), 2))
    assert sorted((work, outcome.value) for work, outcome in ended) == [(n, 2 * n) for n in range(7)]
    assert all(outcome.seconds >= 0 and not outcome.error for _, outcome in ended)


def test_an_executor_does_every_piece_of_work_once() -> None:
    with ThreadPoolExecutor(2) as pool:
        ended = dict(outcomes_in(pool, fakes.double, range(7)))
        assert {work: outcome.value for work, outcome in ended.items()} == {n: 2 * n for n in range(7)}
        [(_, failed)] = outcomes_in(pool, fakes.double, [None])
    assert failed.error.startswith("TypeError")


def test_workers_have_one_thread_before_anything_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    [(_, outcome)] = outcomes(fakes.threads_and_torch, [0], 2)
    assert outcome.value == ("1", False)
    assert "OMP_NUM_THREADS" not in os.environ


def test_a_process_that_dies_fails_one_piece_and_is_replaced() -> None:
    ended = dict(outcomes(fakes.exit_at_three, range(8), 2))
    assert sorted(ended) == list(range(8))
    assert ended[3].error == "Its process ended with exit code 7."
    assert [ended[n].value for n in (0, 1, 2, 4, 5, 6, 7)] == [0, 1, 2, 4, 5, 6, 7]


def test_ctrl_c_is_left_to_the_parent() -> None:
    [(_, outcome)] = outcomes(fakes.press_ctrl_c, [0], 1)
    assert outcome.value == "went on"


def test_leaving_early_ends_the_processes_at_once(tmp_path: Path) -> None:
    ended = outcomes(fakes.say_pid_and_sleep, [str(tmp_path)] * 2, 2)
    with pytest.raises(KeyboardInterrupt):
        interrupt_when(lambda: len(list(tmp_path.iterdir())) == 2, lambda: next(ended))
    ended.close()
    assert [path.name for path in tmp_path.iterdir() if is_alive(int(path.name))] == []


@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys; from newfound_lab.runner.workers import outcomes; from laboratory.tests import fakes\n"
        "if __name__ == '__main__': list(outcomes(fakes.say_pid_and_sleep, [sys.argv[1]] * 2, 2))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    try:
        wait_for(lambda: len(list(tmp_path.iterdir())) == 2, process=parent)
    finally:
        parent.kill()
        parent.wait()
    workers = [int(path.name) for path in tmp_path.iterdir()]
    wait_for(lambda: not any(map(is_alive, workers)), seconds=60)  # they sleep for 600


def test_processes_run_nothing_of_the_current_folder(tmp_path: Path) -> None:
    folder, script = make_decoys(tmp_path / "decoys"), tmp_path / "script.py"
    script.write_text(
        "from newfound_lab.runner.workers import outcomes\n"
        "if __name__ == '__main__': print(sorted(outcome.value for _, outcome in outcomes(abs, [-1, 2], 2)))"
    )
    command = [sys.executable, str(script)]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert (done.stdout, have_run(folder)) == ("[1, 2]\n", {}), done.stderr


def test_outcomes_tell_our_mistakes_from_the_users() -> None:
    def fail(error: Exception) -> None:
        raise error

    users = outcome_of(fail, InputError("Got one\nthing."))
    assert (users.error, users.trace, users.users_mistake) == ("Got one thing.", "", True)
    ours = outcome_of(fail, KeyError("x"))
    assert (ours.error, ours.users_mistake) == ("KeyError: 'x'", False)
    assert "Traceback" in ours.trace
    with pytest.raises(KeyboardInterrupt):
        outcome_of(fail, TrainingInterrupted("stopped"))
