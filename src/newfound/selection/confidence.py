"""How sure a result is: the chance that more than four in five unlabelled rows have the right class.

The chance is that of a logistic regression, learned on synthetic tables whose classes are known; see
``newfound-lab pretrain confidence``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from newfound.counting import share_text
from newfound.incontext.look import Look
from newfound.incontext.network import MAX_NOVEL
from newfound.selection.choose import Choice
from newfound.tables.task import DiscoveryTask

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

SIGNS = (
    "sure",
    "unseen rows agree",
    "views agree",
    "within classes",
    "between classes",
    "number",
    "share of novel rows",
    "log classes",
    "log rows of a class",
    "known classes",
)
"""What the chance follows from, each a number of a result; see `signs_of`."""

_MOST_ROWS = 800  # whose pairs are looked at
_LEAST = 1e-3  # no probability is nearer to 0 or 1
_UNSURE = 0.5  # chance below which a reader should doubt
_HOLES = 0.5  # overlap with the rows that lack one cell from which on a class counts as made of these alone


def signs_of(
    task: DiscoveryTask,
    look: Look | None,
    choice: Choice,
    unseen: Floats,
    codes: Codes,
    known_right: float,
    rng: np.random.RandomState,
) -> list[float]:
    """Gather what says how sure a result is.

    Parameters
    ----------
    task : DiscoveryTask
        The labelled rows, and those in which novel classes were sought.
    look : Look or None
        What the network says of the rows of the task.
    choice : Choice
        A partition of the rows in which novel classes were sought.
    unseen : ndarray of shape (n_unlabelled, n_classes)
        Probabilities of all classes for all unlabelled rows, by trees that have not seen the row.
    codes : ndarray of shape (n_unlabelled,), int64
        The class that each of them has got.
    known_right : float
        Share of the labelled rows that such trees put into their class.
    rng : RandomState

    Returns
    -------
    list of float
        In the order of `SIGNS`.
    """
    k = task.n_novel
    within, between, number = 0.0, 0.0, float(-np.log(MAX_NOVEL + 1))
    if look is not None:
        shown = task.codes[look.places] < 0
        own = choice.partition[np.searchsorted(np.flatnonzero(task.codes < 0), look.places[shown])]
        number = float(np.log(look.n_novel[min(k, MAX_NOVEL)] + _LEAST))
        some = rng.permutation(len(own))[:_MOST_ROWS]
        vectors = look.embedding[shown][some]
        likely = expit(look.scale / look.n_views * (vectors @ vectors.T) + look.bias)
        same = own[some][:, None] == own[some]
        within, between = _log_odds(likely[same]), _log_odds(likely[~same])
    return [
        float(unseen.max(axis=1).mean()),
        float((unseen.argmax(axis=1) == codes).mean()),
        choice.agreement(),
        within,
        between,
        number,
        float((codes >= task.n_known).mean()),
        float(np.log(max(1, k))),
        float(np.log(len(codes) / max(1, k))),
        known_right,
    ]


def _log_odds(proba: Floats) -> float:
    mean = float(proba.mean()) if proba.size else 0.5
    return float(logit(np.clip(mean, _LEAST, 1 - _LEAST)))


@cache
def learned() -> dict[str, Any]:
    """Return what was learned on synthetic tables: weights, intercept, and how it was learned."""
    card: dict[str, Any] = json.loads(files("newfound.selection").joinpath("confidence.json").read_text("utf-8"))
    return card


def confidence(signs: Sequence[float]) -> float:
    """Chance that more than four in five unlabelled rows have the right class.

    Parameters
    ----------
    signs : sequence of float
        Of `signs_of`.
    """
    card = learned()
    weights = np.array([card["weights"][name] for name in SIGNS])
    return float(expit(weights @ np.array(signs) + card["intercept"]))


def doubts(chance: float, partition: Codes, task: DiscoveryTask) -> list[str]:
    """Say in words why a result should be doubted; parameters as above."""
    found = []
    if task.n_novel and _holds_holes(partition, task):
        found.append("a novel class consists almost only of rows in which one column is empty")
    if task.n_novel and chance < _UNSURE:
        found.append(f"the chance that more than four in five unlabelled rows are right is {share_text(chance)}")
    return found


def _holds_holes(partition: Codes, task: DiscoveryTask) -> bool:
    """Whether a class of the partition overlaps mostly with the rows that lack one cell."""
    lacks = task.unlabelled_rows[:, [name.endswith("=missing") for name in task.layout.names]] > 0
    belongs = partition[:, None] == np.arange(task.n_novel)
    both = belongs.T.astype(np.float64) @ lacks
    either = belongs.sum(axis=0)[:, None] + lacks.sum(axis=0) - both
    return bool((both > _HOLES * either).any())
