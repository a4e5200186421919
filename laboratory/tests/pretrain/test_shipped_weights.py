"""The shipped weights fit network, prior and log of today, can be trained further, and have learned something."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from newfound.errors import InputError
from newfound.incontext import InContextNetwork, NetworkShape
from newfound_lab.pretrain.checkpoint import load_network, load_tensors
from newfound_lab.pretrain.problems import Problem
from newfound_lab.pretrain.ship import CARD, PACKAGE, TOLD, WEIGHTS, ship
from newfound_lab.pretrain.train import Settings, Trainer
from newfound_lab.pretrain.validate import judge
from newfound_lab.prior import PRIOR_VERSION

FOLDER = Path(__file__).parents[2] / "checkpoints"


@pytest.fixture(scope="module")
def network() -> InContextNetwork:
    return load_network(PACKAGE / WEIGHTS)[0].eval()


def make_problem(mode: str) -> Problem:
    """Six classes in three columns, beside five columns in which the rows form larger groups that are no classes."""
    rng = np.random.default_rng(0)
    classes, groups = np.repeat(np.arange(6), 40), rng.integers(0, 3, 240)
    telling = 5 * rng.normal(size=(6, 3))[classes] + rng.normal(size=(240, 3))
    nuisance = 8 * rng.normal(size=(3, 5))[groups] + rng.normal(size=(240, 5))
    labelled = (classes < 3) & (rng.random(240) < (0.5 if mode == "mixed" else 1.1))
    values = np.concatenate([telling, nuisance], 1).astype(np.float32)
    return Problem(f"toy/0/{mode}", values, np.zeros(8, dtype=bool), classes, labelled)


def test_the_card_fits_network_prior_and_log(network: InContextNetwork) -> None:
    _, facts = load_network(PACKAGE / WEIGHTS)
    assert facts["prior"] == PRIOR_VERSION
    assert network.shape == NetworkShape()
    steps = [json.loads(line)["step"] for line in (FOLDER / "log.jsonl").read_text().splitlines()]
    assert any(step <= facts["step"] < step + 100 for step in steps)


def test_shipping_the_shipped_weights_changes_nothing(tmp_path: Path) -> None:
    ship(PACKAGE / WEIGHTS, tmp_path)
    for name in (WEIGHTS, CARD):
        assert (tmp_path / name).read_bytes() == (PACKAGE / name).read_bytes(), f"{name}: newfound-lab pretrain ship"


def test_a_card_of_other_weights_is_refused(tmp_path: Path) -> None:
    told = json.loads(TOLD.read_text())
    other = tmp_path / "card.json"
    other.write_text(json.dumps(told | {"step": told["step"] + 1}))
    with pytest.raises(InputError, match="judge these weights"):
        ship(PACKAGE / WEIGHTS, tmp_path, other)
    assert not (tmp_path / WEIGHTS).exists()


def test_training_can_go_on_from_the_shipped_weights(network: InContextNetwork) -> None:
    trainer = Trainer(InContextNetwork(), Settings())
    trainer.resume(PACKAGE / WEIGHTS)
    assert trainer.step == load_tensors(PACKAGE / WEIGHTS)[1]["step"]
    for ours, other in zip(trainer.network.parameters(), network.parameters(), strict=True):
        assert torch.equal(ours, other)


def test_known_classes_tell_which_structure_matters(network: InContextNetwork) -> None:
    assert judge(network, make_problem("pure"), views=1)["acc"] > 0.9


def test_known_rows_are_told_from_novel_ones(network: InContextNetwork) -> None:
    found = judge(network, make_problem("mixed"), views=1)
    assert found["auroc"] > 0.85
    assert found["known"] > 0.85
