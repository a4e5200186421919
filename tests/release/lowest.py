"""Try the package with the oldest versions that pyproject.toml allows.

`make lowest-check` calls it. torch's oldest version comes with CUDA on Linux, so it takes gigabytes.
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path

from tests.release.environments import PROJECT, ROOT, call, extras, fresh, lowest
from tests.release.installing import SMOKE

TESTS = [
    "tests/test_metrics.py",
    "tests/test_persistence.py",
    "tests/clustering",
    "tests/datasets",
    "tests/discoverers/test_sklearn_checks.py",
    "tests/discoverers/test_whitened_kmeans.py",
    "tests/discoverers/test_reading.py",
    "tests/export/test_onnx.py",
    "tests/nn",
    "tests/pictures",
    "tests/tables",
]
"""Those that touch most of what other packages do, and take a few minutes."""


def main(folder: str) -> None:
    """Install the oldest versions into a new environment in the folder, and run a part of the tests."""
    tried = {name: needs for name, needs in extras().items() if name != "scale"}  # Ray asks for a newer pandas
    pins = lowest([*PROJECT["dependencies"], *chain.from_iterable(tried.values())])
    tools = ["pytest", "hypothesis", "polars==1.18"]
    python = fresh(Path(folder), *pins, *tools, "-e", str(ROOT))
    call(python, "-m", "pip", "check", "--disable-pip-version-check")
    call(python, SMOKE, "base", *tried, cwd=Path(folder))
    call(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, cwd=ROOT)


if __name__ == "__main__":
    main(*sys.argv[1:])
