"""Training on a GPU, beside the least that its steps can take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from newfound.tables.layout import Layout
from newfound.tables.task import DiscoveryTask
from newfound_lab.runner.gpu import Machine, read_tables, stages_of


def make_task(n: int = 2048, d: int = 32) -> DiscoveryTask:
    codes = np.where(np.arange(n) % 2, -1, np.arange(n) // 2 % 3).astype(np.int64)
    layout = Layout(tuple(f"x{i}" for i in range(d)), np.arange(d), np.zeros(d, dtype=bool))
    return DiscoveryTask(np.zeros((n, d)), codes, 3, 4, layout)


def test_what_a_step_does_is_counted() -> None:
    stages = stages_of(make_task(), 512)
    weights = 2 * 32 * 32 + 32 * 64  # two layers, and two heads as wide as the table
    assert stages["pretraining"].n_steps == 16
    assert stages["pretraining"].flops == 10 * 6 * 128 * weights
    assert stages["pretraining"].bytes == 10 * 4 * (10 * weights + 4 * 128 * (3 * 32 + 64))
    joint = stages["joint training"]
    assert joint.n_steps == 8  # small tables are cut into so many batches
    assert joint.flops > 10 * 6 * 512 * 2 * 32 * 32


def test_the_least_time_is_that_of_bytes_or_of_products() -> None:
    stage = stages_of(make_task(), 512)["pretraining"]
    assert stage.floor(Machine(bytes=stage.bytes, flops=1e30)) == pytest.approx(1.0)
    assert stage.floor(Machine(bytes=1e30, flops=stage.flops / 2)) == pytest.approx(2.0)


def test_tables_are_read_as_they_were_encoded(tmp_path: Path) -> None:
    rows, codes = np.arange(12.0, dtype=np.float32).reshape(4, 3), np.array([0, 1, -1, -1])
    parts = {"rows": rows, "codes": codes, "truth": np.array([0, 1]), "groups": np.array([0, 1, 1])}
    parts |= {"categorical": np.array([False, True, True]), "test_rows": rows[:1], "test_truth": np.array([1])}
    np.savez(tmp_path / "tables.npz", **{f"toy/{name}": part for name, part in parts.items()})
    (table,) = read_tables(tmp_path / "tables.npz", ["toy"])
    assert table.task.rows.dtype == np.float64
    assert (table.test_rows.shape, table.test_truth.tolist()) == ((1, 3), [1])
    assert (table.task.n_known, table.task.n_novel, table.task.layout.n_groups) == (2, 2, 2)
