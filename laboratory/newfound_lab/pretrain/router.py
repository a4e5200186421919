"""The router's two learned constants, from synthetic tasks: ``newfound-lab pretrain router``.

How wide the interval of the share of known rows has to be, and how sure the network has to be that no class is novel,
are read off tasks whose answers are known. Tables and labels are those of the prior, so no real table has a say.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
import typer
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from newfound.incontext.look import look_at
from newfound.routing.evidence import gather_evidence
from newfound.routing.judgement import ShareEstimates, weigh
from newfound.tables import TableEncoder
from newfound.tables.task import DiscoveryTask
from newfound_lab.prior import Tasks, sample_tasks
from newfound_lab.prior.source import Source

_SEED = 900_000_000  # of synthetic tasks; no training has it
_ROWS, _COLUMNS = (150, 300, 600, 1000), (3, 5, 8, 12, 18, 28, 40)
_FEWEST = 10  # labelled, and unlabelled rows
_PRIOR = 0.1  # of users' tables that have no novel class: who looks for novel classes expects some


@dataclass(frozen=True)
class Outcome:
    """Estimates for a synthetic task, and the true share of known rows among its unlabelled ones.

    ``none`` is the probability that the network gives to no novel class.
    """

    estimates: ShareEstimates
    none: float
    share: float


def table_of(tasks: Tasks, place: int) -> pd.DataFrame:
    """Make a data frame of one of the tasks, with levels as text; shape (n, d)."""
    context = tasks.context
    frame = pd.DataFrame(np.where(context.missing[place], np.nan, context.values[place]))
    for column in np.flatnonzero(context.categorical[place]):
        frame[column] = frame[column].map(lambda level: None if np.isnan(level) else f"level {level:.0f}")
    return frame


def discovery_task(tasks: Tasks, place: int) -> tuple[DiscoveryTask, NDArray[np.bool_]]:
    """Encode one of the tasks as a discoverer would; also returns which of its unlabelled rows are novel."""
    labels = tasks.context.labels[place].numpy()
    classes, codes = np.unique(labels, return_inverse=True)
    codes = codes.astype(np.int64) - int(classes[0] < 0)
    encoder = TableEncoder()
    rows = encoder.fit_transform(table_of(tasks, place))
    task = DiscoveryTask(rows, codes, int(codes.max()) + 1, 0, encoder.layout_)
    return task, tasks.novel[place].numpy()[codes < 0]


def outcomes(n_tasks: int, seed: int = 0) -> Iterator[Outcome]:
    """Draw tasks, and estimate the share of known rows of each."""
    rng = np.random.default_rng(seed)
    left, drawn = n_tasks, 0
    while left:
        source = Source(_SEED + seed * 1_000_000 + drawn, torch.device("cpu"))
        tasks = sample_tasks(source, 1, int(rng.choice(_ROWS)), int(rng.choice(_COLUMNS)), parts=1)
        drawn += 1
        n_labelled = int((tasks.context.labels >= 0).sum())
        if min(n_labelled, tasks.context.labels.numel() - n_labelled) < _FEWEST:
            continue
        task, novel = discovery_task(tasks, 0)
        evidence = gather_evidence(task, look_at(task, np.random.RandomState(drawn)), drawn)
        left -= 1
        yield Outcome(weigh(evidence, task.codes)[1], float(evidence.n_novel[0]), float(1 - novel.mean()))


def constants(found: Sequence[Outcome]) -> dict[str, float]:
    """Read the constants off outcomes: "width" and "nothing"; also the mean error of the share, as "error".

    A table without novel classes is told by the network, whatever the share, so it has no part in the width.
    """
    some = [one for one in found if one.share < 1]
    errors = np.array([abs(one.estimates.share - one.share) for one in some])
    doubts = np.array([one.estimates.doubt for one in some])
    return {
        "width": float(np.quantile(errors / doubts, 0.9)),
        "nothing": _even_odds(np.array([one.none for one in found]), np.array([one.share == 1 for one in found])),
        "error": float(errors.mean()),
    }


def _even_odds(none: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """Probability of the network for no novel class at which that is so in every second case.

    The network was trained on tasks with few such tables. Logistic regression with classes of one weight says what its
    probabilities (n,) are worth where every second table is one, and `_PRIOR` how many are.
    """
    if len(np.unique(truth)) < 2:
        return float("nan")
    inputs = logit(none.clip(1e-3, 1 - 1e-3))[:, None]
    fitted = LogisticRegression(C=100.0, class_weight="balanced").fit(inputs, truth)
    return float(expit(-(fitted.intercept_[0] + logit(_PRIOR)) / fitted.coef_[0, 0]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the constants."""
    parser = argparse.ArgumentParser(prog="newfound-lab pretrain router", description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    for name, value in constants(list(outcomes(given.tasks, given.seed))).items():
        typer.echo(f"{name} {value:.4f}")


if __name__ == "__main__":
    main()
