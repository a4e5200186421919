from __future__ import annotations

import pytest
import torch

from newfound_lab.runner import speed


def test_synthetic_table_has_the_shape_and_classes_asked_for() -> None:
    X, y = speed.synthetic_table(n_labelled=30, n_unlabelled=20, n_columns=4, n_known=3, n_novel=2)
    assert X.shape == (50, 4)
    assert sorted(set(y.tolist())) == [-1, 0, 1, 2]
    assert (y == -1).sum() == 20


def test_bare_steps_take_time_and_leave_the_threads_alone() -> None:
    X, y = speed.synthetic_table(n_labelled=60, n_unlabelled=60, n_columns=3, n_known=2, n_novel=2)
    threads = torch.get_num_threads()
    assert speed.time_bare_steps(X, y, 2) > 0
    assert torch.get_num_threads() == threads


def test_growth_prints_a_line_for_each_size(capsys: pytest.CaptureFixture[str]) -> None:
    speed.growth([200, 400])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.strip()[:1].isdigit()] == ["200", "400"]
