from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from newfound.clustering import partitions as cuts
from newfound.clustering import representations as spaces
from newfound.deadline import Deadline
from newfound.metrics import clustering_accuracy
from newfound.selection import portfolio as module
from newfound.selection.portfolio import NETWORK, Portfolio, build_portfolio, normalised_information
from newfound.tables import Layout
from tests.oracles import partitions as oracle
from tests.selection.made_up import LAYOUT, N_NOVEL, rng, table

pytestmark = pytest.mark.usefixtures("few_trees")

SEEDS = st.integers(0, 2**31 - 1)


@given(st.integers(1, 5), st.integers(1, 30), st.integers(1, 6), SEEDS)
@settings(max_examples=60)
def test_normalised_information_is_that_of_scikit_learn(c: int, n: int, k: int, seed: int) -> None:
    partitions = np.random.default_rng(seed).integers(k, size=(c, n))
    found = normalised_information(partitions)
    expected = [[normalized_mutual_info_score(a, b) for b in partitions] for a in partitions]
    for i in range(c):
        for j in range(c):
            trivial = len(set(partitions[i])) == 1 and len(set(partitions[j])) == 1
            assert found[i, j] == pytest.approx(1.0 if trivial else expected[i][j], abs=1e-9)


def test_normalised_information_of_many_classes_takes_little_memory() -> None:
    partitions = np.stack([np.random.default_rng(i).permutation(600) for i in range(3)])
    np.testing.assert_allclose(normalised_information(partitions), 1.0)  # dense, 25 MB for each pair


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


def test_the_network_is_a_candidate_where_rows_are_labelled(portfolio: Portfolio) -> None:
    rows, codes, truth = table()
    assert portfolio.names[-1] == NETWORK
    assert clustering_accuracy(truth[codes < 0], portfolio.partitions[-1]) > 0.95
    blind = build_portfolio(rows, np.full(len(codes), -1), LAYOUT, N_NOVEL, rng())
    assert NETWORK not in blind.names


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
    names = build_portfolio(rows, codes, LAYOUT, N_NOVEL, rng(), deadline=Deadline(-math.inf)).names
    assert {space for space, _ in names} == {spaces.RAW}


def test_a_partition_is_empty_where_one_class_holds_nearly_everything() -> None:
    rows, codes, _ = table()
    rows[codes < 0] = 0.0
    rows[-1] = 1e3  # one row far out: whatever is cut, it is alone
    found = build_portfolio(rows, codes, LAYOUT, 2, rng(), names=[(spaces.RAW, "average linkage")])
    assert sorted(np.bincount(found.partitions[0])) == [1, 74]
    assert found.is_empty.all()


def test_classes_of_rows_that_lack_a_cell_are_noticed() -> None:
    layout = Layout(("a", "a=missing"), np.array([0, 0]), np.array([False, True]))
    rows = np.column_stack([np.arange(10.0), np.arange(10) < 3])
    partitions = np.array([[0, 0, 0, 1, 1, 1, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]])
    assert module.holds_holes(partitions, rows, layout, 2).tolist() == [True, False]
    assert not module.holds_holes(partitions, rows[:, :1], Layout(("a",), np.zeros(1, int), np.zeros(1, bool)), 2).any()
