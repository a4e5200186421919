"""Make the most of the machine while training small networks, and leave it as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_SMALL = 1 << 18  # numbers in the largest tensor of a step up to which one thread is as fast as several
_BLOCK = 30 * 1024 * 1024


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute in one thread: small tables gain little from more, which can be far slower on a busy machine."""
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def prepared_for(largest_tensor: int, device: torch.device) -> Iterator[None]:
    """Train within this: one thread where tensors are small, and memory that is kept rather than returned.

    Threads that wait for each other cost more than they save on small tensors, and stall altogether when another
    process holds their core.

    Parameters
    ----------
    largest_tensor : int
        Numbers in the largest tensor of a training step.
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
    if largest_tensor <= _SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
