"""Tables of the estimates of the number of novel classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from newfound_lab.pages.captions import Lines, datasets_of, machine_of, names_of
from newfound_lab.pages.cells import Row, new_table, spread
from newfound_lab.pages.comparison import Estimates
from newfound_lab.pages.rendering import ResultTable
from newfound_lab.pages.summary import show_difference, show_seconds
from newfound_lab.paper.published import Score
from newfound_lab.suites.experiments import N_CLASS_SPLITS


def _n_classes(lines: Lines) -> ResultTable:
    estimates = Estimates(lines)
    rows: list[Row] = []
    for name in estimates.names:
        by_pair = estimates.of(name)
        errors = np.concatenate(list(by_pair.values()))
        weight = estimates.weight(name)
        rows.append(
            [
                name,
                str(len(by_pair)),
                _percent(estimates.share_of_pairs(name, 0)),
                _percent(estimates.share_of_pairs(name, 1)),
                _percent(float(np.mean(np.abs(errors) <= 1))),
                show_difference(Score(float(errors.mean())), Score(0.0), "nmi"),
                f"{np.abs(errors).mean():.2f}",
                "—" if weight is None else f"{weight:.2f}",
            ]
        )
    return new_table(
        "n_classes",
        "Estimates of the number of novel classes",
        "By each criterion alone, and combined. A pair of dataset and class split counts by the median of its seeds; "
        "the error is the estimate minus the truth, mean over all estimates. Weight: of a criterion in the combined "
        "estimate, mean over all estimates.",
        [
            "Estimate by",
            "Pairs",
            "Exact",
            "Within 1",
            "Within 1, of all estimates",
            "Error",
            "Absolute error",
            "Weight",
        ],
        rows,
        n_headers=1,
    )


def _n_classes_by_dataset(lines: Lines) -> ResultTable:
    estimates = Estimates(lines)
    rows: list[Row] = []
    for dataset in datasets_of(estimates.lines):
        own: list[Any] = [line for line in estimates.lines if line["dataset"] == dataset]
        found = [line["n_classes"] for line in own]
        shares = [_percent(estimates.share_of_pairs(name, 1, [dataset])) for name in estimates.names]
        seconds = float(np.median([line["fit_seconds"] for line in own]))
        name, truth = names_of(estimates.lines)[dataset], str(own[0]["n_novel"])
        rows.append([name, truth, spread(found), *shares, show_seconds(seconds)])
    machines = sorted({machine_of(line) for line in estimates.lines})
    return new_table(
        "n_classes_datasets",
        "Estimates of the number of novel classes, by dataset",
        f"The combined estimates of all class splits (of {N_CLASS_SPLITS}) and seeds; then the share of class splits, "
        "by the median of their seeds, with an estimate within 1 of the truth: combined, and by each criterion alone. "
        f"Seconds: median, on {' and '.join(machines)}.",
        [
            "Dataset",
            "Novel classes",
            "Estimates",
            *(f"Within 1, {name}" for name in estimates.names),
            "Seconds",
        ],
        rows,
        n_headers=1,
    )


def _percent(share: float | None) -> str:
    return "—" if share is None else f"{100.0 * share:.0f} %"


N_CLASSES_TABLES: dict[str, Callable[[Lines], ResultTable]] = {
    "n_classes": _n_classes,
    "n_classes_datasets": _n_classes_by_dataset,
}
"""Builders of the tables, by name."""
