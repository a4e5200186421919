"""The look at a table: what the network says of its rows, shown to it once for everything that a fit needs."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from newfound.incontext.context import MAX_CLASSES, UNKNOWN, Context, Draws
from newfound.incontext.features import cell_columns, prepare
from newfound.incontext.network import NetworkOutput
from newfound.incontext.reading import context_of
from newfound.incontext.weights import load_network
from newfound.learning.machine import in_parallel
from newfound.tables.layout import Layout
from newfound.tables.sampling import sample, sample_in_proportion
from newfound.tables.task import DiscoveryTask

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

N_VIEWS = 2
"""How often a table is shown, each time with other random names for columns, levels and classes."""

_SECONDS_A_CELL = 6e-5  # that a pass takes on one slow core
_MOST_CELLS = 60_000  # of a context, so that a pass takes seconds
_MOST_CELLS_IN_ALL = 120_000  # of all passes over a table
_FEWEST_ROWS, _MOST_ROWS = 400, 2_000
_FEWEST_OF_CLASS = 3  # rows of a known class in a context


@dataclass(frozen=True, eq=False)
class Look:
    """What the network says of the rows of a table, the mean of several views.

    Attributes
    ----------
    places : ndarray of shape (n,), int
        Numbers of the rows that were shown, ascending.
    novelty : ndarray of shape (n,)
        Logit of being of a novel class.
    known : ndarray of shape (n, n_known)
        Probabilities of the known classes for rows that are of one of them.
    embedding : ndarray of shape (n, n_views * width)
        Rows of one class lie in one direction.
    n_novel : ndarray of shape (41,)
        Probabilities of 0, 1, ... 40 novel classes.
    n_views : int
        Number of views.
    scale, bias : float
        Rows of one view are of one class with the log odds ``scale * cosine + bias``.
    """

    places: Places
    novelty: Floats
    known: Floats
    embedding: Floats
    n_novel: Floats
    n_views: int
    scale: float
    bias: float

    def of(self, kept: Places) -> Look:
        """Return what is said of some rows of the table, given by their numbers (ascending), which count anew."""
        some = self._some(np.flatnonzero(np.isin(self.places, kept)))
        return replace(some, places=np.searchsorted(kept, some.places))

    def _some(self, rows: Places | slice) -> Look:
        return replace(
            self,
            places=self.places[rows],
            novelty=self.novelty[rows],
            known=self.known[rows],
            embedding=self.embedding[rows],
        )


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


def look_at(
    task: DiscoveryTask,
    rng: np.random.RandomState,
    *,
    unlabelled: int = UNKNOWN,
    n_views: int = N_VIEWS,
    seconds: float = math.inf,
    device: torch.device | str = "cpu",
) -> Look | None:
    """Show a table to the network.

    A context holds a bounded number of rows. Unlabelled rows beyond it are shown in further passes, each beside the
    same labelled rows and under the same random names, so that all vectors lie in one space; of very large tables not
    all rows are shown.

    Parameters
    ----------
    task : DiscoveryTask
        With at least one unlabelled row.
    rng : RandomState
    unlabelled : int
        `ALL_NOVEL`, `MIXED` or `UNKNOWN`: what is known about the unlabelled rows.
    n_views : int
        How often each row is shown.
    seconds : float, optional
        That this may take.
    device : torch.device or str, default="cpu"

    Returns
    -------
    Look or None
        None where no row is labelled, and where there is no time. Of more than `MAX_CLASSES` known classes some are
        shown; the others have no probability.
    """
    seed = int(rng.randint(2**31 - 1))  # in any case: what is drawn next does not depend on whether it was asked
    draw = np.random.RandomState(seed)
    if not (task.codes >= 0).any():
        return None
    some = _few_classes(task, draw)
    if len(some) < len(task.codes):
        seen = look_at(task.take(some), draw, unlabelled=unlabelled, n_views=n_views, seconds=seconds, device=device)
        return None if seen is None else replace(seen, places=some[seen.places])
    first = context_rows(task, draw, seconds=seconds)
    if not is_in_time(len(first), task.layout, seconds):
        return None
    passes = _passes(task, first, draw, seconds)
    labelled = first[task.codes[first] >= 0]
    shown = np.concatenate([labelled, *passes])
    present, codes = np.unique(task.codes[shown], return_inverse=True)  # a rare class may be missing
    whole = context_of(task.rows[shown], task.layout, codes.astype(np.int64) - 1, unlabelled)
    levels = _levels_of(whole)
    looks: list[Look] = []
    end = len(labelled)
    for part in passes:
        rows = np.concatenate([np.arange(len(labelled)), np.arange(end, end + len(part))])
        seen = look(whole.rows(rows), seed, n_views=n_views, device=device, levels=levels)
        looks.append(replace(seen, places=shown[rows])._some(slice(len(labelled) if looks else 0, None)))
        end += len(part)
    found = _joined(looks)
    known = np.zeros((len(found.places), task.n_known))
    known[:, present[1:]] = found.known
    return replace(found, known=known)


def _few_classes(task: DiscoveryTask, rng: np.random.RandomState) -> Places:
    """Draw as many known classes as the network takes; the numbers of their rows, and of the unlabelled ones."""
    present = np.unique(task.codes[task.codes >= 0])
    if len(present) > MAX_CLASSES:
        present = rng.choice(present, MAX_CLASSES, replace=False)
    return np.flatnonzero((task.codes < 0) | np.isin(task.codes, present))


def _passes(task: DiscoveryTask, first: Places, rng: np.random.RandomState, seconds: float) -> list[Places]:
    """Deal unlabelled rows to passes: those of the first context, then as many others as there is time for."""
    free = first[task.codes[first] < 0]
    cells = int(min(seconds / _SECONDS_A_CELL, _MOST_CELLS_IN_ALL))
    n_more = cells // (_cells_of_row(task.layout) * len(first)) - 1
    rest = rng.permutation(np.setdiff1d(np.flatnonzero(task.codes < 0), first))[: max(0, n_more) * len(free)]
    return [free, *(np.array_split(rest, -(-len(rest) // len(free))) if len(rest) else ())]


def _joined(looks: list[Look]) -> Look:
    """Join what several passes say, in the order of the rows; of the table as a whole, the first is asked."""
    order = np.argsort(np.concatenate([found.places for found in looks]))

    def joined(name: str) -> Any:
        return np.concatenate([getattr(found, name) for found in looks])[order]

    return replace(
        looks[0],
        places=joined("places"),
        novelty=joined("novelty"),
        known=joined("known"),
        embedding=joined("embedding"),
    )


def _levels_of(context: Context) -> torch.Tensor:
    """Count the levels of each column; (B, D)."""
    return torch.where(context.categorical, context.values.amax(1).long() + 1, 1)


def half_precision(device: torch.device | str) -> AbstractContextManager[Any]:
    """Return the context in which products have 16 bits, where this processor is quicker with them.

    Vectors agree with those of single precision to four digits.
    """
    if torch.device(device).type != "cpu" or not torch.cpu._is_avx512_bf16_supported():
        return nullcontext()
    return torch.autocast("cpu", dtype=torch.bfloat16)


def look(
    context: Context,
    seed: int,
    *,
    n_views: int = 1,
    device: torch.device | str = "cpu",
    levels: torch.Tensor | None = None,
) -> Look:
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
    levels : Tensor of shape (1, D), optional
        How many levels each column has, where the context need not have all of them.

    Returns
    -------
    Look
    """
    network = load_network(str(device))
    here = context.to(device)
    n_known = int(context.labels.max()) + 1
    if n_known > MAX_CLASSES:
        raise ValueError(f"a context has at most {MAX_CLASSES} known classes, got {n_known}.")
    levels = _levels_of(context) if levels is None else levels
    shown: dict[int, NetworkOutput] = {}

    def show(part: slice) -> None:
        # Drawn on the CPU, so that all devices see the same vectors.
        generator = torch.Generator().manual_seed(seed + part.start)
        draws = Draws.draw(1, context.values.shape[2], generator, n_levels=levels).to(device)
        with torch.no_grad(), half_precision(device):  # which hold for one thread alone
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
        np.arange(context.labels.shape[1]),
        mean([output.novelty[0] for output in outputs]),
        mean([output.known[0, :, :n_known].softmax(1) for output in outputs]),
        torch.cat([output.embedding[0].double() for output in outputs], 1).cpu().numpy(),
        mean([output.n_novel[0].softmax(0) for output in outputs]),
        n_views,
        float(outputs[0].scale),
        float(outputs[0].bias),
    )
