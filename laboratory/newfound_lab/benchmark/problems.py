"""Problems: a table, of whose classes half are novel, and of whose rows some are held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError
from newfound_lab.datasets.development import ALL_TABLES, load_table
from newfound_lab.datasets.files import data_folders

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MODES", "SETS", "BenchmarkTable", "Problem", "benchmark_tables", "make_problem"]

MODES = ("pure", "mixed")
"""What the unlabelled rows are: of novel classes alone, or mixed with half of the rows of known classes."""

SETS = ("old", "fresh")
"""The development tables of the first years, and those that were fresh tests until all of them had been looked at."""

_FRESH = "fresh29"
_TARGET = "target"
_MOST_ROWS = 2_500
_FEWEST_OF_CLASS = 20
_FEWEST_CLASSES = 4
_FEWEST_KNOWN = 2
_HELD_OUT = 0.3
_LABELLED = 0.5  # of the rows of known classes, in a mixed problem


@dataclass(frozen=True)
class BenchmarkTable:
    """A table of the benchmark, which is read when it is needed.

    Attributes
    ----------
    set : str
        The set that it belongs to; two sets may have a table of one name.
    name : str
    load : function
        Returns the features, a frame of shape (n, d), and the classes, a series of shape (n,).
    """

    set: str
    name: str
    load: Callable[[], tuple[pd.DataFrame, pd.Series[Any]]]


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to learn from, and rows to be scored on.

    Attributes
    ----------
    X_train : pandas.DataFrame of shape (n, d)
    y_train : ndarray of shape (n,)
        Names of known classes, None for unlabelled rows.
    truth_train : ndarray of shape (n,)
        Names of all classes, for scores alone.
    X_test : pandas.DataFrame of shape (m, d)
    truth_test : ndarray of shape (m,)
    known : ndarray of shape (n_known,)
        Names of the known classes.
    """

    X_train: pd.DataFrame
    y_train: NDArray[Any]
    truth_train: NDArray[Any]
    X_test: pd.DataFrame
    truth_test: NDArray[Any]
    known: NDArray[Any]

    @property
    def unlabelled(self) -> NDArray[np.bool_]:
        """Rows to learn from that have no label; shape (n,)."""
        return np.array([label is None for label in self.y_train], dtype=np.bool_)

    @property
    def n_novel(self) -> int:
        """Number of novel classes among the rows to learn from."""
        return len(np.setdiff1d(self.truth_train, self.known))


def benchmark_tables(
    sets: Sequence[str] = SETS,
    names: Sequence[str] | None = None,
    data_dir: Path | None = None,
    wheels: Path | None = None,
) -> list[BenchmarkTable]:
    """List the tables of the benchmark, without reading any.

    Parameters
    ----------
    sets : sequence of str
        Some of ``SETS``.
    names : sequence of str, optional
        Only these tables.
    data_dir, wheels : Path, optional
        As in :func:`newfound_lab.datasets.development.load_table`; the set "fresh" lies in the folder fresh29 of the
        data folder.

    Raises
    ------
    InputError
        For a set or a table that is unknown, and where the folder of the fresh tables is not there.
    """
    if unknown := [one for one in sets if one not in SETS]:
        raise InputError(f"Got the set {unknown[0]!r}, but expected some of {', '.join(SETS)}.")
    tables = []
    for one in dict.fromkeys(sets):
        if one == "old":
            tables += [BenchmarkTable(one, name, partial(load_table, name, data_dir, wheels)) for name in ALL_TABLES]
        else:
            files = sorted(_fresh_folder(data_dir).glob("*.parquet"))
            tables += [BenchmarkTable(one, file.stem, partial(_load_fresh, file)) for file in files]
    if names is None:
        return tables
    there = list(dict.fromkeys(table.name for table in tables))
    if absent := [name for name in names if name not in there]:
        raise InputError(f"Got the table {absent[0]!r}, but expected some of {', '.join(there)}.")
    return [table for table in tables if table.name in names]


def make_problem(
    name: str, features: pd.DataFrame, classes: pd.Series[Any], split: int, mode: str, most: int = _MOST_ROWS
) -> Problem | None:
    """Draw the rows, the known classes and the rows held out.

    Half of the classes are known, at least two. 30 % of the rows are held out. The rows of known classes among the
    others are all labelled, or half of them in mode "mixed".

    Parameters
    ----------
    name : str
        Name of the table: with `split` the seed, so that both modes have the same rows and known classes.
    features : pandas.DataFrame of shape (n, d)
    classes : pandas.Series of shape (n,)
    split : int
        Number of the class split, from 0.
    mode : {"pure", "mixed"}
    most : int, default=2500
        At most so many rows are drawn. Classes with less than 20 rows, before or after that, are left out.

    Returns
    -------
    Problem or None
        None where less than four classes are left.
    """
    rng = np.random.default_rng([crc32(name.encode()), split])
    all_classes = classes.astype(str).to_numpy(dtype=object)
    rows = _of_large_classes(all_classes, rng.permutation(len(all_classes)))
    rows = _of_large_classes(all_classes, rows[:most])
    truth = all_classes[rows]
    names = rng.permutation(np.unique(truth)).astype(object)
    if len(names) < _FEWEST_CLASSES:
        return None
    known = names[: max(round(len(names) / 2), _FEWEST_KNOWN)]
    test = rng.random(len(truth)) < _HELD_OUT
    labelled = np.isin(truth, known)
    if mode == "mixed":
        labelled &= rng.random(len(truth)) < _LABELLED
    labels = truth.copy()
    labels[~labelled] = None
    table = features.iloc[rows].reset_index(drop=True)
    return Problem(
        X_train=table[~test].reset_index(drop=True),
        y_train=labels[~test],
        truth_train=truth[~test],
        X_test=table[test].reset_index(drop=True),
        truth_test=truth[test],
        known=known,
    )


def _of_large_classes(classes: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    names, counts = np.unique(classes[rows], return_counts=True)
    return rows[np.isin(classes[rows], names[counts >= _FEWEST_OF_CLASS])]


def _fresh_folder(data_dir: Path | None) -> Path:
    folders = data_folders(data_dir)
    for folder in folders:
        if (folder / _FRESH).is_dir():
            return folder / _FRESH
    raise InputError(
        f"The set fresh needs the folder {_FRESH}, which is not in {' or '.join(map(str, folders))}. Put it there, set "
        "NEWFOUND_DATA to the folder that holds it, or measure --sets old alone."
    )


def _load_fresh(file: Path) -> tuple[pd.DataFrame, pd.Series[Any]]:
    import pandas as pd

    frame = pd.read_parquet(file)
    return frame.drop(columns=_TARGET), frame[_TARGET]
