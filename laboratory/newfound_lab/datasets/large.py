"""A table of any number of rows, made up on the spot: numbers and categories, 12 classes of which 5 are novel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

N_CLASSES, N_NOVEL = 12, 5
TARGET, TRUTH = "class", "truth"
N_COLUMNS = 20
_CATEGORIES, _N_LEVELS = 0.3, 8  # share of the columns, and how many each has
_FILE_ROWS = 1_000_000
_CHUNK = 1 << 17
_MISSING = 0.01


@dataclass(frozen=True, eq=False)
class LargeTable:
    """The distribution that rows are drawn from.

    Attributes
    ----------
    centres : ndarray of shape (n_classes, n_numbers)
    spreads : ndarray of shape (n_classes, n_numbers)
    levels : ndarray of shape (n_classes, n_categories, n_levels)
        Cumulated probabilities of the levels of each category.
    shares : ndarray of shape (n_classes,)
        Of the rows.
    labelled : float
        Share of the rows of known classes that have their label.
    """

    centres: NDArray[np.float64]
    spreads: NDArray[np.float64]
    levels: NDArray[np.float64]
    shares: NDArray[np.float64]
    labelled: float = 1.0

    @classmethod
    def draw(cls, n_columns: int = N_COLUMNS, n_classes: int = N_CLASSES) -> LargeTable:
        """Draw a distribution of so many columns, about a third of which are categories, and classes."""
        rng = np.random.default_rng(0)
        n_categories = round(n_columns * _CATEGORIES)
        n_numbers = n_columns - n_categories
        levels = rng.dirichlet(np.full(_N_LEVELS, 0.5), size=(n_classes, n_categories)).cumsum(axis=-1)
        return cls(
            rng.normal(0, 1.2, (n_classes, n_numbers)),
            rng.uniform(0.5, 1.5, (n_classes, n_numbers)),
            levels,
            rng.dirichlet(np.full(n_classes, 5.0)),
        )

    @property
    def n_novel(self) -> int:
        """How many of the classes are novel: the last ones."""
        return round(len(self.shares) * N_NOVEL / N_CLASSES)

    def rows(self, n: int, rng: np.random.Generator) -> Any:
        """Draw rows as a pyarrow table: the columns, the known classes and, apart, all classes."""
        (n_classes, n_numbers), n_categories = self.centres.shape, self.levels.shape[1]
        truth = rng.choice(n_classes, size=n, p=self.shares)
        numbers = rng.standard_normal((n, n_numbers), dtype=np.float32)
        numbers *= self.spreads[truth].astype(np.float32)
        numbers += self.centres[truth].astype(np.float32)
        numbers[:, -1] = np.exp(numbers[:, -1])  # one column has a heavy tail
        columns = {}
        for j in range(n_numbers):
            columns[f"number_{j}"] = pa.array(numbers[:, j], mask=rng.random(n) < _MISSING if j < 3 else None)
        names = pa.array([f"level {level}" for level in range(_N_LEVELS)])
        for j in range(n_categories):
            level = (rng.random(n)[:, None] > self.levels[truth, j, :-1]).sum(axis=1).astype(np.int32)
            columns[f"category_{j}"] = pa.DictionaryArray.from_arrays(pa.array(level), names).cast(pa.string())
        classes = pa.array([f"class {c}" for c in range(n_classes)])
        columns[TRUTH] = pa.DictionaryArray.from_arrays(pa.array(truth.astype(np.int32)), classes).cast(pa.string())
        unlabelled = truth >= n_classes - self.n_novel
        if self.labelled < 1:
            unlabelled |= rng.random(n) >= self.labelled
        columns[TARGET] = pa.DictionaryArray.from_arrays(
            pa.array(truth.astype(np.int32), mask=unlabelled), classes
        ).cast(pa.string())
        return pa.table(columns)


def write_large_table(folder: Path, n_rows: int, seed: int = 0, table: LargeTable | None = None) -> Path:
    """Write a table to a folder, in files of a million rows; the true classes go to a folder beside it.

    Parameters
    ----------
    folder : Path
        Gets ``rows`` (the columns, and ``class``, which is missing for novel classes) and ``truth``.
    n_rows : int
    seed : int
        Of the rows; all seeds draw from the same distribution.
    table : LargeTable, optional
        The distribution, where it is not to be that of 20 columns and 12 classes.

    Returns
    -------
    Path
        The folder of the rows.
    """
    table, rng = table or LargeTable.draw(), np.random.default_rng([seed, n_rows])
    rows, truth = folder / "rows", folder / "truth"
    for target in (rows, truth):
        target.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, n_rows, _FILE_ROWS)):
        left, writers = min(_FILE_ROWS, n_rows - start), {}
        while left:
            part = table.rows(min(_CHUNK, left), rng)
            left -= part.num_rows
            for where, batch in ((rows, part.drop_columns([TRUTH])), (truth, part.select([TRUTH]))):
                if where not in writers:
                    writers[where] = pq.ParquetWriter(where / f"{number:05d}.parquet", batch.schema)
                writers[where].write_table(batch)
        for writer in writers.values():
            writer.close()
    return rows
