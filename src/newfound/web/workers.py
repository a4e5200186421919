"""Processes that do the work: the server only hands it out, and stays quick."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from newfound.plain import printable
from newfound.processes import environment_elsewhere
from newfound.web.limits import Limits
from newfound.web.problems import OURS

Told = Callable[[dict[str, Any]], None]

_LONGEST_LINE = 64 << 20
_PATIENCE = 5.0  # seconds for a process that was killed to be gone
_KILLED = -9
_LONGEST_REASON = 300
_TAIL = 4096  # bytes of the log in which its last line is looked for


class WorkerError(Exception):
    """A task failed; ``problem`` is what the page is told, ``is_ours`` whether it is a mistake of newfound's."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(problem["message"])
        self.problem, self.is_ours = problem, problem["message"] == OURS


class WorkerLostError(Exception):
    """The process of a task is gone, or took too long and was ended."""


class NotStartedError(WorkerLostError):
    """The process of a task ended before it was ready; the error says why, in a line for the page."""


class Worker:
    """A process that takes one task at a time, and says how it is going on.

    It ends with the server, however that ends: it reads its tasks from a pipe, and the end of that is its own.
    """

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process, self._log = process, log
        self._numbers = itertools.count(1)
        self._is_ready = False

    @classmethod
    async def start(cls, limits: Limits, log: Path) -> Worker:
        """Start a process in the folder of its log, which has what libraries print, and errors in full.

        Whatever lies in the folder from which the server was started is none of its business.
        """
        environment = {**environment_elsewhere(), "PYTHONUNBUFFERED": "1"}
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            environment[name] = "1"
        with log.open("ab") as stream:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "newfound.web.worker",
                "0" if limits.memory is None else str(limits.memory),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stream,
                env=environment,
                cwd=log.parent,
                limit=_LONGEST_LINE,
                start_new_session=True,  # Ctrl-C is for the server, which ends its workers itself
            )
        return cls(process, log)

    @property
    def is_alive(self) -> bool:
        """Whether the process is there."""
        return self._process.returncode is None

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    async def ask(self, task: str, timeout: float, told: Told | None = None, /, **arguments: Any) -> Any:
        """Have a task done.

        Parameters
        ----------
        task : str
        timeout : float
            Seconds after which the process is killed.
        told : callable, optional
            Called with what the task says while it goes on.
        **arguments
            Of the task, JSON-able.

        Returns
        -------
        object
            JSON-able.

        Raises
        ------
        WorkerError
            Where the task fails; where that was for want of memory, the process is gone as well.
        WorkerLostError
            Where the process ends, or takes too long; NotStartedError where it never was ready.
        """
        try:
            return await asyncio.wait_for(self._ask(task, told, arguments), timeout)
        except TimeoutError:
            await self.kill()
            raise WorkerLostError("timeout") from None
        except asyncio.CancelledError:
            await self.kill()  # it is in the middle of something
            raise

    async def _ask(self, task: str, told: Told | None, arguments: dict[str, Any]) -> Any:
        number = next(self._numbers)
        line = json.dumps({"number": number, "task": task, "arguments": arguments})
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            await self._process.stdin.drain()
            while answer := await self._process.stdout.readline():
                content = json.loads(answer)
                self._is_ready = True
                if content.get("number") != number:
                    continue
                if "told" in content:
                    if told is not None:
                        told(content["told"])
                elif "problem" in content:
                    if content["spent"]:  # what it has left would not do for the next task, and libraries may hang
                        await self.kill()
                    raise WorkerError(content["problem"])
                else:
                    return content["answer"]
        except (ConnectionError, ValueError):
            pass
        reason = None if self._is_ready else await self._why_not_started()
        await self.kill()
        raise WorkerLostError("gone") if reason is None else NotStartedError(reason)

    async def _why_not_started(self) -> str | None:
        """Say why the process ended as it began; None where it was killed, as systems do that are out of memory."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _PATIENCE)
        code = self._process.returncode
        if code is None or code == _KILLED:
            return None
        reason = _last_line(self._log) if code > 0 else f"it ended with signal {-code} ({signal.strsignal(-code)})"
        return f"The process that does the work could not be started: {reason}."

    async def kill(self) -> None:
        """End the process at once."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _PATIENCE)


def _last_line(log: Path) -> str:
    """Return the last line of a log, where Python says what the error was."""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
        lines = file.read().decode(errors="replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "its log is empty")
    return " ".join(printable(last).split())[:_LONGEST_REASON].rstrip(".")


class Desk:
    """A worker for short tasks, one after the other, which keeps what it has read.

    It is started anew where it is lost.
    """

    def __init__(self, limits: Limits, log: Path) -> None:
        self._limits, self._log = limits, log
        self._worker: Worker | None = None
        self._turn = asyncio.Lock()

    async def warm_up(self) -> None:
        """Start the process before anybody needs it."""
        async with self._turn:
            await self._alive()

    async def ask(self, task: str, /, **arguments: Any) -> Any:
        """Have a task done; see `Worker.ask`."""
        async with self._turn:
            worker = await self._alive()
            return await worker.ask(task, self._limits.desk_seconds, **arguments)

    async def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            await self._worker.kill()

    async def _alive(self) -> Worker:
        if self._worker is None or not self._worker.is_alive:
            self._worker = await Worker.start(self._limits, self._log)
        return self._worker
