from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.explanation.bins import cut_into_bins
from newfound.explanation.boxes import BinnedRows, BoxSearch, best_names, best_runs
from tests.explanation.tables import viewed
from tests.oracles import explanation as oracle

gains = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=8)


@given(st.lists(gains, min_size=1, max_size=4))
def test_best_runs(lines: list[list[float]]) -> None:
    n_bins = np.array([len(line) for line in lines])
    padded = np.full((len(lines), 9), 7.0)  # what lies beyond the bins of a line must not count
    for line, row in zip(lines, padded, strict=True):
        row[: len(line)] = line
    chosen, sums = best_runs(padded, n_bins)
    assert sums.tolist() == [oracle.best_run(line) for line in lines]
    for line, mask, total in zip(lines, chosen, sums, strict=True):
        places = np.flatnonzero(mask)
        assert len(places) == places[-1] - places[0] + 1
        assert places[-1] < len(line)
        assert sum(line[place] for place in places) == total


def test_the_longest_of_equal_runs() -> None:
    chosen, _ = best_runs(np.array([[0.0, 2.0, 0.0, 0.0, -1.0]]), np.array([5]))
    assert chosen[0].tolist() == [True, True, True, True, False]


@given(st.lists(st.integers(-5, 5).map(float), max_size=6), st.integers(-5, 5).map(float), st.integers(1, 3))
def test_best_names(named: list[float], rare: float, most: int) -> None:
    chosen, total = best_names(np.array([*named, rare, 9.0]), most)
    assert total == oracle.best_names(named, rare, most)
    assert sum(gain for gain, is_chosen in zip([*named, rare, 9.0], chosen, strict=True) if is_chosen) == total
    assert not chosen[-1]
    n_listed = (~chosen[:-2]).sum() if chosen[-2] else chosen[:-2].sum()
    assert n_listed <= most


def test_a_planted_box_is_found() -> None:
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.rand(2000, 6).round(3), columns=list("abcdef")).assign(k=rng.choice(["u", "v", "w"], 2000))
    inside = ((frame.a > 0.4) & (frame.b < 0.6) & (frame.k != "v")).to_numpy()
    bins = cut_into_bins(viewed(frame).columns, inside)
    search = BoxSearch(BinnedRows.of(bins), inside, np.ones(2000), 4)
    box = search.best(3.0)
    assert box is not None
    assert {bins[j].column.name for j in box} == {"a", "b", "k"}
    assert search.gain(box) > 0.97
    assert inside[search.rows_in(box)].mean() > 0.97
    search.cover(box)
    assert search.uncovered < 0.03


def test_rows_without_weight_take_no_part() -> None:
    frame = pd.DataFrame({"a": np.arange(100) % 10, "b": np.arange(100) // 10})
    inside = (frame.a >= 5).to_numpy()
    odd = np.arange(100) >= 50
    weights = np.where(odd, 0.0, 1.0)
    contradicting = np.where(odd, ~inside, inside)
    table = viewed(frame)
    search = BoxSearch(BinnedRows.of(cut_into_bins(table.columns, inside)), contradicting, weights, 2)
    box = search.best(1.0)
    assert box is not None
    assert search.gain(box) == pytest.approx(1.0)


def test_wide_tables_are_searched_by_their_most_telling_columns() -> None:
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.rand(200, 150), columns=[f"c{j}" for j in range(150)])
    inside = (frame.c140 > 0.5).to_numpy()
    bins = cut_into_bins(viewed(frame).columns, inside)
    search = BoxSearch(BinnedRows.of(bins), inside, np.ones(200), 4)
    assert len(search.columns) == 64
    box = search.best(3.0)
    assert box is not None
    assert list(box) == [140]
