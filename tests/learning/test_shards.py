from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from newfound.errors import InputError
from newfound.learning import shards
from newfound.learning.shards import Shards, parts_of
from newfound.tables.layout import Layout

N = 1_000


def test_every_row_is_in_one_shard_and_every_shard_is_like_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "SHARD_ROWS", 260)
    layout = Layout(("a", "b"), np.arange(2), np.zeros(2, dtype=bool))
    kept = Shards(tmp_path, layout, N, torch.device("cpu"))
    rows, codes = np.stack([np.arange(N), -np.arange(N)], axis=1).astype(float), np.arange(N) // 500 - 1
    for start in range(0, N, 300):
        kept.add(rows[start : start + 300], codes[start : start + 300])
    assert len(kept) == 4
    tasks = [kept[place] for place in range(4)]
    numbers = torch.cat([task.rows[:, 0] for task in tasks])
    assert sorted(numbers.tolist()) == list(range(N))
    for task in tasks:
        assert torch.equal(task.rows[:, 1], -task.rows[:, 0])
        assert torch.equal(task.codes, task.rows[:, 0].long() // 500 - 1)
        assert 100 < (task.codes < 0).sum() < 150


def test_a_shard_without_rows_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_ROWS", 10)
    layout = Layout(("a",), np.arange(1), np.zeros(1, dtype=bool))
    kept = Shards(tmp_path, layout, N, torch.device("cpu"))  # of which few rows are left
    kept.add(np.arange(40.0)[:, None], np.zeros(40, dtype=np.int64))
    assert 0 < len(kept) < 40
    tasks = list(kept)
    assert len(tasks) == len(kept)
    assert min(len(task.codes) for task in tasks) > 0
    assert sorted(torch.cat([task.rows[:, 0] for task in tasks]).tolist()) == list(range(40))


def test_neighbours_are_searched_once(tmp_path: Path) -> None:
    layout = Layout(("a",), np.arange(1), np.zeros(1, dtype=bool))
    kept = Shards(tmp_path, layout, 3, torch.device("cpu"))
    found = torch.tensor([[1], [2], [0]])
    assert torch.equal(kept.kept_neighbours(0, lambda: found), found)
    again = kept.kept_neighbours(0, lambda: found + 1)
    assert torch.equal(again, found)
    assert again.dtype == torch.int64


def test_shards_are_loaded_each_time_and_tables_in_memory_are_kept(tmp_path: Path) -> None:
    kept = Shards(tmp_path, Layout(("a",), np.arange(1), np.zeros(1, dtype=bool)), 4, torch.device("cpu"))
    kept.add(np.arange(4.0)[:, None], np.zeros(4, dtype=np.int64))
    made: list[int] = []

    def total(place: int, task: shards.TensorTask) -> float:
        made.append(place)
        return float(task.rows.sum())

    for tasks, n_made in ((kept, 2), ([kept[0]], 1)):
        made.clear()
        parts = parts_of(tasks, total)
        assert [parts[0], parts[0]] == [6.0, 6.0]
        assert len(made) == n_made


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Shards(tmp_path, Layout(("a",), np.arange(1), np.zeros(1, dtype=bool)), 4, torch.device("cpu"))
    (tmp_path / "0.rows").symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"No space left on device\)\. Make room there, or .* TMPDIR"):
        kept.add(np.arange(4.0)[:, None], np.zeros(4, dtype=np.int64))

    def full(*_: object) -> None:
        raise OSError("280 requested and 253 written")  # as numpy says it

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(InputError, match=r"neighbours of rows cannot be written .*Make room there, or .* TMPDIR"):
        kept.kept_neighbours(0, lambda: torch.tensor([[1]]))
