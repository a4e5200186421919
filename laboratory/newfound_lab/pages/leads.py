"""How far AutoDiscoverer is ahead of every other method, tested over tables."""

from __future__ import annotations

from collections.abc import Callable

from newfound_lab.pages.captions import Lines
from newfound_lab.pages.cells import TITLES, Row, new_table
from newfound_lab.pages.comparison import Comparison
from newfound_lab.pages.label_free_tables import K_TITLES, table_name
from newfound_lab.pages.rendering import ResultTable
from newfound_lab.pages.significance import Lead
from newfound_lab.pages.summary import show_difference
from newfound_lab.paper.published import Score

_AHEAD = "auto"
_METRICS = ("acc", "bacc")

SHOWN: dict[str, Callable[[Lead], str]] = {
    "lead": lambda lead: _points(lead.mean),
    "interval": lambda lead: f"{_points(lead.low)} to {_points(lead.high)}",
    "p": lambda lead: show_p(lead.p),
    "better on": lambda lead: f"{lead.n_better} of {lead.n_tables}",
}
"""What is said of a lead in percent, by the name that tables and pages use."""


def show_p(p: float) -> str:
    """Write a p value: three digits below a tenth, otherwise two, and no zero before the point."""
    return "< .001" if p < 0.0005 else f"{p:.{3 if p < 0.0995 else 2}f}".removeprefix("0")


def _points(value: float) -> str:
    return show_difference(Score(value), Score(0.0), "acc")


def _leads(k: str) -> Callable[[Lines], ResultTable]:
    def build(lines: Lines) -> ResultTable:
        comparison = Comparison(lines, k)
        rows: list[Row] = []
        for other in comparison.methods:
            leads = [comparison.lead(_AHEAD, other, metric) for metric in _METRICS if other != _AHEAD]
            found = [lead for lead in leads if lead is not None]
            if len(found) == len(_METRICS):
                rows.append([TITLES[other], *(show(lead) for lead in found for show in SHOWN.values())])
        return new_table(
            table_name("label_free_leads", k),
            f"How far AutoDiscoverer is ahead, {K_TITLES[k]}",
            f"AutoDiscoverer minus the other method on the {len(comparison.shared_datasets)} datasets on which all "
            "methods were measured. A dataset counts once, by its mean over class splits and seeds. Lead: mean of the "
            "differences, in points. Interval: 95 %, by drawing datasets anew (bootstrap). p: two-sided Wilcoxon "
            "signed-rank test over the datasets, not corrected for the number of comparisons. Better on: datasets "
            "with a difference above 0.",
            ["Against", *(f"{TITLES[metric]}, {what}" for metric in _METRICS for what in SHOWN)],
            rows,
            n_headers=1,
        )

    return build


LEAD_TABLES = {table_name("label_free_leads", k): _leads(k) for k in K_TITLES}
"""Builders of the tables, by name."""
