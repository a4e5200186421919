"""The number of novel classes as the in-context network sees it."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from newfound.deadline import Deadline
from newfound.incontext.look import context_rows, seconds_for
from newfound.selection.looking import can_look, look_at
from newfound.tables.task import DiscoveryTask

Floats = NDArray[np.float64]

_N_VIEWS = 2
_LEAST = 1e-12  # probability of a number that the network rules out


def network_count(
    task: DiscoveryTask, rng: np.random.RandomState, deadline: Deadline, device: torch.device | str = "cpu"
) -> Floats | None:
    """Have the network count the novel classes among the unlabelled rows.

    Parameters
    ----------
    task : DiscoveryTask
        With at least one unlabelled row. The network sees a sample of a large table.
    rng : RandomState
    deadline : Deadline
    device : torch.device or str, default="cpu"

    Returns
    -------
    ndarray of shape (K,) or None
        Probabilities of 1, 2, ... classes, up to 40 or the number of different unlabelled rows that were seen. None,
        and nothing is drawn from the generator, where the network cannot be asked, or not in time.
    """
    if not can_look(task):
        return None
    state = rng.get_state()
    seen = context_rows(task, rng, seconds=deadline.room)
    if seconds_for(len(seen), task.layout) > deadline.room:
        rng.set_state(state)
        return None
    found = look_at(task, seen, rng, n_views=_N_VIEWS, device=device)
    n_different = len(np.unique(task.rows[seen[task.codes[seen] < 0]], axis=0))
    probability = found.n_novel[1 : 1 + max(1, n_different)] + _LEAST
    shares: Floats = probability / probability.sum()
    return shares
