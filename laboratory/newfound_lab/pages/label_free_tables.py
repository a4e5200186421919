"""Tables of the label-free comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from newfound_lab.pages.captions import DATASETS, Lines, machine_of, names_of
from newfound_lab.pages.cells import PARTIAL, TITLES, Row, dataset_cell, new_table, spread
from newfound_lab.pages.comparison import REFERENCE, Comparison, Rank
from newfound_lab.pages.n_classes_tables import N_CLASSES_TABLES
from newfound_lab.pages.rendering import Cell, ResultTable
from newfound_lab.pages.summary import show, show_difference, show_seconds
from newfound_lab.paper import published
from newfound_lab.paper.published import Score

Build = Callable[[Lines], ResultTable]

_METRICS = ("acc", "bacc", "nmi", "ari")  # by importance here
_RANKED = ("acc", "bacc")
K_TITLES = {"given": "told the number of novel classes", "estimated": "with the estimated number of novel classes"}
"""How titles of tables name the two ways to come by the number of novel classes."""

_LATER = "A Practical Approach to Novel Class Discovery in Tabular Data (2024), by the same group"


def table_name(name: str, k: str) -> str:
    """Name of a table for a way to come by the number of novel classes."""
    return name if k == "given" else f"{name}_{k}"


def _by_dataset(comparison: Comparison, methods: Sequence[str], cell: Callable[[str, str], Cell]) -> list[Row]:
    """Make a row for each dataset with a cell for each method."""
    names = names_of(comparison.lines)
    return [[names[dataset], *(cell(dataset, method) for method in methods)] for dataset in comparison.datasets]


def _columns(methods: Sequence[str]) -> list[str]:
    return ["Dataset", *(TITLES[method] for method in methods)]


def score_cells(comparison: Comparison, metric: str, choose: Callable[..., Score] = max) -> Callable[[str, str], Cell]:
    """Return a function that shows the score of a dataset and method, bold where it is the best of the dataset.

    The best is the highest, or the lowest where ``choose`` is min. Scores of which runs are lacking are marked.
    """
    best = {dataset: comparison.best(dataset, metric, choose) for dataset in comparison.datasets}

    def cell(dataset: str, method: str) -> Cell:
        score = comparison.score(dataset, method, metric)
        if score is None:
            return Cell(show(None, metric))
        # what is equal as shown is equally good
        bold = show(score, metric, sd=False) == show(best[dataset], metric, sd=False)
        return Cell(show(score, metric), bold, "" if comparison.is_whole(dataset, method) else PARTIAL)

    return cell


# ---- a table for each metric


def _scores(metric: str, k: str) -> Build:
    unit = " in percent" if metric in ("acc", "bacc") else ""

    def build(lines: Lines) -> ResultTable:
        comparison = Comparison(lines, k)
        rows = _by_dataset(comparison, comparison.methods, score_cells(comparison, metric))
        if rows and comparison.shared_datasets:
            means = [show(comparison.mean(method, metric), metric) for method in comparison.methods]
            rows.append([f"Mean of {len(comparison.shared_datasets)}", *means])
        return new_table(
            table_name(f"label_free_{metric}", k),
            f"{TITLES[metric]}, {K_TITLES[k]}",
            f"{TITLES[metric]} on the novel test rows{unit}: mean ± standard deviation over the class splits and "
            "seeds; best in bold. The last row is the mean over the datasets on which all methods were measured.",
            _columns(comparison.methods),
            rows,
            n_headers=1,
        )

    return build


# ---- all datasets in one figure


def _overall(k: str) -> Build:
    def build(lines: Lines) -> ResultTable:
        comparison = Comparison(lines, k)
        n_pairs, n_datasets = len(comparison.pairs), len(comparison.shared_datasets)
        best = {metric: _best_rank(comparison, metric) for metric in _RANKED}
        return new_table(
            table_name("label_free", k),
            f"All datasets, {K_TITLES[k]}",
            f"ACC, BACC (in percent), NMI and ARI on the novel test rows: mean over the {n_datasets} datasets on which "
            "all methods were measured, each counting once. Average rank: among the methods, over "
            f"{n_pairs} pairs of dataset and class split; 1 is the best; in brackets its 95 % interval over the "
            "datasets. Lowest ACC: of any single run. Against k-means: the mean ACC on a dataset minus that of k-means "
            "on the same runs; mean over the datasets, and the dataset where it is lowest.",
            [
                "Method",
                *(TITLES[metric] for metric in _METRICS),
                "Average rank, ACC",
                "Average rank, BACC",
                "Lowest ACC",
                "Against k-means",
                "Against k-means, lowest",
            ],
            [_overall_row(comparison, method, best) for method in comparison.methods],
            n_headers=1,
        )

    return build


def _overall_row(comparison: Comparison, method: str, best: Mapping[str, float | None]) -> Row:
    means = [comparison.mean(method, metric) for metric in _METRICS]
    row: Row = [TITLES[method], *(show(mean, metric) for mean, metric in zip(means, _METRICS, strict=True))]
    row += [_rank_cell(comparison.rank(method, metric), best[metric]) for metric in _RANKED]
    worst = {name: acc for name in comparison.datasets if (acc := comparison.worst(name, method)) is not None}
    row.append(_lowest(worst, signed=False))
    gains = {name: gain for name in comparison.datasets if (gain := comparison.gain(name, method)) is not None}
    if method == REFERENCE or not gains:
        row += ["—", "—"]
    else:
        row += [_signed(float(np.mean(list(gains.values())))), _lowest(gains, signed=True)]
    return row


def _best_rank(comparison: Comparison, metric: str) -> float | None:
    return min((rank.mean for name in comparison.methods if (rank := comparison.rank(name, metric))), default=None)


def _rank_cell(rank: Rank | None, best: float | None) -> Cell:
    if rank is None:
        return Cell("—")
    interval = "" if rank.interval is None else f" ({rank.interval[0]:.2f} to {rank.interval[1]:.2f})"
    return Cell(f"{rank.mean:.2f}{interval}", bold=rank.mean == best)


def _lowest(values: dict[str, float], *, signed: bool) -> str:
    """Write the lowest of values by dataset, and where it is."""
    if not values:
        return "—"
    dataset = min(values, key=lambda name: values[name])
    shown = _signed(values[dataset]) if signed else show(Score(values[dataset]), "acc")
    return f"{shown} ({DATASETS.get(dataset, dataset)})"


def _signed(points: float) -> str:
    return show_difference(Score(points), Score(0.0), "acc")


# ---- the worst case, and k-means


def _worst(k: str) -> Build:
    def build(lines: Lines) -> ResultTable:
        comparison = Comparison(lines, k)

        def cell(dataset: str, method: str) -> Cell:
            acc = comparison.worst(dataset, method)
            return Cell(show(None if acc is None else Score(acc), "acc"))

        return new_table(
            table_name("label_free_worst", k),
            f"Lowest ACC, {K_TITLES[k]}",
            "ACC on the novel test rows in percent, the lowest of all class splits and seeds.",
            _columns(comparison.methods),
            _by_dataset(comparison, comparison.methods, cell),
            n_headers=1,
        )

    return build


def _gain(k: str) -> Build:
    def build(lines: Lines) -> ResultTable:
        comparison = Comparison(lines, k)
        others = [method for method in comparison.methods if method != REFERENCE]
        is_comparable = others and REFERENCE in comparison.methods

        def cell(dataset: str, method: str) -> Cell:
            gain = comparison.gain(dataset, method)
            return Cell("—" if gain is None else _signed(gain))

        return new_table(
            table_name("label_free_gain", k),
            f"ACC against k-means, {K_TITLES[k]}",
            "Mean ACC on the novel test rows minus that of k-means on the same class splits and seeds, in points.",
            _columns(others),
            _by_dataset(comparison, others, cell) if is_comparable else [],
            n_headers=1,
        )

    return build


# ---- what others report


def _paper(lines: Lines) -> ResultTable:
    comparison = Comparison(lines, "given", class_split=0)
    rows: list[Row] = []
    for dataset in comparison.datasets:
        accs = [comparison.score(dataset, method, "acc") for method in comparison.methods]
        top = max(score.mean for score in accs if score)
        row: Row = [dataset_cell(dataset, reduced=comparison.is_reduced(dataset))]
        row += [Cell(show(acc, "acc", sd=False), bold=acc is not None and acc.mean == top) for acc in accs]
        row.append(show(comparison.score(dataset, "auto", "bacc"), "bacc", sd=False))
        oracle = published.RESULTS.get(dataset, {}).get("tabular_ncd") or {}
        row += [show(oracle.get(metric), metric, sd=False) for metric in ("acc", "bacc")]
        rows.append([*row, *_later(dataset)])
    return new_table(
        "label_free_paper",
        "The paper's classes, told the number of novel classes",
        "ACC (and BACC where it says so) on the novel test rows in percent, mean over the seeds, with the benchmark's "
        "own known and novel classes; our best ACC in bold. Beside it: the paper's TabularNCD, whose hyper-parameters "
        f"were found with novel labels (oracle), and ACC of {_LATER}, tuned without novel labels. Those two are "
        "figures as printed.",
        [
            *_columns(comparison.methods),
            "AutoDiscoverer, BACC",
            "Paper's TabularNCD, oracle",
            "Paper's TabularNCD, oracle, BACC",
            "Later study's TabularNCD",
            "Later study's best",
        ],
        rows,
        n_headers=1,
    )


def _later(dataset: str) -> list[str]:
    """ACC of TabularNCD in the later study, and of the method that was best there."""
    printed = published.FOLLOW_UP.get(dataset)
    if printed is None:
        return ["—", "—"]
    best = max(printed, key=lambda method: printed[method]["acc"].mean)
    return [show(printed["tabular_ncd"]["acc"], "acc"), f"{show(printed[best]['acc'], 'acc')} ({TITLES[best]})"]


def _follow_up(lines: Lines) -> ResultTable:
    comparison = Comparison(lines, "given", class_split=0)
    rows: list[Row] = []
    for dataset in comparison.datasets:
        for method in comparison.methods:
            ours = comparison.score(dataset, method, "acc")
            theirs = published.FOLLOW_UP.get(dataset, {}).get(method.removeprefix("tuned_"))
            if ours and theirs:
                reduced = comparison.is_reduced(dataset)
                far = "—" if reduced else show_difference(ours, theirs["acc"], "acc")
                name = dataset_cell(dataset, reduced=reduced)
                rows.append([name, TITLES[method], show(ours, "acc"), show(theirs["acc"], "acc"), far])
    return new_table(
        "label_free_follow_up",
        "Label-free, beside the authors' later study",
        f"ACC on the novel test rows in percent, with the benchmark's own classes: ours beside {_LATER}. It tunes "
        "without novel labels too, is told the number of novel classes, and fits its clusterers on the test rows; ours "
        "are fitted on the training rows. It gives no standard deviations, so no difference is marked.",
        ["Dataset", "Method", "ACC", "ACC, later study", "ACC, difference"],
        rows,
        n_headers=2,
    )


# ---- tuning


def _tuning(lines: Lines) -> ResultTable:
    comparison = Comparison(lines, "given")
    rows: list[Row] = []
    for dataset in comparison.datasets:
        # one search serves all seeds
        searches: dict[Any, Any] = {line["class_split"]: line for line in comparison.runs(dataset, "tuned_tabular_ncd")}
        if not searches:
            continue
        scores = [
            Score(float(np.mean([line[name] for line in searches.values()])))
            for name in ("hidden_score_of_defaults", "hidden_score")
        ]
        n_left = sum(line["hidden_score"] > line["hidden_score_of_defaults"] for line in searches.values())
        both = [
            show(comparison.score(dataset, method, metric), metric, sd=False)
            for metric in ("acc", "bacc")
            for method in ("tabular_ncd", "tuned_tabular_ncd")
        ]
        rows.append(
            [
                names_of(comparison.lines)[dataset],
                spread([line["n_tried"] for line in searches.values()]),
                f"{n_left} of {len(searches)}",
                *(show(score, "nmi") for score in scores),
                *both,
            ]
        )
    return new_table(
        "label_free_tuning",
        "What tuning on hidden classes does to TabularNCD",
        "One search for each class split, told the number of novel classes. Settings tried: the defaults are the first "
        "of them. Defaults left: searches that found something clearly better. Score: F1 of hidden classes, with the "
        "defaults and with what was chosen. ACC and BACC: on the novel test rows, in percent, which no search sees.",
        [
            "Dataset",
            "Settings tried",
            "Defaults left",
            "Score, defaults",
            "Score, chosen",
            "ACC, defaults",
            "ACC, tuned",
            "BACC, defaults",
            "BACC, tuned",
        ],
        rows,
        n_headers=1,
    )


# ---- cost


def _cost(lines: Lines) -> ResultTable:
    comparison = Comparison(lines, "given")
    rows: list[Row] = []
    for dataset in comparison.datasets:
        of_dataset = [line for line in comparison.lines if line["dataset"] == dataset]
        for machine in sorted({machine_of(line) for line in of_dataset}):
            seconds = [show_seconds(comparison.seconds(method, dataset, machine)) for method in comparison.methods]
            rows.append([names_of(comparison.lines)[dataset], machine, *seconds])
    return new_table(
        "label_free_seconds",
        "Seconds",
        "Median seconds of fitting and predicting for one seed, told the number of novel classes; seeds that were "
        "fitted at once share the time of their pack. By device and build of torch: each build is of another kind of "
        "machine, so only seconds of one row compare.",
        ["Dataset", "Measured on", *(TITLES[method] for method in comparison.methods)],
        rows,
        n_headers=2,
    )


LABEL_FREE_TABLES: dict[str, Build] = {
    **{table_name("label_free", k): _overall(k) for k in K_TITLES},
    **{table_name(f"label_free_{metric}", k): _scores(metric, k) for k in K_TITLES for metric in _METRICS},
    **{table_name("label_free_worst", k): _worst(k) for k in K_TITLES},
    **{table_name("label_free_gain", k): _gain(k) for k in K_TITLES},
    "label_free_paper": _paper,
    "label_free_follow_up": _follow_up,
    "label_free_tuning": _tuning,
    "label_free_seconds": _cost,
    **N_CLASSES_TABLES,
}
"""Builders of the tables, by name; those with k estimated end in "_estimated"."""
