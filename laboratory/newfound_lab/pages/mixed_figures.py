"""Figures of the suite "mixed": accuracy over the share of known rows, estimated shares, AUROC by table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from newfound.pictures.style import NOVEL_COLOURS
from newfound_lab.pages.captions import Lines, device_of, names_of
from newfound_lab.pages.mixed import HALF, METHOD_TITLES, MixedResults, setting_of
from newfound_lab.pages.mixed_tables import SHARE_SETTINGS
from newfound_lab.pictures.curves import Curve, CurvePanel, write_curves
from newfound_lab.pictures.dots import Dot, DotKind, DotPanel, write_dots
from newfound_lab.pictures.scatter import Estimate, EstimatePanel, write_estimates
from newfound_lab.suites.mixed import OURS, OURS_MIXED, ROUTERS

_DRAWN = tuple(method for method in ROUTERS if method != OURS_MIXED)  # nearly the same line as "auto"
_KINDS = {
    OURS: DotKind(METHOD_TITLES[OURS], NOVEL_COLOURS[0], "o", hollow=False),
    "supervised": DotKind(METHOD_TITLES["supervised"], NOVEL_COLOURS[0], "o", hollow=True),
    "knn_distance": DotKind(METHOD_TITLES["knn_distance"], NOVEL_COLOURS[1], "s", hollow=True),
}


def draw_shares(lines: Lines, files: Sequence[Path]) -> str:
    """Draw ACC on all unlabelled rows over the share of known rows among them; returns the caption."""
    results = MixedResults(lines).with_all(SHARE_SETTINGS.values())
    curves = []
    for method in _DRAWN:
        values = {
            100 * share: list(found.values())
            for share, setting in SHARE_SETTINGS.items()
            if (found := results.by_table(setting, method, "all_acc"))
        }
        if values:
            x, means = np.array(list(values)), np.array([np.mean(scores) for scores in values.values()])
            errors = np.array([np.std(scores) / np.sqrt(len(scores)) for scores in values.values()])
            curves.append(Curve(METHOD_TITLES[method], x, means, errors))
    panel = CurvePanel("", "share of known rows among the unlabelled ones, %", "ACC on all unlabelled rows, %", curves)
    write_curves(
        files,
        [panel],
        [METHOD_TITLES[method] for method in _DRAWN],
        title="Accuracy over the share of known rows",
        columns=1,
    )
    return (
        "ACC on all unlabelled rows over the share of known rows among them, mean over tables with a band of one "
        "standard error. At 0 all are novel, and taking them as novel is right; at 100 nothing is novel. "
        + _origin(results.lines)
    )


def draw_estimates(lines: Lines, files: Sequence[Path]) -> str:
    """Draw the estimated share of known rows against the truth; returns the caption."""
    results = MixedResults([line for line in lines if line["method"] == OURS])
    grid = tuple(SHARE_SETTINGS.values())
    groups = {
        "half of the known rows unlabelled": [line for line in results.lines if setting_of(line) == HALF],
        "shares from 0 to 100 %": [line for line in results.lines if setting_of(line) in grid],
        "10 or 50 labelled rows a class": [
            line for line in results.lines if line["settings"].get("n_labelled") and not line["settings"].get("shift")
        ],
        "with a shift": [line for line in results.lines if line["settings"].get("shift")],
    }
    panels = [
        EstimatePanel(
            title,
            [
                Estimate(*(100.0 * value for value in (line["share"], line["known_share"], *line["share_interval"])))
                for line in part
            ],
        )
        for title, part in groups.items()
        if part
    ]
    write_estimates(
        files,
        panels,
        title="Share of known rows among the unlabelled ones",
        x_label="truth, %",
        y_label="estimate (known_share_), %",
        limits=(-3.0, 103.0),
    )
    return (
        "Estimated share of known rows among the unlabelled ones against the truth, a dot for each table and class "
        "split; whiskers are the intervals that known_share_ gives. On the line an estimate is right. "
        + _origin(results.lines)
    )


def draw_auroc(lines: Lines, files: Sequence[Path]) -> str:
    """Draw AUROC among the unlabelled rows for each table; returns the caption."""
    results = MixedResults(lines)
    found = {method: results.by_table(HALF, method, "auroc") for method in _KINDS}
    names = names_of(results.lines)
    tables = sorted(found[OURS], key=lambda table: found[OURS][table], reverse=True)
    dots = [
        Dot(row, kind.name, found[method][table])
        for method, kind in _KINDS.items()
        for row, table in enumerate(tables)
        if table in found[method]
    ]
    low = min(dot.mean for dot in dots)
    write_dots(
        files,
        [DotPanel("half of the known rows unlabelled", dots)],
        [names[table] for table in tables],
        tuple(_KINDS.values()),
        title="Known from novel rows, table by table",
        x_label="AUROC among the unlabelled rows, %",
        columns=1,
        limits=(min(45.0, 10 * np.floor(low / 10)), 102.0),
    )
    return (
        "AUROC of known against novel among the unlabelled rows, half of the known rows unlabelled, mean over class "
        "splits. The supervised router has learned from the true answer for other rows, which nobody has. "
        + _origin(results.lines)
    )


def _origin(lines: Lines) -> str:
    """Say how much was measured, and where; which tables these are stands in a table."""
    n_tables, n_splits = (len({line[name] for line in lines}) for name in ("dataset", "class_split"))
    devices = " and ".join(sorted({device_of(line) for line in lines}))
    splits = f"{n_splits} class split{'s' * (n_splits > 1)}, one seed each"
    return f"Datasets: {n_tables} development tables; {splits}; measured on {devices}."
