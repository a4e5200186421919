"""Lines of the results -> the tables of the paper, ours beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from newfound.errors import InputError
from newfound.writing import replacing
from newfound_lab.pages import ranges
from newfound_lab.pages.captions import DATASETS, device_of
from newfound_lab.pages.cells import (
    ABSENT,
    NO_DATA,
    RUN_COLUMNS,
    TITLES,
    Row,
    beside,
    beside_columns,
    best_in_bold,
    dataset_cell,
    head,
    new_table,
    papers,
    pick,
    place_of,
    run_cells,
)
from newfound_lab.pages.dataset_table import datasets
from newfound_lab.pages.label_free_tables import LABEL_FREE_TABLES
from newfound_lab.pages.leads import LEAD_TABLES
from newfound_lab.pages.mixed_tables import MIXED_TABLES
from newfound_lab.pages.open_world_tables import OPEN_WORLD_TABLES
from newfound_lab.pages.rendering import Cell, ResultTable, html, html_page, latex, markdown
from newfound_lab.pages.research_tables import RESEARCH_TABLES
from newfound_lab.pages.summary import METRICS, ScoreSummary, show, show_difference, summarise
from newfound_lab.paper import published
from newfound_lab.paper.published import Score, Scores

Lines = Sequence[Mapping[str, Any]]
Summaries = Sequence[ScoreSummary]

_HEAD = ("Dataset", "Method", "Fitted on", *RUN_COLUMNS)


def build_tables(lines: Lines) -> dict[str, ResultTable]:
    """Build every table that there are lines for, by name.

    Names are those in ``TABLES``: "main" has BACC and ACC in the oracle regime, "main_nmi_ari" the two other metrics,
    "main_label_free" all four; "follow_up", "ablation_satimage" and "representations_mnist" set printed figures beside.
    Those of the label-free comparison are in :mod:`newfound_lab.pages.label_free_tables`, those of the open world in
    :mod:`newfound_lab.pages.open_world_tables` and :mod:`newfound_lab.pages.mixed_tables`, those of the research log in
    :mod:`newfound_lab.pages.research_tables`.
    """
    summaries = summarise(line for line in lines if line["experiment"] != "label_free")  # averaged in its own way
    tables = {name: build(summaries) for name, build in _OF_SUMMARIES.items()}
    tables |= {name: build(lines) for name, build in _OF_LINES.items()}
    return {name: table for name, table in tables.items() if table.rows}


def write_tables(lines: Lines, folder: Path | str) -> list[Path]:
    """Write each table as markdown, LaTeX and HTML, and ``index.html`` with all of them.

    Each file appears as a whole or not at all.

    Returns
    -------
    list of Path
        The files written, the index last.

    Raises
    ------
    InputError
        If the folder cannot be written to.
    """
    tables = build_tables(lines)
    texts = {}
    for name, table in tables.items():
        texts[f"{name}.md"] = markdown(table)
        texts[f"{name}.tex"] = latex(table)
        texts[f"{name}.html"] = html_page(table.title, [html(table)])
    texts["index.html"] = html_page("Results", [html(table) for table in tables.values()])
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with replacing(Path(folder, name)) as fresh:
                fresh.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"Got folder={str(folder)!r}, but expected a folder that can be written to ({reason}); choose another one."
        ) from error
    return [Path(folder, name) for name in texts]


_UNITS = {"bacc": "; BACC and ACC in percent"}


def _main(name: str, metrics: tuple[str, ...]) -> Callable[[Summaries], ResultTable]:
    def build(summaries: Summaries) -> ResultTable:
        chosen = _with_untuned(summaries)
        best = best_in_bold(chosen)
        rows = []
        for s in chosen:
            theirs = papers(s)
            row = head(s)
            for metric in metrics:
                row += [best(s, metric), *beside(s, theirs, metric)]
            rows.append(row)
        if rows and all(s.dataset != "census" for s in chosen):
            rows += _without_data("census", metrics)
        return new_table(
            name,
            "Main table: " + " and ".join(TITLES[metric] for metric in metrics),
            "TabularNCD has the hyper-parameters of the paper's appendix, found there with novel labels (oracle); the "
            "other methods have newfound's defaults, as in the label-free table. Mean ± standard deviation over the "
            f"seeds, on novel test rows{_UNITS.get(metrics[0], '')}; our best in bold. The paper fits spectral "
            "clustering, k-means and the k-means of the baseline on the novel test rows, so its figures stand beside "
            "those rows only.",
            [*_HEAD, *beside_columns(metrics)],
            rows,
            n_headers=3,
        )

    return build


def _with_untuned(summaries: Summaries) -> list[ScoreSummary]:
    """Summaries of the oracle regime, and of methods without settings of that regime: those are the same in both."""
    tuned = pick(summaries, "main", regime="oracle")
    has_settings = {(s.dataset, s.method) for s in tuned} | {(dataset, "tabular_ncd") for dataset in published.RESULTS}
    untuned = (s for s in summaries if s.dataset in published.RESULTS and (s.dataset, s.method) not in has_settings)
    return pick([*tuned, *untuned], "main")


def _without_data(dataset: str, metrics: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    for method, scores in published.RESULTS[dataset].items():
        row: Row = [Cell(DATASETS[dataset], flag=NO_DATA), TITLES[method], "—", "—", "—"]
        for metric in metrics:
            row += [ABSENT, show(scores[metric] if scores else None, metric), "—"]
        rows.append(row)
    return rows


def _main_label_free(summaries: Summaries) -> ResultTable:
    chosen = pick(summaries, "main", regime="label-free")
    best = best_in_bold(chosen)
    metrics = (*METRICS, "known_acc")
    return new_table(
        "main_label_free",
        "All methods, label-free",
        "Every method with newfound's own defaults: no setting was chosen with novel labels. Mean ± standard "
        "deviation over the seeds, on novel test rows (ACC of known classes: on known test rows); BACC and ACC in "
        "percent; best in bold.",
        [*_HEAD, *(TITLES[metric] for metric in metrics)],
        ([*head(s), *(best(s, metric) for metric in metrics)] for s in chosen),
        n_headers=3,
    )


def _follow_up(summaries: Summaries) -> ResultTable:
    rows = []
    for s in pick(summaries, "main", regime="label-free"):
        theirs = papers(s, "follow_up")
        if theirs is not None:
            far = "—" if s.reduced else show_difference(s.scores["acc"], theirs["acc"], "acc")
            rows.append([*head(s), show(s.scores["acc"], "acc"), show(theirs["acc"], "acc"), far])
    return new_table(
        "follow_up",
        "Label-free, beside the authors' later study",
        "ACC on novel test rows, in percent: newfound's defaults beside figures of A Practical Approach to Novel "
        "Class Discovery in Tabular Data (2024), by the same group. That study tunes without novel labels too, is "
        "given the number of novel classes, and fits its clusterers on the test rows; it gives no standard deviations "
        "here, so no difference is marked. These are not figures of the paper.",
        [*_HEAD, "ACC", "ACC, later study", "ACC, difference"],
        rows,
        n_headers=3,
    )


def _ablation(name: str, regime: str, which_settings: str) -> Callable[[Summaries], ResultTable]:
    def build(summaries: Summaries) -> ResultTable:
        chosen = pick(summaries, "ablation", regime=regime)
        full = {s.dataset: s.scores for s in chosen if s.variant == "full"}
        rows = []
        for s in chosen:
            row: Row = [dataset_cell(s.dataset, reduced=s.reduced), TITLES[s.variant], *run_cells(s)]
            for metric in ("bacc", "acc"):
                row += [show(s.scores[metric], metric), _change(s, s.scores, full.get(s.dataset), metric)]
            rows.append([*row, *(show(s.scores[metric], metric) for metric in ("nmi", "ari"))])
        return new_table(
            name,
            f"Ablation, {regime}",
            "TabularNCD without one part: pre-training (SSL), the classification loss (CE), the clustering loss (BCE) "
            f"or consistency (MSE); with {which_settings}. BACC and ACC in percent. Change: against all parts on the "
            "same dataset.",
            ["Dataset", "Parts", *RUN_COLUMNS, "BACC", "BACC, change", "ACC", "ACC, change", "NMI", "ARI"],
            rows,
            n_headers=2,
        )

    return build


def _ablation_satimage(summaries: Summaries) -> ResultTable:
    chosen = pick(summaries, "ablation", regime="oracle", dataset="satimage")
    full = next((s.scores for s in chosen if s.variant == "full"), None)
    rows: list[Row] = []
    for s in chosen:
        theirs = published.ABLATION[s.variant]
        changes = _change(s, s.scores, full, "acc"), _change(s, theirs, published.ABLATION["full"], "acc")
        rows.append([TITLES[s.variant], *run_cells(s), *_with_paper(s, theirs), *changes])
    return new_table(
        "ablation_satimage",
        "Ablation on Satimage, beside the paper",
        "TabularNCD without one part, with the hyper-parameters of the paper's appendix (oracle). BACC and ACC in "
        "percent. Difference: from the paper. Change: against all parts.",
        ["Parts", *RUN_COLUMNS, *_WITH_PAPER, "ACC, change", "ACC, paper's change"],
        rows,
        n_headers=1,
    )


def _change(summary: ScoreSummary, scores: Scores, full: Scores | None, metric: str) -> str:
    return "—" if full is None or summary.variant == "full" else show_difference(scores[metric], full[metric], metric)


_WITH_PAPER = ("BACC", "BACC, paper", "ACC", "ACC, paper", "ACC, difference", "NMI", "NMI, paper", "ARI", "ARI, paper")


def _with_paper(summary: ScoreSummary, theirs: Scores) -> Row:
    """Cells below ``_WITH_PAPER``."""
    row: Row = []
    for metric in METRICS:
        shown, difference = beside(summary, theirs, metric)
        row += [show(summary.scores[metric], metric), shown, *([difference] if metric == "acc" else [])]
    return row


def _representations(summaries: Summaries) -> ResultTable:
    chosen = pick(summaries, "representations")  # the original data is the same in both regimes
    best = best_in_bold(chosen)
    rows = []
    for s in chosen:
        row: Row = [dataset_cell(s.dataset, reduced=s.reduced), TITLES[s.variant], TITLES[s.protocol], *run_cells(s)]
        rows.append([*row, *(best(s, metric) for metric in METRICS)])
    return new_table(
        "representations",
        "k-means on three representations",
        "k-means on the original data, after pre-training, and after joint training, the latter two with the "
        "hyper-parameters of the paper's appendix (oracle); fitted on the novel training rows or on the novel test "
        "rows. BACC and ACC in percent; best in bold.",
        ["Dataset", "Representation", "Fitted on", *RUN_COLUMNS, *(TITLES[metric] for metric in METRICS)],
        rows,
        n_headers=3,
    )


def _representations_mnist(summaries: Summaries) -> ResultTable:
    rows: list[Row] = []
    for s in pick(summaries, "representations", dataset="mnist"):
        theirs = papers(s)
        if theirs is not None:
            rows.append([TITLES[s.variant], *run_cells(s), *_with_paper(s, theirs)])
    return new_table(
        "representations_mnist",
        "k-means on representations of MNIST, beside the paper",
        "Fitted on the novel test rows, with the hyper-parameters of the paper's appendix (oracle). BACC and ACC in "
        "percent. The paper gives no standard deviations here.",
        ["Representation", *RUN_COLUMNS, *_WITH_PAPER],
        rows,
        n_headers=1,
    )


def _cd_knet(summaries: Summaries) -> ResultTable:
    digits = {"acc": 1, "nmi": 3, "ari": 3}  # as the paper prints them
    rows: list[Row] = []
    for s in pick(summaries, "main", dataset="mnist", method="tabular_ncd", variant="appendix"):
        scores = (show(s.scores[metric], metric, digits=n) for metric, n in digits.items())
        rows.append(["TabularNCD, newfound", *run_cells(s), *scores])
    if rows:
        for method, theirs in published.CD_KNET.items():
            scores = (show(theirs[metric], metric, digits=n) for metric, n in digits.items())
            rows.append([f"{TITLES[method]}, as printed in the paper", "—", "—", *scores])
    return new_table(
        "cd_knet",
        "Comparison with CD-KNet on MNIST",
        "Our TabularNCD with the hyper-parameters of the paper's appendix (oracle), and what the paper prints for its "
        "own and for CD-KNet, which has convolutions and so knows that the rows are pictures.",
        ["Method", *RUN_COLUMNS, *(TITLES[metric] for metric in digits)],
        rows,
        n_headers=1,
    )


def _search(lines: Lines) -> ResultTable:
    parameters = tuple(published.SETTINGS["mnist"])
    main = summarise(line for line in lines if (line["experiment"], line["variant"]) == ("main", "appendix"))
    appendix = {s.dataset: s for s in main if s.method == "tabular_ncd"}
    searched = [line for line in lines if line["experiment"] == "searched"]
    searches = [line for line in lines if line["experiment"] == "search"]
    rows: list[Row] = []
    for dataset in sorted({line["dataset"] for line in searches}, key=place_of):
        of_dataset = sorted((line for line in searches if line["dataset"] == dataset), key=lambda line: line["variant"])
        for line in of_dataset:
            found, trials = line["data"]["best"], line["data"]["trials"]
            name = dataset_cell(dataset, reduced=line["reduced"])
            which = (dataset, line["variant"])
            tested = summarise(line for line in searched if (line["dataset"], line["variant"]) == which)
            validation = show(Score(100.0 * max(trial["acc"] for trial in trials)), "acc")
            test_cells = _test_cells(tested[0] if tested else None)
            how = TITLES[line["variant"]]
            rows.append([name, how, *_values(found, parameters), str(len(trials)), validation, *test_cells])
        values = _values(published.SETTINGS[dataset], parameters)
        rows.append([name, "appendix", *values, "—", "—", *_test_cells(appendix.get(dataset))])
    return new_table(
        "search",
        "Bayesian search of the hyper-parameters",
        "Oracle: uses novel labels. As in the paper, settings are scored by their ACC on the novel rows of a fifth of "
        "the training rows (validation). The settings found, with learning rates drawn on a log scale or uniformly, "
        "stand above those of the paper's appendix. ACC in percent.",
        ["Dataset", "Settings", *parameters, "Trials", "Validation ACC", "Test ACC", *RUN_COLUMNS],
        rows,
        n_headers=2,
    )


def _values(settings: Mapping[str, Any], parameters: Sequence[str]) -> list[str]:
    values = (settings.get(name, "—") for name in parameters)
    return [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]


def _test_cells(summary: ScoreSummary | None) -> list[str]:
    return [ABSENT, "—", "—"] if summary is None else [show(summary.scores["acc"], "acc"), *run_cells(summary)]


def _cost(lines: Lines) -> ResultTable:
    main = [line for line in lines if line["experiment"] == "main"]
    rows: list[tuple[Any, Row]] = []
    for device in sorted({device_of(line) for line in main}):
        for s in summarise(line for line in main if device_of(line) == device):
            name = dataset_cell(s.dataset, reduced=s.reduced)
            row: Row = [name, TITLES.get(s.method, s.method), s.variant, TITLES[s.protocol], device, str(s.n_seeds)]
            row += [f"{s.fit_seconds:.2f}", f"{s.peak_memory_mib:,.0f}"]
            rows.append((place_of(s.dataset, s.method, s.variant, s.protocol), row))
    return new_table(
        "cost",
        "What a fit costs",
        "Seconds of fitting for one seed, mean over the seeds; seeds that were fitted at once share the time of their "
        "pack. Peak memory is the largest of the process during any of these fits, of the whole pack and without what "
        "a GPU holds.",
        ["Dataset", "Method", "Settings", "Fitted on", "Device", "Seeds", "Fit, seconds a seed", "Peak memory, MiB"],
        (row for _, row in sorted(rows, key=lambda pair: pair[0])),
        n_headers=5,
    )


_OF_SUMMARIES: dict[str, Callable[[Summaries], ResultTable]] = {
    "main": _main("main", ("bacc", "acc")),
    "main_nmi_ari": _main("main_nmi_ari", ("nmi", "ari")),
    "main_label_free": _main_label_free,
    "follow_up": _follow_up,
    "ablation_satimage": _ablation_satimage,
    "ablation": _ablation("ablation", "oracle", "the hyper-parameters of the paper's appendix"),
    "ablation_label_free": _ablation("ablation_label_free", "label-free", "newfound's defaults"),
    "representations_mnist": _representations_mnist,
    "representations": _representations,
    "cd_knet": _cd_knet,
    "sweep": ranges.sweep,
    "threshold": ranges.threshold,
}
_OF_LINES: dict[str, Callable[[Lines], ResultTable]] = {
    "datasets": datasets,
    "search": _search,
    "cost": _cost,
    **LABEL_FREE_TABLES,
    **LEAD_TABLES,
    **OPEN_WORLD_TABLES,
    **MIXED_TABLES,
    **RESEARCH_TABLES,
}

TABLES = (*_OF_SUMMARIES, *_OF_LINES)
"""Names of all tables."""
