"""Where a table is kept while a GPU trains on it: in the memory of the GPU where it fits, else in that of the host.

A table on the host is page-locked and has an address on the GPU as well. The kernels that pick the rows of a batch read
them from there, so no more than batches cross the bus, when they are needed, and nothing waits for the host. All else
is as with a table on the GPU: the same kernels and the same draws, and so the same networks to the bit.
"""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_SHARE = 0.5  # of the free memory that a table may take; networks, neighbours and batches need room as well


def fits(n_bytes: int, n_free: int) -> bool:
    """Whether a table of this size is kept on a GPU with so many free bytes."""
    return n_bytes <= _SHARE * n_free


def free_bytes(device: torch.device) -> int:
    """Bytes of a GPU that can be had: those nobody holds, and those that torch holds but does not use."""
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


def table_for(rows: NDArray[np.floating[Any]], device: torch.device) -> Tensor:
    """Make a table for the kernels of a device to read.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    device : torch.device

    Returns
    -------
    Tensor of shape (n, d), float32
    """
    if _stays_on_host(rows.shape, torch.float32, device):
        return _mapped(np.array(rows, dtype=np.float32, order="C"), device)
    return torch.as_tensor(rows, dtype=torch.float32, device=device)


def empty_for(shape: tuple[int, ...], like: Tensor) -> Tensor:
    """Make room for a table of a given shape, with the type of numbers and for the device of another tensor."""
    if _stays_on_host(shape, like.dtype, like.device):
        return _mapped(torch.empty(shape, dtype=like.dtype).numpy(), like.device)
    return like.new_empty(shape)


def _stays_on_host(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> bool:
    return device.type == "cuda" and not fits(math.prod(shape) * dtype.itemsize, free_bytes(device))


class _Mapped:
    """Memory of the host with an address on a GPU, as CUDA's array interface describes it."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, False),
            "strides": None,
            "version": 2,
        }


def _mapped(array: NDArray[Any], device: torch.device) -> Tensor:
    """Return a tensor of a GPU whose numbers stay where they are on the host; it must be contiguous.

    The array's own memory is page-locked: torch would copy it to pinned memory of the next power of two, and keep that.
    """
    with torch.cuda.device(device):
        torch.cuda.check_error(torch.cuda.cudart().cudaHostRegister(array.ctypes.data, array.nbytes, 0))
        owner = _Mapped(array)
        release = weakref.finalize(owner, _release, array, device)  # keeps the array until then
        release.atexit = False
        return torch.as_tensor(owner, device=device)  # keeps the owner as long as anybody uses the memory


def _release(array: NDArray[Any], device: torch.device) -> None:
    """Unlock memory that no kernel reads any more."""
    torch.cuda.synchronize(device)
    torch.cuda.cudart().cudaHostUnregister(array.ctypes.data)
