"""Processes that measure side by side: none of them can take the others, or the results, with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from newfound.errors import NewfoundError, TrainingInterrupted
from newfound.processes import without_current_folder

__all__ = ["Outcome", "outcome_of", "outcomes", "outcomes_in"]

Work = TypeVar("Work")

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """How a piece of work ended.

    Attributes
    ----------
    value : Any
        What it returned; None where it failed.
    error : str
        Why it failed, in one line; empty where it did not.
    trace : str
        The traceback, where the failure is neither a NewfoundError nor the end of a process.
    users_mistake : bool
        Whether it failed with a NewfoundError.
    seconds : float
        How long it took.
    """

    value: Any = None
    error: str = ""
    trace: str = ""
    users_mistake: bool = False
    seconds: float = 0.0


def outcome_of(call: Callable[[Work], Any], work: Work) -> Outcome:
    """Do a piece of work in this process and say how it ended; Ctrl-C goes through."""
    start = time.perf_counter()
    try:
        value = call(work)
    except TrainingInterrupted:
        raise KeyboardInterrupt from None
    except NewfoundError as error:
        outcome = Outcome(error=_one_line(str(error)), users_mistake=True)
    except Exception as error:
        outcome = Outcome(error=_one_line(f"{type(error).__name__}: {error}"), trace=traceback.format_exc())
    else:
        outcome = Outcome(value)
    return replace(outcome, seconds=time.perf_counter() - start)


def outcomes(
    call: Callable[[Work], Any], works: Iterable[Work], n_workers: int
) -> Generator[tuple[Work, Outcome], None, None]:
    """Do pieces of work in processes of one thread each; yields every piece as soon as it has ended.

    A process that dies fails the one piece that it had, and a new process takes its place. All processes end with this
    iterator, and also when the process that goes through it is killed.

    Parameters
    ----------
    call : function
        Named at the top of a module, where a new process can find it.
    works : iterable
        Begun in this order.
    n_workers : int
        At most so many processes.

    Yields
    ------
    work, outcome
    """
    waiting = iter(works)
    busy: dict[Any, _Worker[Work]] = {}
    try:
        for work in islice(waiting, n_workers):
            worker = _Worker(call, work)
            busy[worker.connection] = worker
        while busy:
            for connection in wait(list(busy)):
                worker = busy[connection]
                work, outcome = worker.work, worker.outcome()
                del busy[connection]
                for following in islice(waiting, 1):
                    successor = worker if worker.give(following) else _Worker(call, following)
                    busy[successor.connection] = successor
                if worker.connection not in busy:
                    worker.stop()
                yield work, outcome
    finally:
        for worker in busy.values():
            worker.stop()


def outcomes_in(
    executor: Executor, call: Callable[[Work], Any], works: Iterable[Work]
) -> Generator[tuple[Work, Outcome], None, None]:
    """Do pieces of work in an executor, such as that of a cluster; yields every piece as soon as it has ended."""
    futures = {executor.submit(outcome_of, call, work): work for work in works}
    try:
        for future in as_completed(futures):
            error = future.exception()  # that the process of a piece ended
            yield futures[future], future.result() if error is None else Outcome(error=_one_line(str(error)))
    finally:
        for future in futures:
            future.cancel()


class _Worker(Generic[Work]):
    """A process with a piece of work."""

    def __init__(self, call: Callable[[Work], Any], work: Work) -> None:
        # spawned: a forked child would share torch's threads, and a CUDA device cannot be used in one
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _without_ctrl_c(), without_current_folder():
            self.process.start()
        theirs.close()  # otherwise the end of the process would not show at our end
        # sent and not passed to the process, which imports it only after its threads are set
        self._send(call)
        self.give(work)

    def give(self, work: Work) -> bool:
        """Hand over the next piece; False if the process is no more."""
        self.work, self._given = work, time.perf_counter()
        return self.process.is_alive() and self._send(work)

    def outcome(self) -> Outcome:
        """Receive how the piece ended; also when the process ended with it."""
        try:
            outcome = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            return Outcome(error=_end_of(self.process.exitcode), seconds=time.perf_counter() - self._given)
        assert isinstance(outcome, Outcome)
        return outcome

    def stop(self) -> None:
        """End the process at once, whatever it is doing: it has nothing that must be kept."""
        self.process.kill()
        self.process.join()
        self.connection.close()

    def _send(self, message: object) -> bool:
        try:
            self.connection.send(message)
        except OSError:
            return False
        return True


def _serve(connection: Connection) -> None:
    """Work until the other end closes; this is what runs in the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is answered by the process that started this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for variable in _THREAD_VARIABLES:
        os.environ[variable] = "1"
    try:
        call = connection.recv()
        while True:
            outcome = outcome_of(call, connection.recv())
            connection.send(outcome)
    except (EOFError, BrokenPipeError):
        return


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)  # in the middle of whatever it is: nobody waits for it


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Hold Ctrl-C back for a moment; a process started meanwhile never sees it, not even while it is starting."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_of(exitcode: int | None) -> str:
    if exitcode is None or exitcode >= 0:
        return f"Its process ended with exit code {exitcode}."
    if exitcode == -signal.SIGKILL:
        return "Its process was killed, perhaps because memory ran out; fewer --jobs need less of it."
    return f"Its process ended with signal {-exitcode} ({signal.strsignal(-exitcode)})."


def _one_line(text: str) -> str:
    return " ".join(text.split())
