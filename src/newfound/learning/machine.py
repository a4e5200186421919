"""Make the most of the machine, and leave it as it was.

Threads of one product wait for each other, and they wait by spinning. Where another process holds a core, a spinning
thread waits for one that does not run, at every product: a training of small networks then takes ten times as long and
more. So several threads are used only where a product is large enough to be worth the waiting.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch

_LARGE_PRODUCT = 1 << 28  # multiplications in one product of a training step
_LARGE_TABLE = 1 << 34  # multiplications in the distances between all rows of a table
_POOL = 1 << 15  # rows among which neighbours are sought at a time
_BLOCK = 30 * 1024 * 1024


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute in one thread, in torch as in NumPy and scikit-learn."""
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


def threads_for_table(n_rows: int, n_columns: int) -> Any:
    """Return the context in which a table of this size is to be worked on: one thread unless it is large."""
    distances = n_rows * min(n_rows, _POOL) * n_columns
    return one_thread() if distances < _LARGE_TABLE else nullcontext()


@contextmanager
def prepared_for(largest_product: int, device: torch.device) -> Iterator[None]:
    """Train within this: one thread unless products are large, and memory that is kept rather than returned.

    Parameters
    ----------
    largest_product : int
        Multiplications in the largest product of matrices of a training step.
    device : torch.device
        Nothing is done for a device other than the CPU.
    """
    if device.type != "cpu":
        yield
        return
    # Freeing one large block teaches the C library's allocator to keep blocks up to that size. Otherwise the temporary
    # tensors of every step are returned to the system and faulted in anew, a sixth of the time with ten members.
    torch.empty(_BLOCK, dtype=torch.uint8)
    threads = torch.get_num_threads()
    if largest_product < _LARGE_PRODUCT:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
