"""Quality and time against the context."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

from newfound_lab.pretrain import contexts


def test_contexts_of_several_sizes_are_measured_and_drawn(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(6), 40)
    table = pd.DataFrame(8 * rng.normal(size=(6, 4))[classes] + rng.normal(size=(240, 4))), pd.Series(classes)
    out, picture = tmp_path / "lines.jsonl", tmp_path / "picture.png"
    with (
        patch.object(contexts, "TABLES", ("toy",)),
        patch.object(contexts, "SIZES", (60, 120)),
        patch.object(contexts, "load_table", lambda *_, **__: table),
    ):
        contexts.main([str(tmp_path), str(out), "--splits", "1", "--picture", str(picture)])
        lines = out.read_text()
        contexts.main([str(tmp_path), str(out), "--splits", "1"])
    assert out.read_text() == lines, "what is there is not measured again"
    assert lines.count('"context"') == 3
    assert '"rows": 240' in lines
    assert picture.read_bytes().startswith(b"\x89PNG")
