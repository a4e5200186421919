"""The first pass over a stream: a sample of its rows, all classes, and exact statistics of the columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.extras import load_extra
from newfound.tables.encoder import TableEncoder
from newfound.tables.frame import Table, as_table
from newfound.tables.labels import UNLABELLED, Labels, read_labels
from newfound.tables.scaling import NumericScaling
from newfound.tables.statistics import ColumnStatistics
from newfound.tables.streams.source import Piece, TableStream

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
        n_rows = self.stream.n_rows
        row_numbers = [
            name
            for name, statistics in self.statistics.items()
            if statistics.plain.n == n_rows > self.sample.n_rows and statistics.plain.are_consecutive
        ]
        whole = TableEncoder(**encoder.get_params())
        whole.fit_table(self.sample, row_numbers)
        whole.refine(self.sample, self.statistics)
        return whole

    def codes_of(self, labels: list[Any]) -> NDArray[np.int64]:
        """Codes of the labels of a batch, among the classes of the whole stream; shape (n,)."""
        found = read_labels(labels, len(labels))
        places = np.searchsorted(self.labels.known_classes, found.known_classes)
        return np.append(places, UNLABELLED)[found.codes]

    def encoded(
        self, encoder: TableEncoder, without: NDArray[np.int64], piece: Piece | None = None
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
        """Read the stream, or a piece of it, once more.

        Parameters
        ----------
        encoder : TableEncoder
            Fitted.
        without : ndarray of int64
            Places of rows that are left out.
        piece : Piece, optional

        Yields
        ------
        rows : ndarray of shape (n, d)
            Encoded.
        codes : ndarray of shape (n,), int64
        """
        start = 0 if piece is None else piece.start
        for table, labels in self.stream.batches(piece):
            rows = encoder.transform_table(as_table(table))
            codes = self.codes_of([None] * len(rows) if labels is None else labels)
            kept = ~np.isin(np.arange(start, start + len(rows)), without)
            start += len(rows)
            yield rows[kept], codes[kept]


def summarise(stream: TableStream, encoder: TableEncoder) -> Summary:
    """Read a stream once.

    Parameters
    ----------
    stream : TableStream
    encoder : TableEncoder
        Not fitted; says how numbers will be scaled.
    """
    found = PartSummary(encoder.numeric_scaling, np.random.default_rng(0))
    found.read(stream)
    return found.summary(stream)


def summarise_piece(stream: TableStream, piece: Piece, encoder: TableEncoder, n_labelled: int) -> PartSummary:
    """Read a piece of a stream; what is found in all of them can be merged, in their order, to a summary.

    Parameters
    ----------
    stream : TableStream
    piece : Piece
    encoder : TableEncoder
        Not fitted; says how numbers will be scaled.
    n_labelled : int
        Labelled rows of the whole stream, see `count_labelled`.
    """
    found = PartSummary(encoder.numeric_scaling, np.random.default_rng([0, piece.start]))
    found.sampler.begin(piece.start, stream.n_rows, n_labelled)
    found.read(stream, piece)
    found.sampler.compact()
    return found


def count_labelled(stream: TableStream, piece: Piece) -> int:
    """Count the labelled rows of a piece; only the column of the labels is read."""
    return sum(int(read_labels(labels, len(labels)).labelled.sum()) for labels in stream.labels(piece))


class PartSummary:
    """What is known of a table, or of a part of it.

    Parameters
    ----------
    scaling : {"standard", "signed_log", "quantile", "none"}
        How numbers will be scaled.
    generator : numpy.random.Generator
        Draws the sample. Not from the user's seed: it is a part of reading the table, and the same for all seeds.
    """

    def __init__(self, scaling: NumericScaling, generator: np.random.Generator) -> None:
        self._scaling = scaling
        self.sampler = _Sampler(generator)
        self._statistics: dict[str, ColumnStatistics] = {}

    def read(self, stream: TableStream, piece: Piece | None = None) -> None:
        """Read a stream, or a piece of it."""
        for table, labels in stream.batches(piece):
            cells = as_table(table)
            for name, values in cells.columns.items():
                self._statistics.setdefault(name, ColumnStatistics()).add(values, name, self._scaling)
            self.sampler.add(table, [None] * table.num_rows if labels is None else labels)

    def merge(self, following: PartSummary) -> None:
        """Add what was found in the part that follows."""
        for name, statistics in following._statistics.items():
            self._statistics.setdefault(name, ColumnStatistics()).merge(statistics)
        self.sampler.merge(following.sampler)

    def summary(self, stream: TableStream) -> Summary:
        """Return what was found in the whole stream."""
        return self.sampler.summary(stream, self._statistics)


class _Sampler:
    """Keeps the rows with the smallest random keys: of all rows, of each class, and of labelled and unlabelled rows.

    Every row has the same chance as the others of its class, and every unlabelled row the same as all others.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._n_rows = 0
        self._tables: list[Any] = []
        self._rows, self._keys = np.empty(0, dtype=np.int64), np.empty(0)
        self._labels: list[Any] = []
        # Keys from which on no row will be wanted: of all rows, of labelled and unlabelled ones, and of classes.
        self._limit = np.inf
        self._of_kinds = [np.inf, np.inf]
        self._of_classes: dict[Any, float] = {}

    def begin(self, start: int, n_rows: int, n_labelled: int) -> None:
        """Begin with a row within a table of so many rows and labelled rows: of larger keys there will be enough."""
        self._n_rows = start
        self._limit = _enough(SAMPLE_ROWS, n_rows)
        self._of_kinds = [_enough(_kind_rows(), n) for n in (n_labelled, n_rows - n_labelled)]

    def merge(self, following: _Sampler) -> None:
        """Add the rows of the sampler of the part that follows."""
        self._tables += following._tables
        self._rows = np.concatenate([self._rows, following._rows])
        self._keys = np.concatenate([self._keys, following._keys])
        self._labels += following._labels
        self._n_rows = following._n_rows
        if len(self._rows) > 2 * SAMPLE_ROWS:
            self.compact()

    def add(self, table: Any, labels: list[Any]) -> None:
        """Look at a batch: a pyarrow table and its labels."""
        keys = self._generator.random(table.num_rows)
        places = np.flatnonzero(keys < self._limits(read_labels(labels, len(labels))))
        self._tables.append(table.take(places))
        self._rows = np.concatenate([self._rows, self._n_rows + places])
        self._keys = np.concatenate([self._keys, keys[places]])
        self._labels += [labels[place] for place in places]
        self._n_rows += table.num_rows
        if len(self._rows) > 2 * SAMPLE_ROWS:
            self.compact()

    def summary(self, stream: TableStream, statistics: dict[str, ColumnStatistics]) -> Summary:
        """Return what was found."""
        self.compact()
        labels = read_labels(self._labels, len(self._labels))
        return Summary(stream, as_table(self._tables[0]), self._rows, labels, statistics)

    def compact(self) -> None:
        """Let go of rows that are not wanted any more."""
        arrow = load_extra("pyarrow", "A table that is read batch by batch")
        labels = read_labels(self._labels, len(self._labels))
        self._limit = _limit(self._keys, SAMPLE_ROWS, self._limit)
        kinds = zip((labels.labelled, labels.unlabelled), self._of_kinds, strict=True)
        self._of_kinds = [_limit(self._keys[is_it], _kind_rows(), before) for is_it, before in kinds]
        for code, known in enumerate(labels.known_classes.tolist()):
            before = self._of_classes.get(known, np.inf)
            self._of_classes[known] = _limit(self._keys[labels.codes == code], CLASS_ROWS, before)
        places = np.flatnonzero(self._keys < self._limits(labels))
        self._tables = [arrow.concat_tables(self._tables).take(places)]
        self._rows, self._keys = self._rows[places], self._keys[places]
        self._labels = [self._labels[place] for place in places]

    def _limits(self, labels: Labels) -> NDArray[np.float64]:
        """Keys from which on rows with these labels are not wanted; shape (n,)."""
        of_classes = [self._of_classes.get(known, np.inf) for known in labels.known_classes.tolist()]
        labelled, unlabelled = np.maximum(self._of_kinds, self._limit)
        return np.append(np.maximum(of_classes, labelled), unlabelled)[labels.codes]  # the last is that of code -1


def _kind_rows() -> int:
    """Labelled and unlabelled rows that the sample has at least, where there are as many: two fifths of all."""
    return SAMPLE_ROWS * 2 // 5


def _limit(keys: NDArray[np.float64], most: int, before: float) -> float:
    """Return the key from which on there are enough rows, or that from before where there are too few."""
    return float(np.partition(keys, most)[most]) if len(keys) > most else before


def _enough(most: int, n_rows: int) -> float:
    """Return the key below which there are about twice as many of so many rows as are wanted."""
    return 2 * most / n_rows if n_rows > 2 * most else np.inf
