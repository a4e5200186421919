"""Tables over ranges of one hyper-parameter: how good its best value is, and how much the value matters."""

from __future__ import annotations

from collections.abc import Sequence

from newfound_lab.pages.cells import ABSENT, RUN_COLUMNS, Row, dataset_cell, new_table, pick
from newfound_lab.pages.rendering import ResultTable
from newfound_lab.pages.summary import ScoreSummary, show
from newfound_lab.paper import published

CLOSE = 2.0
"""Points of BACC within which a value is about as good as the best one."""


class Range:
    """What was measured with each value of one hyper-parameter on one dataset.

    Parameters
    ----------
    summaries : sequence of ScoreSummary
        At least one; one for each value.
    parameter : str
        Name of the hyper-parameter in their settings.
    """

    def __init__(self, summaries: Sequence[ScoreSummary], parameter: str) -> None:
        self.summaries = sorted(summaries, key=lambda s: float(s.settings[parameter]))
        self.values = [float(s.settings[parameter]) for s in self.summaries]
        # By BACC, as the paper's supplement: on unbalanced classes ACC rewards the collapse to one class.
        baccs = [s.scores["bacc"].mean for s in self.summaries]
        self.best = baccs.index(max(baccs))
        self.is_close = [bacc >= max(baccs) - CLOSE for bacc in baccs]
        self.is_collapsed = [s.n_found == 1.0 for s in self.summaries]

    @property
    def run_cells(self) -> list[str]:
        """Cells below ``RUN_COLUMNS``: fewest seeds of any value, and all devices."""
        devices = {device for s in self.summaries for device in s.devices}
        return [str(min(s.n_seeds for s in self.summaries)), ", ".join(sorted(devices))]

    def score_at(self, at: int, metric: str = "bacc") -> str:
        """BACC, or another score, with the value at this place."""
        return show(self.summaries[at].scores[metric], metric)

    def nearest(self, value: float) -> int:
        """Place of the value that is nearest to this one."""
        return min(range(len(self.values)), key=lambda at: abs(self.values[at] - value))

    def stretches(self, chosen: Sequence[bool]) -> str:
        """Write the chosen values, those next to each other joined, e.g. "2 to 9, 15"."""
        found: list[list[int]] = []
        for at in (at for at, is_chosen in enumerate(chosen) if is_chosen):
            if found and found[-1][-1] == at - 1:
                found[-1].append(at)
            else:
                found.append([at])
        ends = [(f"{self.values[places[0]]:g}", f"{self.values[places[-1]]:g}") for places in found]
        return ", ".join(first if first == last else f"{first} to {last}" for first, last in ends) or "none"


def sweep(summaries: Sequence[ScoreSummary]) -> ResultTable:
    """Build (e), a row for each dataset and hyper-parameter."""
    rows: list[Row] = []
    for (dataset, parameter), tried in _ranges(summaries, "sweep").items():
        name = dataset_cell(dataset, reduced=tried.summaries[0].reduced)
        row: Row = [name, parameter, *tried.run_cells, str(len(tried.values))]
        best = tried.best
        row += [f"{tried.values[best]:g}", tried.score_at(best), tried.score_at(best, "acc")]
        row.append(tried.stretches(tried.is_close))
        value = published.SETTINGS[dataset][parameter]
        near = tried.nearest(value)
        rows.append([*row, f"{value:g}", f"{tried.score_at(near)} (at {tried.values[near]:g})"])
    head = ("Dataset", "Parameter", *RUN_COLUMNS, "Values tried")
    return new_table(
        "sweep",
        "Influence of single hyper-parameters",
        "BACC of TabularNCD on novel test rows, in percent, when one hyper-parameter varies and all others are those "
        "of the paper's appendix (oracle); the best value is that with the highest BACC. The last column has the BACC "
        "at the value tried that is nearest to the paper's.",
        [
            *head,
            "Best value",
            "BACC there",
            "ACC there",
            "Within 2 points of the best",
            "Paper's value",
            "BACC near the paper's value",
        ],
        rows,
        n_headers=2,
    )


def threshold(summaries: Sequence[ScoreSummary]) -> ResultTable:
    """Build (f), a row for each dataset."""
    by_parameter = _ranges(summaries, "sweep")
    rows: list[Row] = []
    for (dataset, _), tried in _ranges(summaries, "threshold").items():
        row: Row = [dataset_cell(dataset, reduced=tried.summaries[0].reduced), *tried.run_cells]
        for curve in (tried, by_parameter.get((dataset, "top_k"))):
            if curve is None:
                row += [ABSENT] * 5
                continue
            share = sum(curve.is_close) / len(curve.is_close)
            row += [f"{curve.values[curve.best]:g}", curve.score_at(curve.best), curve.score_at(curve.best, "acc")]
            row += [f"{100.0 * share:.0f} %", curve.stretches(curve.is_collapsed)]
        rows.append(row)
    columns = ["Dataset", *RUN_COLUMNS]
    for kind in ("threshold", "top_k"):
        columns += [f"Best {kind}", f"BACC, best {kind}", f"ACC, best {kind}"]
        columns += [f"{kind} within 2 points", f"{kind} with one class only"]
    return new_table(
        "threshold",
        "Pseudo labels by threshold and by top_k",
        "TabularNCD with the hyper-parameters of the paper's appendix (oracle); pairs are positive above a "
        "similarity, or if among the top_k percent. The best BACC of all values tried, in percent, and the ACC there; "
        "the share of values with a BACC within 2 points of it; and the values with which every seed finds one class "
        "only (collapse).",
        columns,
        rows,
        n_headers=1,
    )


def _ranges(summaries: Sequence[ScoreSummary], experiment: str) -> dict[tuple[str, str], Range]:
    groups: dict[tuple[str, str], list[ScoreSummary]] = {}
    for s in pick(summaries, experiment, regime="oracle"):
        groups.setdefault((s.dataset, s.variant), []).append(s)
    return {key: Range(group, key[1]) for key, group in groups.items()}
