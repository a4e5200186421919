"""Classes for the rows of a table that is read batch by batch, from Parquet to Parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.discoverers.reading import Reading
from newfound.extras import load_extra
from newfound.plain import spreadsheet_safe
from newfound.reporting.row_doubts import RowDoubts
from newfound.runs.labelling import Labelling, Naming, Note, Tally, label_rows
from newfound.runs.names import class_names
from newfound.scale.predicting import fill_parquet

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer
    from newfound.tables.streams import TableStream

_PURPOSE = "A table that is read batch by batch"


@dataclass(eq=False)
class StreamLabels:
    """What came of labelling a stream.

    Attributes
    ----------
    tally : Tally
        Of all rows.
    doubts : Counter of str
        How many rows there is a doubt about, by kind.
    sample : list of pyarrow.Table
        The rows that were to be kept, with all their columns.
    """

    tally: Tally
    doubts: Counter[str] = field(default_factory=Counter)
    sample: list[Any] = field(default_factory=list)


def label_stream(
    model: BaseDiscoverer,
    stream: TableStream,
    place: Path,
    *,
    names: Sequence[str],
    naming: Naming,
    note: Note,
    sampled: NDArray[np.int64] | None = None,
    abstain: float | None = None,
    only_novel: bool = False,
) -> StreamLabels:
    """Write the rows of a stream in order with their classes beside them, and count them.

    Parameters
    ----------
    model : discoverer
    stream : TableStream
        Its labels, where it has some, are the names of known classes, and None.
    place : Path
        The Parquet file to write.
    names : sequence of str
        Of the columns to write beside those of the table: class, probability, whether the class is novel and, where
        there are four, the doubts.
    naming, note
        How names of classes are written, and what takes what the user should know of that.
    sampled : ndarray of int64, optional
        Places of rows that are to be returned, in order.
    abstain, only_novel
        As in `label_rows`.
    """
    arrow = load_extra("pyarrow", _PURPOSE)
    classes = class_names(model)
    found = StreamLabels(Tally(classes, len(model.known_classes_)))
    written = naming.written(classes, note)

    def labelled() -> Iterator[Any]:
        for whole in stream.tables():
            if sampled is not None:
                first, end = np.searchsorted(sampled, [found.tally.n_rows, found.tally.n_rows + whole.num_rows])
                found.sample.append(whole.take(sampled[first:end] - found.tally.n_rows))
            table, cells = stream.apart(whole)
            labels = None if cells is None else np.array(cells, dtype=object)
            reading = Reading.of(model, table)
            labelling = label_rows(model, reading, labels, abstain=abstain, only_novel=only_novel)
            unlabelled = None if cells is None else np.array([cell is None for cell in cells])
            found.tally.add(labelling, unlabelled)
            columns = _columns(labelling, written)
            if len(names) > len(columns):
                doubts = RowDoubts.of(reading, labels)
                found.doubts.update(doubts.counts())
                texts = doubts.texts() if naming.exact else map(spreadsheet_safe, doubts.texts())
                columns.append([text or None for text in texts])
            kinds = (arrow.string(), arrow.float64(), arrow.bool_(), arrow.string())
            for name, column, kind in zip(names, columns, kinds, strict=False):
                whole = whole.append_column(name, arrow.array(column, kind))
            yield whole

    fill_parquet(place, labelled())
    return found


def _columns(labelling: Labelling, written: Sequence[str]) -> list[Any]:
    """Class, probability and whether the class is novel, of each row; None where the model was too unsure."""
    unsure = labelling.unsure
    spelled = np.array([*written, None], dtype=object)  # the last is that of code -1
    novel = labelling.is_novel.astype(object)
    novel[unsure] = None
    return [spelled[labelling.codes], labelling.probability, novel]
