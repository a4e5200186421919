"""A workbench that runs as users run it, in a process of its own."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Start `newfound serve` on a free port, and yield its address."""
    with started(folder) as (_, address):
        yield address


@contextlib.contextmanager
def started(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start `newfound serve` on a free port, and yield the process and its address."""
    command = [sys.executable, "-m", "newfound", "serve", "--port", "0", "--workdir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://[^\s/]+", line)
            assert found is not None, line + process.stdout.read()
            yield process, found[0]
        finally:
            process.terminate()
            process.communicate(timeout=20)
