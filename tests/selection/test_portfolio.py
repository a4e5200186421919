from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from newfound.clustering import partitions as cuts
from newfound.clustering import representations as spaces
from newfound.metrics import clustering_accuracy
from newfound.records import Records
from newfound.selection import portfolio as module
from newfound.selection.portfolio import (
    Evidence,
    Name,
    Portfolio,
    build_portfolio,
    gather_evidence,
    rank,
    remake,
    sample_of_each,
)
from newfound.tables import Layout
from tests.oracles import partitions as oracle

SEEDS = st.integers(0, 2**31 - 1)
N_KNOWN, N_NOVEL, D = 5, 3, 4
LAYOUT = Layout(tuple("abcd"), np.arange(D), np.zeros(D, dtype=bool))


def rng() -> np.random.RandomState:
    return np.random.RandomState(0)


def table(n_known: int = N_KNOWN, n_each: int = 25, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Encoded rows, known codes, and all classes, for tests alone."""
    generator = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_known + N_NOVEL), n_each)
    rows = 6 * generator.normal(size=(n_known + N_NOVEL, D))[truth] + generator.normal(size=(len(truth), D))
    return rows, np.where(truth < n_known, truth, -1), truth


def made(names: list[Name], information: list[float], n: int = 4, empty: bool = False) -> Portfolio:
    """A portfolio of equal partitions."""
    told = np.array(information)
    partitions = np.tile(np.arange(n) % 2, (len(names), 1))
    nothing, no = np.zeros(len(names)), np.zeros(len(names), dtype=bool)
    graphs = [np.arange(n)[:, None]]
    return Portfolio(names, partitions, told, nothing, nothing, no, np.full(len(names), empty), no, graphs)


@pytest.fixture(scope="module", autouse=True)
def few_trees() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spaces, "_N_TREES", 5)
        yield


@pytest.fixture(scope="module")
def portfolio() -> Portfolio:
    rows, codes, _ = table()
    return build_portfolio(rows, codes, LAYOUT, N_NOVEL, rng())


# ---- the portfolio


@given(st.integers(1, 5), st.integers(1, 30), st.integers(1, 6), SEEDS)
@settings(max_examples=60)
def test_normalised_information_is_that_of_scikit_learn(c: int, n: int, k: int, seed: int) -> None:
    partitions = np.random.default_rng(seed).integers(k, size=(c, n))
    found = module._normalised_information(partitions)
    expected = [[normalized_mutual_info_score(a, b) for b in partitions] for a in partitions]
    for i in range(c):
        for j in range(c):
            trivial = len(set(partitions[i])) == 1 and len(set(partitions[j])) == 1
            assert found[i, j] == pytest.approx(1.0 if trivial else expected[i][j], abs=1e-9)


def test_normalised_information_of_many_classes_takes_little_memory() -> None:
    partitions = np.stack([np.random.default_rng(i).permutation(600) for i in range(3)])
    np.testing.assert_allclose(module._normalised_information(partitions), 1.0)  # dense, 25 MB for each pair


def test_every_candidate_is_scored(portfolio: Portfolio) -> None:
    n = N_NOVEL * 25
    assert portfolio.partitions.shape == (len(portfolio.names), n)
    assert portfolio.partitions.dtype == np.int64
    assert len(set(portfolio.names)) == len(portfolio.names)
    assert {space for space, _ in portfolio.names} >= {spaces.RAW, *spaces.FEW_KNOWN}
    assert {method for _, method in portfolio.names} == set(cuts.METHODS)
    assert ((portfolio.within >= 0) & (portfolio.within <= 1)).all()
    agreement = portfolio.agreement(rng())
    assert ((agreement > 0) & (agreement <= 1)).all()


def test_scores_are_means_over_the_graphs_of_all_representations() -> None:
    rows, codes, _ = table()
    names = [(space, "k-means") for space in spaces.FEW_KNOWN]
    found = build_portfolio(rows, codes, LAYOUT, N_NOVEL, rng(), names=names)
    graphs = [
        cuts.neighbour_graph(represented[codes < 0])[0][:, :10]
        for _, represented in spaces.representations(rows, codes, LAYOUT, rng(), frozenset(spaces.FEW_KNOWN))
    ]
    for partition, information, within in zip(found.partitions, found.information, found.within, strict=True):
        told = np.mean([oracle.edge_information(partition.tolist(), graph) for graph in graphs], axis=0)
        assert information == pytest.approx(told[0] - module._BALANCE * oracle.entropy(partition.tolist()))
        assert within == pytest.approx(told[1])
    entropies = [oracle.entropy(partition.tolist()) for partition in found.partitions]
    np.testing.assert_allclose(found.told * entropies, found.information + module._BALANCE * np.array(entropies))


def test_only_some_candidates_can_be_asked_for() -> None:
    rows, codes, _ = table()
    names = [("whitened 1", "k-means"), (spaces.RAW, "Ward linkage"), (spaces.RAW, "spectral 1")]
    assert set(build_portfolio(rows, codes, LAYOUT, N_NOVEL, rng(), names=names).names) == set(names)


def test_a_portfolio_past_its_deadline_has_one_representation() -> None:
    rows, codes, _ = table()
    names = build_portfolio(rows, codes, LAYOUT, N_NOVEL, rng(), deadline=-math.inf).names
    assert {space for space, _ in names} == {spaces.RAW}


@pytest.mark.parametrize("equal", ["labelled", "unlabelled", "all"])
def test_equal_rows(equal: str) -> None:
    rows, codes, _ = table(n_each=8)
    rows[{"labelled": codes >= 0, "unlabelled": codes < 0, "all": codes > -2}[equal]] = 1.0
    portfolio = build_portfolio(rows, codes, LAYOUT, N_NOVEL, rng())
    evidence = gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=2)
    choice = rank(portfolio, evidence, rng())
    assert np.isfinite(choice.score).all()
    assert choice.partitions.shape == (len(choice.names), (codes < 0).sum())


# ---- hidden classes


def test_hidden_tasks_never_see_unlabelled_rows() -> None:
    rows, codes, _ = table()
    rows[codes < 0] = np.nan  # anything that touches them would show it
    tasks = list(module._hidden_tasks(rows, codes, N_NOVEL, 6, rng()))
    assert len(tasks) == 6
    for fold, task_rows, task_codes, truth in tasks:
        assert np.isfinite(task_rows).all()
        assert len(fold) == 2
        assert set(truth) == {0, 1}
        assert (task_codes < 0).sum() == len(truth) == 50
        assert set(task_codes) == {-1, 0, 1, 2}
    evidence = gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=1)
    assert evidence.n_folds == 1


def test_hidden_rows_keep_their_classes() -> None:
    rows, codes, _ = table()
    rows[:, 0] = codes  # so that a row tells its class
    for fold, task_rows, task_codes, truth in module._hidden_tasks(rows, codes, N_NOVEL, 3, rng()):
        np.testing.assert_array_equal(task_rows[task_codes < 0, 0], np.sort(fold)[truth])
        known = task_rows[task_codes >= 0, 0]
        assert not set(known) & set(fold)
        np.testing.assert_array_equal(np.unique(known, return_inverse=True)[1], task_codes[task_codes >= 0])


@pytest.mark.parametrize("n_known", [1, 2])
def test_too_few_known_classes_give_no_evidence(n_known: int) -> None:
    rows, codes, _ = table(n_known)
    assert gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=4) == Evidence()


def test_a_hidden_class_that_the_sample_misses_is_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HIDDEN_ROWS", (20, 20))
    codes = np.repeat([0, 1, 2], [4000, 1, 4000])
    for _, _, task_codes, truth in module._hidden_tasks(np.zeros((len(codes), 1)), codes, 2, 6, rng()):
        assert len(set(truth)) == 2
        assert (task_codes < 0).sum() == 20


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


class Clock:
    """A time that goes on by a second whenever somebody looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


def test_no_task_is_begun_that_would_end_late(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, codes, _ = table()
    monkeypatch.setattr(module, "time", Clock())
    built = []

    def build(*args: Any, **settings: Any) -> Portfolio:
        module.time.now += 10.0  # type: ignore[attr-defined]
        built.append(args[3])
        return made([("a", "b")], [0.0], n=50)

    monkeypatch.setattr(module, "build_portfolio", build)
    gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=8, deadline=30.0)
    assert len(built) == 2  # a third one would have ended after 36
    assert gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=8, deadline=0.0) == Evidence()


def result(fold: tuple[int, ...], names: list[Name], information: list[float], accuracy: list[float]) -> Any:
    return module._Result(fold, made(names, information), np.array(accuracy), within=1.0)


def test_trust_is_how_well_tasks_are_foretold() -> None:
    names = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    one = result((0, 1), names, [1, 2, 3, 4], [0.5, 0.6, 0.7, 0.8])
    other = result((2, 3), names, [1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4])
    evidence = module._weigh([one, other])
    assert evidence.trust_in_information == evidence.trust_in_accuracy == pytest.approx(1.0)
    assert evidence.accuracy == pytest.approx(dict(zip(names, [0.3, 0.4, 0.5, 0.6], strict=True)))
    assert evidence.advantage == pytest.approx(dict(zip(names, [-0.15, -0.05, 0.05, 0.15], strict=True)))
    against = module._weigh([one, replace(other, accuracy=other.accuracy[::-1])])
    assert against.trust_in_accuracy == against.trust_in_information == 0.0
    # The same classes, hidden again, foretell nothing about others.
    assert module._weigh([one, replace(one)]).trust_in_accuracy == 0.0


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


# ---- the choice


def test_smoothing_draws_towards_an_additive_table() -> None:
    names = [(space, method) for space in "abc" for method in "xy"]
    additive = np.array([1, 2, 11, 12, 21, 22], dtype=float)
    np.testing.assert_allclose(module._smoothed(names, additive), additive)
    lucky = np.zeros(6)
    lucky[3] = 6.0
    share = 1 - module._SMOOTHING
    expected = share * lucky + (1 - share) * np.array([-1, 1, 2, 4, -1, 1])  # mean of the line + of the column - of all
    np.testing.assert_allclose(module._smoothed(names, lucky), expected)


def test_without_evidence_a_usual_candidate_that_others_agree_with_is_chosen(portfolio: Portfolio) -> None:
    choice = rank(portfolio, Evidence(), rng())
    usual = [space in spaces.FEW_KNOWN and method in cuts.FEW_KNOWN for space, method in choice.names]
    assert usual == sorted(usual, reverse=True)
    assert usual[0]
    truth = table()[2]
    assert clustering_accuracy(truth[truth >= N_KNOWN], choice.partitions[0]) == 1.0


def test_evidence_decides(portfolio: Portfolio) -> None:
    praised = (spaces.RAW, "average linkage")
    advantage = {name: 0.5 if name == praised else 0.0 for name in portfolio.names}
    evidence = Evidence(9, advantage, advantage, trust_in_information=0.0, trust_in_accuracy=1.0)
    choice = rank(portfolio, evidence, rng())
    assert choice.names[0] == praised
    informed = rank(portfolio, replace(evidence, trust_in_accuracy=0.0, trust_in_information=1.0), rng())
    best = portfolio.names.index(informed.names[0])
    assert portfolio.information[best] == portfolio.information.max()


def test_a_partition_that_found_nothing_comes_last() -> None:
    names = [("a", "x"), ("a", "y"), ("b", "x")]
    portfolio = replace(made(names, [3.0, 2.0, 1.0]), is_empty=np.array([True, False, False]))
    evidence = Evidence(9, trust_in_information=1.0)
    assert rank(portfolio, evidence, rng()).names == [names[1], names[2], names[0]]


def test_a_partition_is_empty_where_one_class_holds_nearly_everything() -> None:
    rows, codes, _ = table()
    rows[codes < 0] = 0.0
    rows[-1] = 1e3  # one row far out: whatever is cut, it is alone
    found = build_portfolio(rows, codes, LAYOUT, 2, rng(), names=[(spaces.RAW, "average linkage")])
    assert sorted(np.bincount(found.partitions[0])) == [1, 74]
    assert found.is_empty.all()


def lopsided() -> Portfolio:
    """Three partitions: one that cuts through a class, one that sees small classes, one that tells no more."""
    portfolio = made([("a", "cut"), ("a", "sees"), ("a", "silent")], [3.0, 2.0, 1.0])
    return replace(
        portfolio,
        within=np.array([0.9, 0.97, 0.99]),
        told=np.array([0.7, 0.8, 0.7]),
        is_lopsided=np.array([False, True, True]),
    )


def test_small_classes_are_preferred_to_cuts_through_a_large_one() -> None:
    evidence = Evidence(9, trust_in_information=1.0, within=0.95)
    assert rank(lopsided(), evidence, rng()).names[0] == ("a", "sees")
    assert rank(lopsided(), evidence, rng()).is_lopsided


@pytest.mark.parametrize(
    ("changes", "evidence"),
    [
        ({"within": np.array([0.96, 0.97, 0.99])}, {}),  # no edges are cut
        ({"told": np.array([0.78, 0.8, 0.7])}, {}),  # hardly more is told
        ({"is_empty": np.array([False, True, True])}, {}),
        ({"is_holes": np.array([False, True, True])}, {}),
        ({}, {"within": 0.91}),  # known classes are no more apart
        ({}, {"gain_of_cleaner": -0.2}),  # it spoiled hidden classes
    ],
    ids=["clean", "tells", "empty", "holes", "apart", "hidden"],
)
def test_cuts_are_kept_unless_all_speaks_against_them(changes: dict[str, Any], evidence: dict[str, float]) -> None:
    told = Evidence(9, trust_in_information=1.0, **({"within": 0.95} | evidence))
    assert rank(replace(lopsided(), **changes), told, rng()).names[0] == ("a", "cut")


def test_classes_of_rows_that_lack_a_cell_are_noticed() -> None:
    layout = Layout(("a", "a=missing"), np.array([0, 0]), np.array([False, True]))
    rows = np.column_stack([np.arange(10.0), np.arange(10) < 3])
    partitions = np.array([[0, 0, 0, 1, 1, 1, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]])
    assert module._hold_holes(partitions, rows, layout, 2).tolist() == [True, False]
    assert not module._hold_holes(partitions, rows[:, :1], Layout(("a",), np.zeros(1, int), np.zeros(1, bool)), 2).any()


def test_the_gain_of_cleaner_partitions_is_measured_on_hidden_classes() -> None:
    accuracy = np.array([0.9, 0.6, 1.0])
    one = module._Result((0, 1), lopsided(), accuracy, within=0.9)
    assert module._weigh([one]).gain_of_cleaner == pytest.approx(-0.3)
    silent = replace(one, portfolio=made(one.portfolio.names, [3.0, 2.0, 1.0]))
    assert module._weigh([one, silent]).gain_of_cleaner == pytest.approx(-0.3)  # nothing was exchanged there
    assert module._weigh([silent]).gain_of_cleaner == 0.0
    assert module._weigh([one, silent]).within == pytest.approx(0.9)


def test_the_choice_is_the_portfolio_in_another_order(portfolio: Portfolio) -> None:
    choice = rank(portfolio, Evidence(), rng())
    assert (np.diff(choice.score) <= 0).all()
    assert sorted(choice.names) == sorted(portfolio.names)
    for name, partition in zip(choice.names, choice.partitions, strict=True):
        np.testing.assert_array_equal(partition, portfolio.partitions[portfolio.names.index(name)])
    assert isinstance(choice.leaderboard, Records)
    assert [record["rank"] for record in choice.leaderboard] == list(range(1, len(choice.names) + 1))
    assert [(record["representation"], record["method"]) for record in choice.leaderboard] == choice.names
    assert [record["score"] for record in choice.leaderboard] == choice.score.tolist()
    assert choice.within == choice.leaderboard[0]["within"]
    assert {record["hidden_accuracy"] for record in choice.leaderboard} == {None}


def test_novel_labels_never_enter() -> None:
    """The order of unlabelled rows is all that could tell their classes: it must not matter which rows are which."""
    rows, codes, truth = table()
    evidence = gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=2)
    other = rows.copy()
    novel = codes < 0
    other[novel] = np.random.default_rng(5).normal(size=(novel.sum(), D))
    assert gather_evidence(other, codes, LAYOUT, N_NOVEL, rng(), n_tasks=2) == evidence
    assert len(truth[novel])


@given(st.lists(st.integers(-1, 2), min_size=1, max_size=50), st.integers(1, 10), SEEDS)
@settings(max_examples=60)
def test_samples_of_each_kind(codes: list[int], most: int, seed: int) -> None:
    kinds = np.array(codes)
    some = sample_of_each(kinds, most, np.random.RandomState(seed))
    assert (np.diff(some) > 0).all()
    for kind in (kinds < 0, kinds >= 0):
        assert kind[some].sum() == min(most, kind.sum())


# ---- the choice, made anew


@pytest.mark.parametrize("trust", [0.0, 1.0])
def test_the_choice_is_made_anew_with_more_rows(trust: float) -> None:
    rows, codes, truth = table(n_each=40)
    few = sample_of_each(codes, 60, rng())
    evidence = Evidence(n_folds=8, trust_in_information=trust, advantage={("columns", "k-means"): 1.0})
    choice = rank(build_portfolio(rows[few], codes[few], LAYOUT, N_NOVEL, rng()), evidence, rng())
    shared = np.searchsorted(np.flatnonzero(codes < 0), few[codes[few] < 0])
    partition = remake(choice, rows, codes, LAYOUT, N_NOVEL, rng(), shared=shared, n_best=2)
    assert clustering_accuracy(truth[codes < 0], partition) > 0.95


@pytest.mark.parametrize(("trust", "expected"), [(1.0, "near"), (0.4, "chosen")])
def test_only_near_partitions_and_trusted_information_replace_the_choice(
    monkeypatch: pytest.MonkeyPatch, trust: float, expected: str
) -> None:
    found = {"chosen": np.arange(200) // 100, "far": np.arange(200) % 2}
    found["near"] = np.where(np.arange(200) == 99, 1, found["chosen"])
    names = [("columns", "k-means"), ("columns", "spectral 0.3"), ("columns", "spectral 1")]
    information = np.array([0.5, 0.6, 0.9])
    partitions = np.stack([found["chosen"], found["near"], found["far"]])
    offered = replace(made(names, information.tolist(), n=200), partitions=partitions)
    monkeypatch.setattr(module, "build_portfolio", lambda *args, **settings: offered)
    evidence = Evidence(8, trust_in_information=trust)
    choice = module.Ranking(found["chosen"][None], names[:1], np.zeros(1), 1.0, False, False, evidence, Records())
    partition = remake(choice, np.zeros((200, 1)), np.full(200, -1), LAYOUT, 2, rng(), shared=np.arange(200), n_best=1)
    np.testing.assert_array_equal(partition, found[expected])


@pytest.mark.parametrize(
    ("second", "expected"), [([0, 0, 1, 1, 0, 1], 1), ([0, 1, 1, 0, 0, 1], 0)], ids=["stable", "none"]
)
def test_a_candidate_that_more_rows_change_is_passed_over(second: list[int], expected: int) -> None:
    names = [("a", "x"), ("a", "y")]
    choice = module.Ranking(
        np.array([[0, 0, 0, 1], [0, 0, 1, 1]]), names, np.zeros(2), 1.0, False, False, Evidence(), Records()
    )
    anew = replace(made(names, [0.0, 0.0], n=6), partitions=np.array([[0, 1, 0, 1, 0, 0], second]))
    found = module._first_stable(choice, anew, np.arange(4), 2)
    np.testing.assert_array_equal(found, anew.partitions[expected])
