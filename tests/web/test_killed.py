"""Whatever is killed: what was finished stays, and what was not says so."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient

from newfound.errors import InputError
from newfound.web.curating import Curated
from newfound.web.problems import OUT_OF_MEMORY, is_of_memory, plain_problem
from newfound.web.records import write_json
from newfound.web.store import RESULT, Store
from tests.processes import is_alive, wait_for
from tests.web.conftest import LIMITS, client_of, ended, uploaded
from tests.web.served import answers, started

SLOW = {"target": "fruit", "method": "tabular_ncd", "settings": {"epochs": 1000, "n_members": 50}}
QUICK = {"target": "fruit", "method": "ncd_kmeans", "n_novel_classes": 3}


def is_working(client: Any, run: str) -> bool:
    return client.get(f"/api/runs/{run}").json()["share_done"] > 0


def test_a_worker_that_is_killed_is_told_on_its_run_alone(client: TestClient, orchard: dict[str, Any]) -> None:
    jobs = client.app.state.bench.jobs  # type: ignore[attr-defined]
    before = {run["id"]: run["status"] for run in client.get("/api/runs").json()}
    run = client.post("/api/runs", json={"table": orchard["id"], **SLOW}).json()["id"]
    wait_for(lambda: is_working(client, run))
    os.kill(jobs.processes[run], signal.SIGKILL)
    found = ended(client, run)
    assert found["status"] == "failed"
    assert "ended unexpectedly" in found["error"]["message"]
    after = {one["id"]: one["status"] for one in client.get("/api/runs").json()}
    assert {name: after[name] for name in before} == before
    assert client.delete(f"/api/runs/{run}").status_code == 204


def test_a_store_knows_after_a_kill_what_was_finished(tmp_path: Path) -> None:
    store = Store(tmp_path)
    table, path = store.new_table("a.csv", ".csv")
    path.write_text("x\n1\n")
    store.finish_table(table, 4, {"n_rows": 1})
    begun, _ = store.new_table("never came.csv", ".csv")
    runs = [store.new_run("discovery", table, f"run {i}", {"seed": i}, None) for i in range(4)]
    for run, status in zip(runs, ("done", "running", "queued", "running"), strict=True):
        store.change_run(run["id"], status=status)
    (runs[3]["folder"] / RESULT).mkdir()  # it ended, and the server did not live to hear of it
    write_json(runs[3]["folder"] / RESULT / "run.json", {"n_novel_classes": 2})
    (tmp_path / "runs" / "ffffffffffffffff").mkdir()
    again = Store(tmp_path)
    assert [again.run(run["id"])["status"] for run in runs] == ["done", "interrupted", "interrupted", "done"]  # type: ignore[index]
    assert again.run(runs[3]["id"])["facts"] == {"n_novel_classes": 2}  # type: ignore[index]
    assert again.table(table) is not None
    assert again.table(begun) is None
    assert sorted(one.name for one in (tmp_path / "tables").iterdir()) == [table]
    assert not (tmp_path / "runs" / "ffffffffffffffff").exists()


def test_undone_steps_are_forgotten_and_no_revision_returns(tmp_path: Path) -> None:
    curated = Curated(tmp_path)
    for name in ("a", "b"):
        curated.add({"action": "accept", "name": name, "accepted": True})
    assert Curated(tmp_path).move(-1)
    after = Curated(tmp_path)
    assert (after.revision, after.undo, after.redo) == (1, "accept a", "accept b")
    after.add({"action": "split", "name": "c", "parts": 2})
    last = Curated(tmp_path)
    assert (last.revision, last.undo, last.redo) == (3, "split c", None)
    assert not last.move(1)


@contextlib.contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """Start a workbench, and wait until it answers a client."""
    with (
        started(folder) as (process, address),
        httpx.Client(base_url=address, headers={"X-Newfound": "1"}, timeout=60) as client,
    ):
        wait_for(lambda: answers(client), process=process)
        yield process, client


def children(process: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    return [int(one) for one in found.stdout.split()]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_a_server_that_is_killed_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    with served(tmp_path) as (process, client):
        table = client.post("/api/tables/example", json={"name": "orchard"}).json()["id"]
        done = ended(client, client.post("/api/runs", json={"table": table, **QUICK}).json()["id"])["id"]
        client.post(f"/api/runs/{done}/curation", json={"action": "rename", "names": {"novel_0": "fig"}})
        labels = client.get(f"/api/runs/{done}/export/labels").content
        assert b"fig" in labels
        cut = client.post("/api/runs", json={"table": table, **SLOW}).json()["id"]
        waiting = client.post("/api/runs", json={"table": table, **QUICK}).json()["id"]
        wait_for(lambda: is_working(client, cut))
        workers = children(process.pid)
        assert workers
        process.kill()
    wait_for(lambda: not any(is_alive(one) for one in workers))
    with served(tmp_path) as (_, client):
        status = {run["id"]: run["status"] for run in client.get("/api/runs").json()}
        assert status == {done: "done", cut: "interrupted", waiting: "interrupted"}
        assert client.get(f"/api/runs/{done}/export/labels").content == labels
        assert client.get(f"/api/runs/{done}/classes").json()["undo"] == "rename novel_0 to fig"
        assert client.post(f"/api/runs/{waiting}/again").json()["status"] == "queued"
        assert ended(client, waiting)["status"] == "done"
        assert client.post(f"/api/runs/{cut}/again").json()["status"] == "queued"
        wait_for(lambda: is_working(client, cut))
        assert client.post(f"/api/runs/{cut}/cancel").json()["status"] == "cancelled"


@pytest.mark.slow
def test_a_run_ends_where_it_takes_too_long(tmp_path: Path, orchard_file: bytes) -> None:
    with client_of(tmp_path, limits=replace(LIMITS, seconds=8.0)) as client:
        table = uploaded(client, orchard_file, "orchard.csv").json()["id"]
        found = ended(client, client.post("/api/runs", json={"table": table, **SLOW}).json()["id"])
        assert found["status"] == "failed"
        assert "longer than the 8 seconds" in found["error"]["message"]


def wide_file() -> bytes:
    """A table that is read in a few megabytes, and whose training takes hundreds."""
    cells = np.random.default_rng(0).integers(0, 1_000, (4_000, 150)).tolist()
    head = [f"c{j}" for j in range(150)]
    rows = [[*row, "abc"[i % 3] if i % 2 else ""] for i, row in enumerate(cells)]
    return "\n".join(",".join(map(str, row)) for row in [[*head, "kind"], *rows]).encode()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited there alone")
def test_a_run_that_takes_too_much_memory_says_so_and_touches_nothing_else(tmp_path: Path, orchard_file: bytes) -> None:
    with client_of(tmp_path, limits=replace(LIMITS, memory=192 << 20, running=2)) as client:
        small = uploaded(client, orchard_file, "orchard.csv").json()["id"]
        wide = uploaded(client, wide_file(), "wide.csv").json()["id"]
        other = client.post("/api/runs", json={"table": small, **SLOW}).json()["id"]
        wait_for(lambda: is_working(client, other))
        jobs = client.app.state.bench.jobs  # type: ignore[attr-defined]
        greedy = client.post("/api/runs", json={"table": wide, **SLOW, "target": "kind", "n_novel_classes": 3}).json()[
            "id"
        ]
        wait_for(lambda: greedy in jobs.processes)
        process = jobs.processes[greedy]
        found = ended(client, greedy)
        assert (found["status"], found["error"]) == ("failed", plain_problem(OUT_OF_MEMORY))
        wait_for(lambda: not is_alive(process))  # what it has left would not do for the next run
        before = client.get(f"/api/runs/{other}").json()
        assert before["status"] == "running"
        quick = ended(client, client.post("/api/runs", json={"table": small, **QUICK}).json()["id"])
        assert quick["status"] == "done", quick
        wait_for(lambda: client.get(f"/api/runs/{other}").json()["n_epochs"] > before["n_epochs"])
        assert client.post(f"/api/runs/{other}/cancel").json()["status"] == "cancelled"


def test_errors_for_want_of_memory_are_known_by_what_raised_them() -> None:
    """A worker that had one is not used again, also where the message is that of a reader."""
    assert is_of_memory(MemoryError())
    assert is_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory"))
    assert not is_of_memory(RuntimeError("of another kind"))
    reading = InputError("There is not enough memory to read this.")
    reading.__context__ = MemoryError()
    assert is_of_memory(reading)
