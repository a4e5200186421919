"""Tables of the workbench in a worker: read once, with the labels that a run sees."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError, Parameter
from newfound.runs.labels import check_labels
from newfound.tables import Table
from newfound.tables.files import TableFile, Target, read_file, read_target

PLACES: dict[str, str] = {}
"""Files on the server, and what the user calls them: messages name these."""

LABELS = "labels.json"
"""In the folder of a run: labels that take the place of those in the table."""

_SHARE = 2  # of the memory that a worker has, reading may take one part in so many


@lru_cache(maxsize=2)
def read(path: str, name: str) -> TableFile:
    """Read a table."""
    from newfound.tables.files.budget import default_memory, machine_memory

    PLACES[path] = name
    found = Path(path)
    memory = min(default_memory(found.stat().st_size), allowed_memory() or machine_memory()) // _SHARE
    return read_file(found, max_memory=memory)


def allowed_memory() -> int | None:
    """Bytes that this process may take; None where nothing limits them."""
    try:
        import resource
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return None if limit == resource.RLIM_INFINITY else limit


@dataclass(frozen=True, eq=False)
class Source:
    """A table as a run sees it.

    Attributes
    ----------
    file : TableFile
    table : Table
        The columns to learn from.
    target : Target
        With the labels that the run sees.
    truth : ndarray of shape (n,), object
        Labels in the file, also those that were hidden.
    kinds : dict of column to kind
    """

    file: TableFile
    table: Table
    target: Target
    truth: NDArray[Any]
    kinds: dict[str, Any]

    @property
    def labels(self) -> NDArray[Any]:
        """Labels that the run sees, None where a row is unlabelled."""
        return self.target.labels


def open_source(path: str, name: str, options: dict[str, Any], folder: Path) -> Source:
    """Read the table of a run, with its labels.

    Parameters
    ----------
    path, name : str
        Of the table.
    options : dict
        Of the run.
    folder : Path
        Of the run, which may hold labels of its own.
    """
    file = read(path, name)
    ignored = list(options["ignore"])
    for column in ignored:
        file.place(column, Parameter("ignore", column))
    for column, kind in options["kinds"].items():
        file.place(column, Parameter("kinds", {column: kind}))
    if options["target"] is None:  # a batch without labels
        nothing = np.full(file.n_rows, None, dtype=object)
        target = Target("", nothing)
        truth = nothing
    else:
        target = read_target(file, options["target"], options.get("marks"))
        truth = target.labels
        ignored.append(options["target"])
    given = folder / LABELS
    if given.is_file():
        labels = np.empty(file.n_rows, dtype=object)
        labels[:] = json.loads(given.read_text(encoding="utf-8"))
        target = Target(target.name, labels, target.notes)
    hidden = set(options["hide"])
    if hidden:
        absent = sorted(hidden - set(target.counts))
        if absent:
            raise InputError(f"Got {absent[0]!r} as a class to hide, but no row has that label.", parameter="hide")
        labels = np.array([None if label in hidden else label for label in target.labels], dtype=object)
        target = Target(target.name, labels, target.notes)
    table = file.table(ignored)
    kinds = {column: kind for column, kind in options["kinds"].items() if column in table.columns}
    return Source(file, table, target, truth, kinds)


def check(source: Source, method: str) -> None:
    """Refuse a table from which a method cannot learn."""
    target, file = source.target, source.file
    check_labels(file.path, target.name, file.n_rows, int(target.unlabelled.sum()), method)
