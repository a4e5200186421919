"""Figures of the label-free comparison, and of the estimates of the number of novel classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from newfound.pictures.style import NOVEL_COLOURS
from newfound_lab.pages.captions import Lines, datasets_of, names_of, origin
from newfound_lab.pages.cells import TITLES
from newfound_lab.pages.comparison import COMBINED, Comparison, Estimates
from newfound_lab.pictures.dots import Dot, DotKind, DotPanel, write_dots
from newfound_lab.suites.experiments import LABEL_FREE_METHODS

_K = {"given": "k given", "estimated": "k estimated"}
_KINDS = (
    DotKind(_K["given"], NOVEL_COLOURS[0], "o", hollow=False),
    DotKind(_K["estimated"], NOVEL_COLOURS[1], "s", hollow=True),
)
_METRICS = {"acc": "by ACC", "bacc": "by BACC"}
_RANKS = tuple(
    DotKind(name, kind.colour, kind.marker, kind.hollow) for name, kind in zip(_METRICS.values(), _KINDS, strict=True)
)
_ERROR = DotKind("estimate minus truth", NOVEL_COLOURS[0], "o", hollow=False)


def draw_accs(lines: Lines, files: Sequence[Path]) -> str:
    """Draw the ACC of every method on every dataset, with k given and with k estimated; returns the caption."""
    comparisons = {k: Comparison(lines, k) for k in _K}
    methods = _methods(comparisons)
    names = names_of(lines)
    panels = []
    for dataset in datasets_of(lines):
        dots = []
        for k, comparison in comparisons.items():
            for row, method in enumerate(methods):
                score = comparison.score(dataset, method, "acc")
                if score is not None:
                    dots.append(Dot(row, _K[k], score.mean, score.sd or 0.0))
        panels.append(DotPanel(names[dataset], dots))
    low = min(dot.mean - dot.sd for panel in panels for dot in panel.dots)
    write_dots(
        files,
        panels,
        [TITLES[method] for method in methods],
        _KINDS,
        title="ACC on novel test rows, without novel labels",
        x_label="ACC, % (mean ± standard deviation over class splits and seeds)",
        columns=3,
        limits=(max(0.0, 10 * np.floor(low / 10)), 103.0),
    )
    return (
        "ACC on the novel test rows for each method, mean ± standard deviation over class splits and seeds. Filled "
        "circles: told the number of novel classes. Hollow squares: with the estimate of it. " + origin(lines)
    )


def draw_ranks(lines: Lines, files: Sequence[Path]) -> str | None:
    """Draw the average rank of every method; returns the caption, or None where no pair has all methods."""
    comparisons = {k: comparison for k in _K if (comparison := Comparison(lines, k)).pairs}
    if not comparisons:
        return None
    methods = _methods(comparisons)
    panels = []
    for k, comparison in comparisons.items():
        dots = [
            Dot(row, name, rank.mean, ends=rank.interval)
            for row, method in enumerate(methods)
            for metric, name in _METRICS.items()
            if (rank := comparison.rank(method, metric)) is not None
        ]
        panels.append(DotPanel(f"{_K[k]}: {len(comparison.pairs)} pairs", dots))
    write_dots(
        files,
        panels,
        [TITLES[method] for method in methods],
        _RANKS,
        title="Average rank, without novel labels",
        x_label="average rank, 1 is the best (mean over tables, 95 % interval over tables)",
        columns=2,
        limits=(0.5, len(methods) + 0.5),
    )
    return (
        "Average rank of the methods by ACC and by BACC on the novel test rows, over the pairs of dataset and class "
        "split of which all methods were measured; 1 is the best. Whiskers are 95 % intervals over the tables, which "
        "were also those that AutoDiscoverer and others were made with. "
        + origin([line for comparison in comparisons.values() for line in comparison.lines])
    )


def draw_n_classes(lines: Lines, files: Sequence[Path]) -> str:
    """Draw how far estimates of the number of novel classes are from the truth; returns the caption."""
    estimates = Estimates(lines)
    datasets, names = datasets_of(estimates.lines), names_of(lines)
    truths = {line["dataset"]: line["n_novel"] for line in estimates.lines}
    panels = []
    for name in estimates.names:
        dots = []
        for row, dataset in enumerate(datasets):
            by_pair = estimates.of(name, [dataset])
            if by_pair:
                errors = np.concatenate(list(by_pair.values()))
                dots.append(Dot(row, _ERROR.name, float(errors.mean()), float(errors.std())))
        panels.append(DotPanel(name, dots))
    reach = max(abs(dot.mean) + dot.sd for panel in panels for dot in panel.dots)
    write_dots(
        files,
        panels,
        [f"{names[dataset]}: {truths[dataset]}" for dataset in datasets],
        [_ERROR],
        title="Estimated number of novel classes, against the truth",
        x_label="estimate minus truth (mean ± standard deviation over class splits and seeds)",
        columns=min(3, len(panels)),
        limits=(-np.ceil(reach + 0.5), np.ceil(reach + 0.5)),
        zero=True,
    )
    return (
        f"Estimates of the number of novel classes minus the truth, which stands behind each dataset: {COMBINED}, and "
        "by each criterion alone. Dots are means over class splits and seeds, whiskers standard deviations. "
        + origin(estimates.lines)
    )


def _methods(comparisons: dict[str, Comparison]) -> list[str]:
    return [
        name for name in LABEL_FREE_METHODS if any(name in comparison.methods for comparison in comparisons.values())
    ]
