"""The networks of AutoDiscoverer: what they see of the rows, and how they are trained."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from newfound.deadline import NEVER
from newfound.errors import TrainingInterrupted
from newfound.learning.members import MemberSettings
from newfound.learning.progress import Progress
from newfound.learning.student import InputMap, Lesson, StudentTrainer
from newfound.tables import Layout
from newfound.tables.task import DiscoveryTask


def task_of(rows: np.ndarray, codes: np.ndarray, categorical: list[bool] | None = None) -> DiscoveryTask:
    d = rows.shape[1]
    marks = np.zeros(d, dtype=bool) if categorical is None else np.array(categorical)
    return DiscoveryTask(rows, codes, int(codes.max()) + 1, 1, Layout(tuple(map(str, range(d))), np.arange(d), marks))


def test_input_is_of_moderate_size() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, -1], 40)
    for rows in (rng.normal(size=(120, 5)) * 1e4, rng.normal(size=(120, 150)), np.ones((120, 3))):
        mapped = InputMap.fit(task_of(rows, codes)).transform(rows)
        assert mapped.shape == (120, min(100, rows.shape[1]))
        assert np.isfinite(mapped).all()
        assert np.ptp(rows) == 0 or mapped.std() == pytest.approx(1.0)


def test_categories_are_never_squashed() -> None:
    rows = np.zeros((500, 2))
    rows[0] = 1.0  # one row in five hundred: 22 standard deviations from the mean
    assert InputMap.fit(task_of(rows, np.arange(500) % 2 - 1, [False, True])).heavy.tolist() == [True, False]


def _train(n_threads: int, training_steps: int = 60) -> tuple[dict[str, torch.Tensor], Progress]:
    """Train three members on a small task, in so many threads."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, -1, -1], 30)
    task = task_of(rng.normal(size=(120, 4)) + np.repeat([0, 3, 6, 9], 30)[:, None], codes)
    member = {"hidden_layers": [8, 4], "verbose": 0, "self_training": 0, "n_members": 3}
    settings = MemberSettings.same({**member, "training_steps": training_steps}, 3)
    lesson = Lesson(np.repeat([0, 0], 30), False, NEVER)
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        return StudentTrainer(settings, torch.device("cpu"), lesson).train_members(task, [1, 2, 3])
    finally:
        torch.set_num_threads(before)


def test_members_in_several_threads_learn_what_they_learn_in_one() -> None:
    (alone, history), (apart, joined) = _train(1), _train(2)
    for weights in (alone, apart):
        # Where a batch is normalised, the bias before is taken away again. It has no slope but that of rounding, of
        # which AdamW makes much.
        for layer in (0, 4):
            weights[f"encoder.{layer + 1}.running_mean"] -= weights.pop(f"encoder.{layer}.bias")
    for name, parameter in alone.items():
        torch.testing.assert_close(apart[name], parameter, rtol=1e-3, atol=1e-3)
    assert [epoch["epoch"] for epoch in joined.history] == [epoch["epoch"] for epoch in history.history] == [1, 2]
    assert joined.history[-1]["imitation"] == pytest.approx(history.history[-1]["imitation"], rel=1e-3)
    of_last = [progress.member_history(2)[-1]["imitation"] for progress in (history, joined)]
    assert of_last[0] == pytest.approx(of_last[1], rel=1e-3)


def test_ctrl_c_ends_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(progress: Progress, text: str) -> None:
        if text.startswith("imitation 2") and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "announce", interrupted)
    with pytest.warns(TrainingInterrupted) as told:
        parameters, progress = _train(2, training_steps=1_000_000)
    assert len(told) == 1
    assert len(progress.history) <= 1, "what all members have done; a thread that was slower has done less"
    assert all(len(parameter) == 3 for parameter in parameters.values()), "no member is lost"
