"""The benchmark of predictions: every way predicts the same labels, and what is printed can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import newfound as nf
from newfound_lab.runner import predicting

SOURCES = Path(nf.__file__).parents[1]


@pytest.mark.slow
def test_every_way_predicts_the_same(tmp_path: Path) -> None:
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    nf.save(nf.KMeansDiscoverer(2, random_state=0).fit(table, np.repeat([0, -1], 30)), tmp_path / "model.newfound")
    table.to_parquet(tmp_path / "table.parquet")
    files = tmp_path / "model.newfound", tmp_path / "table.parquet"
    ways = {"now": None, "onnxruntime": None, "before": SOURCES}
    found = [predicting.measure(*files, way, threads=1, sources=sources) for way, sources in ways.items()]
    assert len({figures["digest"] for figures in found}) == 1
    assert all(figures[what][of] > 0 for figures in found for what in ("many", "one") for of in ("clock", "processor"))


@pytest.mark.parametrize(("digest", "told"), [("same", "the same labels"), ("other", "OTHER LABELS")])
def test_a_line_for_each_way(
    digest: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clocks = {"now": [2.0, 1.0, 9.0], "onnxruntime": [0.5] * 3, "before": [4.0] * 3}

    def measured(model: Path, table: Path, way: str, *, threads: int, sources: Path | None) -> dict[str, Any]:
        assert (sources == SOURCES) == (way == "before")
        times = {"clock": clocks[way].pop(), "processor": 0.25}
        return {"many": times, "one": {"clock": 0.0015, "processor": 0.001}, "digest": digest if sources else "same"}

    monkeypatch.setattr(predicting, "measure", measured)
    predicting.compare(Path("m"), Path("t"), 500_000, before=SOURCES, threads=2, repeats=3)
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["now", "250,000", "0.50", "1.50", "1.00"],
        ["onnxruntime", "1,000,000", "0.50", "1.50", "1.00"],
        ["before", "125,000", "0.50", "1.50", "1.00"],
        told.split(),
    ]
