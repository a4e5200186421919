from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from newfound.web.workers import Worker, WorkerError
from tests.web.conftest import LIMITS, OPTIONS, client_of, ended, uploaded

_TOLD = "The process that does the work could not be started: ImportError: torch is broken."


def in_a_thread(work: Coroutine[Any, Any, Any]) -> Any:
    """Run in a thread of its own: tests with a browser leave a loop running in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()


def break_torch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a module that cannot be imported before torch, for processes that are started from now on."""
    folder.mkdir()
    (folder / "torch.py").write_text("raise ImportError('torch is broken.')")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))


def test_a_worker_that_cannot_start_says_why(
    tmp_path: Path, orchard_file: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client_of(tmp_path / "work") as client:
        table = uploaded(client, orchard_file).json()
    break_torch(tmp_path / "broken", monkeypatch)
    with client_of(tmp_path / "work") as client:
        run = client.post("/api/runs", json={"table": table["id"], **OPTIONS}).json()
        found = ended(client, run["id"])
        assert (found["status"], found["error"]["message"]) == ("failed", _TOLD)
        refused = uploaded(client, orchard_file)
        assert (refused.status_code, refused.json()["error"]["message"]) == (503, _TOLD)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file that is always full")
def test_a_log_that_cannot_be_written_ends_no_worker() -> None:
    async def ask() -> None:
        worker = await Worker.start(LIMITS, Path("/dev/full"))
        try:
            await worker.ask("a task that there is not", 120)
        finally:
            await worker.kill()

    with pytest.raises(WorkerError, match="in newfound itself"):
        in_a_thread(ask())


def test_workers_have_the_work_folder_as_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    async def start(*command: str, **options: Any) -> None:
        started.append((command, options))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("asyncio.create_subprocess_exec", start)
    (tmp_path / "work").mkdir()
    in_a_thread(Worker.start(LIMITS, tmp_path / "work" / "workers.log"))
    [(command, options)] = started
    assert command[1:4] == ("-P", "-m", "newfound.web.worker")
    assert options["cwd"] == tmp_path / "work"
    assert options["env"]["PYTHONSAFEPATH"] == "1"
