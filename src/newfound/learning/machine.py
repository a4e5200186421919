"""Make the most of the machine, and leave it as it was.

Threads of one product wait for each other, and they wait by spinning. Where another process holds a core, a spinning
thread waits for one that does not run, at every product: a training of small networks then takes ten times as long and
more. So several threads are used only where a product is large enough to be worth the waiting.

Numbers of threads belong to the whole process, at least in part: BLAS has one number, and torch gives the number that
was set last to every thread that starts. The precision of a GPU's products belongs to the whole process as well. Where
several threads fit at once, none of them can set back what it found, as another may have set that. So the first to come
remembers what all of them set back.

A process that forks has its threads to itself: the child gets none of them, but the libraries take them for alive and
wait for them without end. So a forked child computes in one thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import torch

_LARGE_PRODUCT = 1 << 28  # multiplications in one product of a training step
_LARGE_TABLE = 1 << 34  # multiplications in the distances between all rows of a table
_POOL = 1 << 15  # rows among which neighbours are sought at a time
_BLOCK = 30 * 1024 * 1024


class _Shared:
    """What the first of several threads finds, kept until the last of them is done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_users = 0
        self._found: Any = None

    def first(self, find: Callable[[], Any]) -> Any:
        """Come in; only the first to come has to find."""
        with self._lock:
            if not self._n_users:
                self._found = find()
            self._n_users += 1
            return self._found

    @property
    def found(self) -> Any:
        """What the first has found; None where nobody is in."""
        with self._lock:
            return self._found if self._n_users else None

    def last(self, put_back: Callable[[Any], None] | None = None) -> None:
        """Go; only the last to go has to put anything back."""
        with self._lock:
            self._n_users = max(0, self._n_users - 1)  # a forked child may leave what only its parent has entered
            if not self._n_users and put_back is not None and self._found is not None:
                put_back(self._found)


_TORCH, _BLAS, _PRECISION = _Shared(), _Shared(), _Shared()
_HERE = threading.local()  # whether this very thread has set torch to one thread already


def _begin_in_forked_child() -> None:
    """Use one thread from now on, and forget what threads of the parent were doing, which may have held the locks."""
    global _TORCH, _BLAS, _PRECISION, _HERE
    from threadpoolctl import threadpool_limits

    _TORCH, _BLAS, _PRECISION, _HERE = _Shared(), _Shared(), _Shared(), threading.local()
    torch.set_num_threads(1)
    threadpool_limits(limits=1, user_api="openmp")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_forked_child)


@contextmanager
def _one_torch_thread() -> Iterator[None]:
    if getattr(_HERE, "has_one", False):
        yield
        return
    here = torch.get_num_threads()  # asked in every thread: torch sets a new thread's number when it is first asked for
    threads = _TORCH.first(lambda: here)
    torch.set_num_threads(1)
    _HERE.has_one = True
    try:
        yield
    finally:
        _HERE.has_one = False
        torch.set_num_threads(threads)  # in every thread: each has a number of its own as well
        _TORCH.last()


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute in one thread, in torch as in NumPy and scikit-learn."""
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController()
    blas, openmp = (libraries.select(user_api=kind) for kind in ("blas", "openmp"))
    _BLAS.first(lambda: blas.limit(limits=1))
    try:
        with _one_torch_thread(), openmp.limit(limits=1):
            yield
    finally:
        _BLAS.last(lambda limits: limits.restore_original_limits())


def threads_for_table(n_rows: int, n_columns: int) -> Any:
    """Return the context in which a table of this size is to be worked on: one thread unless it is large."""
    distances = n_rows * min(n_rows, _POOL) * n_columns
    return one_thread() if distances < _LARGE_TABLE else nullcontext()


def in_parallel(work: Callable[[slice], None], parts: Sequence[slice]) -> None:
    """Do parts that have nothing to do with each other, in as many threads as the user allows, each computing in one.

    Nobody waits for anybody before the end, so a busy core costs no more than its share. The calling thread works too.
    """
    n_threads = min(threads_of_user(), len(parts))
    if n_threads < 2:
        for part in parts:
            work(part)
        return
    left, lock, stopped = iter(parts), threading.Lock(), threading.Event()

    def run() -> None:
        try:
            while not stopped.is_set():
                with lock:
                    part = next(left, None)
                if part is None:
                    return
                work(part)
        except BaseException:
            stopped.set()
            raise

    with one_thread(), ThreadPoolExecutor(n_threads - 1) as pool:
        others = [pool.submit(run) for _ in range(n_threads - 1)]
        run()
        for other in others:
            other.result()


def threads_of_user() -> int:
    """Return how many threads torch may use, also where it was set to one here."""
    threads: int | None = _TORCH.found
    return torch.get_num_threads() if threads is None else threads


@contextmanager
def _tensor_cores() -> Iterator[None]:
    _PRECISION.first(torch.get_float32_matmul_precision)
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        _PRECISION.last(torch.set_float32_matmul_precision)


@contextmanager
def prepared_for(largest_product: int, device: torch.device) -> Iterator[None]:
    """Train within this: one thread unless products are large, and memory that is kept rather than returned.

    On a GPU products have TF32 precision: ten bits of each factor's mantissa, summed in single precision.

    Parameters
    ----------
    largest_product : int
        Multiplications in the largest product of matrices of a training step.
    device : torch.device
    """
    if device.type != "cpu":
        with _tensor_cores():
            yield
        return
    # Freeing one large block teaches the C library's allocator to keep blocks up to that size. Otherwise the temporary
    # tensors of every step are returned to the system and faulted in anew, a sixth of the time with ten members.
    torch.empty(_BLOCK, dtype=torch.uint8)
    with _one_torch_thread() if largest_product < _LARGE_PRODUCT else nullcontext():
        yield
