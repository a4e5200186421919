"""What commands read: tables with their labels, kinds of columns, and models."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newfound.cli.output import Output
from newfound.errors import InputError, Parameter

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer
    from newfound.tables import Table
    from newfound.tables.files import TableFile, Target


@dataclass(frozen=True)
class Format:
    """How a file is to be read, as far as the user has said; None has it found out."""

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    max_memory: str | None = None


@dataclass(frozen=True, eq=False)
class PartlyLabelled:
    """A partly labelled table from which a discoverer can learn.

    Attributes
    ----------
    file : TableFile
    table : Table
        Its columns but the target and those to ignore.
    target : Target
    kinds : dict of column to kind
        As the user has named them.
    options : dict of str to value
        The parameters of `newfound.read_table` that the user has given.
    """

    file: TableFile
    table: Table
    target: Target
    kinds: dict[str, Any]
    options: dict[str, Any]


def read_table_file(path: Path, form: Format, output: Output, *, aloud: bool = False) -> TableFile:
    """Read a table, and pass its notes on.

    They are said `aloud` by commands that learn from the table or meet it first. Others, which ask a model about a
    table that it has mostly learned from, would only repeat them.
    """
    from newfound.tables.files import read_file

    with output.busy(f"Reading {path}"):
        file = read_file(path, **vars(form))
    output.note(*file.notes, aloud=aloud)
    return file


def stem_of(path: Path) -> str:
    """Name of a file without its ending, and without that of gzip; of a pattern, that of the folder of its files."""
    if glob.has_magic(path.name) and not path.exists():
        return stem_of(path.parent)
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.stem or "table"


def read_columns(file: TableFile, output: Output, without: Sequence[str] = (), *, aloud: bool = False) -> Table:
    """Return the columns of a file but some, and pass its notes on, as `read_table_file` does."""
    table = file.table(without)
    output.note(*file.notes, aloud=aloud)
    return table


def read_task(
    path: Path,
    target: str,
    form: Format,
    output: Output,
    *,
    unlabelled: Sequence[str] | None,
    ignore: Sequence[str] | None,
    kind: Sequence[str] | None,
    method: str,
) -> PartlyLabelled:
    """Read a partly labelled table, and refuse one from which nothing can be learned."""
    from newfound.runs.labels import check_labels
    from newfound.tables.files import read_target

    file = read_table_file(path, form, output, aloud=True)
    ignored = list(ignore or ())
    for name in ignored:
        file.place(name, Parameter("ignore", name))
    kinds = kinds_of(kind or (), file.names, file.path)
    labels = read_target(file, target, unlabelled)
    check_labels(path, target, file.n_rows, int(labels.unlabelled.sum()), method)
    output.note(*labels.notes)
    table = read_columns(file, output, [target, *ignored], aloud=True)
    kinds = {name: kind for name, kind in kinds.items() if name in table.columns}
    options = given_options(form, unlabelled=unlabelled, ignore=ignore)
    return PartlyLabelled(file, table, labels, kinds, options)


def given_options(form: Format, **further: Sequence[str] | None) -> dict[str, Any]:
    """Return the parameters of `newfound.read_table` that the user has given."""
    given = {name: value for name, value in vars(form).items() if value is not None}
    return given | {name: list(texts) for name, texts in further.items() if texts}


def load_model(path: Path, output: Output) -> BaseDiscoverer:
    """Load a model, and pass its warnings on; one line that says what to do where that is not possible."""
    from newfound import load

    if os.path.isdir(path):  # unlike Path.is_dir, it leaves complaints about what may not be read to load
        inside = path / "model.newfound"
        hint = f"; did you mean {inside}?" if inside.is_file() else "."
        raise InputError(f"{path} is a folder, but expected a model file{hint}")
    with output.speaking_of(path):
        return load(path)


def kinds_of(given: Sequence[str], names: Sequence[str], path: Path) -> dict[str, Any]:
    """Read the option --kind, for the columns of a table."""
    from newfound.tables.files.table_file import place_of
    from newfound.tables.schema import KINDS

    kinds: dict[str, Any] = {}
    for text in given:
        column, _, kind = text.rpartition("=")
        if not column or kind not in KINDS:
            raise InputError(
                f"Got --kind {text}, but expected COLUMN=KIND with a kind of {', '.join(KINDS)}, such as "
                "zip=categorical."
            )
        place_of(column, names, path, Parameter("kinds", {column: kind}))
        kinds[column] = kind
    return kinds
