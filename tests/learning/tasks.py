"""Encoded tables, and trainings on them that need nothing but torch, numpy and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from newfound.tables.layout import Layout
from newfound.tables.task import DiscoveryTask

N_KNOWN, N_NOVEL = 2, 3


def made_task(
    n: int = 600, d: int = 13, *, n_categories: int = 0, seed: int = 0
) -> tuple[DiscoveryTask, NDArray[np.int64]]:
    """Make blobs of five classes, three of them novel; returns them and the true classes of the unlabelled rows.

    The last ``n_categories`` of the d columns are one categorical column, which tells nothing.
    """
    generator = np.random.default_rng(seed)
    classes = np.arange(n) % (N_KNOWN + N_NOVEL)
    centres = 2 * generator.normal(size=(N_KNOWN + N_NOVEL, d))
    rows = centres[classes] + generator.normal(size=(n, d))
    n_numbers = d - n_categories
    if n_categories:
        rows[:, n_numbers:] = np.eye(n_categories)[generator.integers(n_categories, size=n)]
    groups = np.minimum(np.arange(d), n_numbers)
    layout = Layout(tuple(f"x{column}" for column in range(d)), groups, np.arange(d) >= n_numbers)
    codes = np.where(classes < N_KNOWN, classes, -1).astype(np.int64)
    return DiscoveryTask(rows, codes, N_KNOWN, N_NOVEL, layout), classes[codes < 0]


def train_members(kind: type, task: DiscoveryTask, device: str, **settings: Any) -> dict[str, Tensor]:
    """Train two members of a discoverer; returns their weights, (2, ...) each."""
    model: Any = kind(task.n_novel, n_members=2, device=device, **settings)
    parameters: dict[str, Tensor] = model._trainer(model._member_settings()).train_members(task, [1, 2])[0]
    return parameters
