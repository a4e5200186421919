"""Tables that are made up, for the tests of the choice."""

from __future__ import annotations

from functools import cache

import numpy as np

from newfound.incontext import ALL_NOVEL
from newfound.incontext.look import look
from newfound.incontext.reading import context_of
from newfound.selection.candidates import Scene
from newfound.tables import Layout

N_KNOWN, N_NOVEL, D = 4, 3, 4
LAYOUT = Layout(tuple("abcd"), np.arange(D), np.zeros(D, dtype=bool))
FEW = {"columns": ("k-means",), "whitened": ("k-means", "spectral 1"), "network": ("k-means", "average linkage")}


def rng() -> np.random.RandomState:
    return np.random.RandomState(0)


def table(n_each: int = 25, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Encoded rows, known codes, and all classes, for tests alone."""
    generator = np.random.default_rng(seed)
    truth = np.repeat(np.arange(N_KNOWN + N_NOVEL), n_each)
    rows = 6 * generator.normal(size=(N_KNOWN + N_NOVEL, D))[truth] + generator.normal(size=(len(truth), D))
    return rows, np.where(truth < N_KNOWN, truth, -1), truth


@cache
def scene() -> Scene:
    """A scene of clear classes."""
    rows, codes, _ = table()
    return Scene(rows, codes, LAYOUT, N_NOVEL, look(context_of(rows, LAYOUT, codes, ALL_NOVEL), 0))
