"""Lines of the results -> one summary for all seeds of the same measurement."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from newfound_lab.pages.captions import device_of
from newfound_lab.paper.published import Score
from newfound_lab.suites.trials import facts_of

METRICS = ("bacc", "acc", "nmi", "ari")
"""The four metrics on novel test rows, in the order of the paper's tables."""

OPEN_WORLD_METRICS = (
    "known_acc",
    "novel_acc",
    "all_acc",
    "auroc",
    "known_ece_before",
    "known_ece",
    "all_ece_before",
    "all_ece",
)
"""The metrics on known and novel test rows together; ECE after calibration and before."""

RULES_METRICS = ("rules_precision", "rules_coverage", "lowest_precision", "lowest_coverage")
"""The metrics of rules: means over the novel classes, and of the worst one."""

_PERCENT = ("bacc", "acc", *OPEN_WORLD_METRICS, *RULES_METRICS)


@dataclass(frozen=True)
class ScoreSummary:
    """What the seeds of one measurement have in common, and their means.

    Attributes
    ----------
    experiment, dataset, method, variant, regime, protocol : str
        As in the lines.
    settings : mapping
        As in the lines: each value of a sweep is a summary of its own.
    class_split : int
    k : str
        As in the lines.
    scores : mapping of str to Score
        For "bacc", "acc", "nmi", "ari" and, where the protocol has known rows, "known_acc": mean and standard deviation
        over the seeds, in the units of the paper (bacc, acc and known_acc in percent). The standard deviation is that
        of the population (``ddof=0``, numpy's default), and None for a single seed.
    n_seeds : int
        Number of seeds.
    devices : tuple of str
        Devices that the seeds ran on, sorted.
    reduced : bool
        Whether the table lacks columns that the paper had.
    n_found : float
        Mean number of distinct novel classes found; 1.0 only if every seed found a single class.
    fit_seconds : float
        Mean seconds of fitting for a seed: those of a pack, divided by the number of seeds in it.
    peak_memory_mib : float
        Largest memory of all seeds; that of the whole pack where seeds were packed.
    """

    experiment: str
    dataset: str
    method: str
    variant: str
    regime: str
    protocol: str
    settings: Mapping[str, Any]
    class_split: int
    k: str
    scores: Mapping[str, Score]
    n_seeds: int
    devices: tuple[str, ...]
    reduced: bool
    n_found: float
    fit_seconds: float
    peak_memory_mib: float


def summarise(lines: Iterable[Mapping[str, Any]]) -> list[ScoreSummary]:
    """Summarise the lines that have scores, all seeds of one measurement together.

    Parameters
    ----------
    lines : iterable of mapping
        Lines of the results, one for each trial.

    Returns
    -------
    list of ScoreSummary
        In the order in which each measurement first occurs.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        if "acc" in line:
            groups.setdefault(json.dumps(_all_but_seed(line), sort_keys=True), []).append(line)
    return [_summary(group) for group in groups.values()]


def score_of(values: Sequence[float], metric: str) -> Score:
    """Mean and standard deviation of a metric as lines have it, in the paper's units; see :class:`ScoreSummary`."""
    scaled = np.array(values) * (100.0 if metric in _PERCENT else 1.0)
    return Score(float(scaled.mean()), float(scaled.std()) if len(values) > 1 else None)


def show(score: Score | None, metric: str, *, sd: bool = True, digits: int | None = None) -> str:
    """Format a score as all tables and pages do: percents with one decimal, NMI and ARI with two unless told otherwise.

    The standard deviation is left out where it is not known or not wanted; a score that is not there is a dash.
    """
    if score is None:
        return "—"
    if digits is None:
        digits = _digits_of(metric)
    text = _number(score.mean, digits)
    return f"{text} ± {score.sd:.{digits}f}" if sd and score.sd is not None else text


def show_difference(ours: Score, theirs: Score, metric: str) -> str:
    """Format how far one mean lies above (+) or below (−) another; taken before rounding."""
    text = _number(ours.mean - theirs.mean, _digits_of(metric))
    return text if text.startswith("−") or not text.strip("0.") else f"+{text}"


def show_seconds(seconds: float | None) -> str:
    """Format seconds with two digits, whole ones from 100 on; what is not there is a dash."""
    return "—" if seconds is None else f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.2g}"


def _digits_of(metric: str) -> int:
    return 1 if metric in _PERCENT else 2


def _number(value: float, digits: int) -> str:
    """Format with a true minus sign, and never a negative zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def _summary(lines: list[Mapping[str, Any]]) -> ScoreSummary:
    scores = {}
    for metric in (*METRICS, "known_acc"):
        values = [line[metric] for line in lines if line[metric] is not None]
        if values:
            scores[metric] = score_of(values, metric)
    return ScoreSummary(
        **_all_but_seed(lines[0]),
        scores=scores,
        n_seeds=len(lines),
        devices=tuple(sorted({device_of(line) for line in lines})),
        reduced=any(line["reduced"] for line in lines),
        n_found=float(np.mean([line["n_found"] for line in lines])),
        fit_seconds=float(np.mean([line["fit_seconds"] / line["n_packed"] for line in lines])),
        peak_memory_mib=max(float(line["peak_memory_mib"]) for line in lines),
    )


def _all_but_seed(line: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts_of(line).items() if name != "seed"}
