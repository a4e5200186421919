from __future__ import annotations

import pytest

from laboratory.tests.made_lines import judged
from laboratory.tests.pages.test_tables import records, row_of
from newfound_lab.pages.open_world_tables import OPEN_WORLD_TABLES
from newfound_lab.pages.rendering import html, latex, markdown
from newfound_lab.pages.tables import build_tables

LINES = [
    *(
        judged(acc, seed=seed, rules=[(0.9, 0.8), (precision, 0.7)], known_ece=0.03)
        for seed, (acc, precision) in enumerate([(0.7, 0.86), (0.8, 0.8), (0.75, None)])
    ),
    *(judged(0.6, "kmeans", seed=seed) for seed in range(2)),
]


def test_scores_of_known_and_novel_rows_with_the_best_in_bold() -> None:
    table = build_tables(LINES)["open_world"]
    assert row_of(table, Method="AutoDiscoverer") == {
        "Dataset": "Pendigits",
        "Method": "AutoDiscoverer",
        "ACC, known rows": "85.0 ± 4.1",
        "ACC, novel rows": "65.0 ± 4.1",
        "ACC, all rows": "75.0 ± 4.1",
        "AUROC": "90.0 ± 0.0",
        "Seconds": "2.6",
    }
    assert row_of(table, Method="k-means")["ACC, all rows"] == "60.0 ± 0.0 °", "a seed is lacking"
    assert [row[4].bold for row in table.rows] == [False, True]


def test_calibration_errors_before_and_after_with_the_lowest_in_bold() -> None:
    table = build_tables(LINES)["calibration"]
    auto = row_of(table, Method="AutoDiscoverer")
    assert (auto["Known rows, before"], auto["Known rows"]) == ("10.0 ± 0.0", "3.0 ± 0.0")
    assert (auto["All rows, before"], auto["All rows"]) == ("20.0 ± 0.0", "4.0 ± 0.0")
    assert auto["Temperature"] == "1.50 ± 0.00"
    assert [row[3].bold for row in table.rows] == [True, False]


def test_rules_with_means_worst_classes_and_how_many_reach_the_aim() -> None:
    (auto,) = records(build_tables(LINES)["rules"])
    assert auto == {
        "Dataset": "Pendigits",
        "Method": "AutoDiscoverer",
        "Precision": "87.7 ± 2.1",
        "Coverage": "75.0 ± 0.0",
        "Lowest precision": "80.0",
        "Lowest coverage": "70.0",
        "Reached": "4 of 6",
        "Rules": "3.3 ± 0.9",
        "Conditions": "5",
        "Seconds": "4",
    }


def test_a_method_without_any_rule_has_no_precision() -> None:
    (row,) = records(build_tables([judged(0.5, rules=[(None, 0.0)])])["rules"])
    assert (row["Precision"], row["Lowest precision"], row["Coverage"], row["Reached"]) == ("—", "—", "0.0", "0 of 1")


@pytest.mark.parametrize("name", OPEN_WORLD_TABLES)
def test_tables_come_in_all_forms_and_only_with_lines(name: str) -> None:
    table = build_tables(LINES)[name]
    for text in (markdown(table), latex(table), html(table)):
        assert "AutoDiscoverer" in text
    assert OPEN_WORLD_TABLES[name]([]).rows == ()
