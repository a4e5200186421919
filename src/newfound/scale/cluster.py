"""A cluster of Ray: one that is started for the moment, or one that is there already."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from typing import Any, Self, TypeVar

from newfound.discoverers.parameters import check_real
from newfound.errors import InputError, NewfoundError
from newfound.extras import load_extra

T = TypeVar("T")

_PURPOSE = "Work on many machines"
_WIDTH = 300  # of what a message quotes


@contextmanager
def cluster(address: str | None = None) -> Iterator[Any]:
    """Connect to a cluster, and return the module `ray`.

    Parameters
    ----------
    address : str or None
        Such as "auto" or "ray://head:10001". None starts a cluster of this machine alone, which ends with the context.
        Where this process has called ``ray.init`` before, that cluster is used in any case, and left as it is.

    Raises
    ------
    InputError
        If there is no cluster at the address.
    NewfoundError
        If none could be started here, or work on it failed.
    MissingExtraError
        If Ray is not installed.
    """
    if address is not None and not isinstance(address, str):
        raise InputError.of("address", address, "None, or the address of a cluster such as 'ray://head:10001'")
    ray = load_extra("ray", _PURPOSE)
    if ray.is_initialized():
        with _one_line_errors(ray):
            yield ray
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to anybody
    settings: dict[str, Any] = {"include_dashboard": False} if address is None else {}
    reached = os.environ.get("RAY_ADDRESS", "") if address == "auto" else address or ""  # as Ray takes it
    if "://" not in reached:  # otherwise Ray sends no folder of ours, and takes no such settings
        settings["job_config"] = job = ray.job_config.JobConfig()
        job._py_driver_sys_path = _Places()
    with keeping_signals():
        try:
            ray.init(address or "local", logging_level=logging.ERROR, log_to_driver=False, **settings)
        except Exception as error:  # Ray raises this very class where a machine is too busy to start it
            ray.shutdown()
            if address is None:
                raise NewfoundError(f"Ray could not be started on this machine: {one_line(error)}.") from error
            problem = f"where no cluster answers ({one_line(error)})"
            raise InputError.of("address", address, problem=problem) from error
        try:
            with _one_line_errors(ray):
                yield ray
        finally:
            ray.shutdown()


class _Places(list[str]):
    """Folders in which workers look for modules: those to which Ray adds the one of the script, and the current one.

    The current one is left out where this process does not look there either: its files may be anybody's.
    """

    def extend(self, places: Iterable[str]) -> None:
        """Add folders in which this process looks for modules."""
        looked = {os.path.abspath(place) for place in sys.path}
        super().extend(place for place in places if place in looked)


@contextmanager
def keeping_signals() -> Iterator[None]:
    """Put back what this process does when it is asked to end: Ray sets a handler of its own, and leaves it there."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextmanager
def _one_line_errors(ray: Any) -> Iterator[None]:
    """Raise what a task raised, rather than what Ray makes of it."""
    try:
        yield
    except ray.exceptions.RayError as error:
        cause = cause_of(error)
        if isinstance(cause, NewfoundError):
            cause.args = (str(cause).partition("\n")[0], *cause.args[1:])  # Ray adds advice of its own
            raise cause from None
        raise NewfoundError(f"The work on Ray failed: {one_line(cause)}.") from error


def cause_of(error: BaseException) -> BaseException:
    """Return what an error of Ray was made of."""
    cause = getattr(error, "cause", None)
    return cause_of(cause) if isinstance(cause, BaseException) else error


def one_line(error: BaseException) -> str:
    """Spell an error in one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


class RayExecutor(Executor):
    """Runs functions as tasks of a cluster; an executor as those of ``concurrent.futures``.

    Seeds, candidates, settings of `newfound.tune` or anything else that takes its time runs side by side. A task whose
    process or machine is lost is run again on another one.

    Parameters
    ----------
    address : str or None, default=None
        Such as "auto" or "ray://head:10001". None starts a cluster of this machine alone, which ends with the executor.
        Where this process has called ``ray.init`` before, that cluster is used in any case.
    n_cpus, n_gpus : float, default=1, 0
        What each task takes of the machine it runs on.

    Examples
    --------
    >>> from newfound.scale import RayExecutor
    >>> with RayExecutor() as machines:  # doctest: +SKIP
    ...     fitted = list(machines.map(lambda seed: TabularNCD(3, random_state=seed).fit(X, y), range(10)))
    """

    def __init__(self, address: str | None = None, *, n_cpus: float = 1, n_gpus: float = 0) -> None:
        resources = {"num_cpus": check_real("n_cpus", n_cpus, low=0), "num_gpus": check_real("n_gpus", n_gpus, low=0)}
        self._cluster = cluster(address)
        self._ray = self._cluster.__enter__()
        self._task = self._ray.remote(_call).options(**resources)
        self._pending: set[Future[Any]] = set()
        self._is_open = True

    @property
    def n_workers(self) -> int:
        """How many tasks the processors of the cluster can run at once."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run a function with some arguments; returns a future."""
        if not self._is_open:
            raise RuntimeError("The executor was shut down.")
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)

        def pass_on(done: Future[T]) -> None:
            error = done.exception()
            with suppress(InvalidStateError):  # the executor was shut down in between
                if error is None:
                    future.set_result(done.result())
                    return
                cause = cause_of(error)
                told = cause if cause is not error else NewfoundError(f"A task failed: {one_line(error)}.")
                future.set_exception(told)

        self._task.remote(fn, args, kwargs).future().add_done_callback(pass_on)
        return future

    def map(
        self, fn: Callable[..., T], *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[T]:
        """Run a function for each item; returns the results in order. What the function holds is sent only once."""
        return super().map(self._ray.put(fn), *iterables, timeout=timeout, chunksize=chunksize)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the cluster if it was started for this executor, by default after all that was submitted has ended.

        With such a cluster ends what is not waited for, and its future raises CancelledError.
        """
        if not self._is_open:
            return
        self._is_open = False
        pending = list(self._pending)
        try:
            if wait and not cancel_futures:
                wait_for(pending)
        finally:
            self._cluster.__exit__(None, None, None)
            if not self._ray.is_initialized():
                for future in pending:
                    with suppress(InvalidStateError):  # it has ended
                        future.set_exception(CancelledError("The executor was shut down."))

    def __enter__(self) -> Self:
        return self


def _call(function: Callable[..., T], arguments: tuple[Any, ...], named: dict[str, Any]) -> T:
    return function(*arguments, **named)
