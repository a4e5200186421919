from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from newfound import deadline
from newfound.deadline import Deadline
from newfound.selection import evidence as module
from newfound.selection.evidence import Evidence, gather_evidence, helped_by
from newfound.selection.portfolio import NETWORK, Name, Portfolio, build_portfolio
from tests.selection.made_up import LAYOUT, N_NOVEL, lopsided, made, rng, table

pytestmark = pytest.mark.usefixtures("few_trees")


# ---- tasks


def test_hidden_tasks_never_see_unlabelled_rows() -> None:
    rows, codes, _ = table()
    rows[codes < 0] = np.nan  # anything that touches them would show it
    tasks = list(module._hidden_tasks(codes, N_NOVEL, 6, rng()))
    assert len(tasks) == 6
    for fold, task in tasks:
        assert np.isfinite(rows[task.rows]).all()
        assert len(fold) == 2
        assert set(task.truth) == {0, 1}
        assert (task.codes < 0).sum() == len(task.truth) == 50
        assert set(task.codes) == {-1, 0, 1, 2}
    evidence = gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=1)
    assert evidence.n_folds == 1


def test_classes_that_are_hidden_never_reach_the_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hidden rows that exchange their classes change how candidates are scored, and nothing that makes them."""
    rows, codes, _ = table()
    built: list[tuple[Any, ...]] = []

    def build(rows: Any, codes: Any, *others: Any, **more: Any) -> Portfolio:
        portfolio = build_portfolio(rows, codes, *others, **more)
        built.append((rows, codes, portfolio.partitions))
        return portfolio

    monkeypatch.setattr(module, "build_portfolio", build)
    ((fold, _),) = module._hidden_tasks(codes, N_NOVEL, 1, rng())
    hidden, exchanged = np.isin(codes, fold), codes.copy()
    exchanged[hidden] = np.random.default_rng(5).permutation(codes[hidden])
    mirrored = np.where(hidden, sum(fold) - exchanged, exchanged)  # no hidden row has the same class here and there
    evidence, other, mirror = (
        gather_evidence(rows, y, LAYOUT, N_NOVEL, rng(), n_tasks=1) for y in (codes, exchanged, mirrored)
    )
    for first, *others in zip(*built, strict=True):
        for same in others:
            np.testing.assert_array_equal(first, same)
    assert max(evidence.accuracy.values()) == 1.0
    assert mirror.accuracy == other.accuracy
    assert max(other.accuracy.values()) < 0.8


def test_hidden_rows_keep_their_classes() -> None:
    rows, codes, _ = table()
    rows[:, 0] = codes  # so that a row tells its class
    for fold, task in module._hidden_tasks(codes, N_NOVEL, 3, rng()):
        seen = rows[task.rows, 0]
        np.testing.assert_array_equal(seen[task.codes < 0], np.sort(fold)[task.truth])
        known = seen[task.codes >= 0]
        assert not set(known) & set(fold)
        np.testing.assert_array_equal(np.unique(known, return_inverse=True)[1], task.codes[task.codes >= 0])


@pytest.mark.parametrize("n_known", [1, 2])
def test_too_few_known_classes_give_no_evidence(n_known: int) -> None:
    rows, codes, _ = table(n_known)
    assert gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=4) == Evidence()


def test_a_hidden_class_that_the_sample_misses_is_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HIDDEN_ROWS", (20, 20))
    codes = np.repeat([0, 1, 2], [4000, 1, 4000])
    for _, task in module._hidden_tasks(codes, 2, 6, rng()):
        assert len(set(task.truth)) == 2
        assert (task.codes < 0).sum() == 20


class Clock:
    """A time that goes on by a second whenever somebody looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


def test_no_task_is_begun_that_would_end_late(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, codes, _ = table()
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(deadline, "time", clock)
    built = []

    def build(*args: Any, **settings: Any) -> Portfolio:
        clock.now += 10.0
        built.append(args[3])
        return made([("a", "b")], [0.0], n=50)

    monkeypatch.setattr(module, "build_portfolio", build)
    gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=8, deadline=Deadline(30.0))
    assert len(built) == 2  # a third one would have ended too late
    assert gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=8, deadline=Deadline(0.0)) == Evidence()


def test_it_does_not_matter_where_tasks_are_done() -> None:
    rows, codes, _ = table()
    here = gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=3)
    ended: list[bool] = []
    with ThreadPoolExecutor(2) as pool, helped_by(pool):
        there = gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=3, on_task=lambda: ended.append(True))
    assert there == here
    assert len(ended) == here.n_folds == 3
    assert gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=3) == here


def test_tasks_elsewhere_that_end_late_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, codes, _ = table()
    first, release = threading.Event(), threading.Event()
    held: list[Any] = []

    def build(*args: Any, **settings: Any) -> Portfolio:
        if first.is_set():
            held.append(release.wait(60))
        first.set()
        return made([("a", "b")], [0.0], n=50)

    monkeypatch.setattr(module, "build_portfolio", build)
    with ThreadPoolExecutor(1) as pool, helped_by(pool):
        evidence = gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=8, deadline=Deadline.after(1.0))
        assert evidence.n_folds == 1
        release.set()
    assert len(held) == 1  # what had not begun was called off


def test_what_goes_wrong_elsewhere_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, codes, _ = table()

    def build(*args: Any, **settings: Any) -> Portfolio:
        raise ValueError("lost")

    monkeypatch.setattr(module, "build_portfolio", build)
    with ThreadPoolExecutor(1) as pool, helped_by(pool), pytest.raises(ValueError, match="lost"):
        gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=2)


# ---- what they say


def test_evidence_of_clear_classes() -> None:
    rows, codes, _ = table()
    evidence = gather_evidence(rows, codes, LAYOUT, 2, rng(), n_tasks=3)
    assert evidence.n_folds == 3
    assert set(evidence.accuracy) == set(evidence.advantage)
    assert max(evidence.accuracy.values()) == 1.0
    assert all(0 <= accuracy <= 1 for accuracy in evidence.accuracy.values())
    assert abs(np.mean(list(evidence.advantage.values()))) < 0.05
    assert 0 <= evidence.trust_in_accuracy <= 1
    assert 0 <= evidence.trust_in_information <= 1


def result(fold: tuple[int, ...], names: list[Name], information: list[float], accuracy: list[float]) -> Any:
    return module._Result(fold, made(names, information), np.array(accuracy), within=1.0, n_hidden=2)


def test_trust_is_how_well_tasks_are_foretold() -> None:
    names = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    first = result((0, 1), names, [1, 2, 3, 4], [0.5, 0.6, 0.7, 0.8])
    other = result((2, 3), names, [1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4])
    evidence = module._weigh([first, other])
    assert evidence.trust_in_information == evidence.trust_in_accuracy == pytest.approx(1.0)
    assert evidence.accuracy == pytest.approx(dict(zip(names, [0.3, 0.4, 0.5, 0.6], strict=True)))
    assert evidence.advantage == pytest.approx(dict(zip(names, [-0.15, -0.05, 0.05, 0.15], strict=True)))
    against = module._weigh([first, replace(other, accuracy=other.accuracy[::-1])])
    assert against.trust_in_accuracy == against.trust_in_information == 0.0
    # The same classes, hidden again, foretell nothing about others.
    assert module._weigh([first, replace(first)]).trust_in_accuracy == 0.0


def test_candidates_that_a_task_did_not_allow_are_judged_by_the_others() -> None:
    names = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    evidence = module._weigh(
        [
            result((0, 1), names, [1, 2, 3, 4], [0.5, 0.6, 0.7, 0.8]),
            result((1, 2), names[:3], [1, 2, 3], [0.1, 0.2, 0.3]),
        ]
    )
    assert evidence.accuracy["b", "y"] == pytest.approx(0.8)
    assert np.isfinite(list(evidence.advantage.values())).all()


def test_the_gain_of_cleaner_partitions_is_measured_on_hidden_classes() -> None:
    accuracy = np.array([0.9, 0.6, 1.0])
    first = module._Result((0, 1), lopsided(), accuracy, within=0.9, n_hidden=2)
    assert module._weigh([first]).gain_of_cleaner == pytest.approx(-0.3)
    silent = replace(first, portfolio=made(first.portfolio.names, [3.0, 2.0, 1.0]))
    assert module._weigh([first, silent]).gain_of_cleaner == pytest.approx(-0.3)  # nothing was exchanged there
    assert module._weigh([silent]).gain_of_cleaner == 0.0
    assert module._weigh([first, silent]).within == pytest.approx(0.9)


def test_smoothing_draws_towards_an_additive_table() -> None:
    names = [(space, method) for space in "abc" for method in "xy"]
    additive = np.array([1, 2, 11, 12, 21, 22], dtype=float)
    np.testing.assert_allclose(module._smoothed(names, additive), additive)
    lucky = np.zeros(6)
    lucky[3] = 6.0
    share = 1 - module._SMOOTHING
    expected = share * lucky + (1 - share) * np.array([-1, 1, 2, 4, -1, 1])  # mean of the line + of the column - of all
    np.testing.assert_allclose(module._smoothed(names, lucky), expected)


def test_the_network_is_compared_with_what_other_tasks_would_have_chosen() -> None:
    names = [NETWORK, ("columns", "k-means"), ("ranks", "Ward linkage"), ("ranks", "k-means")]
    tasks = [
        result((0, 1), names, [1.0, 2.0, 3.0, 0.0], [0.7, 0.6, 0.9, 0.5]),
        result((0, 2), names, [1.0, 3.0, 2.0, 0.0], [0.7, 0.8, 0.6, 0.5]),
    ]
    chosen = [
        task.accuracy[module._summarise([other]).score(task.portfolio).argmax()]
        for task, other in zip(tasks, tasks[::-1], strict=True)
    ]
    assert module._weigh(tasks).lead_of_network == pytest.approx(0.7 - np.mean(chosen))
    assert module._weigh(tasks[:1]).lead_of_network == 0.0  # the task would have chosen by itself
    without = replace(tasks[0], portfolio=made(names[1:], [2.0, 3.0, 0.0]), accuracy=tasks[0].accuracy[1:])
    assert module._weigh([without, tasks[1]]).lead_of_network == pytest.approx(0.7 - chosen[1])


def test_the_gain_of_an_exchange_of_the_networks_partition_is_measured_on_hidden_classes() -> None:
    names = [NETWORK, ("columns", "spectral 1"), ("columns", "k-means"), ("ranks", "spectral 1")]
    first = result((0, 1), names, [0.1, 1.0, 3.0, 2.0], [0.7, 0.8, 0.9, 0.6])
    far = np.array([0, 0, 1, 1])
    other = replace(first.portfolio, partitions=np.vstack([first.portfolio.partitions[:3], far]))
    near = replace(first, portfolio=other)  # the most informative spectral one is another partition
    silent = result((0, 2), names[1:], [1.0, 3.0, 2.0], [0.8, 0.9, 0.6])  # without the network
    assert module._weigh([first, near, silent]).gains_of_exchange == pytest.approx((-0.1, 0.1))


@pytest.mark.parametrize(
    ("gains", "pays"), [((), False), ((0.1,), False), ((0.0, 0.0), True), ((-0.1, -0.12), False), ((-0.1, 0.08), True)]
)
def test_an_exchange_pays_unless_tasks_lose_by_it_beyond_chance(gains: tuple[float, ...], pays: bool) -> None:
    assert Evidence(gains_of_exchange=gains).exchange_pays == pays
