from __future__ import annotations

from typing import Any

import pytest

from laboratory.tests.made_lines import Line, compared, estimated, lines_of_the_plan
from laboratory.tests.pages.test_tables import records, row_of
from newfound_lab.pages.label_free_tables import LABEL_FREE_TABLES
from newfound_lab.pages.leads import show_p
from newfound_lab.pages.rendering import latex, markdown
from newfound_lab.pages.tables import build_tables


def rows(accs: dict[str, tuple[float, ...]], **facts: Any) -> list[Line]:
    """Lines of methods: ACC of each class split."""
    return [
        compared(acc, method, class_split=split, **facts)
        for method, row in accs.items()
        for split, acc in enumerate(row)
    ]


LINES = [
    *rows({"kmeans": (0.5, 0.7), "auto": (0.6, 0.9)}, dataset="letter"),
    *rows({"kmeans": (0.9, 0.8), "auto": (0.85, 0.75)}, dataset="forest"),
]


def test_every_table_has_both_ways_to_come_by_k() -> None:
    tables = build_tables(lines_of_the_plan(1, ["letter", "mnist"]))
    assert set(LABEL_FREE_TABLES) <= set(tables)
    for name in ("label_free", "label_free_acc", "label_free_ari", "label_free_worst", "label_free_gain"):
        given, estimated_ = tables[name], tables[f"{name}_estimated"]
        assert given.columns == estimated_.columns
        assert [row[0] for row in given.rows] == [row[0] for row in estimated_.rows]
        assert records(given) != records(estimated_)


def test_scores_by_dataset_with_the_best_in_bold_and_a_mean() -> None:
    table = build_tables(LINES)["label_free_acc"]
    assert row_of(table, Dataset="Letter") == {
        "Dataset": "Letter",
        "k-means": "60.0 ± 10.0 °",
        "AutoDiscoverer": "75.0 ± 15.0 °",
    }
    assert row_of(table, Dataset="Mean of 2") == {"Dataset": "Mean of 2", "k-means": "72.5", "AutoDiscoverer": "77.5"}
    assert [row[0].text for row in table.rows] == ["Forest", "Letter", "Mean of 2"]
    assert [row[2].bold for row in table.rows[:2]] == [False, True]
    assert "° Not all class splits and seeds are measured." in markdown(table)
    assert r"$^\circ$" in latex(table)


def test_a_whole_comparison_has_no_mark() -> None:
    lines = [compared(0.5, class_split=split, seed=seed) for split in range(5) for seed in range(3)]
    assert build_tables(lines)["label_free_acc"].notes == ()


def test_overall_says_rank_worst_case_and_gain() -> None:
    table = build_tables(LINES)["label_free"]
    auto = row_of(table, Method="AutoDiscoverer")
    assert auto["ACC"] == "77.5"
    assert auto["BACC"] == "76.5"
    assert auto["Average rank, ACC"] == auto["Average rank, BACC"] == "1.50 (1.00 to 2.00)"
    assert auto["Lowest ACC"] == "60.0 (Letter)"
    assert auto["Against k-means"] == "+5.0"
    assert auto["Against k-means, lowest"] == "−5.0 (Forest)"
    assert row_of(table, Method="k-means")["Against k-means"] == "—"
    assert "4 pairs of dataset and class split" in table.caption


def test_leads_are_tested_over_datasets() -> None:
    table = build_tables(LINES)["label_free_leads"]
    assert records(table) == [
        {
            "Against": "k-means",
            **{f"{metric}, lead": "+5.0" for metric in ("ACC", "BACC")},
            **{f"{metric}, interval": "−5.0 to +15.0" for metric in ("ACC", "BACC")},
            **{f"{metric}, p": "1.00" for metric in ("ACC", "BACC")},
            **{f"{metric}, better on": "1 of 2" for metric in ("ACC", "BACC")},
        }
    ]
    assert "label_free_leads" not in build_tables([line for line in LINES if line["dataset"] == "letter"])
    assert "label_free_leads" not in build_tables([line for line in LINES if line["method"] == "kmeans"])


@pytest.mark.parametrize(
    ("p", "shown"), [(0.0001, "< .001"), (0.0137, ".014"), (0.365, ".36"), (0.0996, ".10"), (1.0, "1.00")]
)
def test_p_values_are_shown_with_few_digits(p: float, shown: str) -> None:
    assert show_p(p) == shown


def test_worst_and_gain_by_dataset() -> None:
    tables = build_tables(LINES)
    assert row_of(tables["label_free_worst"], Dataset="Letter")["k-means"] == "50.0"
    assert row_of(tables["label_free_gain"], Dataset="Letter") == {"Dataset": "Letter", "AutoDiscoverer": "+15.0"}
    alone = build_tables([line for line in LINES if line["method"] == "auto"])
    assert "label_free_gain" not in alone
    assert row_of(alone["label_free"], Method="AutoDiscoverer")["Against k-means"] == "—"


def test_what_others_print_stands_beside_the_benchmarks_own_classes() -> None:
    lines = [*LINES, *rows({"auto": (0.9, 0.1)}, dataset="human", reduced=True)]
    table = build_tables(lines)["label_free_paper"]
    letter = row_of(table, Dataset="Letter")
    assert (letter["k-means"], letter["AutoDiscoverer"], letter["AutoDiscoverer, BACC"]) == ("50.0", "60.0", "59.0")
    assert (letter["Paper's TabularNCD, oracle"], letter["Paper's TabularNCD, oracle, BACC"]) == ("71.8", "71.8")
    assert (letter["Later study's TabularNCD"], letter["Later study's best"]) == ("62.1", "64.9 (Baseline)")
    assert row_of(table, Dataset="Forest")["Later study's best"] == "—"
    human = row_of(table, Dataset="Human ‡")
    assert (human["k-means"], human["Paper's TabularNCD, oracle"]) == ("—", "99.0")


def test_methods_stand_beside_their_like_in_the_later_study() -> None:
    lines = [compared(acc, method, dataset="optdigits") for method, acc in
             {"ncd_spectral": 0.95, "tabular_ncd": 0.7, "tuned_tabular_ncd": 0.8, "auto": 0.97}.items()]  # fmt: skip
    table = build_tables(lines)["label_free_follow_up"]
    assert [row["Method"] for row in records(table)] == ["NCD spectral", "TabularNCD", "TabularNCD, tuned"]
    assert [row["ACC, later study"] for row in records(table)] == ["95.4", "73.0", "73.0"]
    assert [row["ACC, difference"] for row in records(table)] == ["−0.4", "−3.0", "+7.0"]


def test_tuning_says_what_was_tried_and_whether_it_helped() -> None:
    tried = {0: {"n_tried": 1, "hidden_score": 0.8}, 1: {"n_tried": 20, "hidden_score": 0.9}}
    lines = [compared(0.6, "tabular_ncd", class_split=split) for split in tried]
    for split, facts in tried.items():
        lines += [compared(0.7, "tuned_tabular_ncd", class_split=split, seed=seed, **facts) for seed in range(3)]
    assert records(build_tables(lines)["label_free_tuning"]) == [
        {
            "Dataset": "Pendigits",
            "Settings tried": "1 to 20",
            "Defaults left": "1 of 2",
            "Score, defaults": "0.80",
            "Score, chosen": "0.85",
            "ACC, defaults": "60.0",
            "ACC, tuned": "70.0",
            "BACC, defaults": "59.0",
            "BACC, tuned": "69.0",
        }
    ]
    assert "label_free_tuning" not in build_tables(LINES)


def test_seconds_of_different_machines_stand_in_different_rows() -> None:
    lines = [
        compared(0.5, "kmeans"),
        compared(0.5, "kmeans", seed=1, versions={"torch": "2.11.0"}, fit_seconds=4),
        compared(0.5, "auto", device="cuda", device_name="NVIDIA H200", fit_seconds=800),
    ]
    other, cpu, gpu = records(build_tables(lines)["label_free_seconds"])
    assert (other["Measured on"], other["k-means"]) == ("CPU, torch 2.11.0", "1.1")
    assert (cpu["Measured on"], cpu["k-means"], cpu["AutoDiscoverer"]) == ("CPU, torch 2.13.0", "2.6", "—")
    assert (gpu["Measured on"], gpu["k-means"], gpu["AutoDiscoverer"]) == ("NVIDIA H200, torch 2.13.0", "—", "200")


def test_estimates_by_criterion_and_by_dataset() -> None:
    lines = [estimated(k, {"gap": 9}, class_split=split) for split, k in enumerate((5, 6, 7, 4))]
    tables = build_tables(lines)
    assert row_of(tables["n_classes"], Estimate_by="combined") == {
        "Estimate by": "combined",
        "Pairs": "4",
        "Exact": "25 %",
        "Within 1": "75 %",
        "Within 1, of all estimates": "75 %",
        "Error": "+0.50",
        "Absolute error": "1.00",
        "Weight": "—",
    }
    assert row_of(tables["n_classes"], Estimate_by="gap")["Weight"] == "1.00"
    (row,) = records(tables["n_classes_datasets"])
    assert (row["Dataset"], row["Novel classes"], row["Estimates"]) == ("Pendigits", "5", "4 to 7")
    assert (row["Within 1, combined"], row["Within 1, gap"], row["Seconds"]) == ("75 %", "0 %", "10")


@pytest.mark.parametrize("name", ["label_free_acc", "label_free", "n_classes", "label_free_paper"])
def test_without_lines_there_is_no_table(name: str) -> None:
    assert LABEL_FREE_TABLES[name]([]).rows == ()
