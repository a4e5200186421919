"""Lines of the results -> pictures, each as PNG and SVG, with a caption."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError
from newfound.pictures.latent import DrawnClass, Panel, write_latent_picture
from newfound.pictures.style import NOVEL_COLOURS
from newfound_lab.pages.captions import Line, Lines, datasets_of, name_of, names_of, origin, sorted_lines
from newfound_lab.pages.label_free_figures import draw_accs, draw_n_classes, draw_ranks
from newfound_lab.pages.mixed_figures import draw_auroc, draw_estimates, draw_shares
from newfound_lab.pages.summary import ScoreSummary, summarise
from newfound_lab.paper import published
from newfound_lab.pictures.coefficients import most_telling, write_coefficients
from newfound_lab.pictures.curves import Curve, CurvePanel, write_curves
from newfound_lab.pictures.dots import Dot, DotKind, DotPanel, write_dots
from newfound_lab.pictures.pairs import chosen_pairs, write_pairs
from newfound_lab.suites.mixed import MIXED_EXPERIMENTS

Files = Sequence[Path]
Draw = Callable[[Lines, Files], str | None]

_SWEPT = {
    "top_k": ("top_k: positives a row", "% of half a batch", True),
    "k_neighbors": ("k_neighbors: for the views", "neighbours", True),
    "w1": ("w1: classification against consistency", "w1", False),
    "w2": ("w2: clustering against consistency", "w2", False),
}
_PARTS = {
    "without_ssl": "without SSL\n(pre-training)",
    "without_ce": "without CE\n(known classes)",
    "without_bce": "without BCE\n(pseudo labels)",
    "without_mse": "without MSE\n(consistency)",
}
_METHODS = {
    ("tabular_ncd", "oracle"): "TabularNCD, oracle",
    ("tabular_ncd", "label-free"): "TabularNCD, label-free",
    ("baseline", "label-free"): "baseline",
    ("spectral", "label-free"): "spectral",
    ("kmeans", "label-free"): "k-means",
}
_OURS, _OURS_ON_TEST, _PUBLISHED = "ours, inductive", "ours, transductive", "ours, settings of the published code"
_PAPERS, _PAPERS_ON_TEST = "paper's, inductive", "paper's, transductive"
_CHANGE, _PAPERS_CHANGE = "ours", "paper's (difference of its means)"
_KINDS = (
    DotKind(_OURS, NOVEL_COLOURS[0], "o", hollow=False),
    DotKind(_PAPERS, NOVEL_COLOURS[0], "o", hollow=True),
    DotKind(_OURS_ON_TEST, NOVEL_COLOURS[1], "s", hollow=False),
    DotKind(_PAPERS_ON_TEST, NOVEL_COLOURS[1], "s", hollow=True),
    DotKind(_PUBLISHED, NOVEL_COLOURS[2], "^", hollow=False),
)
_CHANGES = (
    DotKind(_CHANGE, NOVEL_COLOURS[0], "o", hollow=False),
    DotKind(_PAPERS_CHANGE, NOVEL_COLOURS[0], "o", hollow=True),
)
_SEARCHES = {"bayesian": "learning rates on a log scale", "bayesian_uniform": "learning rates drawn uniformly"}
_MIXED_FIGURES = {  # which of the suite "mixed" show more than the estimates
    "mixed": ("mixed_auroc", "mixed_estimates"),
    **dict.fromkeys(("mixed_pure", "mixed_shares", "mixed_known"), ("mixed_shares", "mixed_estimates")),
    "mixed_auto": (),
}
_DODGE = 1.2  # percentage points between lines that would cover each other
_MOST_ATTRIBUTES = 40
_ORACLE = "oracle: uses novel labels"


@dataclass(frozen=True)
class Figure:
    """A picture that was written: its name, its two files, and what is to be seen, in plain words."""

    name: str
    png: Path
    svg: Path
    caption: str


def write_figures(lines: Lines, folder: Path, only: Collection[str] | None = None) -> dict[str, Figure]:
    """Write every figure for which there are lines, as PNG and SVG.

    Parameters
    ----------
    lines : sequence of mapping
        Lines of the results, one for each trial.
    folder : Path
        Where the files go; made if it is not there.
    only : collection of str, optional
        Names of the figures that are wanted; None for all.

    Returns
    -------
    dict of str to Figure
        By name: those in ``OVERALL`` show all datasets; of those in ``OF_A_DATASET`` there is one for each dataset,
        such as "map_letter".

    Raises
    ------
    MissingExtraError, InputError
        If matplotlib is not installed; if the folder cannot be made, or a file not be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be made: {error.strerror}. Choose another folder.") from None
    figures = {}
    for name, draw, part in _plan(lines):
        if only is not None and name not in only:
            continue
        png, svg = folder / f"{name}.png", folder / f"{name}.svg"
        caption = draw(part, (png, svg))
        if caption is not None:
            figures[name] = Figure(name, png, svg, caption)
    return figures


def _plan(lines: Lines) -> Iterator[tuple[str, Draw, Lines]]:
    """Say which figures there are: the name, the function that draws it, and the lines that it shows."""
    for name, draw in OVERALL.items():
        part = [line for line in lines if name in _names_of_figures(line)]
        if part and name == "threshold":  # it is compared with top_k, which is part of the sweep
            part += [line for line in lines if line["experiment"] == "sweep"]
        if part:
            yield name, draw, sorted_lines(part)
    for name, draw in OF_A_DATASET.items():
        part = sorted_lines(line for line in lines if line["experiment"] == name)
        for dataset in datasets_of(part):
            yield f"{name}_{dataset}", draw, [line for line in part if line["dataset"] == dataset]


def _names_of_figures(line: Line) -> tuple[str, ...]:
    """Name the figures over all datasets that show a line; the two regimes of the ablation are never in one."""
    experiment = str(line["experiment"])
    if experiment == "label_free":
        return experiment, "label_free_ranks"
    if experiment in MIXED_EXPERIMENTS:
        return _MIXED_FIGURES.get(experiment, ("mixed_estimates",))
    return ("ablation_label_free" if (experiment, line["regime"]) == ("ablation", "label-free") else experiment,)


# ---- over all datasets


def _main(lines: Lines, files: Files) -> str:
    summaries = summarise(lines)
    keys = {(summary.method, summary.regime) for summary in summaries}
    order = [key for key in _METHODS if key in keys] + sorted(keys - _METHODS.keys())
    names = names_of(lines)
    panels = []
    for dataset in datasets_of(lines):
        dots = []
        for summary in summaries:
            if summary.dataset == dataset:
                row = order.index((summary.method, summary.regime))
                score = summary.scores["acc"]
                dots.append(Dot(row, _kind(summary), score.mean, score.sd or 0.0))
        dots += _papers_dots(dataset, order)
        panels.append(DotPanel(names[dataset], dots))
    write_dots(
        files,
        panels,
        [_METHODS.get(key, ", ".join(key)) for key in order],
        _KINDS,
        title="ACC on novel test rows, ours (filled) and the paper's (hollow)",
        x_label="ACC, % (mean ± standard deviation)",
        columns=3,
        limits=(_limits(panels)[0], 103.0),
    )
    return (
        "ACC on the novel test rows for each method, mean ± standard deviation. Filled: measured here. Hollow: the "
        "paper's figures. Circles and triangles: inductive, fitted on the training rows. Squares: transductive, fitted "
        "on the novel test rows themselves, as the paper does with spectral clustering and k-means. "
        + origin(lines, compared=True)
    )


def _kind(summary: ScoreSummary) -> str:
    if summary.protocol == "transductive":
        return _OURS_ON_TEST
    return _PUBLISHED if summary.variant == "published" else _OURS


def _papers_dots(dataset: str, order: Sequence[tuple[str, str]]) -> list[Dot]:
    """Dots for the paper's figures; those of its own method are beside ours with settings found in the same way."""
    dots = []
    for row, (method, regime) in enumerate(order):
        for protocol, kind in (("inductive", _PAPERS), ("transductive", _PAPERS_ON_TEST)):
            found = published.scores("main", dataset, method, "", protocol)
            if found and (method != "tabular_ncd" or regime == "oracle"):
                dots.append(Dot(row, kind, found["acc"].mean, found["acc"].sd or 0.0))
    return dots


def _ablation(lines: Lines, files: Files) -> str | None:
    datasets, names = datasets_of(lines), names_of(lines)
    accs = {(line["dataset"], line["variant"], line["seed"]): 100 * line["acc"] for line in lines}
    panels = []
    for variant, title in _PARTS.items():
        dots = []
        for row, dataset in enumerate(datasets):
            changes = [
                acc - accs[dataset, "full", seed]
                for (of, without, seed), acc in accs.items()
                if (of, without) == (dataset, variant) and (dataset, "full", seed) in accs
            ]
            if changes:
                dots.append(Dot(row, _CHANGE, float(np.mean(changes)), float(np.std(changes))))
            whole, left = (
                published.scores("ablation", dataset, "tabular_ncd", part, "inductive") for part in ("full", variant)
            )
            if whole and left:
                dots.append(Dot(row, _PAPERS_CHANGE, left["acc"].mean - whole["acc"].mean, 0.0))
        panels.append(DotPanel(title, dots))
    if not any(panel.dots for panel in panels):  # there is nothing to compare with yet
        return None
    write_dots(
        files,
        panels,
        [names[dataset] for dataset in datasets],
        _CHANGES,
        title="What each part of TabularNCD is worth",
        x_label="change of ACC without the part, percentage points (mean ± standard deviation over seeds)",
        columns=len(panels),
        limits=_limits(panels),
        zero=True,
    )
    return (
        "How ACC on the novel test rows changes when one part of TabularNCD is left out: SSL (self-supervised "
        "pre-training), CE (classification of the known classes), BCE (pairwise pseudo labels) or MSE (consistency). "
        "Each seed is compared with the whole method with the same seed; dots are means, whiskers standard deviations. "
        + ("Hollow: the difference of the paper's means, given for Satimage only. " if "satimage" in datasets else "")
        + origin(lines)
    )


def _sweep(lines: Lines, files: Files) -> str:
    panels = [
        CurvePanel(title, x_label, "BACC, %", _curves(lines, variant, _bacc, rings=True), log=log)
        for variant, (title, x_label, log) in _SWEPT.items()
    ]
    write_curves(
        files,
        [_with_limits(panel, panels) for panel in panels if panel.curves],
        list(names_of(lines).values()),
        title="Influence of the hyper-parameters of TabularNCD",
        ring_name="the paper's own value",
    )
    return (
        "BACC on the novel test rows while one hyper-parameter changes and all others are the paper's: top_k, "
        "k_neighbors, w1 and w2. Lines are means over seeds, bands one standard deviation to either side; a ring marks "
        "the paper's own value for the dataset. " + origin(lines)
    )


def _threshold(lines: Lines, files: Files) -> str:
    lines = [line for line in lines if line["variant"] in ("similarity_threshold", "top_k")]
    sides = {
        "similarity_threshold": ("Pairs above a similarity are positive", "similarity threshold λ", False),
        "top_k": ("The most similar pairs are positive", "top_k, % of half a batch", True),
    }
    panels = [
        CurvePanel(title, x_label, "BACC, %", _curves(lines, variant, _bacc), log, limits=(0, 103))
        for variant, (title, x_label, log) in sides.items()
    ] + [
        CurvePanel(
            "", x_label, "novel classes used, %", _dodged(_curves(lines, variant, _share_used)), log, limits=(0, 106)
        )
        for variant, (_, x_label, log) in sides.items()
    ]
    panels = [panel for panel in panels if panel.curves]
    write_curves(
        files,
        panels,
        list(names_of(lines).values()),
        title="Pseudo labels by a threshold, and by the number of positives",
        columns=len(panels) // 2,
    )
    return (
        "Two ways to choose the positive pairs. Left: all pairs more similar than a threshold λ. Right: a share of the "
        "most similar ones, top_k. Top: BACC on the novel test rows. Bottom: how many of the novel classes are "
        "predicted at all; where it falls to one class, training has collapsed (lines are moved apart a bit, so that "
        "none covers another). Lines are means over seeds, bands one standard deviation to either side. "
        + origin(lines)
    )


def _search(lines: Lines, files: Files) -> str:
    names = names_of(lines)
    curves: dict[str, list[Curve]] = {title: [] for title in _SEARCHES.values()}
    for line in lines:
        best = np.maximum.accumulate([100 * trial["acc"] for trial in line["data"]["trials"]])
        curve = Curve(names[line["dataset"]], np.arange(1.0, len(best) + 1), best, np.zeros(len(best)))
        curves[_SEARCHES[line["variant"]]].append(curve)
    write_curves(
        files,
        [
            CurvePanel(title, "trials", "best validation ACC so far, %", drawn, steps=True, limits=(0.0, 102.0))
            for title, drawn in curves.items()
            if drawn
        ],
        list(names.values()),
        title=f"The paper's Bayesian search ({_ORACLE})",
    )
    return (
        f"The paper's Bayesian search of hyper-parameters, {_ORACLE}. Best ACC so far on the validation rows, a part "
        "of the training rows whose novel labels score each trial; it is no result on test rows. " + origin(lines)
    )


# ---- one dataset


def _coefficients(lines: Lines, files: Files) -> str:
    line = lines[0]
    data, name = line["data"], name_of(line)
    known = np.abs(np.array(list(data["known"].values()), dtype=float)).sum(axis=0)
    novel = np.abs(np.array(list(data["novel"].values()), dtype=float))
    shown = most_telling(known, novel, _MOST_ATTRIBUTES)
    write_coefficients(
        files,
        [str(data["attributes"][i]) for i in shown],
        known[shown],
        {f"novel class {label}": weights[shown] for label, weights in zip(data["novel"], novel, strict=True)},
        title=f"{name}: what the attributes weigh for known and for novel classes",
        x_label="|coefficient| of a logistic regression on standardised attributes",
        known_name=f"known classes, sum over {len(data['known'])}",
    )
    all_of_them = len(shown) == len(known)
    which = "All attributes" if all_of_them else "The attributes that weigh most for known or for novel classes"
    return (
        f"Coefficients of a logistic regression on {name}, in absolute value. Bars: the sum over the known classes. "
        f"Marks: each novel class. {which}{'' if all_of_them else f', {len(shown)} of {len(known)}'}. Marks far beyond "
        "a bar belong to attributes that a classifier of the known classes has little reason to keep. " + origin([line])
    )


def _map(lines: Lines, files: Files) -> str:
    line = lines[0]
    data, name = line["data"], name_of(line)
    codes = np.array(data["codes"])
    classes = [
        DrawnClass(f"{'novel' if novel else 'known'}: {label}", str(label), codes == code, novel=bool(novel))
        for code, (label, novel) in enumerate(zip(data["class_names"], data["novel"], strict=True))
    ]
    longest = max(len(drawn.name) for drawn in classes)
    panels = [
        Panel(panel["title"], "", np.column_stack([panel["x"], panel["y"]]).astype(np.float64))
        for panel in data["panels"]
    ]
    write_latent_picture(
        files,
        panels,
        classes,
        title=f"{name}: the latent space of TabularNCD during training",
        columns=2,
        legend_columns=int(np.clip(7.7 / (0.35 + 0.08 * longest), 2, 8)),
        tags_inside=True,
    )
    titles = "; ".join(panel.title[:1].lower() + panel.title[1:] for panel in panels)
    return (
        f"{len(codes)} rows of {name}, laid out by t-SNE: {titles}. Colours are the true novel classes, grey marks the "
        "known ones; names stand where a class is densest. " + origin([line])
    )


def _pairs(lines: Lines, files: Files) -> str:
    line = lines[0]
    data, name = line["data"], name_of(line)
    similarities = np.array(data["similarities"], dtype=float)
    positives: NDArray[np.bool_] = np.array(data["positives"], dtype=bool) & ~np.eye(len(similarities), dtype=bool)
    k = int(data["k"])
    write_pairs(
        files,
        np.array(data["points"], dtype=float),
        [str(data["class_names"][code]) for code in data["codes"]],
        similarities,
        positives,
        k=k,
        title=f"{name}: from a batch to its pseudo labels",
    )
    mirrored = bool((positives & ~chosen_pairs(similarities, positives, k)).any())
    return (
        f"How pseudo labels come about, on {len(similarities)} unlabelled rows of {name}. Left: the rows, coloured by "
        "their true classes, which are not used. Middle: cosine similarities of all pairs in the latent space. Right: "
        f"each row chooses the {k} most similar ones"
        + ("; a pair is positive if either chose the other. " if mirrored else ". ")
        + origin([line])
    )


# ---- curves and limits


def _curves(lines: Lines, variant: str, measure: Callable[[Line], float], *, rings: bool = False) -> list[Curve]:
    """One curve a dataset: a measure, over seeds, against the values of the hyper-parameter that the variant names."""
    names = names_of(lines)
    curves = []
    for dataset in datasets_of(lines):
        values: dict[float, list[float]] = {}
        for line in lines:
            if (line["dataset"], line["variant"]) == (dataset, variant):
                values.setdefault(float(line["settings"][variant]), []).append(100 * measure(line))
        if values:
            x = sorted(values)
            mean, sd = (np.array([f(values[value]) for value in x]) for f in (np.mean, np.std))
            ring_at = published.SETTINGS.get(dataset, {}).get(variant) if rings else None
            curves.append(Curve(names[dataset], np.array(x), mean, sd, ring_at))
    return curves


def _dodged(curves: Sequence[Curve]) -> list[Curve]:
    """Move curves apart that would cover each other."""
    middle = (len(curves) - 1) / 2
    return [replace(curve, mean=curve.mean + _DODGE * (i - middle)) for i, curve in enumerate(curves)]


def _bacc(line: Line) -> float:
    return float(line["bacc"])


def _share_used(line: Line) -> float:
    return float(line["n_found"] / line["n_novel"])


def _with_limits(panel: CurvePanel, panels: Sequence[CurvePanel]) -> CurvePanel:
    """Give a panel the limits that hold the curves of all of them."""
    curves = [curve for drawn in panels for curve in drawn.curves]
    low = min(float((curve.mean - curve.sd).min()) for curve in curves)
    return replace(panel, limits=(max(0.0, 10 * np.floor(low / 10)), 102.0))


def _limits(panels: Sequence[DotPanel]) -> tuple[float, float]:
    """Whole tens that hold all dots with their whiskers, with some room."""
    dots = [dot for panel in panels for dot in panel.dots]
    low, high = min(dot.mean - dot.sd for dot in dots), max(dot.mean + dot.sd for dot in dots)
    return float(10 * np.floor((low - 3) / 10)), float(10 * np.ceil((high + 3) / 10))


OVERALL: dict[str, Draw] = {
    "main": _main,
    "ablation": _ablation,
    "ablation_label_free": _ablation,
    "sweep": _sweep,
    "threshold": _threshold,
    "search": _search,
    "label_free": draw_accs,
    "label_free_ranks": draw_ranks,
    "n_classes": draw_n_classes,
    "mixed_shares": draw_shares,
    "mixed_estimates": draw_estimates,
    "mixed_auroc": draw_auroc,
}
OF_A_DATASET: dict[str, Draw] = {"coefficients": _coefficients, "map": _map, "pairs": _pairs}
"""Functions that draw a figure, named after the experiment that it shows, and return its caption.

None where nothing is to be drawn.
"""
