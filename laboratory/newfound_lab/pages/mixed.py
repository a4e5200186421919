"""Lines of the suite "mixed" -> values over tables, each table counting once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from newfound_lab.pages.captions import Line, Lines, sorted_lines
from newfound_lab.pages.significance import Lead, interval_over_tables, lead
from newfound_lab.pages.summary import show, show_difference
from newfound_lab.paper.published import Score
from newfound_lab.suites.mixed import MIXED_EXPERIMENTS, OURS

HALF, PURE, KNOWN = "half", "share=0", "share=1"
"""Settings: half of the known rows unlabelled, only novel rows unlabelled, nothing novel."""

METHOD_TITLES = {
    "routed": "newfound, auto",
    "routed_mixed": "newfound, mixed",
    "routed_counted": "newfound, auto, k estimated",
    "ss_kmeans": "semi-supervised k-means",
    "knn_distance": "kNN distance, 95 %",
    "max_probability": "maximum probability, 5 %",
    "all_novel": "all taken as novel",
    "oracle": "oracle router",
    "supervised": "supervised router",
    "auto": "AutoDiscoverer, auto",
    "auto_oracle": "AutoDiscoverer behind the oracle router",
}
"""How methods are called in tables and pictures, in their order."""

_SCORES = tuple(
    f"{prefix}{rows}_{metric}"
    for prefix in ("", "test_")
    for rows in ("all", "known", "novel")
    for metric in ("acc", "bacc")
)


def _percent(name: str) -> Callable[[Line], float | None]:
    return lambda line: None if line.get(name) is None else 100.0 * float(line[name])


def _share_bias(line: Line) -> float | None:
    return None if line.get("known_share") is None else 100.0 * (float(line["known_share"]) - float(line["share"]))


def _share_error(line: Line) -> float | None:
    bias = _share_bias(line)
    return None if bias is None else abs(bias)


def _holds(line: Line) -> float | None:
    if line.get("share_interval") is None:
        return None
    low, high = map(float, line["share_interval"])
    return 100.0 * (low <= float(line["share"]) <= high)


def _decides(mode: str) -> Callable[[Line], float | None]:
    return lambda line: None if line.get("decided") is None else 100.0 * (line["decided"] == mode)


MIXED_METRICS: dict[str, Callable[[Line], float | None]] = {
    **{name: _percent(name) for name in (*_SCORES, "auroc", "test_auroc", "share", "known_share")},
    "share_error": _share_error,
    "share_bias": _share_bias,
    "share_holds": _holds,
    "says_mixed": _decides("mixed"),
    "says_novel": _decides("novel"),
    "found_none": lambda line: 100.0 * (line["n_found"] == 0),
    "k_error": lambda line: abs(float(line["n_found"] - line["n_novel"])),
    "k_exact": lambda line: 100.0 * (line["n_found"] == line["n_novel"]),
    "k_within_1": lambda line: 100.0 * (abs(line["n_found"] - line["n_novel"]) <= 1),
    "seconds": lambda line: float(line["fit_seconds"]),
}
"""What is read of a line; shares and accuracies in percent, None where the line has no such value."""


def setting_of(line: Line) -> str:
    """Name the mixture of a line: "half", or parts like "share=0.3", "labelled=10" and "shift", joined by commas."""
    settings: Mapping[str, Any] = line["settings"]
    parts = [f"share={settings['known_share']:g}"] if settings.get("known_share") is not None else []
    parts += [f"labelled={settings['n_labelled']}"] if settings.get("n_labelled") is not None else []
    parts += ["shift"] if settings.get("shift") else []
    return ",".join(parts) or HALF


class MixedResults:
    """What was measured in the suite "mixed".

    Parameters
    ----------
    lines : sequence of mapping
        Lines of the results; those of other experiments are left out.

    Attributes
    ----------
    lines : list of mapping
    """

    def __init__(self, lines: Lines) -> None:
        self.lines = sorted_lines(line for line in lines if line["experiment"] in MIXED_EXPERIMENTS)
        self._lines: dict[tuple[str, str], dict[str, list[Line]]] = {}
        for line in self.lines:
            tables = self._lines.setdefault((setting_of(line), line["method"]), {})
            tables.setdefault(line["dataset"], []).append(line)

    def with_all(self, settings: Iterable[str]) -> MixedResults:
        """Leave out settings without lines of ours, and tables that lack one of the others: those compare."""
        there = [setting for setting in settings if (setting, OURS) in self._lines]
        tables = set.intersection(*(set(self._lines[setting, OURS]) for setting in there)) if there else set()
        return MixedResults([line for line in self.lines if setting_of(line) in there and line["dataset"] in tables])

    def runs(self, setting: str, method: str) -> list[Line]:
        """Lines of a method in a setting, table by table."""
        return [line for lines in self._lines.get((setting, method), {}).values() for line in lines]

    def methods(self, setting: str, among: Sequence[str] = tuple(METHOD_TITLES)) -> list[str]:
        """Methods that have lines, in their order."""
        return [method for method in among if (setting, method) in self._lines]

    def by_table(self, setting: str, method: str, metric: str) -> dict[str, float]:
        """Mean over class splits for each table that has the metric."""
        read = MIXED_METRICS[metric]
        found = {}
        for table, lines in self._lines.get((setting, method), {}).items():
            values = [value for line in lines if (value := read(line)) is not None]
            if values:
                found[table] = float(np.mean(values))
        return found

    def mean(self, setting: str, method: str, metric: str) -> float | None:
        """Mean over tables; None where no line has the metric."""
        values = list(self.by_table(setting, method, metric).values())
        return float(np.mean(values)) if values else None

    def interval(self, setting: str, method: str, metric: str) -> tuple[float, float] | None:
        """Return the interval of the mean, by drawing tables anew; None for less than two."""
        values = list(self.by_table(setting, method, metric).values())
        return interval_over_tables(values) if len(values) > 1 else None

    def lead(self, setting: str, method: str, other: str, metric: str) -> Lead | None:
        """How far a method lies above another, over the tables of both."""
        ours, theirs = (self.by_table(setting, router, metric) for router in (method, other))
        shared = [table for table in ours if table in theirs]
        return lead([ours[table] for table in shared], [theirs[table] for table in shared])

    def n_tables(self, setting: str, method: str = OURS) -> int:
        """Tables on which a method was measured."""
        return len(self._lines.get((setting, method), {}))


def show_value(value: float | None, digits: int = 1) -> str:
    """Write a value of ``MIXED_METRICS``; a dash where there is none."""
    return show(None if value is None else Score(value), "acc", digits=digits)


def show_interval(low_high: tuple[float, float] | None, *, signed: bool = False) -> str:
    """Write the ends of an interval, with signs where they are of a difference."""
    if low_high is None:
        return "—"
    ends = (show_difference(Score(end), Score(0.0), "acc") if signed else show_value(end) for end in low_high)
    return " to ".join(ends)


def show_lead(found: Lead | None) -> str:
    """Write a difference with its interval."""
    if found is None:
        return "—"
    ends = show_interval((found.low, found.high), signed=True)
    return f"{show_difference(Score(found.mean), Score(0.0), 'acc')} ({ends})"
