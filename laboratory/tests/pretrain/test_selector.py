"""The selector of AutoDiscoverer: what it learns from, what it learns, and what is shipped."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from newfound.cli.app import run
from newfound.errors import ModelFileError
from newfound.incontext.weights import weights_card
from newfound.selection import selector as shipped
from newfound.selection.candidates import CONSENSUS, METHODS, PAIRS, SPACES
from newfound.selection.selector import load_selector, selector_card
from newfound.selection.signals import FACTS, SIGNALS
from newfound_lab.cli import app
from newfound_lab.pretrain import selector, selector_tasks
from newfound_lab.pretrain.selector import Examined, learn, load_examined, ship, trees_of
from newfound_lab.prior.tasks import PRIOR_VERSION

NAMES = [*((space, method) for space in SPACES for method in METHODS), PAIRS, CONSENSUS]


def examined(n_tasks: int = 80) -> Examined:
    """Tasks in which the first signal says how good a candidate is; every fifth table allows no second candidate."""
    rng = np.random.default_rng(0)
    c = len(NAMES)
    quality = rng.uniform(0.1, 0.7, (n_tasks, 1)) + rng.uniform(0.0, 0.3, (n_tasks, c))
    signals = rng.normal(size=(n_tasks, c, len(SIGNALS)))
    signals[..., 0] = quality + 0.02 * rng.normal(size=quality.shape)
    scores = np.stack([quality, quality], 2)
    scores[::5, 1], signals[::5, 1] = np.nan, np.nan
    agreement = np.ones((n_tasks, c, c), dtype=np.float32)
    facts = rng.normal(size=(n_tasks, len(FACTS)))
    return Examined(NAMES, signals, scores, agreement, facts, {"weights": "none", "prior": 2, "seed": 0})


@pytest.fixture(scope="module")
def learned() -> tuple[dict[str, Any], dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        for trees in (selector._TREES, selector._FEW_TREES):
            patch.setitem(trees, "max_iter", 30)
            patch.setitem(trees, "min_samples_leaf", 20)
        return learn(examined())


def test_what_tells_is_learned(learned: tuple[dict[str, Any], dict[str, Any]]) -> None:
    card = learned[1]
    reached = card["synthetic"]
    best = reached["best of all, mean of both"]
    assert min(reached["chosen"]) > best - 0.05 > max(reached["always network, k-means"]) + 0.05
    assert card["tasks"] == 80
    assert sum(len(methods) for methods in card["plan"].values()) + 2 == len(card["worth"]) == 16
    assert [method for method in card["plan"]["network"] if method == "k-means"] == ["k-means"]


def test_a_selector_that_was_shipped_is_read(
    learned: tuple[dict[str, Any], dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = ship(*learned, tmp_path)
    monkeypatch.setattr(shipped, "files", lambda folder: tmp_path)
    read = load_selector.__wrapped__()
    assert read.plan == {space: tuple(methods) for space, methods in card["plan"].items()}
    good, bad = np.zeros((2, 1, len(shipped.FEATURES)))
    good[:, 0] = 1.0
    assert read.confidence(good)[0] > read.confidence(bad)[0]
    content = (tmp_path / shipped.ARRAYS).read_bytes()
    (tmp_path / shipped.ARRAYS).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ModelFileError, match="changed or is incomplete"):
        load_selector.__wrapped__()


@pytest.mark.parametrize("kind", [HistGradientBoostingRegressor, HistGradientBoostingClassifier])
def test_frozen_trees_say_what_the_trees_say(kind: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 4)).astype(np.float32).astype(np.float64)
    model = kind(max_iter=7, min_samples_leaf=5, random_state=0).fit(rows, rows[:, 0] * rows[:, 1] > 0)
    expected = model.predict(rows) if kind is HistGradientBoostingRegressor else model.decision_function(rows)
    np.testing.assert_allclose(trees_of(model).proba(rows)[:, 0], expected, atol=1e-6)


def test_the_shipped_selector_belongs_to_the_shipped_weights() -> None:
    """It goes by what the network says: other weights, or another prior, need another selector."""
    card = selector_card()
    assert card["weights"] == weights_card()["sha256"]
    assert card["prior"] == PRIOR_VERSION
    assert card["seed"] == selector_tasks.SEED
    assert card["tasks"] > 1_000
    gains = np.subtract(card["synthetic"]["chosen"], card["synthetic"]["always network, k-means"])
    assert gains.mean() > 0
    assert gains.min() > -0.002, "neither ACC nor BACC is paid for the other"
    planned = {(space, method) for space, methods in load_selector().plan.items() for method in methods}
    assert {*planned, PAIRS, CONSENSUS} == set(load_selector().worth)


def test_a_task_is_examined_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(5), 12)
    values = (6 * rng.normal(size=(5, 3))[truth] + rng.normal(size=(60, 3))).astype(np.float32)
    values[:, 2] = truth % 2
    values[3, 0] = np.nan
    rows, layout = selector_tasks.encoded(values, np.array([False, False, True]))
    labels = np.where(truth < 3, truth, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        examined = selector_tasks.examine(rows, layout, labels, truth, 0, "cpu")
    assert examined is not None
    selector_tasks.write(tmp_path / "tasks.npz", [examined | {"seed": np.int64(1)}] * 30)
    tasks = load_examined([tmp_path / "tasks.npz"])
    assert tasks.names == NAMES
    assert tasks.about["weights"] == weights_card()["sha256"]
    assert np.nanmax(tasks.quality) > 0.95
    assert tasks.agreement.shape == (30, len(NAMES), len(NAMES))
    assert (tasks.agreement == tasks.agreement.transpose(0, 2, 1)).all()
    told = len(tasks.scores) * (~np.isnan(tasks.scores[0, :, 0])).sum()
    assert len(selector.lessons_of(tasks, selector.worth_of(tasks)).lead) == told
    assert run(["pretrain", "selector", "--help"], app, "newfound-lab") == 0
    assert "what selector_tasks wrote" in capsys.readouterr().out
