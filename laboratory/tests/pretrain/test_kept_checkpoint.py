"""The kept checkpoint fits the network and the prior of today, and has learned something."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load

from newfound.errors import InputError
from newfound.incontext import InContextNetwork, NetworkShape
from newfound_lab.pretrain.checkpoint import load_network, load_tensors
from newfound_lab.pretrain.problems import Problem
from newfound_lab.pretrain.ship import CARD, PACKAGE, WEIGHTS, ship
from newfound_lab.pretrain.validate import judge
from newfound_lab.prior import PRIOR_VERSION

FOLDER = Path(__file__).parents[2] / "checkpoints"


@pytest.fixture(scope="module")
def network() -> InContextNetwork:
    return load_network(FOLDER / "average.safetensors")[0].eval()


def make_problem(mode: str) -> Problem:
    """Six classes in three columns, beside five columns in which the rows form larger groups that are no classes."""
    rng = np.random.default_rng(0)
    classes, groups = np.repeat(np.arange(6), 40), rng.integers(0, 3, 240)
    telling = 5 * rng.normal(size=(6, 3))[classes] + rng.normal(size=(240, 3))
    nuisance = 8 * rng.normal(size=(3, 5))[groups] + rng.normal(size=(240, 5))
    labelled = (classes < 3) & (rng.random(240) < (0.5 if mode == "mixed" else 1.1))
    values = np.concatenate([telling, nuisance], 1).astype(np.float32)
    return Problem(f"toy/0/{mode}", values, np.zeros(8, dtype=bool), classes, labelled)


def test_header_fits(network: InContextNetwork) -> None:
    _, facts = load_network(FOLDER / "average.safetensors")
    assert facts["prior"] == PRIOR_VERSION
    assert network.shape == NetworkShape()
    last = json.loads((FOLDER / "log.jsonl").read_text().splitlines()[-1])
    assert last["step"] <= facts["step"] < last["step"] + 100


def test_the_package_holds_this_checkpoint(tmp_path: Path) -> None:
    card = ship(FOLDER / "average.safetensors", tmp_path)
    for name in (WEIGHTS, CARD):
        assert (tmp_path / name).read_bytes() == (PACKAGE / name).read_bytes(), f"{name}: newfound-lab pretrain ship"
    assert card["prior"] == PRIOR_VERSION
    kept, _ = load_tensors(FOLDER / "average.safetensors")
    shipped = load((PACKAGE / WEIGHTS).read_bytes())
    assert kept.keys() == shipped.keys()
    assert all(torch.equal(kept[name], shipped[name]) for name in kept)


def test_a_card_of_other_weights_is_refused(tmp_path: Path) -> None:
    (tmp_path / "average.safetensors").write_bytes((FOLDER / "average.safetensors").read_bytes())
    told = json.loads((FOLDER / "card.json").read_text())
    (tmp_path / "card.json").write_text(json.dumps(told | {"step": told["step"] + 1}))
    with pytest.raises(InputError, match="judge these weights"):
        ship(tmp_path / "average.safetensors", tmp_path)
    assert not (tmp_path / WEIGHTS).exists()


def test_known_classes_tell_which_structure_matters(network: InContextNetwork) -> None:
    assert judge(network, make_problem("pure"), views=1)["acc"] > 0.9


def test_known_rows_are_told_from_novel_ones(network: InContextNetwork) -> None:
    found = judge(network, make_problem("mixed"), views=1)
    assert found["auroc"] > 0.85
    assert found["known"] > 0.85
