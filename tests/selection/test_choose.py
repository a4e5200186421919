"""The choice of a partition: the network's vectors, and graphs as far as they tell the known classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from newfound.metrics import clustering_accuracy
from newfound.selection.choose import Choice, choose
from tests.selection.made_up import Table, blobs, clear, rng, seen, spirals, task_of

COLUMNS = ["rank", "representation", "method", "score", "information", "within", "agreement"]
UNEVEN = (40, 40, 40, 200, 30, 30)


def chosen(table: Table, **settings: bool) -> tuple[Choice, float]:
    """What is chosen for a table, and its accuracy."""
    task = task_of(table)
    choice = choose(task, seen(task), rng(), **settings)
    return choice, clustering_accuracy(table[1][task.codes < 0], choice.partition)


def first(choice: Choice) -> tuple[str, str]:
    return choice.leaderboard[0]["representation"], choice.leaderboard[0]["method"]


def compared(choice: Choice) -> list[dict[str, Any]]:
    """Records of the partitions that were judged by edges."""
    return [record for record in choice.leaderboard if record["score"] is not None]


# ---- what the rule decides


@pytest.mark.parametrize(
    ("table", "representation", "method", "at_least"),
    [
        (blobs(5.0), "network", "k-means", 0.85),  # edges join rows of all classes
        (blobs(2.5), "network, smoothed", "k-means", 0.98),  # edges tell the known classes, with mistakes
        (spirals(), "columns", "spectral", 0.85),  # edges hardly make a mistake, and see more than centres do
        (blobs(1.0, UNEVEN), "network, smoothed", "k-means", 0.99),  # likewise, but the other cuts are more even
    ],
    ids=["hazy", "overlapping", "spirals", "uneven"],
)
def test_what_is_chosen(table: Table, representation: str, method: str, at_least: float) -> None:
    choice, accuracy = chosen(table)
    assert first(choice)[0] == representation
    assert first(choice)[1].startswith(method)
    assert accuracy >= at_least


def test_a_more_even_cut_is_not_preferred_whatever_it_scores() -> None:
    choice, _ = chosen(blobs(1.0, UNEVEN))
    scores = [record["score"] for record in compared(choice)]
    assert len(scores) > 2
    assert scores[0] < max(scores)


def test_without_graphs_the_vectors_are_grouped_as_they_are() -> None:
    choice, accuracy = chosen(spirals(), with_graphs=False)
    assert first(choice) == ("network", "k-means")
    assert compared(choice) == []
    assert accuracy < chosen(spirals())[1] - 0.2


def test_one_known_class_says_nothing_of_graphs() -> None:
    task = task_of(blobs(1.0), n_known=1, n_novel=5)
    assert first(choose(task, seen(task), rng())) == ("network", "k-means")


# ---- what it returns


def test_the_leaderboard() -> None:
    choice, _ = chosen(spirals())
    board = choice.leaderboard
    assert board.columns == COLUMNS
    assert [record["rank"] for record in board] == list(range(1, len(board) + 1))
    assert len({(record["representation"], record["method"]) for record in board}) == len(board)
    scores = [record["score"] for record in compared(choice)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= record["within"] <= 1 for record in compared(choice))
    assert board[0]["agreement"] == 1
    assert all(-1 <= record["agreement"] <= 1 for record in board)


def test_views_that_find_the_same_agree() -> None:
    clearly, hazily = chosen(blobs(1.0))[0], chosen(blobs(7.0))[0]
    assert clearly.agreement() == pytest.approx(1)
    assert -1 <= hazily.agreement() < 0.9
    np.testing.assert_allclose(clearly.class_agreement(3), 1)
    assert hazily.class_agreement(3).shape == (3,)
    assert ((hazily.class_agreement(3) >= 0) & (hazily.class_agreement(3) < 1)).all()


@pytest.mark.parametrize("table", [blobs(1.0, UNEVEN), blobs(5.0)], ids=["uneven", "hazy"])
def test_classes_are_numbered_by_their_size(table: Table) -> None:
    choice, _ = chosen(table)
    assert (np.diff(np.bincount(choice.partition, minlength=3)) <= 0).all()


def test_the_same_seed_gives_the_same() -> None:
    task, look = clear()
    one, other = choose(task, look, rng()), choose(task, look, rng())
    assert_array_equal(one.partition, other.partition)
    assert one.leaderboard == other.leaderboard


# ---- tables for which there is less to go by


def test_without_a_look_rows_are_grouped_in_whitened_columns() -> None:
    table = blobs(2.5)
    task = task_of(table)
    choice = choose(task, None, rng(), with_graphs=False)
    assert first(choice) == ("whitened", "k-means")
    assert clustering_accuracy(table[1][task.codes < 0], choice.partition) > 0.9


def test_rows_that_were_not_shown_get_a_class_too() -> None:
    table = blobs(1.0)
    task, look = clear()
    free = np.flatnonzero(task.codes < 0)
    shown = np.setdiff1d(look.places, free[::3])
    part = look.of(shown)  # which numbers them anew
    choice = choose(task, type(look)(**{**vars(part), "places": shown}), rng(), with_graphs=False)
    assert len(choice.partition) == len(free)
    assert clustering_accuracy(table[1][free], choice.partition) > 0.98


@pytest.mark.parametrize(("n_novel", "n_rows"), [(1, 30), (0, 30), (5, 5), (5, 6), (3, 3)])
def test_too_few_rows_or_classes_to_choose(n_novel: int, n_rows: int) -> None:
    rows, truth = blobs(1.0)
    free = np.flatnonzero(truth >= 3)[:n_rows]
    some = np.concatenate([np.flatnonzero(truth < 3), free])
    choice = choose(task_of((rows[some], truth[some]), n_novel=n_novel), None, rng())
    assert len(choice.partition) == n_rows
    assert set(choice.partition.tolist()) == set(range(max(1, n_novel)))
    assert choice.leaderboard == []
    assert np.isfinite(choice.agreement())
    assert choice.class_agreement(n_novel).shape == (n_novel,)


@pytest.mark.parametrize("known", [False, True], ids=["novel rows", "known rows"])
def test_rows_that_are_all_the_same(known: bool) -> None:
    rows, truth = blobs(1.0)
    rows[(truth < 3) == known] = 1.0
    task = task_of((rows, truth))
    choice = choose(task, seen(task), rng())
    assert choice.partition.min() >= 0
    assert choice.partition.max() < 3
    assert np.isfinite(choice.agreement())
