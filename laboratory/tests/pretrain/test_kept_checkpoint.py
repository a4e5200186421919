"""The kept checkpoint fits the network and the prior of today, and has learned something."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from newfound.incontext import InContextNetwork, NetworkShape
from newfound_lab.pretrain.checkpoint import load_network
from newfound_lab.pretrain.problems import Problem
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


def test_known_classes_tell_which_structure_matters(network: InContextNetwork) -> None:
    assert judge(network, make_problem("pure"), views=1)["acc"] > 0.9


def test_known_rows_are_told_from_novel_ones(network: InContextNetwork) -> None:
    found = judge(network, make_problem("mixed"), views=1)
    assert found["auroc"] > 0.85
    assert found["known"] > 0.85
