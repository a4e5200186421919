"""Virtual environments in which the built package is tried."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FOR_DEVELOPERS = {"dev", "docs"}
"""Extras that users do not install."""


def extras() -> dict[str, list[str]]:
    """The extras for users, and what each requires."""
    return {name: list(needs) for name, needs in PROJECT["optional-dependencies"].items() if name not in FOR_DEVELOPERS}


def lowest(requirements: Sequence[str]) -> list[str]:
    """Pin each requirement to the oldest version that it allows.

    Examples
    --------
    >>> lowest(["torch>=2.6", "pandas>=2.2.1,<4"])
    ['torch==2.6', 'pandas==2.2.1']
    """
    found = [re.match(r"([\w.-]+(?:\[[\w,]+\])?)>=([\w.]+)", requirement) for requirement in requirements]
    assert all(found), f"a requirement states no oldest version: {list(requirements)}"
    return [f"{match[1]}=={match[2]}" for match in found if match]


def wheel(folder: Path) -> Path:
    """The wheel of newfound in a folder."""
    found = sorted(folder.glob("newfound-*.whl"))
    if len(found) != 1:
        sys.exit(f"{folder} should hold one wheel of newfound, and holds {len(found)}; call make release-check first")
    return found[0].resolve()


def fresh(folder: Path, *arguments: str, over: Path | None = None) -> Path:
    """Make a new environment, call `pip install` in it with the arguments, and return its Python.

    With `over`, the packages of that environment are there as well.
    """
    venv.create(folder, with_pip=True, clear=True)
    if over is not None:
        (own,), (below,) = (list(environment.glob("lib/python*/site-packages")) for environment in (folder, over))
        (own / "below.pth").write_text(f"{below}\n")
    python = folder / "bin" / "python"
    call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)
    return python


def call(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command without the modules of this folder in its path; stop where it fails."""
    environment = {"PATH": f"{Path(command[0]).parent}:/usr/local/bin:/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, cwd=cwd, env=environment | kept())


def kept() -> dict[str, str]:
    """What a command needs from the environment of this one."""
    return {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "HOME", "TMPDIR", "LANG"))}
