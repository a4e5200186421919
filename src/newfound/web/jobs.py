"""Runs that wait, work and end: so many at a time, each in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from newfound.web.limits import Limits
from newfound.web.problems import plain_problem
from newfound.web.records import Record
from newfound.web.store import Store, result_of
from newfound.web.workers import NotStartedError, Worker, WorkerError, WorkerLostError

_SURE_FROM = 0.05  # share that must be done before the time left is told
_MOST_EPOCHS = 2_000

CRASHED = (
    "The process of this run ended unexpectedly: it may have run out of memory, or somebody has ended it. Start it "
    "again, or use a smaller table."
)


@dataclass
class Progress:
    """How far a run is, as long as it works."""

    phase: str = "Starting"
    share: float = 0.0
    started: float = field(default_factory=time.monotonic)
    epochs: list[dict[str, Any]] = field(default_factory=list)

    def hear(self, told: dict[str, Any]) -> None:
        """Take up what the worker says."""
        self.phase = told.get("phase", self.phase)
        self.share = max(self.share, told.get("share", 0.0))
        if "epoch" in told and len(self.epochs) < _MOST_EPOCHS:
            self.epochs.append(told["epoch"])

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float | None:
        """Time that it may take still, by the speed so far."""
        return None if self.share < _SURE_FROM else self.seconds * (1 - self.share) / self.share


async def _itself(worker: Worker) -> Worker:
    return worker


class Jobs:
    """Starts runs in turn, listens to them, and keeps what became of them.

    A worker is started before it is needed, so that no run waits for its imports.

    Attributes
    ----------
    progress : dict of str to Progress
        Of the runs that work.
    processes : dict of str to int
        Numbers of their processes.
    """

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store, self._limits = store, limits
        self._waiting: deque[str] = deque()
        self._working: dict[str, asyncio.Task[None]] = {}
        self.progress: dict[str, Progress] = {}
        self._spare: asyncio.Task[Worker] | None = None
        self._cancelled: set[str] = set()
        self.processes: dict[str, int] = {}

    @property
    def n_waiting(self) -> int:
        """Runs that wait for their turn."""
        return len(self._waiting)

    def warm_up(self) -> None:
        """Have a worker ready for the next run."""
        if self._spare is None:
            self._spare = asyncio.create_task(Worker.start(self._limits, self._store.folder / "workers.log"))

    def add(self, run: str) -> None:
        """Have a run done when its turn comes."""
        self._waiting.append(run)
        self._go_on()

    async def cancel(self, run: str) -> None:
        """End a run that waits or works."""
        if run in self._waiting:
            self._waiting.remove(run)
            self._store.change_run(run, status="cancelled", finished=time.time())
            return
        task = self._working.get(run)
        if task is not None:
            self._cancelled.add(run)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def close(self) -> None:
        """End all workers; their runs were interrupted, and so were those that wait."""
        self._waiting.clear()
        for task in list(self._working.values()):
            task.cancel()
        await asyncio.gather(*self._working.values(), return_exceptions=True)
        if self._spare is not None:
            with contextlib.suppress(OSError):
                await (await self._spare).kill()

    def _go_on(self) -> None:
        while self._waiting and len(self._working) < self._limits.running:
            run = self._waiting.popleft()
            task = asyncio.create_task(self._work(run))
            self._working[run] = task
            task.add_done_callback(functools.partial(self._ended, run))

    def _ended(self, run: str, _: asyncio.Task[None]) -> None:
        self._working.pop(run, None)
        self.progress.pop(run, None)
        self.processes.pop(run, None)
        self._cancelled.discard(run)
        self._go_on()

    async def _work(self, id_: str) -> None:
        run = self._store.run(id_)
        table = None if run is None else self._store.table(run["table_id"])
        if run is None or table is None:
            return
        self.progress[id_] = progress = Progress()
        self._store.change_run(id_, status="running", started=time.time())
        ending: dict[str, Any] = {"status": "interrupted"}
        worker = None
        try:
            worker = await self._ready()
            self.processes[id_] = worker.pid
            ending = await self._outcome(worker, run, table, progress)
        except asyncio.CancelledError:
            if id_ in self._cancelled:
                ending = {"status": "cancelled"}
        except OSError:
            ending = {"status": "failed", "error": plain_problem("No process could be started for this run.")}
        finally:
            self._store.change_run(id_, finished=time.time(), **ending)
            if worker is not None:
                await self._let_go(worker)

    async def _ready(self) -> Worker:
        """Take the worker that is ready, or start one."""
        self.warm_up()
        assert self._spare is not None
        spare, self._spare = self._spare, None
        try:
            worker = await asyncio.shield(spare)
        except asyncio.CancelledError:
            self._spare = spare
            raise
        return worker if worker.is_alive else await Worker.start(self._limits, self._store.folder / "workers.log")

    async def _let_go(self, worker: Worker) -> None:
        """Keep a worker that has ended its task for the next one; there is at most one that is kept."""
        if worker.is_alive and self._spare is None:
            self._spare = asyncio.create_task(_itself(worker))
        else:
            await worker.kill()

    async def _outcome(self, worker: Worker, run: Record, table: Record, progress: Progress) -> dict[str, Any]:
        task = "update" if run["kind"] == "update" else "discover"
        try:
            facts = await worker.ask(
                task,
                self._limits.seconds,
                progress.hear,
                folder=str(run["folder"]),
                path=str(table["path"]),
                name=table["name"],
                options=run["options"],
            )
        except WorkerError as error:
            return {"status": "failed", "error": error.problem}
        except NotStartedError as reason:
            return {"status": "failed", "error": plain_problem(str(reason))}
        except WorkerLostError as lost:
            found = result_of(run["folder"])
            if found is not None:
                return {"status": "done", "facts": found}
            if lost.args == ("timeout",):
                message = f"This run took longer than the {self._limits.seconds:,.0f} seconds that a run may take."
                return {"status": "failed", "error": plain_problem(message)}
            return {"status": "failed", "error": plain_problem(CRASHED)}
        return {"status": "done", "facts": facts, "error": None}
