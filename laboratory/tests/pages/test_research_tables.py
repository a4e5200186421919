from __future__ import annotations

import pytest

from laboratory.tests.made_lines import choice, counting
from laboratory.tests.pages.test_tables import records
from newfound_lab.pages.research_tables import RESEARCH_TABLES, RULES


@pytest.mark.parametrize(
    ("rule", "chosen"),
    [
        ("k-means on the columns as they are", 0),
        ("whitened k-means, ridge 1", 1),
        ("k-means of whitened directions, ridge 0.5", 2),
        ("S: most information", 1),
        ("most agreement with all others", 2),
        ("hidden accuracy", 3),
        ("S and hidden, equal weights", 2),
        ("S and four times hidden", 2),
        ("S and hidden, weighed by their reliability, hidden twice", 3),
        ("the choice of AutoDiscoverer (kept)", 3),
        ("best candidate (oracle)", 0),
    ],
)
def test_rules_look_at_what_they_are_named_after(rule: str, chosen: int) -> None:
    line = choice("segment", [0.9, 0.1, 0.2, 0.3], hidden=[0.0, -1.0, 0.4, 0.5])
    assert RULES[rule](line) == chosen


def test_there_are_no_other_rules() -> None:
    assert len(RULES) == 11


def test_choice_is_a_mean_over_tables_and_not_over_lines() -> None:
    lines = [choice("segment", [0.4, 0, 0, acc], split=split) for split, acc in enumerate((0.5, 0.6, 0.7), start=1)]
    lines.append(choice("flare", [0.5, 0, 0, 0.2], kind="categories"))
    rows = {row["Rule"]: row for row in records(RESEARCH_TABLES["choice"](lines))}
    kept = rows["the choice of AutoDiscoverer (kept)"]
    assert (kept["ACC"], kept["BACC"]) == (".400", ".200")
    assert (kept["ACC, numeric"], kept["ACC, mixed"], kept["ACC, categories"]) == (".600", "—", ".200")
    assert kept["Worst"] == "−.30"
    assert kept["Lead"].startswith("−.05 ± ")
    assert kept["Behind"] == ""
    kmeans = rows["k-means on the columns as they are"]
    assert kmeans["Lead"] == kmeans["Worst"] == ""
    assert kmeans["Behind"] == kept["Lead"]


def test_splits_without_hidden_classes_do_not_count() -> None:
    assert RESEARCH_TABLES["choice"]([choice("segment", [0, 0, 0, 1]) | {"n_folds": 0}]).rows == ()


def test_worth_is_in_standard_deviations_of_the_portfolio() -> None:
    lines = [choice("segment", [1.0, 0.0, 0.0, 1.0]), choice("vowel", [0.6, 0.4, 0.4, 0.6])]
    rows = records(RESEARCH_TABLES["worth_of_representations"](lines))
    assert [row["Representation"] for row in rows[:2]] == ["columns", "ranks"]
    assert rows[0]["Worth"] == "+1.00 ± .00"
    assert rows[-1]["Worth"] == "−1.00 ± .00"
    assert [(row["Best"], row["Chosen"]) for row in rows[:2]] == [("2", "0"), ("0", "2")]


def test_counting_shows_errors_and_how_often_the_interval_holds_the_truth() -> None:
    lines = [counting(3, 3, (2, 4), prior=5), counting(4, 5, (5, 6), prior=4), counting(6, 9, (7, 9), prior=5)]
    together, prior = records(RESEARCH_TABLES["counting"](lines))
    assert [together[name] for name in ("Error", "Exact", "Within 1", "Interval")] == ["1.3", "33 %", "67 %", "33 %"]
    assert [prior[name] for name in ("Error", "Exact", "Within 1", "Interval")] == ["1.0", "33 %", "67 %", ""]


@pytest.mark.parametrize("name", RESEARCH_TABLES)
def test_without_lines_there_is_no_table(name: str) -> None:
    assert RESEARCH_TABLES[name]([]).rows == ()
