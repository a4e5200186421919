from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from newfound.clustering import partitions as cuts
from newfound.clustering import representations as spaces
from newfound.metrics import clustering_accuracy
from newfound.records import Records
from newfound.selection import ranking as module
from newfound.selection.evidence import Evidence, gather_evidence
from newfound.selection.portfolio import NETWORK, Portfolio, build_portfolio
from newfound.selection.ranking import Ranking, rank, remake
from newfound.tables.sampling import sample_of_each
from tests.selection.made_up import LAYOUT, N_KNOWN, N_NOVEL, lopsided, made, rng, table

pytestmark = pytest.mark.usefixtures("few_trees")


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


@pytest.mark.parametrize(
    ("evidence", "first"),
    [
        ({"lead_of_network": 0.01, "trust_in_accuracy": 0.4}, NETWORK),
        ({"trust_in_information": 0.5}, NETWORK),
        ({"trust_in_information": 0.4, "lead_of_network": -0.01}, (spaces.RAW, "k-means")),
        ({"trust_in_information": 0.5, "order": [2.0, 1.5, 1.0]}, (spaces.RAW, "k-means")),
    ],
)
def test_the_network_comes_first_where_it_leads_in_one_signal(evidence: dict[str, Any], first: tuple[str, str]) -> None:
    names = [(spaces.RAW, "k-means"), NETWORK, (spaces.RAW, "Ward linkage")]
    offered = made(names, evidence.pop("order", [2.0, 2.1, 1.0]))
    advantage = dict(zip(names, [0.2, -0.3, 0.1], strict=True))
    signals = {"trust_in_information": 0.0, "trust_in_accuracy": 3.0} | evidence
    assert rank(offered, Evidence(8, advantage, advantage, **signals), rng()).names[0] == first


@pytest.mark.parametrize("equal", ["labelled", "unlabelled", "all"])
def test_equal_rows(equal: str) -> None:
    rows, codes, _ = table(n_each=8)
    rows[{"labelled": codes >= 0, "unlabelled": codes < 0, "all": codes > -2}[equal]] = 1.0
    portfolio = build_portfolio(rows, codes, LAYOUT, N_NOVEL, rng())
    evidence = gather_evidence(rows, codes, LAYOUT, N_NOVEL, rng(), n_tasks=2)
    choice = rank(portfolio, evidence, rng())
    assert np.isfinite(choice.score).all()
    assert choice.partitions.shape == (len(choice.names), (codes < 0).sum())


def test_a_partition_that_found_nothing_comes_last() -> None:
    names = [("a", "x"), ("a", "y"), ("b", "x")]
    portfolio = replace(made(names, [3.0, 2.0, 1.0]), is_empty=np.array([True, False, False]))
    evidence = Evidence(9, trust_in_information=1.0)
    assert rank(portfolio, evidence, rng()).names == [names[1], names[2], names[0]]


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


# ---- the choice, made anew


@pytest.mark.parametrize("trust", [0.0, 1.0])
def test_the_choice_is_made_anew_with_more_rows(trust: float) -> None:
    rows, codes, truth = table(n_each=40)
    few = sample_of_each(codes, 60, rng())
    evidence = Evidence(n_folds=8, trust_in_information=trust, advantage={("columns", "k-means"): 1.0})
    choice = rank(build_portfolio(rows[few], codes[few], LAYOUT, N_NOVEL, rng()), evidence, rng())
    shared = np.searchsorted(np.flatnonzero(codes < 0), few[codes[few] < 0])
    partition, by_network = remake(choice, rows, codes, LAYOUT, N_NOVEL, rng(), shared=shared, n_best=2)
    assert not by_network
    assert clustering_accuracy(truth[codes < 0], partition) > 0.95


@pytest.mark.parametrize("trust", [0.0, 1.0])
def test_what_the_network_found_is_told_to_the_other_rows(trust: float) -> None:
    rows, codes, truth = table(n_each=40)
    few = sample_of_each(codes, 60, rng())
    seen = few[codes[few] < 0]
    swapped = (truth[seen] - N_KNOWN + 1) % N_NOVEL
    names = [NETWORK, ("columns", "k-means")]
    partitions = np.stack([swapped, np.arange(len(seen)) % N_NOVEL])
    evidence = Evidence(8, trust_in_information=trust)
    choice = Ranking(partitions, names, np.zeros(2), 1.0, False, False, evidence, Records())
    shared = np.searchsorted(np.flatnonzero(codes < 0), seen)
    partition, by_network = remake(choice, rows, codes, LAYOUT, N_NOVEL, rng(), shared=shared, n_best=2)
    assert by_network
    np.testing.assert_array_equal(partition[shared], swapped)
    assert clustering_accuracy(truth[codes < 0], partition) > 0.95


@pytest.mark.parametrize(("gains", "expected"), [((0.1, 0.1), 1), ((-0.1, -0.1), 0), ((0.1,), 0)])
def test_the_networks_partition_is_exchanged_where_that_pays(
    monkeypatch: pytest.MonkeyPatch, gains: tuple[float, ...], expected: int
) -> None:
    chosen = np.arange(200) // 100
    near = np.where(np.arange(200) == 99, 1, chosen)
    offered = replace(made([("columns", "spectral 1")], [9.0], n=200), partitions=near[None])
    monkeypatch.setattr(module, "build_portfolio", lambda *args, **settings: offered)
    evidence = Evidence(8, trust_in_information=1.0, gains_of_exchange=gains)
    names = [NETWORK, ("columns", "k-means")]
    choice = Ranking(np.stack([chosen, chosen]), names, np.zeros(2), 1.0, False, False, evidence, Records())
    none = np.zeros((200, 1)), np.full(200, -1)
    partition, by_network = remake(choice, *none, LAYOUT, 2, rng(), shared=np.arange(200), n_best=1)
    assert by_network == (expected == 0)
    np.testing.assert_array_equal(partition, (chosen, near)[expected])


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
    choice = Ranking(found["chosen"][None], names[:1], np.zeros(1), 1.0, False, False, evidence, Records())
    none = np.zeros((200, 1)), np.full(200, -1)
    partition, by_network = remake(choice, *none, LAYOUT, 2, rng(), shared=np.arange(200), n_best=1)
    assert not by_network
    np.testing.assert_array_equal(partition, found[expected])


@pytest.mark.parametrize(
    ("second", "expected"), [([0, 0, 1, 1, 0, 1], 1), ([0, 1, 1, 0, 0, 1], 0)], ids=["stable", "none"]
)
def test_a_candidate_that_more_rows_change_is_passed_over(second: list[int], expected: int) -> None:
    names = [("a", "x"), ("a", "y")]
    choice = Ranking(
        np.array([[0, 0, 0, 1], [0, 0, 1, 1]]), names, np.zeros(2), 1.0, False, False, Evidence(), Records()
    )
    anew = replace(made(names, [0.0, 0.0], n=6), partitions=np.array([[0, 1, 0, 1, 0, 0], second]))
    found = module._first_stable(choice, anew, np.arange(4), 2)
    np.testing.assert_array_equal(found, anew.partitions[expected])
