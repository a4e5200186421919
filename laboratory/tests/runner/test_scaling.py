from __future__ import annotations

import json
from pathlib import Path

import pytest

from newfound_lab.runner import scaling
from newfound_lab.runner.scaling import Size

COMMITTED = Path(__file__).parents[3] / "benchmarks" / "scale.jsonl"


@pytest.mark.filterwarnings("ignore")
def test_a_fit_is_measured() -> None:
    found = scaling.measure(Size(rows=2_000, columns=10, classes=6))
    assert found["encoded"] == 34
    assert all(seconds > 0 for seconds in found["cpu"].values())
    assert found["peak"] >= found["before"] > 0


def test_what_is_measured_already_is_only_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.loads(line) for line in COMMITTED.read_text().splitlines()]
    assert {scaling._size_of(line) for line in lines} == {size for sizes in scaling._CURVES.values() for size in sizes}
    scaling.main(["--out", str(COMMITTED), "--picture", str(tmp_path / "scale.png")])
    assert (tmp_path / "scale.png").stat().st_size > 10_000
    assert not capsys.readouterr().out
