"""Lines of the open world -> its tables: known and novel rows together, calibration, and rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from newfound_lab.pages.captions import Lines, names_of
from newfound_lab.pages.cells import TITLES, Row, new_table
from newfound_lab.pages.comparison import Comparison
from newfound_lab.pages.label_free_tables import score_cells
from newfound_lab.pages.rendering import ResultTable
from newfound_lab.pages.summary import RULES_METRICS, show, show_seconds
from newfound_lab.paper.published import Score

AIM = {"precision": 0.85, "coverage": 0.6}
"""What the rules of a novel class should reach on held-out rows."""


def open_world(lines: Lines) -> Comparison:
    """Compare the methods of the open world, on the benchmarks' own classes."""
    return Comparison(lines, "given", class_split=0, experiment="open_world")


def _rows(comparison: Comparison, cells: Callable[[str, str], Row]) -> Iterator[Row]:
    """Make a row for each dataset and method that has lines."""
    names = names_of(comparison.lines)
    for dataset in comparison.datasets:
        for method in comparison.methods:
            if comparison.runs(dataset, method):
                yield [names[dataset], TITLES[method], *cells(dataset, method)]


def _scores(lines: Lines) -> ResultTable:
    comparison = open_world(lines)
    shown = [score_cells(comparison, metric) for metric in ("known_acc", "novel_acc", "all_acc", "auroc")]

    def cells(dataset: str, method: str) -> Row:
        return [*(cell(dataset, method) for cell in shown), show_seconds(comparison.seconds(method, dataset))]

    return new_table(
        "open_world",
        "Known and novel test rows together",
        "In percent, mean ± standard deviation over the seeds; best in bold. ACC: a known row is right where it gets "
        "the name of its class, a novel row where it gets the novel class that is matched to its own. AUROC: the "
        "probability that novelty_score is higher for a novel row than for a known one. Seconds: median of fitting and "
        "predicting.",
        ["Dataset", "Method", "ACC, known rows", "ACC, novel rows", "ACC, all rows", "AUROC", "Seconds"],
        _rows(comparison, cells),
        n_headers=2,
    )


def _calibration(lines: Lines) -> ResultTable:
    comparison = open_world(lines)
    after = {metric: score_cells(comparison, metric, min) for metric in ("known_ece", "all_ece")}

    def cells(dataset: str, method: str) -> Row:
        row: Row = []
        for metric, cell in after.items():
            before = f"{metric}_before"
            row += [show(comparison.score(dataset, method, before), before), cell(dataset, method)]
        return [*row, show(comparison.score(dataset, method, "temperature"), "temperature")]

    return new_table(
        "calibration",
        "Expected calibration error",
        "ECE of the most probable class on test rows, in percent (15 bins): before calibration, which is at "
        "temperature 1, and after it. Novel classes are matched as for ACC. Mean ± standard deviation over the seeds; "
        "best after calibration in bold.",
        ["Dataset", "Method", "Known rows, before", "Known rows", "All rows, before", "All rows", "Temperature"],
        _rows(comparison, cells),
        n_headers=2,
    )


def _rules(lines: Lines) -> ResultTable:
    comparison = open_world([line for line in lines if "rules" in line])

    def cells(dataset: str, method: str) -> Row:
        means = [show(comparison.score(dataset, method, metric), metric) for metric in RULES_METRICS[:2]]
        lowest = [_lowest(comparison, dataset, method, metric) for metric in RULES_METRICS[2:]]
        n_rules = show(comparison.score(dataset, method, "n_rules"), "n_rules", digits=1)
        most = max(comparison.values(dataset, method, "most_conditions"))
        seconds = float(np.median(comparison.values(dataset, method, "explain_seconds")))
        return [*means, *lowest, _reached(comparison, dataset, method), n_rules, f"{most:.0f}", show_seconds(seconds)]

    return new_table(
        "rules",
        "Rules of the novel classes",
        "Of explain(model, X_train), on the half of the rows that did not make the rules; in percent. Precision of a "
        "class: mean of its rules; coverage: of all its rules together. Both are means over the novel classes, ± the "
        "standard deviation over the seeds; lowest: of any class and seed. Reached: classes, of all seeds, with a "
        f"precision of {100 * AIM['precision']:.0f} and a coverage of {100 * AIM['coverage']:.0f} or more. Rules: of "
        "all novel classes together. Conditions: most in any rule. Seconds: median.",
        [
            "Dataset",
            "Method",
            "Precision",
            "Coverage",
            "Lowest precision",
            "Lowest coverage",
            "Reached",
            "Rules",
            "Conditions",
            "Seconds",
        ],
        _rows(comparison, cells),
        n_headers=2,
    )


def _lowest(comparison: Comparison, dataset: str, method: str, metric: str) -> str:
    lowest = comparison.worst(dataset, method, metric)
    return show(None if lowest is None else Score(lowest), metric)


def _reached(comparison: Comparison, dataset: str, method: str) -> str:
    """Count the novel classes, of all seeds, whose rules are as precise and cover as much as they should."""
    classes = [rules for run in comparison.runs(dataset, method) for rules in run["rules"]]
    return (
        f"{sum(all((rules[name] or 0.0) >= aim for name, aim in AIM.items()) for rules in classes)} of {len(classes)}"
    )


OPEN_WORLD_TABLES: dict[str, Callable[[Lines], ResultTable]] = {
    "open_world": _scores,
    "calibration": _calibration,
    "rules": _rules,
}
"""Builders of the tables, by name."""
