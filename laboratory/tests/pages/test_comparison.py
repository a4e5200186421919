from __future__ import annotations

import numpy as np
import pytest

from laboratory.tests.made_lines import Line, compared, estimated, line
from newfound_lab.pages.comparison import Comparison, Estimates
from newfound_lab.pages.significance import interval_over_tables


def accs(method: str, table: dict[tuple[str, int], tuple[float, ...]], **facts: str) -> list[Line]:
    """Lines of a method: ACC of each seed, by dataset and class split."""
    return [
        compared(acc, method, dataset=dataset, class_split=split, seed=seed, **facts)
        for (dataset, split), row in table.items()
        for seed, acc in enumerate(row)
    ]


LINES = [
    *accs("kmeans", {("letter", 0): (0.5, 0.6), ("letter", 1): (0.7,), ("forest", 0): (0.8,)}),
    *accs("auto", {("letter", 0): (0.7, 0.8), ("letter", 1): (0.6,), ("forest", 0): (0.8,)}),
    *accs("auto", {("letter", 0): (0.1,)}, k="estimated"),
    line(0.99, method="kmeans"),
]


def test_only_lines_with_the_same_k_are_compared() -> None:
    given, estimated_ = Comparison(LINES, "given"), Comparison(LINES, "estimated")
    assert given.methods == ["kmeans", "auto"]
    assert given.datasets == ["forest", "letter"]
    assert (estimated_.methods, len(estimated_.lines)) == (["auto"], 1)
    assert Comparison([], "given").ranks() == {}
    assert Comparison([], "given").lead("auto", "kmeans", "acc") is None
    assert Comparison([], "given").mean("auto", "acc") is None


def test_scores_are_over_class_splits_and_seeds() -> None:
    comparison = Comparison(LINES, "given")
    runs = [0.7, 0.8, 0.6]
    assert comparison.score("letter", "auto", "acc") == pytest.approx((70.0, 100 * np.std(runs)))
    assert comparison.score("letter", "pbn", "acc") is None
    assert comparison.worst("letter", "auto") == pytest.approx(60.0)
    assert comparison.mean("auto", "acc") == (pytest.approx(75.0), None)
    assert not comparison.is_whole("letter", "auto")
    own = Comparison(LINES, "given", class_split=0)
    assert own.score("letter", "kmeans", "acc") == pytest.approx((55.0, 5.0))


def test_a_mean_is_over_datasets_that_all_methods_share() -> None:
    comparison = Comparison([*LINES, *accs("auto", {("mnist", 0): (0.1,)})], "given")
    assert comparison.shared_datasets == ["forest", "letter"]
    assert comparison.mean("auto", "acc") == (pytest.approx(75.0), None)


def test_ranks_are_taken_by_pair_and_equal_methods_share_theirs() -> None:
    comparison = Comparison(LINES, "given")
    assert comparison.pairs == [("forest", 0), ("letter", 0), ("letter", 1)]
    assert {method: ranks.tolist() for method, ranks in comparison.ranks().items()} == {
        "kmeans": [1.5, 2.0, 1.0],
        "auto": [1.5, 1.0, 2.0],
    }
    assert comparison.rank("pbn") is None


def test_an_average_rank_counts_each_dataset_once_with_an_interval_over_datasets() -> None:
    lines = [*LINES, *accs("kmeans", {("letter", 2): (0.1,)}), *accs("auto", {("letter", 2): (0.9,)})]
    rank = Comparison(lines, "given").rank("auto")
    assert rank is not None
    assert rank.mean == pytest.approx(np.mean([1.5, np.mean([1.0, 2.0, 1.0])]))
    assert rank.interval == interval_over_tables([1.5, np.mean([1.0, 2.0, 1.0])])
    alone = Comparison([line for line in LINES if line["dataset"] == "letter"], "given").rank("auto")
    assert alone == (1.5, None)


def test_ranks_can_be_taken_by_another_metric() -> None:
    worse = [line | {"bacc": line["bacc"] - 0.5 * (line["method"] == "auto")} for line in LINES]
    assert Comparison(worse, "given").ranks("bacc")["auto"].tolist() == [2.0, 2.0, 2.0]
    assert Comparison(worse, "given").rank("auto", "bacc") == (2.0, (2.0, 2.0))


def test_a_lead_is_over_shared_datasets_that_count_once() -> None:
    found = Comparison([*LINES, *accs("auto", {("mnist", 0): (0.1,)})], "given").lead("auto", "kmeans", "acc")
    assert found is not None
    assert found.mean == pytest.approx(np.mean([0.0, 10.0]))
    assert (found.n_better, found.n_tables) == (1, 2)
    assert Comparison(LINES, "given").lead("auto", "pbn", "acc") is None


def test_a_pair_that_lacks_a_method_is_not_ranked() -> None:
    comparison = Comparison([*LINES, *accs("pbn", {("letter", 1): (0.9,)})], "given")
    assert comparison.pairs == [("letter", 1)]
    assert comparison.ranks()["pbn"].tolist() == [1.0]


def test_gains_are_over_the_runs_that_both_have() -> None:
    more = [*LINES, *accs("auto", {("letter", 2): (0.0,)})]
    assert Comparison(more, "given").gain("letter", "auto") == pytest.approx(10.0)
    assert Comparison(more, "given").gain("letter", "pbn") is None


def test_seconds_are_a_seeds_share_of_its_pack() -> None:
    lines = [compared(0.5, "auto", seed=seed, fit_seconds=s, n_packed=2) for seed, s in enumerate((2.0, 4.0, 60.0))]
    lines[2] |= {"device": "cuda", "device_name": "NVIDIA H200", "versions": {"torch": "2.11.0"}}
    comparison = Comparison(lines, "given")
    assert comparison.seconds("auto") == pytest.approx(2.1)
    assert comparison.seconds("auto", "pendigits", "CPU, torch 2.13.0") == pytest.approx(1.6)
    assert comparison.seconds("auto", "pendigits", "NVIDIA H200, torch 2.11.0") == pytest.approx(30.1)
    assert comparison.seconds("auto", "letter") is None


def test_an_estimate_counts_by_the_median_of_its_seeds() -> None:
    lines = [estimated(k, {"gap": 9}, seed=seed) for seed, k in enumerate((5, 6, 9))]
    lines += [estimated(8, {"gap": 5}, class_split=1), line(0.5)]
    estimates = Estimates(lines)
    assert estimates.names == ["combined", "gap"]
    assert {pair: errors.tolist() for pair, errors in estimates.of("combined").items()} == {
        ("pendigits", 0): [0, 1, 4],
        ("pendigits", 1): [3],
    }
    assert (estimates.share_of_pairs("combined", 0), estimates.share_of_pairs("combined", 1)) == (0.0, 0.5)
    assert estimates.share_of_pairs("gap", 0) == 0.5
    assert estimates.share_of_pairs("gap", 0, ["letter"]) is None
    assert (estimates.weight("gap"), estimates.weight("combined")) == (1.0, None)


def test_a_criterion_that_a_line_lacks_is_left_out() -> None:
    estimates = Estimates([estimated(5, {"gap": 5}), estimated(5, {"stability": 7}, class_split=1)])
    assert list(estimates.of("gap")) == [("pendigits", 0)]
    assert Estimates([]).names == []
