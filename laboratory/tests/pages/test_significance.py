from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from newfound_lab.pages.significance import interval_over_tables, lead, signed_rank_p


def p_by_trying_all_signs(differences: list[float]) -> float:
    """The same, one pattern of signs after the other, with ranks counted by hand."""
    sizes = [abs(difference) for difference in differences if difference != 0]
    ranks = [sum(other < size for other in sizes) + (sum(other == size for other in sizes) + 1) / 2 for size in sizes]
    positive = [difference > 0 for difference in differences if difference != 0]
    centre = sum(ranks) / 2
    seen = abs(sum(rank for rank, is_positive in zip(ranks, positive, strict=True) if is_positive) - centre)
    patterns = list(itertools.product([False, True], repeat=len(ranks)))
    sums = [sum(rank for rank, chosen in zip(ranks, pattern, strict=True) if chosen) for pattern in patterns]
    return sum(abs(total - centre) >= seen - 1e-12 for total in sums) / len(patterns)


@given(st.lists(st.integers(-6, 6).map(float), max_size=9))
@settings(max_examples=80, deadline=None)
def test_the_p_value_is_that_of_all_signs_also_with_ties_and_zeros(differences: list[float]) -> None:
    assert signed_rank_p(differences) == pytest.approx(p_by_trying_all_signs(differences))


@pytest.mark.parametrize("n", [2, 5, 11, 29])
@pytest.mark.parametrize("seed", range(5))
def test_without_ties_the_p_value_is_scipys_exact_one(n: int, seed: int) -> None:
    differences = np.random.default_rng(seed).normal(0.3, 1, n)
    assert signed_rank_p(differences) == pytest.approx(wilcoxon(differences, method="exact").pvalue)


def test_without_any_difference_nothing_is_shown() -> None:
    assert signed_rank_p([0.0, 0.0]) == 1.0
    assert signed_rank_p([]) == 1.0


def test_the_interval_is_that_of_all_draws_of_tables() -> None:
    values = [0.1, 0.5, 0.2, 0.9, 0.4]
    means = [np.mean(draw) for draw in itertools.product(values, repeat=len(values))]
    low, high = interval_over_tables(values)
    assert low == pytest.approx(np.quantile(means, 0.025), abs=0.021)  # draws of five tables have few different means
    assert high == pytest.approx(np.quantile(means, 0.975), abs=0.021)
    assert (low, high) == interval_over_tables(values), "the same at every call"


def test_an_interval_is_as_wide_as_tables_differ() -> None:
    assert interval_over_tables([0.3, 0.3, 0.3]) == (0.3, 0.3)
    rng = np.random.default_rng(0)
    values = rng.normal(size=40)
    low, high = interval_over_tables(values)
    assert high - low == pytest.approx(2 * 1.96 * values.std() / np.sqrt(40), rel=0.1)


def test_a_lead_is_counted_table_by_table() -> None:
    found = lead([0.9, 0.8, 0.5, 0.1 + 0.2], [0.7, 0.5, 0.6, 0.3])
    assert found is not None
    assert found.mean == pytest.approx(0.1)
    assert (found.n_better, found.n_tables) == (2, 4), "0.1 + 0.2 and 0.3 are equal but for rounding"
    assert found.low < 0.1 < found.high
    assert found.p == signed_rank_p([0.2, 0.3, -0.1])


@pytest.mark.parametrize("n", [0, 1])
def test_one_table_says_nothing_of_others(n: int) -> None:
    assert lead([0.5] * n, [0.4] * n) is None
