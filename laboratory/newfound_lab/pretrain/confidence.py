"""Learn AutoDiscoverer's confidence from synthetic tables: ``newfound-lab pretrain confidence RESULTS.jsonl``.

Tables are drawn from the prior, some of their known rows are unlabelled, and AutoDiscoverer is fitted as users fit it.
What it shows of each result, and whether more than four in five unlabelled rows were right, is written a line each, so
that a run that was ended goes on. A logistic regression learns the one from the other. No real table has a part in it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from newfound import AutoDiscoverer
from newfound.discoverers import auto
from newfound.incontext.weights import weights_card
from newfound.metrics import open_world_accuracy
from newfound.selection.confidence import SIGNS
from newfound.writing import replacing
from newfound_lab.pretrain.tables import as_table
from newfound_lab.prior import sample_tasks
from newfound_lab.prior.source import Source
from newfound_lab.prior.tasks import PRIOR_VERSION

CARD = Path(auto.__file__).parents[1] / "selection" / "confidence.json"
GOOD = 0.8
"""Share of right rows above which a result counts as right."""

SEED = 970_000_000  # of synthetic tables; no training has it
_ROWS = (200, 350, 600, 900, 1300)
_COLUMNS = (3, 5, 8, 12, 18, 28, 45)
_ODDS = (0.08, 0.15, 0.2, 0.2, 0.17, 0.13, 0.07)
_AS_FOUND = 0.5  # share of the tables whose number of classes is not given
_FEWEST = 30  # unlabelled rows
_STRENGTH = 1.0  # of the ridge, on standardised signs


def results(worker: int) -> Iterator[dict[str, Any]]:
    """Fit AutoDiscoverer to synthetic tables without end, and yield what it showed and how good it was."""
    rng, number = np.random.default_rng([SEED, worker]), 0
    while True:
        seed = SEED + worker * 1_000_000 + number
        number += 1
        n_rows, n_columns = int(rng.choice(_ROWS)), int(rng.choice(_COLUMNS, p=_ODDS))
        drawn = sample_tasks(Source(seed, torch.device("cpu")), 1, n_rows, n_columns, parts=1)
        labels, classes = drawn.context.labels[0].numpy(), drawn.classes[0].numpy()
        values = np.where(drawn.context.missing[0], np.nan, drawn.context.values[0])
        given = rng.random() >= _AS_FOUND
        found = _result(values, drawn.context.categorical[0].numpy(), labels, classes, given)
        if found is not None:
            yield {"seed": seed} | found


def _result(
    values: NDArray[Any], categorical: NDArray[Any], labels: NDArray[Any], classes: NDArray[Any], given: bool
) -> dict[str, Any] | None:
    """Fit to one table; None for one of which nothing can be said."""
    free, known = labels < 0, np.unique(classes[labels >= 0])
    n_novel = len(np.setdiff1d(classes[free], known))
    if free.sum() < _FEWEST or (~free).sum() < _FEWEST or n_novel == 0:
        return None
    y = np.where(free, -1, classes)
    shown: list[list[float]] = []

    def keep(signs: list[float]) -> float:
        shown.append(signs)
        return 0.5

    with patch.object(auto, "confidence", keep):
        model = AutoDiscoverer(n_novel if given else "auto", random_state=0).fit(as_table(values, categorical), y)
    if not model.n_novel_classes_:
        return None
    names = classes.astype(str)
    right = open_world_accuracy(names[free], model.labels_[free].astype(str), known.astype(str))
    return {"signs": shown[0], "right": right, "mode": model.unlabelled_, "rows": len(labels), "given": given}


def _work(worker: int, seconds: float, out: Path) -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    end = time.monotonic() + seconds
    done = len(out.read_text().splitlines()) if out.exists() else 0
    with out.open("a") as file:
        for result in results(worker + 1000 * done):  # other tables than before
            print(json.dumps(result), file=file, flush=True)
            if time.monotonic() > end:
                return


def learn(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Learn weights of the signs; the card says what they reach on tables that were left out."""
    signs = np.array([line["signs"] for line in lines])
    good = np.array([line["right"] > GOOD for line in lines])
    model = make_pipeline(StandardScaler(), LogisticRegression(C=_STRENGTH))
    chance = cross_val_predict(model, signs, good, cv=10, method="predict_proba")[:, 1]
    model.fit(signs, good)
    scaler, regression = model[0], model[1]
    weights = regression.coef_[0] / scaler.scale_
    sure = chance >= 0.9
    return {
        "name": "confidence of AutoDiscoverer",
        "data": "synthetic tables alone, drawn from the prior (newfound_lab.prior)",
        "network": weights_card()["sha256"],
        "prior": PRIOR_VERSION,
        "first_seed": SEED,
        "tables": len(lines),
        "weights": {name: round(float(weight), 5) for name, weight in zip(SIGNS, weights, strict=True)},
        "intercept": round(float(regression.intercept_[0] - weights @ scaler.mean_), 5),
        "left_out": {
            "good": round(float(good.mean()), 4),
            "at 0.9 or more": int(sure.sum()),
            "of these good": round(float(good[sure].mean()), 4) if sure.any() else None,
            "log loss": round(float(-np.log(np.where(good, chance, 1 - chance)).mean()), 4),
        },
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Make results for some seconds, then learn from all there are, and ship the card."""
    parser = argparse.ArgumentParser(prog="newfound-lab pretrain confidence", description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="folder of the results, a file for each process")
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--card", type=Path, default=CARD)
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[threads] = "1"  # for the processes, which share the cores
    if given.seconds:
        spawn = multiprocessing.get_context("spawn")
        workers = [
            spawn.Process(target=_work, args=(worker, given.seconds, given.out / f"{worker}.jsonl"))
            for worker in range(given.processes)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    lines = [json.loads(line) for path in sorted(given.out.glob("*.jsonl")) for line in path.read_text().splitlines()]
    card = learn(lines)
    with replacing(given.card) as fresh:
        Path(fresh).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    typer.echo(json.dumps(card, indent=1))


if __name__ == "__main__":
    main()
