"""Tables of the choice among candidates and of the estimate of k on development tables, for the research log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from newfound_lab.pages.captions import Lines
from newfound_lab.pages.cells import Row, new_table
from newfound_lab.pages.rendering import Cell, ResultTable

__all__ = ["RESEARCH_TABLES", "RULES"]

Floats = NDArray[np.float64]
Line = Mapping[str, Any]
_KINDS = ("numeric", "mixed", "categories")
_KMEANS = "k-means on the columns as they are"
_KEPT = "the choice of AutoDiscoverer (kept)"
_BEST = "best candidate (oracle)"
_CONFIDENCE = 0.95


# ---- rules: a line of the experiment "choice" -> the number of the candidate that is chosen


def _column(line: Line, name: str) -> Floats:
    """Return a column of the candidates, shape (c,); 0 where nothing was measured."""
    return np.array([0.0 if value is None else value for value in line["candidates"][name]])


def _fixed(representation: str, method: str) -> Callable[[Line], int]:
    def choose(line: Line) -> int:
        candidates = line["candidates"]
        names = list(zip(candidates["representation"], candidates["method"], strict=True))
        return names.index((representation, method))

    return choose


def _highest(name: str) -> Callable[[Line], int]:
    return lambda line: int(_column(line, name).argmax())


def _weighed(weights: Callable[[Line], tuple[float, float]]) -> Callable[[Line], int]:
    """Weigh the information and the hidden accuracy, both standardised over the candidates."""

    def choose(line: Line) -> int:
        information, hidden = weights(line)
        score = information * _standardised(_column(line, "information"))
        return int((score + hidden * _standardised(_column(line, "hidden"))).argmax())

    return choose


def _standardised(values: Floats) -> Floats:
    spread = float(values.std())
    standard: Floats = (values - values.mean()) / (spread if spread > 0 else 1.0)
    return standard


RULES: dict[str, Callable[[Line], int]] = {
    _KMEANS: _fixed("columns", "k-means"),
    "whitened k-means, ridge 1": _fixed("whitened 1", "k-means"),
    "k-means of whitened directions, ridge 0.5": _fixed("directions, whitened 0.5", "k-means"),
    "S: most information": _highest("information"),
    "most agreement with all others": _highest("agreement"),
    "hidden accuracy": _highest("hidden"),
    "S and hidden, equal weights": _weighed(lambda line: (1.0, 1.0)),
    "S and four times hidden": _weighed(lambda line: (1.0, 4.0)),
    "S and hidden, weighed by their reliability, hidden twice": _weighed(
        lambda line: (line["trust_in_information"], 2.0 * line["trust_in_accuracy"])
    ),
    _KEPT: lambda line: int(line["chosen"]),
    _BEST: _highest("acc"),
}
"""Ways to choose a candidate, each from what a line holds; the last one alone looks at novel labels."""


def _choice(lines: Lines) -> ResultTable:
    chosen = [line for line in lines if line["experiment"] == "choice" and line["n_folds"]]
    tables = sorted({line["dataset"] for line in chosen})
    kinds = {line["dataset"]: line["kind"] for line in chosen}
    rows: list[Row] = []
    usual, kept = (_by_table(chosen, tables, RULES[name], "acc") for name in (_KMEANS, _KEPT))
    for name, rule in RULES.items() if chosen else ():
        acc, bacc = (_by_table(chosen, tables, rule, metric) for metric in ("acc", "bacc"))
        by_kind = [acc[[kinds[table] == kind for table in tables]] for kind in _KINDS]
        against_kmeans = ("", "") if name == _KMEANS else (_interval(acc - usual), _signed(float((acc - usual).min())))
        against_kept = "" if name == _KEPT else _interval(kept - acc)
        found = (*map(_share, (acc, bacc, *by_kind)), *against_kmeans, against_kept)
        rows.append([Cell(text, bold=name == _KEPT) for text in (name, *found)])
    return new_table(
        "choice",
        "Rules of choice",
        f"ACC of the candidate that each rule chooses, on the unlabelled rows, mean over {_counted(chosen, tables)}; "
        "BACC beside it, and ACC by what columns a table has. Lead: over k-means, in ACC, with its "
        f"{100 * _CONFIDENCE:.0f} % interval over tables; worst: of the table that loses most; behind: the lead of the "
        "kept rule over this one. Class splits in which no known class could be hidden do not count.",
        ["Rule", "ACC", "BACC", *(f"ACC, {kind}" for kind in _KINDS), "Lead", "Worst", "Behind"],
        rows,
        n_headers=1,
    )


def _by_table(lines: Lines, tables: Sequence[str], rule: Callable[[Line], int], metric: str) -> Floats:
    """Mean over the class splits of each table of what a rule's choice scores; shape (n_tables,)."""
    return np.array(
        [
            np.mean([line["candidates"][metric][rule(line)] for line in lines if line["dataset"] == table])
            for table in tables
        ]
    )


# ---- what representations and methods are worth


def _worth(part: str) -> Callable[[Lines], ResultTable]:
    def build(lines: Lines) -> ResultTable:
        chosen = [line for line in lines if line["experiment"] == "choice"]
        tables = sorted({line["dataset"] for line in chosen})
        names = dict.fromkeys(name for line in chosen for name in line["candidates"][part])
        worth = {name: _worth_by_table(chosen, tables, part, name) for name in names}
        rows = [
            [
                name,
                _interval(worth[name][~np.isnan(worth[name])]),
                str(sum(line["candidates"][part][RULES[_BEST](line)] == name for line in chosen)),
                str(sum(line["candidates"][part][line["chosen"]] == name for line in chosen)),
            ]
            for name in sorted(names, key=lambda name: -float(np.nanmean(worth[name])))
        ]
        title = {"representation": "Representations", "method": "Methods"}[part]
        return new_table(
            f"worth_of_{part}s",
            f"{title} of the portfolio",
            f"Mean ACC of the candidates with it, in standard deviations over the portfolio, mean over "
            f"{_counted(chosen, tables)}, with its {100 * _CONFIDENCE:.0f} % interval over tables. Best, chosen: class "
            "splits on which the best candidate, and the one that AutoDiscoverer would choose, has it.",
            [title[:-1], "Worth", "Best", "Chosen"],
            rows,
            n_headers=1,
        )

    return build


def _worth_by_table(lines: Lines, tables: Sequence[str], part: str, name: str) -> Floats:
    """Mean standardised ACC of the candidates with a part on each table, NaN where there is none; (n_tables,)."""
    found = []
    for table in tables:
        values = [
            float(_standardised(_column(line, "acc"))[has].mean())
            for line in lines
            if line["dataset"] == table and (has := np.array([own == name for own in line["candidates"][part]])).any()
        ]
        found.append(float(np.mean(values)) if values else np.nan)
    return np.array(found)


# ---- how many novel classes


def _counting(lines: Lines) -> ResultTable:
    counted = [line for line in lines if line["experiment"] == "counting"]
    tables = sorted({line["dataset"] for line in counted})
    criteria = dict.fromkeys(name for line in counted for name in line["criteria"])
    rows: list[Row] = []
    if counted:
        covered = np.mean([line["interval"][0] <= line["truth"] <= line["interval"][1] for line in counted])
        everything: Row = ["all together (kept)", *_errors([(line["n_classes"], line["truth"]) for line in counted])]
        rows.append([Cell(str(text), bold=True) for text in (*everything, f"{100 * covered:.0f} %")])
    for name in criteria:
        guesses = [(line["criteria"][name], line["truth"]) for line in counted if name in line["criteria"]]
        rows.append([f"{name} alone", *_errors(guesses), ""])
    return new_table(
        "counting",
        "Number of novel classes",
        f"Estimates on {_counted(counted, tables)}. Error: mean difference to the truth, in classes; exact, within 1: "
        "share of the class splits; interval: share of those in which the truth lies in the range that is said to hold "
        "it with 80 %. The prior looks at no row, only at the number of known classes; a criterion that has no "
        "preference says what the prior does.",
        ["Criterion", "Error", "Exact", "Within 1", "Interval"],
        rows,
        n_headers=1,
    )


def _errors(guesses: Sequence[tuple[int, int]]) -> list[str]:
    off = np.array([abs(guess - truth) for guess, truth in guesses])
    return [f"{off.mean():.1f}", f"{100 * (off == 0).mean():.0f} %", f"{100 * (off <= 1).mean():.0f} %"]


# ---- numbers as text


def _counted(lines: Lines, tables: Sequence[str]) -> str:
    splits = len(lines) / max(1, len(tables))
    return f"{len(tables)} tables with {splits:.3g} class split{'s' * (splits > 1)} each"


def _share(values: Floats) -> str:
    return f"{values.mean():.3f}".removeprefix("0") if len(values) else "—"


def _signed(value: float) -> str:
    rounded = round(value, 2)
    text = f"{abs(rounded):.2f}".removeprefix("0")
    return f"{'−' if rounded < 0 else '+'}{text}"


def _interval(values: Floats) -> str:
    """Mean and half the width of its interval over tables, by Student's t."""
    n = len(values)
    if n < 2:
        return _signed(float(values.mean()))
    half = float(student.ppf((1 + _CONFIDENCE) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return f"{_signed(float(values.mean()))} ± {half:.2f}".replace("± 0.", "± .")


RESEARCH_TABLES: dict[str, Callable[[Lines], ResultTable]] = {
    "choice": _choice,
    "worth_of_representations": _worth("representation"),
    "worth_of_methods": _worth("method"),
    "counting": _counting,
}
"""Builders of the tables, by name."""
