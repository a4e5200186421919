"""The program of a worker: it reads tasks from standard input, and says on standard output how they are going on.

It holds what is slow to import, and what may take much memory or crash. Where its standard input ends, the server is
gone, and so it goes, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

_NICENESS = 3  # the server answers first
_LEAST_MEMORY = 1 << 30


def main() -> None:
    """Take tasks until there are no more."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever libraries print goes to the log
    tasks: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(tasks,), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    known = _prepare(int(sys.argv[1]))
    channel.write('{"is_ready": true}\n')
    channel.flush()
    while True:
        task = json.loads(tasks.get())
        number = task["number"]

        def say(number: int = number, **content: Any) -> None:
            channel.write(json.dumps({"number": number, **content}, allow_nan=False) + "\n")
            channel.flush()

        try:
            answer = known[task["task"]](lambda told: say(told=told), **task["arguments"])
        except Exception as error:
            with contextlib.suppress(OSError):  # the disk of the log may be full
                traceback.print_exc()
            from newfound.web.problems import is_of_memory, problem
            from newfound.web.sources import PLACES

            say(problem=problem(error, PLACES), spent=is_of_memory(error))
        else:
            say(answer=answer)


def _receive(tasks: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        tasks.put(line)
    os._exit(0)


def _prepare(memory: int) -> dict[str, Callable[..., Any]]:
    """Import what tasks need, then bound the memory that may be taken besides."""
    import torch

    from newfound.web.tasks import TASKS

    torch.set_num_threads(1)
    _use_blas()
    _limit_memory(memory)
    return TASKS


def _use_blas() -> None:
    """Have the BLAS of numpy and of scipy take their work space now: where they get none later, they wait forever."""
    import numpy as np
    from scipy.linalg.blas import dgemm

    square = np.ones((512, 512))
    square @ square
    dgemm(1.0, square, square)


def _limit_memory(memory: int) -> None:
    from newfound.tables.files.budget import machine_memory

    allowed = memory or max(_LEAST_MEMORY, machine_memory() // 2)
    with contextlib.suppress(ImportError, OSError, ValueError):  # systems without such limits
        import resource

        with open("/proc/self/status", encoding="ascii") as status:
            used = next(int(line.split()[1]) for line in status if line.startswith("VmData:")) * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (used + allowed, used + allowed))


if __name__ == "__main__":
    main()
