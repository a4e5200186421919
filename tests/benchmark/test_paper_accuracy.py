from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound as nf
from newfound.benchmark import paper, paper_accuracy
from newfound.datasets import dataset

QUICK: dict[str, Any] = {"epochs": 1, "pretrain_epochs": 1}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pendigits is scikit-learn's digits for a moment, and training is short."""
    digits = nf.datasets.load("digits")
    monkeypatch.setattr(paper_accuracy.datasets, "load", lambda name: digits)
    monkeypatch.setitem(paper.SETTINGS, "pendigits", paper.SETTINGS["pendigits"] | QUICK)


def test_every_setting_is_a_valid_one() -> None:
    for name, settings in (paper.SETTINGS | paper.PUBLISHED_SETTINGS).items():
        nf.TabularNCD(3, **settings)._check_parameters()
        assert name in paper.TABULAR_NCD


@pytest.mark.usefixtures("quick")
def test_scores_are_those_of_each_member_on_the_novel_test_rows() -> None:
    result = paper_accuracy.measure("pendigits", paper.SETTINGS["pendigits"], 2, "cpu")
    data: dataset.Dataset = paper_accuracy.datasets.load("pendigits")
    model = nf.TabularNCD(5, n_members=2, encoder=data.encoder(), random_state=0, **paper.SETTINGS["pendigits"])
    model.fit(data.X_train, data.y_train)
    for m in range(2):
        found = model.member(m).predict_novel(data.X_test)[data.test_novel]
        scores = nf.metrics.novel_scores(data.y_test[data.test_novel], found)
        assert result["acc"][m] == pytest.approx(100 * scores["acc"])
        assert result["nmi"][m] == pytest.approx(scores["nmi"])


@pytest.mark.usefixtures("quick")
def test_results_are_printed_beside_the_papers_and_kept(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    paper_accuracy.main(["--datasets", "pendigits", "--seeds", "2", "--device", "cpu", "--out", str(out)])
    result = json.loads(out.read_text())
    shown = capsys.readouterr().out
    assert f"{np.mean(result['acc']):.1f} ±" in shown
    assert "(85.6 ± 0.8)" in shown


@pytest.mark.parametrize("arguments", [["--datasets", "unknown"], ["--datasets", "pendigits", "--seeds", "0"]])
@pytest.mark.usefixtures("quick")
def test_a_mistake_gives_one_line_and_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        paper_accuracy.main(arguments)
    assert stop.value.code == 2
    assert "error: " in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif("NEWFOUND_DATA" not in os.environ, reason="needs the benchmark files (NEWFOUND_DATA)")
def test_pendigits_reproduces() -> None:
    result = paper_accuracy.measure("pendigits", paper.SETTINGS["pendigits"], 10, "cpu")
    assert np.mean(result["acc"]) > 83.5  # the paper's 85.6 less what ten seeds may miss


@pytest.mark.usefixtures("quick")
def test_half_a_training_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("newfound.discoverers.tabular_ncd.train_jointly", interrupted)
    with pytest.raises(nf.errors.TrainingInterrupted):
        paper_accuracy.measure("pendigits", paper.SETTINGS["pendigits"], 2, "cpu")
