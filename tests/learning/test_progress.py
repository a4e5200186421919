from __future__ import annotations

import pandas as pd
import pytest
import torch

from newfound.learning.progress import EpochLosses, Progress


def run(progress: Progress) -> None:
    with progress:
        for stage, n_epochs in (("first stage", 2), ("second stage", 1)):
            for losses in progress.epochs(stage, n_epochs):
                losses.add(error=torch.tensor([1.0, 2.0]))
                losses.add(error=torch.tensor([2.0, 3.0]))


def test_history_has_a_dict_for_each_epoch() -> None:
    progress = Progress(3)
    run(progress)
    assert [(epoch["stage"], epoch["epoch"]) for epoch in progress.history] == [
        ("first stage", 1),
        ("first stage", 2),
        ("second stage", 1),
    ]
    seconds = [epoch["seconds"] for epoch in progress.history]
    assert seconds == sorted(seconds)
    assert 0 <= seconds[0] < 60
    assert [epoch["error"] for epoch in progress.history] == [2.0, 2.0, 2.0]  # over 2 steps of 2 members
    frame = pd.DataFrame(progress.history)
    assert list(frame.columns) == ["stage", "epoch", "seconds", "error"]
    assert len(frame) == 3


def test_a_stage_that_returns_counts_on() -> None:
    progress = Progress(6)
    run(progress)
    run(progress)
    assert [epoch["epoch"] for epoch in progress.history] == [1, 2, 1, 3, 4, 2]


def test_a_member_goes_on_alone() -> None:
    together = Progress(4)
    run(together)
    alone = together.of_member(1)
    for losses in alone.epochs("second stage", 1):
        losses.add(error=torch.tensor([7.0]))
    assert [epoch["error"] for epoch in alone.history] == [2.5, 2.5, 2.5, 7.0]
    assert alone.history[-1]["epoch"] == 2
    assert alone.history[-1]["seconds"] >= alone.history[-2]["seconds"]
    assert len(together.history) == 3


def test_means_are_over_steps_for_each_member() -> None:
    losses = EpochLosses()
    assert losses.means() == {}
    losses.add(first=torch.tensor([8.0, 1.0]), second=torch.tensor([4.0, 0.0]))
    losses.add(first=torch.tensor([0.0, 2.0]), second=torch.tensor([2.0, 1.0]))
    assert {name: values.tolist() for name, values in losses.means().items()} == {
        "first": [4.0, 1.5],
        "second": [3.0, 0.5],
    }


def test_losses_added_apart_in_one_step_have_their_own_means() -> None:
    losses = EpochLosses()
    for _ in range(3):
        losses.add(classification=torch.tensor([3.0]))
        losses.add(clustering=torch.tensor([4.0]))
    assert losses.means() == {"classification": torch.tensor([3.0]), "clustering": torch.tensor([4.0])}


def test_losses_keep_no_graph_and_no_reference_to_what_was_added() -> None:
    losses, loss = EpochLosses(), torch.tensor([2.0], requires_grad=True) * 1
    losses.add(error=loss)
    losses.add(error=loss)
    assert not any(total.requires_grad for total in losses._sums.values())
    assert losses.means() == {"error": torch.tensor([2.0])}
    assert loss.item() == 2.0


def test_an_interrupted_epoch_is_not_in_the_history() -> None:
    progress = Progress(5)

    def interrupt() -> None:
        with progress:
            for i, losses in enumerate(progress.epochs("stage", 5)):
                losses.add(error=torch.tensor([1.0]))
                if i == 2:
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert [epoch["epoch"] for epoch in progress.history] == [1, 2]


def test_silent_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    run(Progress(3))
    assert capsys.readouterr() == ("", "")


def test_the_bar_shows_stage_epoch_loss_and_count(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run(Progress(3, verbose=1))
    shown = capsys.readouterr().out
    for part in ("second stage 1/1", "3/3", "0:00:00", "error 2.000"):
        assert part in shown


def test_the_bar_ends_when_training_fails(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(3, verbose=1)

    def fail() -> None:
        with progress:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        fail()
    assert not progress._bar._bar.live.is_started
    run(Progress(3, verbose=1))  # a bar that still ran would forbid another
    assert "3/3" in capsys.readouterr().out
