"""What several tables share: names, marks, the order of rows, and the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import sqrt

from newfound_lab.pages.captions import DATASETS
from newfound_lab.pages.rendering import Cell, ResultTable
from newfound_lab.pages.summary import ScoreSummary, show, show_difference
from newfound_lab.paper import published
from newfound_lab.paper.published import Score, Scores

Row = list[Cell | str]

ABSENT = "not measured"
"""What stands where a figure would, if there were lines for it."""

DIFFERS, REDUCED, NO_DATA, UNFINISHED, PARTIAL = "†", "‡", "§", "¶", "°"
NOTES = {
    DIFFERS: "The mean ACC lies more than 1 point and more than two standard errors (ours and the paper's combined) "
    "away from the paper's.",
    REDUCED: "66 of 561 features: not comparable.",
    NO_DATA: "Not measured: the data is not here.",
    UNFINISHED: "Did not finish within an hour in the paper.",
    PARTIAL: "Not all class splits and seeds are measured.",
}
"""What each mark means."""

TITLES = {
    "tabular_ncd": "TabularNCD",
    "baseline": "Baseline",
    "spectral": "Spectral clustering",
    "kmeans": "k-means",
    "whitened_kmeans": "Whitened k-means",
    "ncd_kmeans": "NCD k-means",
    "ncd_spectral": "NCD spectral",
    "pbn": "PBN",
    "pbn_spectral": "PBN, spectral",
    "tuned_tabular_ncd": "TabularNCD, tuned",
    "auto": "AutoDiscoverer",
    "cd_knet": "CD-KNet",
    "cd_knet_exp": "CD-KNet-Exp",
    "full": "all parts",
    "without_ssl": "without SSL",
    "without_ce": "without CE",
    "without_bce": "without BCE",
    "without_mse": "without MSE",
    "original": "original data",
    "after_ssl": "after pre-training",
    "after_joint": "after joint training",
    "bayesian": "found, log rates",
    "bayesian_uniform": "found, uniform rates",
    "inductive": "training rows",
    "transductive": "novel test rows",
    "bacc": "BACC",
    "acc": "ACC",
    "nmi": "NMI",
    "ari": "ARI",
    "known_acc": "ACC of known classes",
}
"""How names of the lines are written in tables."""

_VARIANTS = ("appendix", "published", "default", "top_k", "k_neighbors", "w1", "w2")
_ORDER = {name: place for place, name in enumerate((*published.RESULTS, *_VARIANTS, *TITLES))}

RUN_COLUMNS = ("Seeds", "Device")


def new_table(
    name: str, title: str, caption: str, columns: Sequence[str], rows: Iterable[Row], *, n_headers: int
) -> ResultTable:
    """Make a table with a note for each mark in it."""
    cells = tuple(tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row) for row in rows)
    used = {cell.flag for row in cells for cell in row}
    notes = tuple(f"{mark} {meaning}" for mark, meaning in NOTES.items() if mark in used)
    return ResultTable(name, title, caption, tuple(columns), cells, n_headers, notes)


def place_of(*names: str) -> tuple[tuple[int, str], ...]:
    """Key by which names are sorted as in the paper; those that it does not have come after, by name."""
    return tuple((_ORDER.get(name, len(_ORDER)), name) for name in names)


def pick(summaries: Iterable[ScoreSummary], experiment: str, **facts: str) -> list[ScoreSummary]:
    """Summaries of an experiment with these facts, in the order of the paper."""
    chosen = [s for s in summaries if s.experiment == experiment and all(getattr(s, k) == v for k, v in facts.items())]
    return sorted(chosen, key=lambda s: place_of(s.dataset, s.method, s.variant, s.protocol))


def dataset_cell(dataset: str, *, reduced: bool) -> Cell:
    """Name of a dataset, marked where columns of the paper's are lacking."""
    return Cell(DATASETS.get(dataset, dataset), flag=REDUCED if reduced else "")


def head(summary: ScoreSummary) -> Row:
    """Dataset, method and what it was fitted on, then the cells of ``RUN_COLUMNS``."""
    method = TITLES.get(summary.method, summary.method)
    if summary.variant == "published":
        method += ", published settings"
    dataset = dataset_cell(summary.dataset, reduced=summary.reduced)
    return [dataset, method, TITLES[summary.protocol], *run_cells(summary)]


def run_cells(summary: ScoreSummary) -> list[str]:
    """Cells below ``RUN_COLUMNS``."""
    return [str(summary.n_seeds), ", ".join(summary.devices)]


def best_in_bold(summaries: Sequence[ScoreSummary]) -> Callable[[ScoreSummary, str], Cell]:
    """Return a function that shows a score of a summary, bold where it is the best of its dataset."""
    best: dict[tuple[str, str], Score] = {}
    for s in summaries:
        for metric, score in s.scores.items():
            best[s.dataset, metric] = max(score, best.get((s.dataset, metric), score), key=lambda found: found.mean)

    def cell(summary: ScoreSummary, metric: str) -> Cell:
        score = summary.scores.get(metric)
        if score is None:
            return Cell(show(None, metric))
        top = best[summary.dataset, metric]
        # what is equal as shown is equally good
        return Cell(show(score, metric), bold=show(score, metric, sd=False) == show(top, metric, sd=False))

    return cell


def papers(summary: ScoreSummary, experiment: str | None = None) -> Scores | None:
    """Look up the paper's figures for a summary, or those of another experiment for the same."""
    return published.scores(
        experiment or summary.experiment, summary.dataset, summary.method, summary.variant, summary.protocol
    )


def beside(summary: ScoreSummary, theirs: Scores | None, metric: str) -> Row:
    """Cells for the paper's figure and how far ours is from it; marked where an ACC is far."""
    if theirs is None:
        unfinished = (summary.dataset, summary.method, summary.protocol) == ("mnist", "spectral", "transductive")
        return [Cell("—", flag=UNFINISHED if unfinished else ""), "—"]
    shown = show(theirs[metric], metric)
    if summary.reduced:
        return [shown, "—"]
    ours = summary.scores[metric]
    far = metric == "acc" and differs(ours, summary.n_seeds, theirs[metric])
    return [shown, Cell(show_difference(ours, theirs[metric], metric), flag=DIFFERS if far else "")]


def beside_columns(metrics: Iterable[str]) -> list[str]:
    """Headings for ours, the paper's and the difference of each metric."""
    return [TITLES[metric] + more for metric in metrics for more in ("", ", paper", ", difference")]


def differs(ours: Score, n_seeds: int, theirs: Score) -> bool:
    """Whether a mean ACC is further from the paper's than chance and rounding explain; see ``NOTES``."""
    error = sqrt((ours.sd or 0.0) ** 2 / n_seeds + (theirs.sd or 0.0) ** 2 / published.N_RUNS)
    return abs(ours.mean - theirs.mean) > max(2.0 * error, 1.0) + 1e-9


def spread(values: Sequence[int]) -> str:
    """Write the least and the largest of whole numbers."""
    few, many = min(values), max(values)
    return str(few) if few == many else f"{few} to {many}"
