"""How training processes talk to each other: torch.distributed."""

from __future__ import annotations

from typing import Any, TypeVar

import torch.distributed as dist
from torch import Tensor

T = TypeVar("T")


class Processes:
    """The exchange of the processes of torch's default process group; see `newfound.learning.peers.Exchange`."""

    def __init__(self) -> None:
        # What is no tensor goes through the processors: NCCL would send it by way of a GPU.
        self._group = dist.new_group(backend="gloo") if dist.get_backend() != "gloo" else None

    def sum(self, numbers: Tensor) -> None:
        """Replace numbers by their sum over the processes."""
        dist.all_reduce(numbers)

    def gather(self, item: Any) -> list[Any] | None:
        """Return what each process has, in their order, to the first one, and None to the others."""
        found: list[Any] | None = [None] * dist.get_world_size() if dist.get_rank() == 0 else None
        dist.gather_object(item, found, dst=0, group=self._group)
        return found

    def from_first(self, item: T) -> T:
        """Return what the first process has."""
        box = [item]
        dist.broadcast_object_list(box, src=0, group=self._group)
        return box[0]
