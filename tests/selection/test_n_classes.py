from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound as nf
from newfound.deadline import Deadline
from newfound.selection import n_classes
from newfound.selection.criteria import SCALED, criteria_curves
from newfound.selection.n_classes import NClassesEstimate, estimate_n_novel_classes, estimate_without_labels
from tests.pictures.common import assert_drawn
from tests.selection.test_criteria import groups


def made(n_known: int, n_novel: int, n: int = 40, **kwargs: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows of known and of novel classes, and their codes, -1 for novel ones."""
    rows, codes = groups(n_known + n_novel, n, **kwargs)
    return rows, np.where(codes < n_known, codes, -1)


def counted(rows: np.ndarray, seed: int = 0, **settings: Any) -> NClassesEstimate:
    """An estimate that rests on the rows alone."""
    return estimate_without_labels(rows, np.random.RandomState(seed), **settings)


def contents(estimate: NClassesEstimate) -> tuple[Any, ...]:
    return estimate.n_classes, estimate.interval, list(estimate.curve), list(estimate.criteria)


@pytest.mark.parametrize("n_novel", [3, 6])
def test_far_groups_are_counted(n_novel: int) -> None:
    rows, _ = made(0, n_novel, d=3, apart=30.0)
    estimate = counted(rows)
    assert estimate.n_classes == n_novel
    low, high = estimate.interval
    assert low <= n_novel <= high


@pytest.mark.parametrize("n_known", [2, 5, 70])
def test_the_network_counts_where_rows_are_labelled(n_known: int) -> None:
    rows, codes = made(n_known, 3, n=20, d=6, apart=30.0)
    estimate = estimate_n_novel_classes(rows, codes, random_state=0)
    assert [row["criterion"] for row in estimate.criteria] == ["in-context network"]
    low, high = estimate.interval
    assert low <= 3 <= high
    blind = estimate_n_novel_classes(rows[codes < 0], np.full((codes < 0).sum(), -1), random_state=0)
    assert "in-context network" not in [row["criterion"] for row in blind.criteria]


def test_two_far_groups_without_known_classes() -> None:
    rows = np.concatenate([np.random.default_rng(0).normal(size=(60, 3)) + at for at in (0, 40)])
    assert counted(rows).n_classes == 2


def test_the_order_of_magnitude_of_overlapping_classes() -> None:
    rows, _ = made(0, 4, n=80, d=8, apart=1.5)
    assert 2 <= counted(rows).n_classes <= 6


def test_what_an_estimate_holds() -> None:
    rows, _ = made(0, 3)
    estimate = counted(rows)
    assert estimate.curve.columns[:3] == ["k", "combined", "prior"]
    assert [point["k"] for point in estimate.curve] == list(range(1, SCALED + 1))
    assert sum(point["combined"] for point in estimate.curve) == pytest.approx(1)
    assert [row["criterion"] for row in estimate.criteria] == estimate.curve.columns[2:]
    assert estimate.criteria.columns == ["criterion", "n_classes", "weight"]
    assert all(1 <= row["n_classes"] <= SCALED and np.isfinite(row["weight"]) for row in estimate.criteria)
    low, high = estimate.interval
    within = sum(point["combined"] for point in estimate.curve if low <= point["k"] <= high)
    assert within >= 0.8
    assert repr(estimate) == f"NClassesEstimate(n_classes={estimate.n_classes}, interval=({low}, {high}))"
    assert contents(pickle.loads(pickle.dumps(estimate))) == contents(estimate)


@pytest.mark.parametrize("n_known", [0, 2, 5])
def test_a_seed_gives_the_same_estimate(n_known: int) -> None:
    rows, codes = made(n_known, 3, d=60)  # so many columns that they are reduced
    one, other = (estimate_n_novel_classes(rows, codes, random_state=3) for _ in range(2))
    assert contents(one) == contents(other)


def test_a_table_with_text_gaps_and_names(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    rows, codes = made(4, 3, apart=20.0)
    X = pandas.DataFrame(rows, columns=list("abcd"))
    X.loc[::7, "a"] = np.nan
    X["word"] = np.where(rows[:, 0] > 0, "up", "down")
    y = [None if code < 0 else f"class {code}" for code in codes]
    estimate = nf.estimate_n_novel_classes(X, y, random_state=0)
    assert 2 <= estimate.n_classes <= 4
    numeric = nf.TableEncoder(kinds={"word": "ignored"})
    other = nf.estimate_n_novel_classes(X, y, encoder=numeric, random_state=0)
    assert contents(other) != contents(estimate)
    assert not hasattr(numeric, "layout_")  # a copy was fitted


def test_names_of_classes_do_not_matter() -> None:
    rows, codes = made(4, 3)
    labels = [codes, np.where(codes < 0, -1, codes * 5 + 2)]
    labels += [np.where(codes < 0, None, np.array(list(names))[codes]) for names in ("abcd", "dbca")]
    plain, multiplied, named, reordered = (estimate_n_novel_classes(rows, y, random_state=0) for y in labels)
    assert contents(multiplied) == contents(named) == contents(plain)
    assert reordered.n_classes == plain.n_classes  # other classes are hidden in each task, so other digits differ


@pytest.mark.parametrize(
    ("unlabelled", "most"),
    [
        (np.zeros((1, 3)), 1),
        (np.arange(6.0).reshape(2, 3), 1),
        (np.arange(9.0).reshape(3, 3), 1),
        (np.ones((50, 3)), 1),
        (np.repeat(np.eye(3), 20, axis=0), 1),
        (np.arange(15.0).reshape(5, 3), 3),
        (np.random.default_rng(0).normal(size=(12, 3)), 10),
        (np.eye(3)[np.zeros(30, int)] * np.array([1e12, 1, 1]), 1),
        (np.random.default_rng(0).normal(size=(40, 3)) * [1e9, 1e-9, 0], 20),
    ],
    ids=["one", "two", "three", "equal", "three different", "five", "twelve", "huge and equal", "scales"],
)
def test_few_different_rows(unlabelled: np.ndarray, most: int) -> None:
    estimate = counted(unlabelled)
    assert 1 <= estimate.interval[0] <= estimate.n_classes <= estimate.interval[1] <= most
    assert len(estimate.curve) <= most


@pytest.mark.parametrize("n_known", [1, 5])
@pytest.mark.parametrize("n_different", [1, 2, 3, 5, 12])
def test_the_network_counts_no_more_classes_than_different_rows(n_different: int, n_known: int) -> None:
    known, codes = groups(n_known, 20, d=3)
    unlabelled = np.repeat(np.random.default_rng(1).normal(size=(n_different, 3)), 4, axis=0)
    y = np.concatenate([np.full(len(unlabelled), -1), codes])
    estimate = estimate_n_novel_classes(np.concatenate([unlabelled, known]), y, random_state=0)
    assert 1 <= estimate.interval[0] <= estimate.n_classes <= estimate.interval[1] <= n_different
    assert len(estimate.curve) == n_different


def test_known_classes_of_one_row_each() -> None:
    rows, codes = made(0, 3)
    codes[[0, 40, 80, 100, 110]] = np.arange(5)
    assert 1 <= estimate_n_novel_classes(rows, codes, random_state=0).n_classes <= 40


@pytest.mark.parametrize("most", [1, 2, 5, 25])
def test_the_largest_number_of_classes(most: int) -> None:
    rows, _ = made(0, 4, apart=20.0)
    estimate = counted(rows, max_classes=most)
    assert [point["k"] for point in estimate.curve] == list(range(1, most + 1))
    assert estimate.n_classes <= most


def test_more_than_twenty_far_groups_can_be_counted() -> None:
    rows, _ = made(0, 25, n=20, d=6, apart=60.0)
    assert counted(rows, max_classes=40).n_classes == 25


def test_large_tables_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(n_classes, "_MOST_ROWS", 60)
    sizes = []

    def spy(rows: np.ndarray, *args: Any) -> Any:
        sizes.append(len(rows))
        return criteria_curves(rows, *args)

    monkeypatch.setattr(n_classes, "criteria_curves", spy)
    rows, _ = made(0, 3, n=100)
    assert counted(rows).n_classes == 3
    counted(rows, deadline=Deadline(-math.inf))
    assert sizes[0] == 60
    assert 0 < sizes[1] < 30


@pytest.mark.parametrize("bad", [0, -1, 2.5, "many", True])
def test_a_wrong_largest_number(bad: Any) -> None:
    rows, codes = made(2, 2)
    with pytest.raises(nf.InputError, match="max_classes"):
        estimate_n_novel_classes(rows, codes, max_classes=bad)


def test_wrong_input() -> None:
    rows, codes = made(2, 2)
    with pytest.raises(nf.InputError, match="no unlabelled rows to count classes of"):
        estimate_n_novel_classes(rows, np.abs(codes))
    with pytest.raises(nf.InputError, match="encoder='standard', but expected None or a TableEncoder"):
        estimate_n_novel_classes(rows, codes, encoder="standard")  # type: ignore[arg-type]
    with pytest.raises(nf.InputError, match="labels but X has"):
        estimate_n_novel_classes(rows, codes[1:])
    with pytest.raises(nf.InputError, match="random_state"):
        estimate_n_novel_classes(rows, codes, random_state="seed")


def test_the_median_and_the_interval() -> None:
    assert n_classes._median(np.array([0.2, 0.29, 0.02, 0.49])) == 3
    assert n_classes._median(np.array([1.0])) == 1
    assert n_classes._interval(np.array([0.05, 0.6, 0.3, 0.05]), 2) == (2, 3)
    assert n_classes._interval(np.array([1.0]), 1) == (1, 1)
    assert n_classes._interval(np.array([0.4, 0.1, 0.5]), 3) == (1, 3)


def test_what_a_criterion_prefers() -> None:
    assert n_classes._preferred(np.array([0.0, 1.0, 0.5]), 9) == 2
    assert n_classes._preferred(np.array([0.0, 0.0, -0.5]), 9) == 2  # content up to 2
    assert n_classes._preferred(np.array([-1.0, 0.0, 0.0]), 9) == 2  # content from 2 on
    assert n_classes._preferred(np.zeros(3), 9) == 9


@pytest.mark.parametrize("n_known", [0, 4])
def test_the_picture(tmp_path: Path, n_known: int) -> None:
    pytest.importorskip("matplotlib")
    rows, codes = made(n_known, 3)
    estimate = estimate_n_novel_classes(rows, codes, random_state=0)
    figure = estimate.plot(tmp_path / "counts.png")
    assert_drawn(tmp_path / "counts.png")
    bars, curves = figure.axes
    assert len(bars.patches) == len(estimate.curve)
    assert len(curves.lines) > 1
    (alone,) = counted(np.ones((3, 2))).plot().axes  # no criterion says anything
    assert len(alone.patches) == 1


@pytest.mark.parametrize("discoverer", [nf.KMeansDiscoverer, nf.WhitenedKMeans])
def test_discoverers_keep_the_estimate(discoverer: Any) -> None:
    rows, codes = made(4, 3, apart=20.0)
    model = discoverer("auto", random_state=0).fit(rows, codes)
    assert model.n_classes_estimate_.n_classes == model.n_novel_classes_ == 3
    model.set_params(n_novel_classes=2).fit(rows, codes)
    assert not hasattr(model, "n_classes_estimate_")
