"""The command line: one module a command; each parses, calls the library and prints."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Callable
from typing import Any


def main() -> None:
    """Run the command line and leave with its exit code."""
    from newfound.cli.app import run

    start(run)


def start(run: Callable[[], int]) -> None:
    """Run commands and leave with their exit code; signals and streams are set up for a program of its own."""
    for name in ("SIGTERM", "SIGHUP"):  # Windows has not both
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup has it ignored
            signal.signal(number, _leave)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not know the letters of a table
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run())


def _leave(number: int, frame: Any) -> None:
    """Leave as after Ctrl-C, so that nothing half-written stays behind."""
    sys.exit(128 + number)
