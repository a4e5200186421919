"""How quality and time of InContextDiscoverer grow with its context.

``python -m newfound_lab.pretrain.contexts WHEELS OUT.jsonl --picture docs/images/contexts.png`` fits it to the larger
development tables with contexts of several sizes; lines that are in the file already are not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from newfound import InContextDiscoverer, WhitenedKMeans
from newfound.incontext import look
from newfound.metrics import novel_scores
from newfound.tables.labels import mark_unlabelled
from newfound_lab.datasets.development import load_table
from newfound_lab.pictures.curves import Curve, CurvePanel, write_curves

TABLES = (
    "letter",
    "penbased",
    "satimage",
    "texture",
    "optdigits",
    "nsl_kdd",
    "page-blocks",
    "nursery",
    "fars",
    "mnist14",
)
SIZES = (250, 500, 1000, 2000, 4000)
_ROWS = 8_000  # of a table at most
_CLASS_ROWS = 30
_NAMES = {"acc": "ACC", "bacc": "BACC"}
_METHODS = ("InContextDiscoverer", "WhitenedKMeans, all rows")


def measure(table: str, split: int, wheels: Path, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Fit to a class split of a table, half of the classes known; a line for each size, 0 being WhitenedKMeans."""
    X, y = load_table(table, wheels=wheels)
    rng = np.random.default_rng(split)
    counts = y.astype(str).value_counts()
    rows = np.flatnonzero(y.astype(str).isin(counts.index[counts >= _CLASS_ROWS]).to_numpy())
    rows = rng.permutation(rows)[:_ROWS]
    X, truth = X.iloc[rows].reset_index(drop=True), y.iloc[rows].astype(str).to_numpy(dtype=object)
    classes = rng.permutation(np.unique(truth))
    novel = np.isin(truth, classes[len(classes) // 2 :])
    n_novel, labels = len(np.unique(truth[novel])), mark_unlabelled(truth, novel)
    for size in (0, *sizes):
        model: Any = InContextDiscoverer(n_novel, unlabelled="novel", device="cpu", random_state=0)
        model = model if size else WhitenedKMeans(n_novel, random_state=0)
        start = time.process_time()
        with patch.multiple(look, _MOST_CELLS=10**9, _FEWEST_ROWS=size, _MOST_ROWS=size):
            found = model.fit(X, labels).labels_[novel]
        scores = novel_scores(truth[novel], found)
        yield {
            "table": table,
            "split": split,
            "rows": len(X),
            "context": size,
            "acc": round(scores["acc"], 4),
            "bacc": round(scores["bacc"], 4),
            "cpu_seconds": round(time.process_time() - start, 2),
        }


def draw(lines: Sequence[dict[str, Any]], picture: Path) -> None:
    """Draw means over tables; the bands are standard errors over tables of the difference to the largest context."""
    tables = sorted({line["table"] for line in lines})

    def of(size: int, key: str) -> np.ndarray[Any, Any]:
        return np.array(
            [np.mean([x[key] for x in lines if x["table"] == table and x["context"] == size]) for table in tables]
        )

    x, largest = np.array(SIZES, dtype=float), SIZES[-1]
    panels = []
    for key, name in _NAMES.items():
        values = np.stack([of(size, key) for size in SIZES])
        error = (values - of(largest, key)).std(axis=1) / len(tables) ** 0.5
        simple = np.full(len(x), of(0, key).mean())
        curves = [Curve(_METHODS[0], x, values.mean(axis=1), error), Curve(_METHODS[1], x, simple, 0 * simple)]
        panels.append(CurvePanel(f"Novel rows, {name}", "rows in the context", name, curves, log=True))
    seconds = np.stack([of(size, "cpu_seconds") for size in SIZES])
    error = seconds.std(axis=1) / len(tables) ** 0.5
    curves = [Curve(_METHODS[0], x, seconds.mean(axis=1), error)]
    panels.append(CurvePanel("Time of a fit", "rows in the context", "processor seconds", curves, log=True))
    write_curves([picture], panels, _METHODS, title="Quality and time against the context", columns=3)


def main(given: Sequence[str] | None = None) -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args(given)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    lines = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    done = {(line["table"], line["split"]) for line in lines if line["context"] == SIZES[-1]}
    for split in range(options.splits):
        for table in TABLES:
            if (table, split) not in done:
                fresh = list(measure(table, split, options.wheels, SIZES))
                lines += fresh
                with options.out.open("a") as file:
                    file.writelines(json.dumps(line) + "\n" for line in fresh)
    if options.picture is not None:
        draw(lines, options.picture)


if __name__ == "__main__":
    main()
