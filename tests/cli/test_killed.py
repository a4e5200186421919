"""Commands that are killed at any moment, for real."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from newfound import load
from tests.cli import tables

N_KILLED = 50
COMMANDS = {
    "discover": ["table.csv", "--target", tables.TARGET, "--method", "kmeans", "-k", "2", "--out", "out", "--force"],
    "predict": ["model.newfound", "table.csv", "--out", "rows/labels.csv", "--force"],
    "update": ["model.newfound", "truth.csv", "--labels", "rows/labels.csv", "--out", "out/model.newfound", "--force"],
}


def contents(folder: Path) -> dict[str, bytes]:
    """All files; of the report and of what discover says of itself only that they are new, since they tell the time."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    timely = {name for name, content in found.items() if name.endswith((".html", ".json")) and content != b"old"}
    return found | dict.fromkeys(timely, b"new")


def run(command: str, folder: Path, *options: str, seconds: float | None = None) -> bool:
    """Run a command; whether it ended before it was killed."""
    arguments = [sys.executable, "-m", "newfound", command, *COMMANDS[command], *options]
    program = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert program.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("there", [True, False])
def test_what_is_killed_leaves_old_results_or_new_ones(folder: Path, command: str, there: bool) -> None:
    for name in ("out", "rows"):
        (folder / name).mkdir()
    if command == "discover":
        (folder / "out").rmdir()
    start = time.monotonic()
    run(command, folder)
    seconds = time.monotonic() - start
    new = contents(folder)
    old = {name: b"old" if name.startswith(("out/", "rows/")) else content for name, content in new.items()}
    if not there:
        old = {name: content for name, content in old.items() if content != b"old"}
    rng, seen = random.Random(command), Counter[str]()
    n_killed = N_KILLED // (2 * len(COMMANDS)) + 1
    while sum(seen.values()) < n_killed:
        for path in (folder / "out", folder / "rows"):
            shutil.rmtree(path, ignore_errors=True)
            if there or path.name == "rows" or command == "update":
                path.mkdir()
        for name, content in old.items():
            (folder / name).write_bytes(content)
        if run(command, folder, seconds=seconds * rng.uniform(0.3, 1.1)):
            continue
        left = {name: content for name, content in contents(folder).items() if ".newfound-" not in name}
        assert left in (old, new)
        seen["new" if left == new else "old"] += 1
    run(command, folder)
    assert contents(folder) == new
    if command != "predict":
        load(folder / "out" / "model.newfound")
    assert not list(folder.rglob(".newfound-*"))
