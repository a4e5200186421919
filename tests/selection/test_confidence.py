"""How sure a result is: what it follows from, and that it follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from newfound.selection.choose import choose
from newfound.selection.confidence import SIGNS, confidence, doubts, learned, signs_of
from newfound.tables import Layout
from tests.selection.made_up import Table, blobs, clear, rng, seen, task_of

SURE = np.eye(6)


def signs(table: Table, n_novel: int = 3, looked: bool = True) -> dict[str, float]:
    """The signs of what is chosen for a table, where trees are sure of the class that each row gets."""
    task = task_of(table, n_novel=n_novel)
    look = seen(task) if looked else None
    choice = choose(task, look, rng())
    codes = task.n_known + choice.partition
    unseen = np.eye(task.n_known + n_novel)[codes]
    found = signs_of(task, look, choice, unseen, codes, 0.9, rng())
    assert len(found) == len(SIGNS)
    assert all(type(value) is float for value in found)
    assert np.isfinite(found).all()
    return dict(zip(SIGNS, found, strict=True))


def test_clear_classes_show_in_the_signs() -> None:
    clearly, hazily = signs(blobs(1.0)), signs(blobs(7.0))
    for name in ("views agree", "within classes", "number"):
        assert clearly[name] > hazily[name], name
    assert clearly["between classes"] < hazily["between classes"]
    assert clearly["views agree"] == pytest.approx(1)


def test_signs_are_what_they_are_called() -> None:
    found = signs(blobs(1.0))
    assert found["sure"] == found["unseen rows agree"] == 1
    assert found["share of novel rows"] == 1
    assert found["log classes"] == pytest.approx(np.log(3))
    assert found["log rows of a class"] == pytest.approx(np.log(40))
    assert found["known classes"] == 0.9


@pytest.mark.parametrize("n_novel", [1, 2, 50, 119, 120])
def test_signs_of_few_and_of_many_classes(n_novel: int) -> None:
    assert 0 <= confidence(list(signs(blobs(2.5), n_novel).values())) <= 1


def test_signs_without_a_look() -> None:
    assert 0 <= confidence(list(signs(blobs(2.5), looked=False).values())) <= 1


def test_trees_that_have_not_seen_a_row_may_disagree() -> None:
    task, look = clear()
    choice = choose(task, look, rng())
    codes = task.n_known + choice.partition
    unseen = SURE[np.roll(codes, 1)] * 0.6 + 0.4 / 6
    found = dict(zip(SIGNS, signs_of(task, look, choice, unseen, codes, 1.0, rng()), strict=True))
    assert found["sure"] == pytest.approx(0.6 + 0.4 / 6)
    assert found["unseen rows agree"] == pytest.approx((codes == np.roll(codes, 1)).mean())


def test_every_sign_has_a_weight_and_moves_the_confidence_its_way() -> None:
    weights = learned()["weights"]
    assert list(weights) == list(SIGNS)
    middle = [0.0] * len(SIGNS)
    total = sum(abs(weight) for weight in weights.values())
    for place, name in enumerate(SIGNS):
        more, less = list(middle), list(middle)
        # In the middle of what is possible, where a change shows.
        more[place], less[place] = 1.0 / max(total, 1.0), -1.0 / max(total, 1.0)
        assert np.sign(round(confidence(more) - confidence(less), 12)) == np.sign(weights[name])


def test_a_clear_table_is_trusted_more_than_a_hazy_one() -> None:
    clearly, hazily = (confidence(list(signs(blobs(spread)).values())) for spread in (1.0, 7.0))
    assert hazily < clearly


# ---- in words


def test_a_chance_below_one_half_is_a_doubt() -> None:
    task, look = clear()
    partition = choose(task, look, rng()).partition
    assert doubts(0.95, partition, task) == []
    (doubt,) = doubts(0.2, partition, task)
    assert "20 %" in doubt


def test_a_class_of_rows_that_lack_a_cell_is_a_doubt() -> None:
    layout = Layout(("a", "a=missing"), np.array([0, 0]), np.array([False, True]))
    task, _ = clear()
    rows = np.column_stack([np.arange(10.0), np.arange(10) < 3])
    task = replace(task, rows=rows, codes=np.full(10, -1), n_known=0, n_novel=2, layout=layout)
    assert len(doubts(0.95, np.array([0, 0, 0, 1, 1, 1, 1, 1, 1, 1]), task)) == 1
    assert doubts(0.95, np.array([0, 1] * 5), task) == []


def test_nothing_found_is_nothing_to_doubt() -> None:
    task, _ = clear()
    assert doubts(0.1, np.empty(0, dtype=np.int64), replace(task, n_novel=0)) == []
