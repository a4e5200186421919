"""Small tables of every kind of column, and models that know their classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from newfound.explanation.columns import ExplainedTable, view_columns
from newfound.tables import as_table, infer_schema


def viewed(frame: Any, **kinds: Any) -> ExplainedTable:
    """A frame as explanations see it."""
    table = as_table(frame)
    schema = infer_schema(table, kinds)
    return view_columns({column.name: table.columns[column.name] for column in schema.used}, schema, table.n_rows)


def customers(n: int = 300) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A mixed table of five classes, of which "a" and "b" are known; the table, its labels, and the true classes."""
    rng = np.random.RandomState(0)
    truth = np.arange(n) % 5
    frame = pd.DataFrame(
        {
            "id": [f"C{number:05d}" for number in rng.permutation(n)],
            "age": np.where(rng.rand(n) < 0.1, np.nan, np.round(np.array([25, 40, 60, 33, 70])[truth] + rng.randn(n))),
            "plan": np.array(["basic", "pro", "family", "pro", "basic"], dtype=object)[truth],
            "city": rng.choice(["Köln", "Oslo", "<b>Rome</b>"], n),
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(np.array([10, 400, 800, 1200, 300])[truth] + rng.randint(0, 60, n), unit="D"),
            "paying": rng.rand(n) < np.array([0.1, 0.9, 0.95, 0.05, 0.5])[truth],
            "phone": np.where((truth == 3) | (rng.rand(n) < 0.05), None, "there"),
        }
    )
    labels = np.where(truth < 2, np.array(list("abcde"), dtype=object)[truth], None)
    return frame, labels, truth
