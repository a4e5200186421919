from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from laboratory.tests.benchmark.made import made_rows
from newfound.errors import InputError
from newfound_lab.benchmark.measuring import measure
from newfound_lab.benchmark.methods import METHODS, Answer, method_named
from newfound_lab.benchmark.problems import make_problem

ADAPTER = f"{Path(__file__).with_name('adapter.py')}:nearest_centroids"


@pytest.mark.parametrize("name", [*METHODS, ADAPTER])
def test_every_method_finds_classes_that_lie_apart(name: str) -> None:
    problem = make_problem("rings", *made_rows(), 0, "pure")
    assert problem is not None
    line = measure(problem, method_named(name))
    assert min(line[score] for score in ("all_acc", "known_acc", "novel_acc", "acc", "bacc", "auroc")) > 0.9
    assert (line["confidence"] is not None) == (name == "AutoDiscoverer")
    assert (line["unlabelled_acc"] is None) == (name in ("forest told every label", ADAPTER))
    assert (line["told_known_acc"] is None) == (name == ADAPTER)


def test_by_hand_takes_unlabelled_rows_of_known_classes_for_novel() -> None:
    problem = make_problem("rings", *made_rows(), 0, "mixed")
    assert problem is not None
    line = measure(problem, METHODS["by hand"])
    assert line["unlabelled_acc"] < line["all_acc"] < 0.95


def test_the_number_of_classes_may_be_left_to_the_method() -> None:
    problem = make_problem("rings", *made_rows(), 0, "pure")
    assert problem is not None
    for name in ("by hand", "k-means"):
        answer = Answer(*METHODS[name].answer(problem.X_train, problem.y_train, problem.X_test, None, 0))
        assert len(np.setdiff1d(answer.told_novel.astype(str), problem.known.astype(str))) >= 1


def test_names_of_methods(tmp_path: Path) -> None:
    assert method_named(ADAPTER).name == "adapter:nearest_centroids"
    with pytest.raises(InputError, match="Got the method 'magic', but expected some of by hand, k-means"):
        method_named("magic")
    with pytest.raises(InputError, match="has no function magic"):
        method_named(ADAPTER.replace("nearest_centroids", "magic"))
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match="is no Python file"):
        method_named(f"{tmp_path / 'notes.txt'}:magic")
