from __future__ import annotations

import json
from pathlib import Path

import pytest

from laboratory.tests.benchmark.made import made_line
from newfound.errors import InputError
from newfound_lab.benchmark.table import lead_table, read_lines, reliability_notes, score_table, tables_of

LINES = [
    made_line("by hand", "a", 0.5),
    made_line("by hand", "b", 0.5),
    made_line("by hand", "b", 0.7, split=1),
    made_line("AutoDiscoverer", "a", 0.6),
    made_line("AutoDiscoverer", "b", 0.8, auroc=None),
    made_line("AutoDiscoverer", "b", 1.0, split=1),
]


def cells(lines: list[dict[str, object]]) -> list[list[str]]:
    return [[cell.text for cell in row] for row in score_table(lines, "old", "pure").rows]


def test_a_table_counts_once_by_its_mean_over_splits() -> None:
    assert cells(LINES) == [
        ["by hand", *["55.0"] * 6, "2.0"],
        ["AutoDiscoverer", *["75.0"] * 5, "80.0", "2.0"],
    ]


def test_means_are_over_what_all_methods_have() -> None:
    table = score_table([*LINES, made_line("by hand", "c", 0.0)], "old", "pure")
    assert [row[1].text for row in table.rows] == ["55.0", "75.0"]
    assert table.notes == ("1 of 4 class splits are left out, as methods lack them: AutoDiscoverer 1.",)
    assert [row[1].text for row in score_table([LINES[0], LINES[4]], "old", "pure").rows] == ["", ""]


def test_leads_over_by_hand() -> None:
    (row,) = lead_table(LINES, "old", "pure").rows
    assert [cell.text for cell in row] == ["AutoDiscoverer", "+20.0", "+10.0 to +30.0", "2 of 2"]
    assert lead_table(LINES[3:], "old", "pure").rows == ()
    assert lead_table([LINES[0], LINES[3]], "old", "pure").rows == ()  # one table has no interval


def test_reliability_counts_results_that_are_sure() -> None:
    told = [(0.95, 0.9), (0.9, 0.7), (0.5, 0.9), (0.99, 0.81)]
    lines = [
        made_line("AutoDiscoverer", "a", 0.5, split=split, confidence=sure, unlabelled_acc=right)
        for split, (sure, right) in enumerate(told)
    ]
    assert reliability_notes([*lines, LINES[0]]) == [
        (
            "AutoDiscoverer: 3 of 4 results have a confidence of at least 0.9; 2 of these have more than four in "
            "five unlabelled rows right."
        )
    ]


def test_a_table_for_each_set_and_mode() -> None:
    others = [made_line("k-means", "a", 0.25, mode="mixed"), made_line("k-means", "a", 0.25, group="fresh")]
    page = tables_of([*LINES, *others])
    titles = [line.split(".** ")[0].strip("*") for line in page.splitlines() if line.startswith("**")]
    assert titles == [
        "Set old, all unlabelled rows are of novel classes",
        "Set old, pure: lead over by hand in ALL",
        "Set old, the unlabelled rows are mixed with half of the known ones",
        "Set fresh, all unlabelled rows are of novel classes",
    ]
    assert "| AutoDiscoverer | +20.0 | +10.0 to +30.0 | 2 of 2 |" in page


def test_lines_of_several_states_are_told_as_such() -> None:
    assert "Measured with newfound 1.0, weights abcdef012345." in tables_of(LINES)
    page = tables_of([*LINES, made_line("k-means", "a", 0.5, weights="0" * 64)])
    assert "several states of newfound: newfound 1.0, weights 000000000000; newfound 1.0, weights abc" in page


def test_reading_lines(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in LINES) + '\n{"experiment": "main"}\n\n')
    assert read_lines(file) == LINES
    file.write_text("{\n")
    with pytest.raises(InputError, match="line 1 is not a result"):
        read_lines(file)
    file.write_text("")
    with pytest.raises(InputError, match="has no line of the benchmark"):
        read_lines(file)
    with pytest.raises(InputError, match="Cannot read the lines"):
        read_lines(tmp_path / "absent.jsonl")
