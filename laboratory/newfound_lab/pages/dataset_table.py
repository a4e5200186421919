"""The paper's table of datasets, with what differs here."""

from __future__ import annotations

from newfound_lab.datasets.registry import BENCHMARKS, Benchmark
from newfound_lab.pages.captions import DATASETS, Lines
from newfound_lab.pages.cells import NO_DATA, REDUCED, Row, new_table
from newfound_lab.pages.rendering import Cell, ResultTable
from newfound_lab.paper import published

_PREPARED = {
    ("none", "none"): "values divided by 255",
    ("standard", "none"): "numbers standardised",
    ("standard", "standard"): "numbers and one-hot columns standardised",
}


def datasets(lines: Lines) -> ResultTable:
    """Build the table: counts of the paper, which a test compares with the rows that are loaded."""
    measured = {line["dataset"] for line in lines if line["experiment"] == "main"}
    return new_table(
        "datasets",
        "Datasets",
        "Columns, classes and rows as in the paper's Table I; the rows measured here are as many, of the same classes. "
        "Prepared: what is done to the columns here; the paper standardises numbers and encodes categories one-hot.",
        [
            "Dataset",
            "Columns",
            "Known classes",
            "Novel classes",
            "Training rows, known",
            "Training rows, novel",
            "Test rows, known",
            "Test rows, novel",
            "Prepared",
        ],
        [_row(BENCHMARKS[name], here=name in measured) for name in published.RESULTS] if measured else [],
        n_headers=1,
    )


def _row(benchmark: Benchmark, *, here: bool) -> Row:
    assert benchmark.paper is not None
    flag = REDUCED if "reduced" in benchmark.regime else "" if here else NO_DATA
    counts = [f"{count:,}" for count in benchmark.paper]
    prepared = _PREPARED[benchmark.numeric_scaling, benchmark.categorical_scaling] if here else "—"
    return [Cell(DATASETS[benchmark.name], flag=flag), *counts, prepared]
