"""The benchmark of predictions: every way predicts the same labels, and what is printed can be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import newfound as nf
from newfound_lab.runner import predicting

SOURCES = Path(nf.__file__).parents[1]


def test_every_way_predicts_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    nf.save(nf.KMeansDiscoverer(2, random_state=0).fit(table, np.repeat([0, -1], 30)), tmp_path / "model.newfound")
    table.to_parquet(tmp_path / "table.parquet")
    predicting.compare(
        tmp_path / "model.newfound", tmp_path / "table.parquet", 60, before=SOURCES, threads=1, repeats=1
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == ["now", "onnxruntime", "before"]
    assert all(float(cell.replace(",", "")) > 0 for line in lines[1:-1] for cell in line.split()[1:])
    assert lines[-1] == "  the same labels"
