"""What is run as a whole by one process of pytest is named by files, which may move."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.scheduling import FIRST, TOGETHER, unit_of

ROOT = Path(__file__).parents[1]


def test_units_name_files_that_are_there() -> None:
    files = [*TOGETHER, *(unit for unit in FIRST if unit not in TOGETHER.values())]
    assert [file for file in files if not (ROOT / file).is_file()] == []


@pytest.mark.parametrize(
    ("needs", "unit"),
    [
        (r"\bbrowser: Any", "a browser"),
        (r"\bclient: TestClient, orchard", "a workbench"),
        (r"\bray\.init\(", "a cluster of Ray"),
    ],
)
def test_what_takes_long_to_start_is_started_by_one_process(needs: str, unit: str) -> None:
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    found = [file for file in files if re.search(needs, (ROOT / file).read_text(encoding="utf-8"))]
    assert found
    assert {unit_of(f"{file}::test") for file in found} == {unit}
