"""How much the workbench takes on."""

from __future__ import annotations

import os
from dataclasses import dataclass

_MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What the workbench refuses to exceed.

    Attributes
    ----------
    upload_bytes, rows, columns : int
        Of a table.
    tables, runs : int
        That are kept.
    running : int
        Runs that work at the same time; further ones wait.
    waiting : int
        Runs that may wait.
    seconds : float
        That a run may take.
    memory : int or None
        Bytes that a worker may take besides its programs; None is half of what the machine has.
    desk_seconds : float
        That a short task may take, such as reading a table or merging two classes.
    request_bytes : int
        Of a request that is no table.
    """

    upload_bytes: int = 256 * _MIB
    rows: int = 1_000_000
    columns: int = 5_000
    tables: int = 200
    runs: int = 1_000
    running: int = max(1, (os.cpu_count() or 1) // 2)
    waiting: int = 20
    seconds: float = 4 * 3600.0
    memory: int | None = None
    desk_seconds: float = 180.0
    request_bytes: int = 2 * _MIB
