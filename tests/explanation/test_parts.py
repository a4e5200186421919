"""Profiles, typical rows, the nearest known class, stability, samples and crossed rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound import KMeansDiscoverer
from newfound.discoverers.reading import Reading
from newfound.explanation.crossing import cross_neighbours
from newfound.explanation.exemplars import border_rows, typical_rows, values_of
from newfound.explanation.nearest_known import FARTHEST, NearestKnown, nearest_known, separation
from newfound.explanation.profiles import cliffs_delta, profile
from newfound.explanation.sampling import draw, draw_of_each, halves
from newfound.explanation.screening import telling_columns
from newfound.explanation.stability import bootstrap_stability, overlap
from newfound.tables import as_table
from tests.explanation.tables import viewed
from tests.oracles import explanation as oracle

small = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12)

# ---- profiles


@given(small, small)
def test_cliffs_delta(ours: list[float], theirs: list[float]) -> None:
    assert cliffs_delta(np.array(ours), np.array(theirs)) == pytest.approx(oracle.cliffs_delta(ours, theirs))


def test_profile() -> None:
    frame = pd.DataFrame(
        {
            "same": [1.0, 2.0, 1.0, 2.0],
            "size": [5.0, 6.0, 1.0, 2.0],
            "kind": ["u", "u", "v", "u"],
            "day": pd.to_datetime(["2024-01-01", "2024-01-01", "2024-02-01", "2024-02-01"]),
            "gone": [None, None, 1.5, 2.5],
        }
    )
    table = viewed(frame)
    shifts = profile(table.take(np.array([0, 1])), table.take(np.array([2, 3])))
    assert [shift.text for shift in shifts] == [
        "size is higher: 5.5 (5.25 to 5.75) against 1.5 (1.25 to 1.75)",
        "day is earlier: 2024-01-01 against 2024-02-01",
        "gone is missing in 100 % of the rows, against 0 %",
        "kind is u in 100 % of the rows, against 50 %",
    ]
    assert [shift.effect for shift in shifts] == [1, -1, 1, 0.5]
    assert shifts[1].to_dict()["here"]["median"] == "2024-01-01T00:00:00"
    assert shifts[3].to_dict()["here"] == {"share": 1.0}
    assert len(profile(table, table, most=10)) == 0
    assert profile(table.take(np.array([], dtype=int)), table) == []


# ---- rows


def test_every_line_of_a_profile_says_something() -> None:
    n = 100
    clicks = np.where(np.arange(2 * n) < 20, 3.0, 0.0)  # a fifth of the first half
    crossed = np.concatenate([np.repeat([-9.0, 2.0], [49, 51]), np.repeat([1.0, 9.0], [51, 49])])
    clock = ["20:40", "20:41"] * n
    table = viewed(pd.DataFrame({"clicks": clicks, "same": [0.0, 1.5] * n, "crossed": crossed, "clock": clock}))
    shifts = profile(table.take(np.arange(n)), table.take(np.arange(n, 2 * n)))
    assert [shift.text for shift in shifts] == ["clicks is more than 0 in 20 % of the rows, against 0 %"]


def test_typical_rows_are_sure_central_and_distinct() -> None:
    rows = np.array([10, 11, 12, 13, 14])
    latent = np.array([[0.0], [0.1], [0.1], [5.0], [0.3]])
    probability = np.array([0.9, 0.9, 0.9, 0.9, 0.1])
    assert typical_rows(rows, latent, probability, 4).tolist() == [11, 13, 10, 12]
    assert typical_rows(rows[:0], latent[:0], probability[:0], 3).tolist() == []


def test_typical_rows_are_unlike_each_other() -> None:
    rng = np.random.RandomState(0)
    latent = np.concatenate([rng.normal(0, 1e-3, (40, 2)), rng.normal(0, 1, (40, 2)), rng.normal(50, 1, (4, 2))])
    chosen = typical_rows(np.arange(84), latent, np.ones(84), 4)
    gaps = np.linalg.norm(latent[chosen][:, None] - latent[chosen], axis=2)[~np.eye(4, dtype=bool)]
    assert gaps.min() > 0.1
    assert (chosen < 80).all()


def test_border_rows_are_those_that_another_class_comes_near() -> None:
    proba = np.array([[0.5, 0.3, 0.2], [0.7, 0.3, 0.0], [0.0, 1.0, 0.0], [0.98, 0.02, 0.0]])
    assert border_rows(proba, np.array([0, 1, 3]), 5).tolist() == [0, 1]
    assert border_rows(proba[:, :1], np.array([0]), 5).tolist() == []


def test_values_are_plain() -> None:
    table = as_table(
        pd.DataFrame(
            {
                "a": [1.0],
                "b": [1.5],
                "c": [np.inf],
                "d": ["x"],
                "e": [None],
                "f": [True],
                "g": [pd.Timestamp("2024-01-01")],
            }
        )
    )
    assert values_of(table, 0, list("abcdefg")) == {
        "a": 1,
        "b": 1.5,
        "c": "inf",
        "d": "x",
        "e": None,
        "f": True,
        "g": "2024-01-01",
    }


# ---- the nearest known class


def test_separation_is_in_standard_deviations_along_the_line() -> None:
    rng = np.random.RandomState(0)
    ours, theirs = rng.randn(4000, 2) * [1, 50], rng.randn(4000, 2) * [1, 50] + [6, 0]
    ours -= ours.mean(axis=0)
    theirs -= theirs.mean(axis=0) - [6, 0]
    assert separation(ours, theirs) == pytest.approx(6, rel=0.05)
    assert separation(ours, ours) == 0
    assert separation(np.zeros((2, 1)), np.ones((2, 1))) == FARTHEST


def test_nearest_known() -> None:
    latent = np.array([[0.0], [1.0], [2.0], [3.0], [50.0], [51.0]])
    codes = np.array([0, 0, 1, 1, 2, 2])
    assert nearest_known(latent, codes, 0, np.array([1, 2])) == (1, 4.0)
    assert nearest_known(latent, codes, 7, np.array([1, 2])) is None
    assert nearest_known(latent, codes, 0, np.array([], dtype=int)) is None
    assert "overlaps" in NearestKnown("a", 1.0).text
    assert NearestKnown("a", 8.2).text == "a (8.2 standard deviations away)"
    assert NearestKnown("a", 64.3).to_dict() == {"name": "a", "distance": 64.3, "text": "a (far away)"}


# ---- stability


@given(st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)))
def test_overlap(ours: set[int], theirs: set[int]) -> None:
    weights = np.arange(1.0, 7.0)
    masks = (np.isin(np.arange(6), list(rows)) for rows in (ours, theirs))
    assert overlap(*masks, weights) == pytest.approx(oracle.overlap(ours, theirs, weights.tolist()))


def test_bootstraps_find_clear_classes_again_and_others_not() -> None:
    rng = np.random.RandomState(0)
    codes = np.repeat([4, 7, 9], 60)
    latent = rng.randn(180, 2) + np.array([[0, 0], [30, 0], [0, 30]])[codes // 3 - 1]
    found = bootstrap_stability(latent, codes, np.random.RandomState(0))
    assert found == pytest.approx({4: 1, 7: 1, 9: 1})
    mixed = np.where(codes == 9, 9, rng.choice([4, 7], 180))
    assert bootstrap_stability(latent, mixed, np.random.RandomState(0))[4] < 0.6
    assert bootstrap_stability(latent[:60], codes[:60], rng) == {}
    assert bootstrap_stability(np.zeros((20, 2)), np.arange(20) % 2, rng) == {}


# ---- samples


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_halves(codes: list[int]) -> None:
    first, second = halves(np.array(codes), np.random.RandomState(0))
    assert sorted([*first, *second]) == list(range(len(codes)))
    for code in set(codes):
        counts = [sum(codes[row] == code for row in half) for half in (first, second)]
        assert counts[0] - counts[1] in (0, 1)


def test_samples_miss_no_class_and_weigh_what_they_stand_for() -> None:
    codes = np.repeat([0, 1, 2], [9000, 990, 10])
    rows, weights = draw(codes, 500, np.random.RandomState(0))
    assert 400 < len(rows) <= 500
    assert len(np.unique(rows)) == len(rows)
    for code, count in ((0, 9000), (1, 990), (2, 10)):
        assert weights[codes[rows] == code].sum() == pytest.approx(count)
    assert (codes[rows] == 2).sum() == 10
    everything, ones = draw(codes, 10_000, np.random.RandomState(0))
    assert len(everything) == 10_000
    assert ones.sum() == 10_000
    assert np.bincount(codes[draw_of_each(codes, 20, np.random.RandomState(0))]).tolist() == [20, 20, 10]


def test_crossed_rows_have_the_cells_of_neighbours() -> None:
    frame = pd.DataFrame({"a": np.arange(20) / 3, "k": np.repeat(["u", "v"], 10), "b": np.tile([True, None], 10)})
    model = KMeansDiscoverer(2, random_state=0).fit(frame)
    reading = Reading.of(model, frame)
    crossed, rows, neighbours = cross_neighbours(reading, 50, np.random.RandomState(0))
    assert crossed.table.n_rows == 50
    assert np.bincount(rows).min() >= 2
    for name, cells in crossed.table.columns.items():
        ours, theirs = (reading.table.columns[name][places] for places in (rows, neighbours))
        assert all(cell in pair for cell, pair in zip(cells, zip(ours, theirs, strict=True), strict=True))
    apart = np.linalg.norm(reading.rows[rows] - reading.rows[neighbours], axis=1)
    assert apart.mean() < np.linalg.norm(reading.rows[:, None] - reading.rows, axis=2).mean()
    assert np.array_equal(crossed.rows, model.encoder_.transform_table(crossed.table))


def test_the_most_telling_of_many_columns() -> None:
    rng = np.random.RandomState(0)
    codes = np.arange(300) % 3
    frame = pd.DataFrame(rng.rand(300, 20), columns=[f"c{j}" for j in range(20)])
    frame["c5"] += codes == 1
    frame["c6"] -= codes == 2
    frame["k"] = np.where(codes == 2, "u", rng.choice(["u", "v", "w"], 300))
    table = viewed(frame)
    assert telling_columns(table, codes, [1, 2], 50) == list(range(21))
    found = {table.columns[place].name for place in telling_columns(table, codes, [1, 2], 4)}
    assert {"c5", "c6", "k"} <= found
    assert len(found) <= 4
    assert telling_columns(viewed(frame[["k"]]), codes, [7], 1) == [0]


def test_equal_cells_tell_nothing_of_a_sorted_table() -> None:
    codes = np.repeat([0, 1], 50)
    frame = pd.DataFrame({"constant": np.zeros(100), "telling": np.arange(100) % 5 + 2.0 * codes})
    assert telling_columns(viewed(frame, constant="numeric"), codes, [1], 1) == [1]
