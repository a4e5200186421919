from __future__ import annotations

from pathlib import Path

import pytest

from newfound.tables.files import read_file
from newfound_lab.runner import reading


@pytest.mark.parametrize("kind", ["mixed", "quoted", "numbers"])
def test_files_have_the_size_asked_for_and_are_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "table.csv"
    reading.write_table(path, kind, 400_000)
    assert 400_000 <= path.stat().st_size < 800_000
    file = read_file(path)
    assert hasattr(file.columns[0], "chunks")  # fast, so that there is something to compare
    assert file.table().n_columns == (30 if kind == "numbers" else 14)


def test_both_readers_are_measured_and_read_the_same(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    reading.write_table(path, "mixed", 300_000)
    fast, slow = (reading.measure(path, way) for way in ("read_table", "without pyarrow"))
    assert fast["digest"] == slow["digest"] is not None
    assert min(fast["seconds"], slow["seconds"]) > 0
