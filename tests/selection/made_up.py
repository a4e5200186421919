"""Tables and portfolios that are made up, for the tests of the choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from newfound.selection.portfolio import Name, Portfolio
from newfound.tables import Layout

N_KNOWN, N_NOVEL, D = 5, 3, 4
LAYOUT = Layout(tuple("abcd"), np.arange(D), np.zeros(D, dtype=bool))


def rng() -> np.random.RandomState:
    return np.random.RandomState(0)


def table(n_known: int = N_KNOWN, n_each: int = 25, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Encoded rows, known codes, and all classes, for tests alone."""
    generator = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_known + N_NOVEL), n_each)
    rows = 6 * generator.normal(size=(n_known + N_NOVEL, D))[truth] + generator.normal(size=(len(truth), D))
    return rows, np.where(truth < n_known, truth, -1), truth


def made(names: list[Name], information: list[float], n: int = 4, empty: bool = False) -> Portfolio:
    """A portfolio of equal partitions."""
    told = np.array(information)
    partitions = np.tile(np.arange(n) % 2, (len(names), 1))
    nothing, no = np.zeros(len(names)), np.zeros(len(names), dtype=bool)
    graphs = [np.arange(n)[:, None]]
    return Portfolio(names, partitions, told, nothing, nothing, no, np.full(len(names), empty), no, graphs)


def lopsided() -> Portfolio:
    """Three partitions: one that cuts through a class, one that sees small classes, one that tells no more."""
    portfolio = made([("a", "cut"), ("a", "sees"), ("a", "silent")], [3.0, 2.0, 1.0])
    return replace(
        portfolio,
        within=np.array([0.9, 0.97, 0.99]),
        told=np.array([0.7, 0.8, 0.7]),
        is_lopsided=np.array([False, True, True]),
    )
