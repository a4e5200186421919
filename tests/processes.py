"""What tests of interrupted and killed processes share."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def wait_for(
    happened: Callable[[], bool], seconds: float = 120.0, process: subprocess.Popen[Any] | None = None
) -> None:
    """Wait until something has happened; long, since on a busy machine it may take a new process long to begin.

    Where a process makes it happen, there is nothing left to wait for once that has ended.
    """
    end = time.monotonic() + seconds
    while True:
        has_ended = process is not None and process.poll() is not None
        if happened():
            return
        assert not has_ended, "the process has ended, and it has not happened"
        assert time.monotonic() < end, "it has not happened in time"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def interrupt_when(happened: Callable[[], bool], call: Callable[[], Any]) -> None:
    """Press Ctrl-C during a call, once something has happened."""

    def press() -> None:
        wait_for(happened)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=press)
    # Programs that ran in this process before, such as notebooks, may have left a handler of their own.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread.start()
    try:
        call()
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
