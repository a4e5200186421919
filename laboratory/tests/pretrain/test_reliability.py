"""How far confidence can be trusted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from newfound_lab.pretrain.reliability import main, reliability


def test_results_are_compared_bin_by_bin() -> None:
    found = reliability(np.array([0.95, 1.0, 0.05, 0.95]), np.array([True, True, False, False]))
    assert found[:, 0] == pytest.approx([0.05, 2.9 / 3])
    assert found[:, 1] == pytest.approx([0.0, 2 / 3])
    assert found[:, 3].tolist() == [1, 3]
    assert (found[:, 2] > 0).all(), "a few results that are all wrong leave room for doubt"


def test_lines_become_a_picture(tmp_path: Path) -> None:
    lines = [{"confidence": i / 20, "all_acc": i / 20, "method": "auto"} for i in range(20)] + [{"method": "k-means"}]
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, lines)))
    main([str(tmp_path / "lines.jsonl"), str(tmp_path / "picture.png")])
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
