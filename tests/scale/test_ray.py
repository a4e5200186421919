"""Training, prediction and tasks on a cluster of two workers, one of which is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import newfound as nf
from newfound.scale import RayExecutor, fit_on_ray, predict_on_ray
from newfound.scale.cluster import _Places, keeping_signals
from tests.decoys import environment, have_run, make_decoys
from tests.discoverers.common import SMALL, pbn
from tests.processes import wait_for
from tests.scale.common import N, arrays, broken_file, fit_in_process, score, small, write

ray = pytest.importorskip("ray")
pytestmark = [*SMALL, pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")]
QUIET: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
_MOST_SECONDS = 600  # of a test, on a machine that is very busy; on an idle one they take 10


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    os.environ |= {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",  # or other processes of the tests would come first
        "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.2",
        "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",
        "RAY_TRAIN_METRICS_ENABLED": "0",
    }
    for attempts_left in (2, 1, 0):
        try:
            with keeping_signals():  # which other tests of this process look at
                ray.init("local", num_cpus=2, object_store_memory=200 * 1024**2, include_dashboard=False, **QUIET)
            break
        except Exception:  # a very busy machine may take longer than Ray waits
            ray.shutdown()
            if not attempts_left:
                raise
    yield
    ray.shutdown()


@pytest.fixture(autouse=True)
def bounded(cluster: None) -> Iterator[None]:
    """End a test that hangs."""

    def end(*_: Any) -> None:
        raise TimeoutError(f"not done after {_MOST_SECONDS} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(_MOST_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("ray") / "rows")


@pytest.fixture(scope="module")
def model(rows: Path) -> nf.TabularNCD:
    return small(epochs=3).fit(rows, "kind")


def workers() -> list[int]:
    """Processes of this test's cluster that train."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"RayTrainWorker" in (process / "cmdline").read_bytes() and _is_ours(int(process.name)):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def _is_ours(pid: int) -> bool:
    while pid > 1 and pid != os.getpid():
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid == os.getpid()


def test_a_training_whose_worker_is_killed_ends_as_that_of_one_process(rows: Path, tmp_path: Path) -> None:
    kept, killed = tmp_path / "kept", []

    def kill() -> None:
        wait_for(lambda: (kept / "checkpoint-000006.safetensors").exists(), _MOST_SECONDS)
        killed.append(max(workers()))
        os.kill(killed[0], signal.SIGKILL)

    theirs = kept / ".ray" / "of" / "somebody else"
    theirs.parent.mkdir(parents=True)
    theirs.touch()
    thread = threading.Thread(target=kill, daemon=True)  # or it would outlive a fit that fails
    thread.start()
    anew: dict[str, Any] = {"checkpoint_dir": kept, "checkpoint_every": 0, "resume": False}
    found = fit_on_ray(small(epochs=12), rows, "kind", n_workers=2, **anew)
    thread.join()
    assert killed
    expected = fit_in_process(small(epochs=12), rows, 2, tmp_path / "one")
    assert score(found) > 0.9
    # Two numbers have the same sum in any order; more would differ in their last digits.
    for name, array in arrays(expected).items():
        np.testing.assert_allclose(arrays(found)[name], array, rtol=0, atol=1e-5)
    assert found.labels_.tolist() == expected.labels_.tolist()
    for ours, other in zip(found.history_, expected.history_, strict=True):
        assert ours["stage"] == other["stage"]
        losses = [name for name in other if name not in ("stage", "seconds")]
        assert [ours[name] for name in losses] == pytest.approx([other[name] for name in losses], abs=1e-5)
    assert sorted(path.name.partition("-")[0] for path in kept.iterdir()) == [".ray", "checkpoint", "checkpoint"]
    assert theirs.is_file()


@pytest.mark.slow
def test_predictions_are_those_of_predict_parquet(model: nf.TabularNCD, rows: Path, tmp_path: Path) -> None:
    whole, many = tmp_path / "whole.parquet", tmp_path / "many.parquet"
    assert nf.predict_parquet(model, rows, whole, keep=["width"]) == N
    assert predict_on_ray(model, rows, many, keep=["width"], n_workers=1) == N
    assert pq.read_table(many).equals(pq.read_table(whole))
    with pytest.raises(nf.InputError, match="keep"):
        predict_on_ray(model, rows, many, keep=["weight"], n_workers=1)
    broken = broken_file(tmp_path / "rows")
    with pytest.raises(nf.InputError, match=r"00400\.parquet cannot be read as a Parquet file") as refused:
        predict_on_ray(model, broken.parent, many, n_workers=1)
    assert "\n" not in str(refused.value)
    assert pq.read_table(many).equals(pq.read_table(whole))  # the one before


def test_tasks_run_side_by_side_and_their_errors_come_back(tmp_path: Path) -> None:
    with RayExecutor() as machines:
        assert list(machines.map(_square, [1, 2, 3])) == [1, 4, 9]
        assert machines.submit(_square, 5).result() == 25
        with pytest.raises(nf.InputError) as refused:
            machines.submit(_square, -1).result()
        assert refused.value.parameter == "n"
        assert machines.n_workers == 2
        X, y = np.random.default_rng(0).normal(size=(60, 2)), np.repeat([0, 1, 2, 3, -1, -1], 10)
        settings = {"n_trials": 3, "storage": ":memory:", "random_state": 0}
        here, there = (
            nf.tune(nf.SpectralDiscoverer(2), X, y, **settings, executor=executor) for executor in (None, machines)
        )
        assert here.best_params == there.best_params
        assert [trial["scores"] for trial in here.trials] == [trial["scores"] for trial in there.trials]
        later = [machines.submit(_square_later, n) for n in range(3)]
    assert [future.done() for future in later] == [True] * 3
    assert [future.result() for future in later] == [0, 1, 4]
    with pytest.raises(RuntimeError, match="shut down"):
        machines.submit(_square, 1)
    with pytest.raises(nf.InputError, match="n_cpus"):
        RayExecutor(n_cpus=-1)
    with pytest.raises(nf.InputError, match="n_workers=2, but the cluster has 0 GPUs"):
        fit_on_ray(small(), write(tmp_path / "whole"), "kind", use_gpu=True)
    with warnings.catch_warnings(action="error"), pytest.raises(UserWarning, match="2 processors; the training begins"):
        fit_on_ray(small(), tmp_path / "whole", "kind", n_workers=3, address="auto")
    with pytest.raises(nf.InputError, match=r"00400\.parquet cannot be read as a Parquet file"):
        fit_on_ray(small(), broken_file(tmp_path / "rows").parent, "kind")
    assert ray.is_initialized()  # the cluster was not started by the executor


_HELPER = "def double(n): return 2 * n"
_SCRIPT = """
import sys
from helper_of_script import double
from newfound import NCDKMeans, TabularNCD
from newfound.scale import RayExecutor, fit_on_ray, predict_on_ray

def path(_):
    return sys.path

if __name__ == "__main__":
    rows, out = sys.argv[1:]
    with RayExecutor() as machines:  # the others use its cluster
        assert machines.submit(double, 4).result() == 8
        print(*machines.submit(path, 0).result(), sep="\\n")
        settings = {"n_members": 1, "hidden_layers": [8], "pretrain_epochs": 1, "epochs": 1}
        model = fit_on_ray(TabularNCD(2, **settings), rows, "kind", n_workers=1)
        predict_on_ray(model, rows, out, n_workers=1)
"""


def test_workers_run_nothing_of_the_current_folder_and_find_what_lies_beside_the_script(
    rows: Path, tmp_path: Path
) -> None:
    folder, place = make_decoys(tmp_path / "decoys"), tmp_path / "script"
    place.mkdir()
    (place / "helper_of_script.py").write_text(_HELPER)
    (place / "script.py").write_text(_SCRIPT)
    command = [sys.executable, str(place / "script.py"), str(rows), str(tmp_path / "out.parquet")]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, have_run(folder)) == (0, {}), done.stderr
    looked = done.stdout.split("\n")
    assert str(place) in looked
    assert str(folder) not in looked
    assert pq.read_metadata(tmp_path / "out.parquet").num_rows == N


def test_workers_look_in_the_current_folder_where_the_program_that_asks_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", ["/elsewhere", "/script"])
    places = _Places()
    places.extend(["/script", str(tmp_path)])
    assert places == ["/script"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", "/elsewhere"])  # a notebook
    places.extend([os.getcwd()])
    assert places == ["/script", os.getcwd()]


def test_the_handler_that_ray_leaves_behind_is_replaced_by_that_of_the_user() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with keeping_signals():
        signal.signal(signal.SIGTERM, lambda *_: None)
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_cluster_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(*_: Any, **__: Any) -> None:
        raise ConnectionError("Could not find any running Ray instance.")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    with pytest.raises(nf.InputError, match=r"address='10\.0\.0\.1:6379', where no cluster answers"):
        RayExecutor("10.0.0.1:6379")
    with pytest.raises(nf.NewfoundError, match="Ray could not be started on this machine: ConnectionError"):
        RayExecutor()


def _square(n: int) -> int:
    if n < 0:
        raise nf.InputError.of("n", n, "a number of at least 0")
    return n * n


def _square_later(n: int) -> int:
    time.sleep(0.2)
    return n * n


@pytest.mark.slow
@pytest.mark.parametrize("make", [small, pbn])
def test_one_worker_and_two_agree(make: Any, rows: Path) -> None:
    two = fit_on_ray(make(), rows, "kind", n_workers=2, batches_per_step=4)
    alone = fit_on_ray(make(), rows, "kind", n_workers=1, batches_per_step=4)
    other = [nf.read_table(path) for path in sorted(rows.iterdir())]
    for table in other:
        np.testing.assert_allclose(alone.predict_proba(table), two.predict_proba(table), atol=1e-4)
    assert alone.labels_.tolist() == two.labels_.tolist()
