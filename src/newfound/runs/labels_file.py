"""The rows of a table with their classes beside them, as a file."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from newfound.tables.files import TableFile


def write_labels(place: Path | TextIO, file: TableFile, found: Mapping[str, Iterable[str]]) -> None:
    """Write the rows of a table in order, with further columns, as CSV.

    Delimiter and encoding are those of the table, see `encoding_of`.
    """
    from newfound.tables.files.writing import encoding_of, write_rows

    if isinstance(place, Path):
        columns = {name: list(cells) for name, cells in found.items()}
        texts = itertools.chain(columns, *columns.values())
        with place.open("w", encoding=encoding_of(file, texts), errors="replace", newline="") as stream:
            write_labels(stream, file, columns)
        return
    rows = ([*row, *further] for row, *further in zip(file.text_rows(), *found.values(), strict=True))
    write_rows(place, itertools.chain([[*file.names, *found]], rows), file.delimiter)
