"""A folder full of modules that no process of ours may run, beside which somebody's table lies."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection
from importlib.metadata import packages_distributions
from pathlib import Path

_DECOY = """
import sys
with open(__file__ + ".ran", "w") as file:
    file.write(" ".join(sys.orig_argv))
raise ImportError(f"{__name__} of the current folder was run")
"""
_PLUGIN = "decoy_plugin"
_GROUPS = ("newfound.discoverers", "torch.backends", "pydantic", "fsspec.specs", "sqlalchemy.dialects")


def make_decoys(folder: Path, without: Collection[str] = ()) -> Path:
    """Make a folder with a module for every name of the standard library and of all that is installed, and a plug-in.

    Parameters
    ----------
    folder : Path
        It is made.
    without : collection of str
        Names of which there is none.
    """
    folder.mkdir()
    installed = {name for name in packages_distributions() if name.isidentifier()}
    ours = {"newfound", "newfound_lab"}  # which is not told where it is installed to be edited
    others = {"sitecustomize", "usercustomize", _PLUGIN}
    for name in (installed | ours | others).union(sys.stdlib_module_names) - set(without):
        (folder / f"{name}.py").write_text(_DECOY)
    facts = folder / f"{_PLUGIN}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {_PLUGIN}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("".join(f"[{group}]\ndecoy = {_PLUGIN}:Decoy\n" for group in _GROUPS))
    (folder / "matplotlibrc").write_text(f"backend: module://{_PLUGIN}\n")
    return folder


def command_in(folder: Path) -> list[str]:
    """Make the command `newfound` as pip makes it; returns how it is started."""
    path = folder / "newfound"
    path.write_text("import sys\nfrom newfound.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n")
    return [sys.executable, str(path)]


def have_run(folder: Path) -> dict[str, str]:
    """Decoys that were run, and the command line of the process that did it last."""
    return {path.name.partition(".")[0]: path.read_text() for path in sorted(folder.glob("*.ran"))}


def environment() -> dict[str, str]:
    """The environment of users who have not heard of safe paths."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}


def imported_by_python() -> set[str]:
    """Modules that ``python -m`` itself imports before it runs anything of the package that is named."""
    code = "import sys; before = set(sys.modules); import runpy; print(*(set(sys.modules) - before))"
    found = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in found.stdout.split()}
