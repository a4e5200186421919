"""The confidence of AutoDiscoverer is learned from synthetic tables."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from newfound.incontext.weights import weights_card
from newfound.selection.confidence import SIGNS, learned
from newfound_lab.pretrain import confidence
from newfound_lab.pretrain.confidence import CARD, GOOD, learn, main, results
from newfound_lab.prior.tasks import PRIOR_VERSION


def made_up(n: int = 300) -> list[dict[str, object]]:
    """Results of which the first sign alone says how good they are."""
    signs = np.random.default_rng(0).normal(size=(n, len(SIGNS)))
    right = GOOD + 0.1 * np.tanh(3 * signs[:, 0])
    return [{"signs": row.tolist(), "right": float(good)} for row, good in zip(signs, right, strict=True)]


def test_what_tells_gets_the_weight() -> None:
    card = learn(made_up())
    assert list(card["weights"]) == list(SIGNS)
    telling, *others = card["weights"].values()
    assert telling > 5 * max(map(abs, others))
    assert card["tables"] == 300
    assert card["left_out"]["of these good"] > 0.95
    assert 0 < card["left_out"]["at 0.9 or more"] < 300
    assert json.loads(json.dumps(card)) == card


def test_signs_that_say_nothing_leave_the_share_of_good_results() -> None:
    rng = np.random.default_rng(0)
    lines = [{"signs": rng.normal(size=len(SIGNS)).tolist(), "right": float(good)} for good in rng.random(600) < 0.7]
    card = learn(lines)
    assert 1 / (1 + np.exp(-card["intercept"])) == pytest.approx(0.7, abs=0.05)


def test_the_shipped_card_fits_signs_network_and_prior() -> None:
    assert json.loads(CARD.read_text()) == learned()
    assert list(learned()["weights"]) == list(SIGNS)
    remedy = "newfound-lab pretrain confidence"
    assert learned()["network"] == weights_card()["sha256"], remedy
    assert learned()["prior"] == PRIOR_VERSION, remedy


def test_a_synthetic_table_becomes_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confidence, "_ROWS", (200,))
    monkeypatch.setattr(confidence, "_COLUMNS", (5,) * 7)
    (line,) = itertools.islice(results(0), 1)
    assert len(line["signs"]) == len(SIGNS)
    assert np.isfinite(line["signs"]).all()
    assert 0 <= line["right"] <= 1
    assert line["mode"] in ("novel", "mixed")
    assert json.loads(json.dumps(line)) == line


def test_the_command_learns_from_the_lines_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.dumps(line) for line in made_up(60)]
    (tmp_path / "0.jsonl").write_text("\n".join(lines[:30]) + "\n")
    (tmp_path / "1.jsonl").write_text("\n".join(lines[30:]) + "\n")
    main([str(tmp_path), "--seconds", "0", "--card", str(tmp_path / "card.json")])
    card = json.loads((tmp_path / "card.json").read_text())
    assert card["tables"] == 60
    assert json.loads(capsys.readouterr().out) == card
