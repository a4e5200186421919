"""Problems survive their file, and a network is judged on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from newfound.incontext import InContextNetwork, NetworkShape
from newfound_lab.pretrain.development import problems_of
from newfound_lab.pretrain.problems import Problem, load_problems, save_problems
from newfound_lab.pretrain.validate import context_of, judge, summarise


@pytest.fixture(scope="module")
def problems() -> list[Problem]:
    rng = np.random.default_rng(0)
    classes = np.repeat(list("abcdef"), 30)
    centre = rng.normal(size=(6, 4))[np.repeat(np.arange(6), 30)]
    X = pd.DataFrame(8 * centre + rng.normal(size=centre.shape), columns=list("wxyz"))
    X["kind"] = rng.choice(["one", "two", None], len(X))
    return list(problems_of("toy", X, pd.Series(classes)))


def test_problems(problems: list[Problem]) -> None:
    assert [problem.name for problem in problems[:2]] == ["toy/0/pure", "toy/0/mixed"]
    for problem in problems:
        free = ~problem.labelled
        assert np.array_equal(problem.novel, ~np.isin(problem.classes, problem.classes[problem.labelled]))
        assert problem.mixed == bool((free & ~problem.novel).any())
        assert problem.categorical.tolist() == [False] * 4 + [True]
        assert np.isnan(problem.values[:, 4]).any()
        assert 2 <= problem.n_novel <= 4


def test_problems_survive_their_file(problems: list[Problem], tmp_path: Path) -> None:
    save_problems(tmp_path / "problems.npz", problems)
    for before, after in zip(problems, load_problems(tmp_path / "problems.npz"), strict=True):
        assert after.name == before.name
        assert np.array_equal(after.values, before.values, equal_nan=True)
        assert np.array_equal(after.labels, before.labels)


def test_a_context_holds_the_problem_and_no_novel_label(problems: list[Problem]) -> None:
    context = context_of(problems[0])
    assert context.values.isfinite().all()
    assert (context.labels[0].numpy()[problems[0].novel] == -1).all()


def test_judge_and_summarise(problems: list[Problem]) -> None:
    torch.manual_seed(0)
    network = InContextNetwork(NetworkShape(cell_width=16, cell_heads=2, inducing=4, row_heads=2, plan="cr")).eval()
    found = [judge(network, problem, views=1) for problem in problems[:2]]
    assert {"acc", "bacc", "k", "k_error"} == set(found[0])
    assert {"auroc", "known", "routed", "k", "k_error"} == set(found[1])
    assert found[0]["acc"] > 0.6  # even random weights keep the geometry that they are given
    summary = summarise(problems[:2], found)
    assert summary["acc"] == found[0]["acc"]
    assert "mixed_k_error" in summary
