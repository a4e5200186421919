"""A training that is paused and resumed takes the very same steps; weights survive their files."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from newfound.incontext import InContextNetwork, NetworkShape
from newfound_lab.pretrain import train
from newfound_lab.pretrain.checkpoint import load_network, load_tensors
from newfound_lab.pretrain.optimiser import orthogonalise
from newfound_lab.pretrain.train import Settings, Trainer
from newfound_lab.prior import PRIOR_VERSION

SHAPE = NetworkShape(cell_width=16, cell_heads=2, inducing=4, row_heads=2, plan="crcr")


@pytest.fixture(autouse=True)
def _small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "ROWS", {32: 0.5, 48: 0.5})
    monkeypatch.setattr(train, "COLUMNS", {4: 0.5, 7: 0.5})


def make_trainer(**settings: float) -> Trainer:
    torch.manual_seed(0)
    return Trainer(InContextNetwork(SHAPE), Settings(cells=800, warmup=4, **settings))


def test_resumed_training_equals_one_without_pause(tmp_path: Path) -> None:
    whole, first = make_trainer(), make_trainer()
    for _ in range(4):
        whole.train_step()
    for _ in range(2):
        first.train_step()
    first.save(tmp_path, whole=True)
    second = make_trainer()
    second.resume(tmp_path / "state.safetensors")
    for _ in range(2):
        second.train_step()
    assert second.step == whole.step == 4
    assert second.tables == whole.tables
    for ours, other in zip(whole.network.parameters(), second.network.parameters(), strict=True):
        assert torch.equal(ours, other)
    for ours, other in zip(whole.average, second.average, strict=True):
        assert torch.equal(ours, other)


def test_weights_alone_resume_with_a_new_warm_up(tmp_path: Path) -> None:
    trainer = make_trainer()
    for _ in range(3):
        trainer.train_step()
    trainer.save(tmp_path)
    network, facts = load_network(tmp_path / "average.safetensors")
    assert facts["prior"] == PRIOR_VERSION
    assert facts["step"] == 3
    assert network.shape == SHAPE
    for name, parameter in network.named_parameters():
        torch.testing.assert_close(parameter, trainer.averaged()[name], atol=1e-3, rtol=1e-3)
    other = make_trainer()
    other.resume(tmp_path / "average.safetensors")
    assert (other.step, other.warm) == (3, 0)
    other.train_step()


def test_training_learns_and_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "_LOG_EVERY", 2)
    trainer = make_trainer()
    before = [parameter.detach().clone() for parameter in trainer.network.parameters()]
    train.run(trainer, tmp_path, seconds=1.5)
    moved = [not torch.equal(a, b) for a, b in zip(before, trainer.network.parameters(), strict=True)]
    assert all(moved)
    assert (tmp_path / "log.jsonl").read_text().count("\n") >= 1
    assert load_tensors(tmp_path / "state.safetensors")[1]["step"] == trainer.step


def test_the_rate_rises_and_falls() -> None:
    trainer = make_trainer()
    rates = []
    for factor in (1.0, 1.0, 1.0, 1.0, 0.5):
        trainer.factor = factor
        trainer.train_step()
        rates.append(trainer.optimisers[0].param_groups[0]["lr"] / trainer.settings.lr)
    assert rates == pytest.approx([0.25, 0.5, 0.75, 1.0, 0.5])


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 6, 12), (2, 12, 6)])
def test_orthogonalise(shape: tuple[int, int, int]) -> None:
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    values = torch.linalg.svdvals(orthogonalise(matrices))
    assert values.min() > 0.3
    assert values.max() < 1.4
    torch.testing.assert_close(orthogonalise(matrices), orthogonalise(5 * matrices), atol=0.03, rtol=0)
