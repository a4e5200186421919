"""The first pass over a stream: a sample of its rows, all classes, and exact statistics of the columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.extras import load_extra
from newfound.tables.encoder import TableEncoder
from newfound.tables.frame import Table, as_table
from newfound.tables.labels import UNLABELLED, Labels, read_labels
from newfound.tables.schema import MIN_IDENTIFIER_ROWS
from newfound.tables.statistics import ColumnStatistics
from newfound.tables.streams.source import TableStream

SAMPLE_ROWS = 50_000
"""Rows of the sample, but for those of rare classes."""

CLASS_ROWS = 50
"""Rows of each known class that the sample has at least, where there are as many."""


@dataclass(frozen=True, eq=False)
class Summary:
    """What one pass over a stream tells.

    Attributes
    ----------
    stream : TableStream
    sample : Table
        Rows drawn at random, in the order of the stream.
    rows : ndarray of shape (n_sample,), int64
        Their places in the stream, counted from 0.
    labels : Labels
        Of the sample; its classes are those of the whole stream.
    statistics : dict of str to ColumnStatistics
        Of all rows.
    """

    stream: TableStream
    sample: Table
    rows: NDArray[np.int64]
    labels: Labels
    statistics: dict[str, ColumnStatistics]

    def fit_encoder(self, encoder: TableEncoder) -> TableEncoder:
        """Fit to the sample, then replace what all rows tell better: means, deviations, categories, missing cells."""
        kinds = dict(encoder.kinds or {})
        for name, statistics in self.statistics.items():
            if name not in kinds and self._is_row_number(statistics):
                kinds[name] = "ignored"
        whole = TableEncoder(**{**encoder.get_params(), "kinds": kinds or None})
        whole.fit_table(self.sample)
        whole.refine(self.sample, self.statistics)
        return whole

    def codes_of(self, labels: list[Any]) -> NDArray[np.int64]:
        """Codes of the labels of a batch, among the classes of the whole stream; shape (n,)."""
        found = read_labels(labels, len(labels))
        places = np.searchsorted(self.labels.known_classes, found.known_classes)
        return np.append(places, UNLABELLED)[found.codes]

    def encoded(
        self, encoder: TableEncoder, without: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
        """Read the stream once more.

        Parameters
        ----------
        encoder : TableEncoder
            Fitted.
        without : ndarray of int64
            Places of rows that are left out.

        Yields
        ------
        rows : ndarray of shape (n, d)
            Encoded.
        codes : ndarray of shape (n,), int64
        """
        start = 0
        for table, labels in self.stream.batches():
            rows = encoder.transform_table(as_table(table))
            codes = self.codes_of([None] * len(rows) if labels is None else labels)
            kept = ~np.isin(np.arange(start, start + len(rows)), without)
            start += len(rows)
            yield rows[kept], codes[kept]

    def _is_row_number(self, statistics: ColumnStatistics) -> bool:
        numbers, n_rows = statistics.plain, self.stream.n_rows
        return n_rows >= MIN_IDENTIFIER_ROWS and numbers.n == n_rows and numbers.high - numbers.low == n_rows - 1


def summarise(stream: TableStream, encoder: TableEncoder) -> Summary:
    """Read a stream once.

    Parameters
    ----------
    stream : TableStream
    encoder : TableEncoder
        Not fitted; says how numbers will be scaled.
    """
    sampler = _Sampler()
    statistics: dict[str, ColumnStatistics] = {}
    for table, labels in stream.batches():
        cells = as_table(table)
        for name, values in cells.columns.items():
            statistics.setdefault(name, ColumnStatistics()).add(values, name, encoder.numeric_scaling)
        sampler.add(table, [None] * table.num_rows if labels is None else labels)
    return sampler.summary(stream, statistics)


class _Sampler:
    """Keeps the rows with the smallest random keys, and of each class the rows with the smallest among its own."""

    def __init__(self) -> None:
        # Not the user's seed: the sample is a part of reading the table, and the same for all seeds.
        self._generator = np.random.default_rng(0)
        self._n_rows = 0
        self._tables: list[Any] = []
        self._rows, self._keys = np.empty(0, dtype=np.int64), np.empty(0)
        self._labels: list[Any] = []
        self._limit = np.inf
        self._classes: Counter[Any] = Counter()

    def add(self, table: Any, labels: list[Any]) -> None:
        """Look at a batch: a pyarrow table and its labels."""
        found = read_labels(labels, len(labels))
        classes = found.known_classes.tolist()
        keys = self._generator.random(table.num_rows)
        wanted = keys < self._limit
        for code, known in enumerate(classes):
            if self._classes[known] < 2 * CLASS_ROWS:
                of_class = np.flatnonzero(found.codes == code)
                wanted[of_class[np.argsort(keys[of_class])[:CLASS_ROWS]]] = True
            self._classes[known] += int((found.codes == code).sum())
        places = np.flatnonzero(wanted)
        self._tables.append(table.take(places))
        self._rows = np.concatenate([self._rows, self._n_rows + places])
        self._keys = np.concatenate([self._keys, keys[places]])
        self._labels += [labels[place] for place in places]
        self._n_rows += table.num_rows
        if len(self._rows) > 2 * SAMPLE_ROWS:
            self._compact()

    def summary(self, stream: TableStream, statistics: dict[str, ColumnStatistics]) -> Summary:
        """Return what was found."""
        self._compact()
        labels = read_labels(self._labels, len(self._labels))
        return Summary(stream, as_table(self._tables[0]), self._rows, labels, statistics)

    def _compact(self) -> None:
        arrow = load_extra("pyarrow", "A table that is read batch by batch")
        codes = read_labels(self._labels, len(self._labels)).codes
        kept = np.zeros(len(codes), dtype=bool)
        order = np.argsort(self._keys)
        kept[order[:SAMPLE_ROWS]] = True
        for code in range(codes.max(initial=-1) + 1):
            kept[order[codes[order] == code][:CLASS_ROWS]] = True
        if len(order) > SAMPLE_ROWS:
            self._limit = float(self._keys[order[SAMPLE_ROWS]])
        places = np.flatnonzero(kept)
        self._tables = [arrow.concat_tables(self._tables).take(places)]
        self._rows, self._keys = self._rows[places], self._keys[places]
        self._labels = [self._labels[place] for place in places]
