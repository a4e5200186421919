"""Partitions of the unlabelled rows by the in-context network, which sees a sample of a large table."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray

from newfound.clustering import partitions as cuts
from newfound.incontext.context import ALL_NOVEL, MAX_CLASSES
from newfound.incontext.look import Look, context_rows, is_in_time, look
from newfound.incontext.reading import context_of
from newfound.routing.forest import Forest
from newfound.tables.task import DiscoveryTask

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def can_look(task: DiscoveryTask) -> bool:
    """Whether the network can be asked: there are labelled rows, and not too many known classes."""
    return 0 < len(np.unique(task.codes[task.codes >= 0])) <= MAX_CLASSES


def look_at(
    task: DiscoveryTask,
    seen: NDArray[np.intp],
    rng: np.random.RandomState,
    *,
    n_views: int,
    device: torch.device | str = "cpu",
) -> Look:
    """Show some rows of a task, given by their numbers, to the network."""
    shown = np.unique(task.codes[seen], return_inverse=True)[1].astype(np.int64)
    codes = shown - int(task.codes[seen].min() < 0)  # a rare class may be missing
    context = context_of(task.rows[seen], task.layout, codes, ALL_NOVEL)
    return look(context, int(rng.randint(2**31 - 1)), n_views=n_views, device=device)


def spread(task: DiscoveryTask, seen: NDArray[np.intp], told: Floats, seed: int) -> Floats:
    """Give all unlabelled rows probabilities of the novel classes: a forest learns from those that were seen.

    Parameters
    ----------
    task : DiscoveryTask
    seen : ndarray of shape (m,)
        Numbers of unlabelled rows.
    told : ndarray of shape (m, n_novel)
        Probabilities of their novel classes.
    seed : int

    Returns
    -------
    ndarray of shape (n_unlabelled, n_novel)
        As told for the rows that were seen.
    """
    free = np.flatnonzero(task.codes < 0)
    if len(seen) == len(free):
        return told
    everywhere: Floats = Forest.grow(task.rows[seen], told, seed).proba(task.rows[free])
    everywhere[np.searchsorted(free, seen)] = told
    return everywhere


def network_partition(
    task: DiscoveryTask,
    rng: np.random.RandomState,
    *,
    n_views: int = 1,
    seconds: float = math.inf,
    device: torch.device | str = "cpu",
) -> Codes | None:
    """Cut the unlabelled rows by k-means on the network's vectors.

    Parameters
    ----------
    task : DiscoveryTask
        With at least two novel classes to find.
    rng : RandomState
    n_views : int, default=1
        How often the network looks.
    seconds : float, optional
        That a look may take; there are never fewer than 400 rows, though.
    device : torch.device or str, default="cpu"

    Returns
    -------
    ndarray of shape (n_unlabelled,), int64, or None
        None where there is not enough time, or the network sees no more rows than there are classes to find.
    """
    seen = context_rows(task, rng, seconds=seconds)
    shown = seen[task.codes[seen] < 0]
    if len(shown) < task.n_novel + 2 or not is_in_time(len(seen), task.layout, seconds):
        return None
    found = look_at(task, seen, rng, n_views=n_views, device=device)
    vectors = found.embedding[task.codes[seen] < 0]
    ((_, groups),) = cuts.partitions(vectors, None, task.n_novel, rng, frozenset({"k-means"}))
    told = np.eye(task.n_novel)[groups]
    partition: Codes = spread(task, shown, told, int(rng.randint(2**31 - 1))).argmax(axis=1)
    return partition
