from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from newfound_lab.runner.routers import ROUTERS, RouterTask

CENTRES = np.array([[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [0.0, 8.0, 0.0], [8.0, 8.0, 9.0]])


def task(noise: float = 1.0, seed: int = 0) -> RouterTask:
    """Two known and two novel classes; 40 labelled rows of each known one, 60 unlabelled and 20 new ones of each."""
    rng = np.random.default_rng(seed)

    def rows(codes: np.ndarray) -> np.ndarray:
        return CENTRES[codes] + rng.normal(size=(len(codes), 3)) * noise

    known, all_codes, new = np.repeat([0, 1], 40), np.repeat(range(4), 60), np.repeat(range(4), 20)
    return RouterTask(rows(known), known, rows(all_codes), rows(new), 2, all_codes > 1, new > 1, seed)


@pytest.mark.parametrize("name", ROUTERS)
def test_classes_that_are_apart_are_told_apart(name: str) -> None:
    made = task()
    routed = ROUTERS[name](made)
    floor = 0.6 if name == "max_probability" else 0.95  # far rows may be probable for one class
    assert roc_auc_score(made.is_novel, routed.novelty) > floor
    assert roc_auc_score(made.new_is_novel, routed.new_novelty) > floor
    known = ~made.is_novel
    assert routed.is_novel[known].mean() < 0.15, "cuts take few known rows for novel"


def test_the_oracle_is_right_and_others_need_not_be() -> None:
    made = task(noise=6.0)
    assert (ROUTERS["oracle"](made).is_novel == made.is_novel).all()
    assert (ROUTERS["oracle"](made).new_is_novel == made.new_is_novel).all()
    assert 0.5 < (ROUTERS["supervised"](made).is_novel == made.is_novel).mean() < 1.0


def test_the_supervised_router_judges_rows_that_its_trees_have_not_seen() -> None:
    """With answers that have nothing to do with the rows, it is right by chance only."""
    made = task()
    by_chance = np.random.default_rng(3).random(len(made.is_novel)) < 0.5
    lots = RouterTask(
        made.labelled[:2], made.codes[:2], made.unlabelled, made.new, 2, by_chance, made.new_is_novel, seed=0
    )
    assert abs(roc_auc_score(by_chance, ROUTERS["supervised"](lots).novelty) - 0.5) < 0.15


@pytest.mark.parametrize("name", ["ss_kmeans", "knn_distance", "max_probability"])
def test_routers_that_are_told_nothing_do_not_look_at_the_answer(name: str) -> None:
    made = task()
    turned = RouterTask(
        made.labelled, made.codes, made.unlabelled, made.new, 2, ~made.is_novel, ~made.new_is_novel, made.seed
    )
    np.testing.assert_array_equal(ROUTERS[name](made).novelty, ROUTERS[name](turned).novelty)
    assert ROUTERS[name](made).cut == ROUTERS[name](turned).cut


def test_nothing_novel_and_all_novel_leave_nothing_to_learn() -> None:
    made = task()
    for novel in (False, True):
        flags = np.full(len(made.is_novel), novel)
        router_task = RouterTask(made.labelled, made.codes, made.unlabelled, made.new, 2, flags, made.new_is_novel, 0)
        assert (ROUTERS["supervised"](router_task).is_novel == novel).all()
