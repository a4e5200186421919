"""One look at a table: what the network says of its rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from newfound.incontext.context import MAX_CLASSES, Context, Draws
from newfound.incontext.features import cell_columns, prepare
from newfound.incontext.network import NetworkOutput
from newfound.incontext.weights import load_network
from newfound.learning.machine import in_parallel
from newfound.tables.layout import Layout
from newfound.tables.sampling import sample, sample_in_proportion
from newfound.tables.task import DiscoveryTask

Floats = NDArray[np.float64]

_SECONDS_A_CELL = 6e-5  # that a look takes on one slow core
_MOST_CELLS = 60_000  # of a context, so that a look takes seconds
_FEWEST_ROWS, _MOST_ROWS = 400, 2_000
_FEWEST_OF_CLASS = 3  # rows of a known class in a context


@dataclass(frozen=True, eq=False)
class Look:
    """What the network says of the rows of a context, the mean of several views.

    Attributes
    ----------
    novelty : ndarray of shape (n,)
        Logit of being of a novel class.
    known : ndarray of shape (n, n_known)
        Probabilities of the known classes for rows that are of one of them.
    embedding : ndarray of shape (n, n_views * width)
        Rows of one class lie in one direction.
    n_novel : ndarray of shape (41,)
        Probabilities of 0, 1, ... 40 novel classes.
    n_views, n_learned : int
        Number of views, and how many of a view's vectors' entries are learned; the others are places in the geometry.
    scale, bias : float
        Rows of one view are of one class with the log odds ``scale * cosine + bias``.
    """

    novelty: Floats
    known: Floats
    embedding: Floats
    n_novel: Floats
    n_views: int
    n_learned: int
    scale: float
    bias: float

    @property
    def learned(self) -> Floats:
        """The learned entries of all views; (n, n_views * n_learned)."""
        views = self.embedding.reshape(len(self.embedding), self.n_views, -1)
        return views[:, :, : self.n_learned].reshape(len(views), -1)

    def pair_logits(self, places: NDArray[Any]) -> Floats:
        """Log odds that two rows are of one class, the mean over views; (m, m) for m places among the rows."""
        some = self.embedding[places]  # vectors of length 1, side by side
        logits: Floats = self.scale / self.n_views * (some @ some.T) + self.bias
        return logits


def context_rows(task: DiscoveryTask, rng: np.random.RandomState, *, seconds: float = math.inf) -> NDArray[np.intp]:
    """Draw rows of a context that is looked at in seconds: half of it labelled rows where there are enough.

    Parameters
    ----------
    task : DiscoveryTask
    rng : RandomState
    seconds : float, optional
        That a look may take; there are never fewer than 400 rows, though.

    Returns
    -------
    ndarray of int
        Row numbers, ascending.
    """
    cells = int(min(seconds / _SECONDS_A_CELL, _MOST_CELLS))
    n_rows = int(np.clip(cells // _cells_of_row(task.layout), _FEWEST_ROWS, _MOST_ROWS))
    labelled, free = np.flatnonzero(task.codes >= 0), np.flatnonzero(task.codes < 0)
    n_labelled = min(len(labelled), max(n_rows // 2, n_rows - len(free)))
    some = labelled[sample_in_proportion(task.codes[labelled], n_labelled, _FEWEST_OF_CLASS, rng)]
    return np.sort(np.concatenate([some, sample(free, n_rows - n_labelled, rng)]))


def seconds_for(n_rows: int, layout: Layout) -> float:
    """Say how many seconds a look at so many rows takes on one slow core."""
    return _SECONDS_A_CELL * n_rows * _cells_of_row(layout)


def is_in_time(n_rows: int, layout: Layout, seconds: float) -> bool:
    """Whether a context that was drawn for so many seconds can be looked at in them.

    It may have a few rows more than fit, for rounding and rare classes, for which no look should fall away. It is too
    large only where the fewest rows that are ever drawn take longer.
    """
    return seconds_for(min(n_rows, _FEWEST_ROWS), layout) <= seconds


def _cells_of_row(layout: Layout) -> int:
    return cell_columns(layout.n_groups) + 2


def look(context: Context, seed: int, *, n_views: int = 1, device: torch.device | str = "cpu") -> Look:
    """Show a context of one table to the network.

    Parameters
    ----------
    context : Context
        Of one table with at most `MAX_CLASSES` known classes.
    seed : int
        Of the random vectors that stand for names.
    n_views : int, default=1
        How often it is shown, each time with other random vectors.
    device : torch.device or str, default="cpu"

    Returns
    -------
    Look
    """
    network = load_network(str(device))
    here = context.to(device)
    n_known = int(context.labels.max()) + 1
    if n_known > MAX_CLASSES:
        raise ValueError(f"a context has at most {MAX_CLASSES} known classes, got {n_known}.")
    levels = torch.where(context.categorical, context.values.amax(1).long() + 1, 1)
    shown: dict[int, NetworkOutput] = {}

    def show(part: slice) -> None:
        # Drawn on the CPU, so that all devices see the same vectors.
        generator = torch.Generator().manual_seed(seed + part.start)
        draws = Draws.draw(1, context.values.shape[2], generator, n_levels=levels).to(device)
        with torch.no_grad():  # which holds for one thread alone
            shown[part.start] = network(prepare(here, draws))

    views = [slice(view, view + 1) for view in range(n_views)]
    if torch.device(device).type == "cpu":
        in_parallel(show, views)
    else:
        for view in views:
            show(view)
    outputs = [shown[view] for view in range(n_views)]

    def mean(parts: list[torch.Tensor]) -> Floats:
        return torch.stack([part.double() for part in parts]).mean(0).cpu().numpy()

    return Look(
        mean([output.novelty[0] for output in outputs]),
        mean([output.known[0, :, :n_known].softmax(1) for output in outputs]),
        torch.cat([output.embedding[0].double() for output in outputs], 1).cpu().numpy(),
        mean([output.n_novel[0].softmax(0) for output in outputs]),
        n_views,
        network.shape.embedding,
        float(outputs[0].scale),
        float(outputs[0].bias),
    )
