"""The number of novel classes as the in-context network sees it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from newfound.records import Records
from newfound.selection.n_classes import NClassesEstimate
from newfound.selection.one_class import Rehearsals, doubts_of_one, most_for_one, with_caution
from newfound.selection.parting import parting_column
from newfound.selection.source_columns import SourceColumns
from newfound.tables.task import DiscoveryTask

Floats = NDArray[np.float64]

_NAME = "in-context network"
_LEVELS = (0.05, 0.5, 0.95)  # quantiles: the interval, and the estimate in its middle
_LEAST = 1e-12


def estimate_from_network(
    n_novel: Floats, task: DiscoveryTask, columns: SourceColumns, rng: np.random.RandomState
) -> NClassesEstimate:
    """Make an estimate of the network's probabilities of each number of novel classes.

    One class is met with the same caution as in `newfound.estimate_n_novel_classes`, since it is the count that hides
    most where it is wrong.

    Parameters
    ----------
    n_novel : ndarray of shape (K + 1,)
        Probabilities of 0, 1, ... K classes. There is at least one, and there are no more than unlabelled rows.
    task : DiscoveryTask
        With at least one unlabelled row.
    columns : SourceColumns
        The columns behind its rows.
    rng : RandomState

    Returns
    -------
    NClassesEstimate
        The median, and an interval from the 5 % to the 95 % quantile.
    """
    probability = n_novel[1 : 1 + int((task.codes < 0).sum())] + _LEAST
    found = _conclude(probability / probability.sum())
    if found.n_classes > 1 or len(probability) == 1:
        return found
    parting = parting_column(columns, task.rows, task.codes, rng)
    cautious = with_caution(probability / probability.sum(), parting, most_for_one(parting, Rehearsals()))
    found = _conclude(cautious)
    return replace(found, doubts=tuple(doubts_of_one(found.n_classes, found.interval, cautious, parting)))


def _conclude(probability: Floats) -> NClassesEstimate:
    """Make an estimate of the probabilities of 1, 2, ... classes; (K,)."""
    low, chosen, high = (int(k) + 1 for k in np.searchsorted(probability.cumsum(), _LEVELS))
    curve = Records(
        {"k": k, "combined": float(share), _NAME: float(np.log(share))} for k, share in enumerate(probability, start=1)
    )
    return NClassesEstimate(
        chosen, (low, high), curve, Records([{"criterion": _NAME, "n_classes": chosen, "weight": 1.0}])
    )
