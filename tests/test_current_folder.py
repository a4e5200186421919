"""Nothing of the current folder is run: a stranger's table may lie there, beside files named like modules."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.tables import TARGET, write
from tests.decoys import command_in, environment, have_run, imported_by_python, make_decoys
from tests.processes import wait_for
from tests.web.conftest import ended
from tests.web.served import answers, started

SECURITY = Path(__file__).parents[1] / "SECURITY.md"


def place_and_program(way: str, tmp_path: Path) -> tuple[Path, list[str]]:
    """Make a folder of decoys; returns it, and how the program is started there.

    Python itself imports a few modules before it starts what ``-m`` names, which nothing of ours can prevent.
    """
    if way == "-m":
        return make_decoys(tmp_path / "decoys", {*imported_by_python(), "newfound"}), [sys.executable, "-m", "newfound"]
    return make_decoys(tmp_path / "decoys"), command_in(tmp_path)


@pytest.mark.parametrize("way", ["command", "-m"])
def test_a_server_and_its_workers_run_none_of_it(way: str, tmp_path: Path) -> None:
    folder, program = place_and_program(way, tmp_path)
    options: dict[str, Any] = {"cwd": folder, "env": environment()}
    with (
        started(Path("work"), program, **options) as (process, address),
        httpx.Client(base_url=address, headers={"X-Newfound": "1"}, timeout=60) as client,
    ):
        wait_for(lambda: answers(client), process=process)
        with write(folder / "table.csv").open("rb") as file:
            answer = client.post("/api/tables", files={"file": ("table.csv", file)})
        assert answer.status_code == 201, answer.text
        asked = {"table": answer.json()["id"], "target": TARGET, "method": "kmeans", "n_novel_classes": 2}
        run = client.post("/api/runs", json=asked).json()["id"]
        assert ended(client, run)["status"] == "done"
        assert client.get(f"/api/runs/{run}/export/labels").status_code == 200
    assert have_run(folder) == {}


def test_commands_run_none_of_it(tmp_path: Path) -> None:
    folder, program = place_and_program("-m", tmp_path)
    write(folder / "table.csv")
    for command in (
        ["discover", "table.csv", "--target", TARGET, "--method", "kmeans", "--novel-classes", "2", "--out", "found"],
        ["predict", "found/model.newfound", "table.csv", "--out", "labels.csv"],
    ):
        done = subprocess.run(
            [*program, *command], cwd=folder, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert have_run(folder) == {}


def test_what_python_itself_runs_with_m_is_what_the_page_on_security_says(tmp_path: Path) -> None:
    folder = make_decoys(tmp_path / "decoys")
    run_by_python: set[str] = set()
    options: dict[str, Any] = {"cwd": folder, "env": environment(), "capture_output": True, "check": False}
    command = ["-m", "newfound", "--version"]
    assert subprocess.run([sys.executable, "-P", *command], **options).returncode == 0
    assert have_run(folder) == {}
    while subprocess.run([sys.executable, *command], **options).returncode:
        for name in set(have_run(folder)) - run_by_python:
            run_by_python.add(name)
            (folder / f"{name}.py").unlink()
    exception = SECURITY.read_text(encoding="utf-8").partition("is the exception.**")[2].partition("Nothing in")[0]
    told = set(re.findall(r"`(\w+)`", exception))
    assert run_by_python == told if sys.version_info < (3, 12) else run_by_python <= told
