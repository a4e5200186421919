"""A workbench that runs as users run it, in a process of its own."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

PROGRAM = (sys.executable, "-m", "newfound")


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Start `newfound serve` on a free port, and yield its address."""
    with started(folder) as (_, address):
        yield address


@contextlib.contextmanager
def started(
    folder: Path, program: Sequence[str] = PROGRAM, **options: Any
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start `newfound serve` on a free port, and yield the process and its address; `options` are those of Popen."""
    command = [*program, "serve", "--port", "0", "--workdir", str(folder)]
    options |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, **options) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://[^\s/]+", line)
            assert found is not None, line + process.stdout.read()
            yield process, found[0]
        finally:
            process.terminate()
            process.communicate(timeout=20)


def answers(client: httpx.Client) -> bool:
    """Whether the server of a client is up: it says its address a moment before."""
    with contextlib.suppress(httpx.TransportError):
        return client.get("/api/state").status_code == 200
    return False
