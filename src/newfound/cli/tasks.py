"""What `newfound discover` learns from: a table in memory, or one that is read piece by piece."""

from __future__ import annotations

import glob
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from newfound.cli.output import Output
from newfound.cli.reading import Format, PartlyLabelled, given_options, kinds_of
from newfound.errors import InputError, Message, Parameter
from newfound.runs.labels_file import write_labels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from newfound.discoverers.base import BaseDiscoverer
    from newfound.discoverers.reading import Reading
    from newfound.runs.labelling import Naming, Note, Tally
    from newfound.tables.streams import TableStream

_MOST_DISTINCT = 100_000  # texts in a column of classes


@dataclass(frozen=True, eq=False)
class Labelled:
    """What came of labelling all rows.

    Attributes
    ----------
    tally : Tally
        Of all rows.
    doubted_rows : dict of str to int
        How many there is a doubt about, by kind.
    reading : Reading of n rows
        Rows to explain the classes from: all of them, or a sample.
    labels : ndarray of shape (n,), object
        Their labels.
    """

    tally: Tally
    doubted_rows: dict[str, int]
    reading: Reading
    labels: NDArray[np.object_]


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(ABC):
    """A partly labelled table from which a discoverer can learn.

    Attributes
    ----------
    path : Path
        As the user gave it.
    target : str
        The column of classes.
    names : sequence of str
        Of all columns.
    n_rows : int
    n_columns : int
        That can be learned from.
    counts : Counter of str
        Rows of each known class.
    kinds : dict of column to kind
        As the user has named them.
    options : dict of str to value
        The parameters of `newfound.read_table` that the user has given.
    labels_file : str
        Name of the file of the labelled rows.
    """

    path: Path
    target: str
    names: Sequence[str]
    n_rows: int
    n_columns: int
    counts: Counter[str]
    kinds: dict[str, Any]
    options: dict[str, Any]
    labels_file: ClassVar[str]

    @property
    @abstractmethod
    def files(self) -> Sequence[Path]:
        """The files that are read."""

    @abstractmethod
    def about(self) -> dict[str, Any]:
        """Describe the file, for run.json."""

    @abstractmethod
    def source(self) -> dict[str, Any]:
        """Say how the report may propose to read the rows that it explains, see `newfound.reporting.report_facts`."""

    @abstractmethod
    def fit(self, model: BaseDiscoverer, **kept: Any) -> None:
        """Have a discoverer learn from the table."""

    @abstractmethod
    def label(self, model: BaseDiscoverer, place: Path, naming: Naming, note: Note) -> Labelled:
        """Write the rows with their classes to a file."""


@dataclass(frozen=True, eq=False, kw_only=True)
class WholeTable(Task):
    """A table in memory."""

    read: PartlyLabelled
    labels_file: ClassVar[str] = "labels.csv"

    @classmethod
    def of(cls, read: PartlyLabelled) -> WholeTable:
        """Take over what was read."""
        file, target = read.file, read.target
        return cls(
            read=read,
            path=file.path,
            target=target.name,
            names=file.names,
            n_rows=file.n_rows,
            n_columns=read.table.n_columns,
            counts=target.counts,
            kinds=read.kinds,
            options=read.options,
        )

    @property
    def files(self) -> Sequence[Path]:
        """The file that is read."""
        return [self.path]

    def about(self) -> dict[str, Any]:
        """Describe the file, for run.json."""
        file = self.read.file
        return {"format": file.format, "encoding": file.encoding, "delimiter": file.delimiter}

    def source(self) -> dict[str, Any]:
        """Say how the report may propose to read the table."""
        return {"path": str(self.path), "options": self.options, "is_training": True}

    def fit(self, model: BaseDiscoverer, **kept: Any) -> None:
        """Have a discoverer learn from the table."""
        model.fit(self.read.table, self.read.target.labels, **kept)

    def label(self, model: BaseDiscoverer, place: Path, naming: Naming, note: Note) -> Labelled:
        """Write the rows with their classes to a CSV file."""
        from newfound.discoverers.reading import Reading
        from newfound.reporting.row_doubts import RowDoubts
        from newfound.runs.labelling import label_rows

        file, target = self.read.file, self.read.target
        reading = Reading.of(model, self.read.table)
        labelling, doubts = label_rows(model, reading, target.labels), RowDoubts.of(reading, target.labels)
        write_labels(place, file, labelling.columns(file, note, doubts.texts(), naming=naming))
        return Labelled(labelling.tally(target.unlabelled), doubts.counts(), reading, target.labels)


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamedTable(Task):
    """A table in Parquet files that is read piece by piece; its labels are text, None where a row is unlabelled."""

    stream: TableStream
    labels_file: ClassVar[str] = "labels.parquet"

    @property
    def files(self) -> Sequence[Path]:
        """The files that are read."""
        return self.stream.paths

    def about(self) -> dict[str, Any]:
        """Describe the files, for run.json."""
        return {"format": "Parquet", "encoding": None, "delimiter": None, "files": len(self.stream.paths)}

    def source(self) -> dict[str, Any]:
        """Say how the report may propose to read some of the rows: those of the first file."""
        first = str(self.stream.paths[0])
        return {"path": first, "options": self.options, "is_training": False, "sampled_from": self.n_rows}

    def fit(self, model: BaseDiscoverer, **kept: Any) -> None:
        """Have a discoverer learn from the table."""
        model.fit(self.stream, self.target, **kept)

    def label(self, model: BaseDiscoverer, place: Path, naming: Naming, note: Note) -> Labelled:
        """Write the rows with their classes to a Parquet file; what is to be explained is the sample of `fit`."""
        import numpy as np
        import pyarrow as pa

        from newfound.discoverers.reading import Reading
        from newfound.runs.labelling import COLUMNS, names_beside
        from newfound.runs.streams import label_stream

        names = names_beside(self.names, COLUMNS, note)
        found = label_stream(
            model, self.stream, place, names=names, naming=naming, note=note, sampled=model.sampled_rows_
        )
        sample, labels = self.stream.apart(pa.concat_tables(found.sample))
        return Labelled(found.tally, dict(found.doubts), Reading.of(model, sample), np.array(labels, dtype=object))


def is_streamed(path: Path) -> bool:
    """Whether a table is a folder of Parquet files, or a pattern of names, which are never read as a whole."""
    if path.is_dir():
        return next(path.rglob("*.parquet"), None) is not None
    return not path.exists() and glob.has_magic(str(path))


@contextmanager
def proposing_stream(path: Path) -> Iterator[None]:
    """Say of a Parquet file that is too large for memory how it can be read all the same."""
    try:
        yield
    except InputError as error:
        if path.suffix.lower() != ".parquet" or error.parameter != "max_memory" or not isinstance(error.value, int):
            raise
        told = Message(error.args[0], " Or read it piece by piece with --stream.")
        raise InputError(told, parameter=error.parameter, value=error.value) from error


def open_table(path: Path, output: Output) -> TableStream:
    """Open a table that is read piece by piece."""
    from newfound.tables.streams import open_files

    with output.speaking_of(path, X="TABLE"):
        return open_files(path)


def read_stream(
    path: Path,
    target: str,
    output: Output,
    *,
    unlabelled: Sequence[str] | None,
    ignore: Sequence[str] | None,
    kind: Sequence[str] | None,
    method: str,
) -> StreamedTable:
    """Open Parquet files and read their labels; refuse a table from which nothing can be learned."""
    from newfound.runs.labels import check_labels
    from newfound.tables.files.table_file import place_of
    from newfound.tables.files.targets import Spelling, texts_of
    from newfound.tables.streams import nested_columns

    stream = open_table(path, output)
    with output.busy(f"Reading the labels of {path}"), output.speaking_of(path):
        names = stream.column_names()
        for name in ignore or ():
            place_of(name, names, path, Parameter("ignore", name))
        place_of(target, names, path, Parameter("target", target))
        kinds = kinds_of(kind or (), names, path) | dict.fromkeys(ignore or (), "ignored")
        kinds.pop(target, None)  # no column to learn from, as in memory
        nested = (name for name in nested_columns(stream.schema) if kinds.get(name) == "ignored")
        stream = replace(stream, target=target, blank=tuple(nested))
        texts: Counter[str | None] = Counter()
        for cells in stream.labels():
            texts.update(texts_of(cells))
            if len(texts) > _MOST_DISTINCT:
                problem = f", but that column of {path} holds more than {_MOST_DISTINCT:,} different values; expected "
                told = Message("Got ", Parameter("target", target), problem, "classes, which repeat.")
                raise InputError(told, parameter="target")
        spelling = Spelling.of(target, texts, path, unlabelled)
        check_labels(path, target, stream.n_rows, spelling.n_unlabelled, method)
    output.note(*spelling.notes)
    stream = replace(stream, spelled=lambda cells: spelling.labels(texts_of(cells)))
    return StreamedTable(
        stream=stream,
        path=path,
        target=target,
        names=names,
        n_rows=stream.n_rows,
        n_columns=sum(name != target and kinds.get(name) != "ignored" for name in names),
        counts=spelling.counts,
        kinds=kinds,
        options=given_options(Format(), unlabelled=unlabelled, ignore=ignore),
    )
