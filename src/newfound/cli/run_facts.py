"""What run.json holds: how a result was made, and what came out."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from newfound.cli.tasks import Labelled, Task
from newfound.reporting.doubts import MEANINGS, doubts, sureness
from newfound.reporting.facts import routing_facts
from newfound.runs.labelling import COLUMNS, Tally, names_beside

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer

Facts = dict[str, Any]


def run_facts(
    task: Task,
    method: str,
    seed: int,
    model: BaseDiscoverer,
    labelled: Labelled,
    report: Mapping[str, Any],
) -> Facts:
    """Gather the facts of a run of `newfound discover`.

    Parameters
    ----------
    task : Task
    method : str
    seed : int
    model : discoverer
        Fitted.
    labelled : Labelled
        The rows of the task.
    report : mapping
        What the report says, see `newfound.reporting.report_facts`.
    """
    return {
        "table": _table_facts(task),
        "method": method,
        "seed": seed,
        "novel_classes": _novel_facts(labelled.tally, report),
        "known_classes": dict(sorted(task.counts.items())),
        "routing": routing_facts(model),
        "unlabelled_rows_of_known_classes": labelled.tally.to_known(),
        "estimate": _estimate(model),
        "doubts": [{"class": name, "doubt": text} for name, text in doubts(report)],
        "doubted_rows": labelled.doubted_rows,
        "explained_rows": report["table"]["n_rows"],
        "meanings": _meanings(task, report),
        "settings": model.get_params(deep=False),
        "command": ["newfound", *sys.argv[1:]],
        "versions": _versions(),
    }


def _table_facts(task: Task) -> Facts:
    n_labelled = task.counts.total()
    return {
        "path": str(task.path),
        **task.about(),
        "rows": task.n_rows,
        "columns": len(task.names),
        "target": task.target,
        "labelled_rows": n_labelled,
        "unlabelled_rows": task.n_rows - n_labelled,
    }


def _novel_facts(tally: Tally, report: Mapping[str, Any]) -> list[Facts]:
    explained = {str(class_facts["name"]): class_facts for class_facts in report["explanation"]["classes"]}
    sure = dict(zip(explained, sureness(report), strict=True))
    facts = []
    for record in tally.counts():
        if record.pop("is_novel"):
            more = explained.get(record["name"], {})
            first: Mapping[str, Any] = next(iter(more.get("rules", [])), {})
            rule = {f"rule_{name}": first.get(name) for name in ("text", "precision", "coverage")}
            found = sure[record["name"]]._asdict() if record["name"] in sure else {}
            facts.append({**record, **found, **rule, "warnings": list(more.get("warnings", []))})
    return facts


def _meanings(task: Task, report: Mapping[str, Any]) -> Facts:
    """Say what the columns of the labelled rows and the figures of the novel classes mean."""
    sources = dict.fromkeys(estimate.source for estimate in sureness(report) if estimate.source is not None)
    agreement = "; ".join(MEANINGS[source] for source in sources) or "nothing is known of it"
    return {
        task.labels_file: dict(zip(names_beside(task.names, COLUMNS), COLUMNS.values(), strict=True)),
        "novel_classes": {
            "rows": f"rows of {task.labels_file} that are of this class",
            "share": "these rows as a share of all rows of the table",
            "probability": "mean of what the model gives these rows; it is near 1 for any class that was learned well",
            "agreement": f"from 0 to 1: {agreement}",
            "unsure": "share of its rows for which no class has a probability of one half",
            "rule_precision": "share of the held-out rows that the rule matches that are of this class",
            "rule_coverage": "share of the held-out rows of this class that the rule matches",
        },
    }


def _estimate(model: BaseDiscoverer) -> Facts | None:
    found = getattr(model, "n_classes_estimate_", None)
    return None if found is None else {"n_classes": found.n_classes, "interval": list(found.interval)}


def _versions() -> dict[str, str]:
    from newfound.cli.info import PACKAGES, version_of

    return {"python": platform.python_version()} | {name: version_of(name) for name in PACKAGES}
