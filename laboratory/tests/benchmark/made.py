"""Tables and lines of the benchmark that nobody measured."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from newfound_lab.benchmark.measuring import EXPERIMENT
from newfound_lab.benchmark.problems import BenchmarkTable
from newfound_lab.suites.trials import Trial


def made_rows(n_classes: int = 4, n_of_class: int = 60, spread: float = 0.3) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Classes around points on a circle, with a column of text that says a little."""
    rng = np.random.default_rng(n_classes)
    codes = np.repeat(np.arange(n_classes), n_of_class)
    angles = 2 * np.pi * codes / n_classes
    places = 3 * np.column_stack([np.cos(angles), np.sin(angles)]) + spread * rng.standard_normal((len(codes), 2))
    frame = pd.DataFrame(places, columns=["east", "north"]).assign(
        side=np.where(rng.random(len(codes)) < 0.5, "l", "r")
    )
    return frame, pd.Series(codes)


def made_table(name: str, n_classes: int = 4, group: str = "old") -> BenchmarkTable:
    return BenchmarkTable(group, name, partial(made_rows, n_classes))


def made_line(
    method: str, table: str, all_acc: float, *, split: int = 0, mode: str = "pure", group: str = "old", **facts: Any
) -> dict[str, Any]:
    settings = {"set": group, "mode": mode}
    trial = Trial(EXPERIMENT, table, method, "", "label-free", "inductive", 0, settings, split)
    scores = dict.fromkeys(("known_acc", "novel_acc", "acc", "bacc", "auroc"), all_acc)
    others = {"unlabelled_acc": None, "confidence": None, "fit_seconds": 2.0, "weights": "abcdef0123456789"}
    return trial.line({"all_acc": all_acc, **scores, **others, "versions": {"newfound": "1.0"}} | facts)
