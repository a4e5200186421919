"""Updates by five batches with one new class each: whether it is found, names stay, and what a batch costs."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import newfound as nf
from newfound.records import Records
from newfound_lab.datasets import load

__all__ = ["STREAM_TABLES", "Stream", "measure_batches", "measure_costs"]

STREAM_TABLES = ("nsl_kdd", "letter", "pendigits")

_N_BATCHES = 5
_MOST_FITTED = 6_000


@dataclass(frozen=True)
class Stream:
    """A table to fit, and batches that follow it.

    Attributes
    ----------
    table : pandas.DataFrame
        All rows.
    truth : ndarray of text
        Their classes.
    fitted : ndarray of int
        Rows of the first fit.
    labels : list
        Their labels, None where the class is novel.
    batches : list of ndarray of int
        Rows of each batch, in an order without meaning.
    new : list of text
        The class that each batch has for the first time; None for a last batch without one.
    """

    table: pd.DataFrame
    truth: np.ndarray
    fitted: np.ndarray
    labels: list[Any]
    batches: list[np.ndarray]
    new: list[Any]
    n_first: int

    @classmethod
    def draw(cls, name: str, rows: int, new_rows: int, seed: int, data_dir: Path | None = None) -> Stream:
        """Draw the rows of a benchmark: half of them for the fit, the others for batches of ``rows`` earlier rows."""
        data = load(name, data_dir)
        table = pd.concat([pd.DataFrame(data.X_train), pd.DataFrame(data.X_test)], ignore_index=True)
        truth = np.array([str(label) for label in np.concatenate([data.y_train_truth, data.y_test])], dtype=object)
        rng = np.random.RandomState(seed)
        known, novel = ([str(label) for label in classes] for classes in (data.known_classes, data.novel_classes))
        rng.shuffle(novel)
        later, first = novel[:_N_BATCHES], novel[_N_BATCHES:] or [known.pop()]
        order = rng.permutation(len(truth))
        fitted, rest = order[: len(order) // 2], order[len(order) // 2 :]
        fitted = fitted[np.isin(truth[fitted], known + first)][:_MOST_FITTED]
        there: list[Any] = [*known, *first]
        batches = []
        for part, new in zip(np.array_split(rest, _N_BATCHES + 1), [*later, None], strict=True):
            old = part[np.isin(truth[part], there)][:rows]
            batches.append(rng.permutation(np.concatenate([old, rest[truth[rest] == new][:new_rows]])))
            there.append(new)
        labels = [label if label in known else None for label in truth[fitted]]
        return cls(table, truth, fitted, labels, batches, [*later, None], len(first))


def measure_batches(
    name: str, rows: int = 1_500, new_rows: int = 100, seed: int = 0, data_dir: Path | None = None
) -> Records:
    """Fit a discoverer, update it by batches, and say of each batch what was found in it.

    Returns
    -------
    Records
        For each batch its new class, ``recall`` and ``precision`` of the class found that has most of its rows (of
        those that are new in this batch), the share of its rows ``in_new`` classes, how many of these there are,
        whether all earlier names stayed, the accuracy on known classes, the share of rows that fit none, and seconds.
    """
    stream = Stream.draw(name, rows, new_rows, seed, data_dir)
    model = nf.WhitenedKMeans(stream.n_first, random_state=seed)
    model.fit(stream.table.iloc[stream.fitted], stream.labels)
    known = set(model.known_classes_.tolist())
    records = Records()
    for batch, new in zip(stream.batches, stream.new, strict=True):
        before = model.classes_.tolist()
        start = time.perf_counter()
        update = model.update(stream.table.iloc[batch])
        seconds = time.perf_counter() - start
        truth, found = stream.truth[batch], np.array(update.labels, dtype=object)
        inside, is_known = truth == new, np.isin(truth, list(known))
        sizes = {class_: int((found[inside] == class_).sum()) for class_ in update.new_classes}
        best = max(sizes, key=lambda class_: sizes[class_]) if sizes and new is not None else None
        records.append(
            {
                "table": name,
                "batch": update.batch,
                "rows": len(batch),
                "new": new,
                "new_rows": int(inside.sum()),
                "recall": sizes[best] / int(inside.sum()) if best is not None else None,
                "precision": float((truth[found == best] == new).mean()) if best is not None else None,
                "in_new": sum(sizes.values()) / int(inside.sum()) if best is not None else None,
                "n_new": len(update.new_classes),
                "names_stay": model.classes_.tolist()[: len(before)] == before,
                "known_accuracy": float((found[is_known] == truth[is_known]).mean()),
                "unexplained": update.share_unexplained,
                "seconds": seconds,
            }
        )
    return records


def measure_costs(
    name: str,
    rows: int = 1_000,
    n_batches: int = 20,
    sizes: Sequence[int] = (500, 1_000, 2_000, 4_000, 8_000),
    seed: int = 0,
    data_dir: Path | None = None,
) -> Records:
    """Measure what an update costs after more and more batches, and then for larger and larger batches.

    Batches are drawn from all classes of a benchmark, all of which the fit has seen too. A row may be in several
    batches. Costs are CPU seconds, which
    other work on the machine changes less than it does the time of day.

    Returns
    -------
    Records
        First a record for each of ``n_batches`` batches of ``rows`` rows, one after the other; then one for each of
        ``sizes`` that the table has rows for, each after the last of those batches. ``earlier`` counts the batches
        before, ``classes`` all classes after the update, ``kept`` the rows that it was compared with.
    """
    data = load(name, data_dir)
    table = pd.concat([pd.DataFrame(data.X_train), pd.DataFrame(data.X_test)], ignore_index=True)
    truth = np.array([str(label) for label in np.concatenate([data.y_train_truth, data.y_test])], dtype=object)
    known = [str(label) for label in data.known_classes]
    rng = np.random.RandomState(seed)
    order = rng.permutation(len(truth))
    fitted, rest = np.split(order, [min(_MOST_FITTED, len(order) // 2)])
    model = nf.WhitenedKMeans(len(data.novel_classes), random_state=seed)
    model.fit(table.iloc[fitted], [label if label in known else None for label in truth[fitted]])
    copy.deepcopy(model).update(table.iloc[rest[:rows]])  # what is loaded once is no part of the first batch
    records = Records()

    def measured(model: nf.WhitenedKMeans, n: int) -> None:
        earlier, kept = len({record["batch"] for record in model.batches_} - {0}), len(model._kept().codes)
        batch = table.iloc[rng.choice(rest, n, replace=False)]
        start = time.process_time()
        model.update(batch)
        seconds = time.process_time() - start
        records.append(
            {
                "table": name,
                "earlier": earlier,
                "rows": n,
                "classes": len(model.classes_),
                "kept": kept,
                "cpu_seconds": seconds,
            }
        )

    for _ in range(n_batches):
        measured(model, rows)
    for size in [size for size in sizes if size <= len(rest)]:
        measured(copy.deepcopy(model), size)
    return records
