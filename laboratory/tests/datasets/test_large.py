from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from newfound_lab.datasets import large


def test_a_large_table_and_its_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "_FILE_ROWS", 900)
    monkeypatch.setattr(large, "_CHUNK", 400)
    folder = large.write_large_table(tmp_path, 2_000)
    assert len(list(folder.iterdir())) == 3
    rows, truth = pq.read_table(folder), pq.read_table(tmp_path / "truth")[large.TRUTH]
    assert rows.shape == (2_000, 21)
    assert sum(str(field.type) == "string" for field in rows.schema) == 7
    assert len(pc.unique(truth)) == large.N_CLASSES
    novel = pc.is_null(rows[large.TARGET])
    assert len(pc.unique(truth.filter(novel))) == large.N_NOVEL
    assert rows[large.TARGET].drop_null().equals(truth.filter(pc.invert(novel)))
    again = large.write_large_table(tmp_path / "again", 2_000)
    assert pq.read_table(again).equals(rows)
    other = large.write_large_table(tmp_path / "other", 2_000, seed=1)
    assert not pq.read_table(other).equals(rows)
    mixed = large.write_large_table(tmp_path / "mixed", 2_000, table=replace(large.LargeTable.draw(), labelled=0.5))
    labelled, known = (pc.sum(pc.is_valid(pq.read_table(where)[large.TARGET])).as_py() for where in (mixed, folder))
    assert labelled == pytest.approx(known / 2, rel=0.1)
