from __future__ import annotations

from laboratory.tests.made_lines import line
from laboratory.tests.pages.test_tables import records, row_of
from newfound_lab.pages.tables import build_tables

PAPERS = ("mnist", "forest", "letter", "human", "satimage", "pendigits")


def test_the_papers_datasets_with_what_differs_here() -> None:
    table = build_tables([line(0.5, dataset=name) for name in PAPERS])["datasets"]
    assert [row["Dataset"] for row in records(table)][-1] == "Census §"
    assert row_of(table, Dataset="Letter") == {
        "Dataset": "Letter",
        "Columns": "16",
        "Known classes": "19",
        "Novel classes": "7",
        "Training rows, known": "10,229",
        "Training rows, novel": "3,770",
        "Test rows, known": "4,296",
        "Test rows, novel": "1,704",
        "Prepared": "numbers standardised",
    }
    assert row_of(table, Dataset="MNIST")["Prepared"] == "values divided by 255"
    assert row_of(table, Dataset="Forest")["Prepared"] == "numbers and one-hot columns standardised"
    assert row_of(table, Dataset="Human ‡")["Columns"] == "562"
    assert [note[0] for note in table.notes] == ["‡", "§"]


def test_what_was_not_measured_is_said_not_to_be_here() -> None:
    table = build_tables([line(0.5, dataset="letter")])["datasets"]
    assert row_of(table, Dataset="MNIST §")["Prepared"] == "—"
    assert "datasets" not in build_tables([])
