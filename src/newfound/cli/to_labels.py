"""`newfound to-labels`: a table for the next round, in which accepted novel classes are known classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.options import (
    DecimalOption,
    DelimiterOption,
    EncodingOption,
    ForceOption,
    JsonOption,
    MaxMemoryOption,
    ModelArgument,
    NamesOption,
    SheetOption,
    TableArgument,
    TargetOption,
    UnlabelledOption,
)
from newfound.cli.output import Output
from newfound.cli.reading import Format, load_model, read_columns, read_table_file, stem_of
from newfound.cli.writing import check_new, new_file
from newfound.counting import counted
from newfound.errors import InputError

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer
    from newfound.tables.files import TableFile, Target

_SPREADSHEETS = ("CSV", "Excel")


def to_labels(
    model: ModelArgument,
    table: TableArgument,
    target: TargetOption,
    accept: Annotated[
        list[str] | None,
        typer.Option("--accept", metavar="CLASS", help="A novel class to accept; may be repeated. All by default."),
    ] = None,
    abstain: Annotated[
        float | None,
        typer.Option(
            "--abstain", metavar="P", help="Leave rows unlabelled whose class is less probable than P, 0 to 1."
        ),
    ] = None,
    names: NamesOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The table to write; TABLE-next by default.")
    ] = None,
    unlabelled: UnlabelledOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    decimal: DecimalOption = None,
    sheet: SheetOption = None,
    max_memory: MaxMemoryOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the table for the next round, with accepted classes.

    Labels that are there stay. Other rows get the class that the model predicts, where it is a known class or one that
    was accepted; the rest stays as it is, to be searched again. All columns and the format of the file are kept:

        newfound to-labels model.newfound attacks.csv --target attack --accept worm --abstain 0.8

    Then: newfound discover attacks-next.csv --target attack
    """
    output = Output(as_json)
    if abstain is not None and not 0 <= abstain <= 1:
        raise InputError(f"Got --abstain {abstain:g}, but expected a probability from 0 to 1, such as 0.8.")
    path = _beside(table) if out is None else out
    if _ending(path) != _ending(table):
        raise InputError(
            f"Got --out {path}, but {table} keeps its format; name a file that ends in {_ending(table) or 'nothing'}."
        )
    found = load_model(model, output)
    accepted = _accepted(accept, found)
    file = read_table_file(table, Format(delimiter, encoding, decimal, sheet, max_memory), output)
    from newfound.tables.files import read_target

    given = read_target(file, target, unlabelled)
    output.note(*given.notes)
    columns = read_columns(file, output, [target])
    check_new(path, force=force)
    with output.busy("Predicting"), output.speaking_of(table):
        predicted = found.to_labels(columns, accept=accepted, abstain=abstain)
    fresh_labels = _texts(predicted, given.unlabelled)
    written = _named(fresh_labels, file, given, names, output)
    _write(file, path, target, written, force=force)
    _conclude(found, file, fresh_labels, int(given.unlabelled.sum()), path, output)


def _beside(table: Path) -> Path:
    """Name the file after the table, in the folder where the command runs."""
    return Path(f"{stem_of(table)}-next{''.join(_endings(table))}")


def _endings(path: Path) -> list[str]:
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return [ending for ending in (plain.suffix, path.suffix if plain != path else "") if ending]


def _ending(path: Path) -> str:
    """Return the ending that names the format, without that of gzip."""
    return next((ending.lower() for ending in _endings(path) if ending.lower() != ".gz"), "")


def _accepted(names: Sequence[str] | None, model: BaseDiscoverer) -> list[Any] | None:
    """Return the novel classes of these names, in the type that the model has."""
    from newfound.runs.names import class_named, class_names

    if names is None:
        return None
    known = class_names(model)[: len(model.known_classes_)]
    for name in names:
        if name.strip() in known:
            raise InputError(f"Got --accept {name}, which is a known class already; name novel classes.")
    return [class_named(name, model) for name in names]


def _texts(predicted: Any, unlabelled: Any) -> list[str | None]:
    """Return the new label of each row as text; None where a row keeps what it has."""
    from newfound.tables.cells import is_missing, text_of

    return [
        text_of(label) if free and not is_missing(label) and label != -1 else None
        for label, free in zip(predicted.tolist(), unlabelled.tolist(), strict=True)
    ]


def _named(
    labels: Sequence[str | None], file: TableFile, given: Target, names: str | None, output: Output
) -> list[str | None]:
    """Return labels as they are written: such that no spreadsheet runs them, where one may open the file."""
    from newfound.runs.labelling import Naming

    if file.format not in _SPREADSHEETS:
        return list(labels)
    distinct = sorted({label for label in labels if label is not None})
    written = Naming.chosen(names, own=given.labels).written(distinct, output.note)
    of = dict(zip(distinct, written, strict=True))
    return [None if label is None else of[label] for label in labels]


def _write(file: TableFile, path: Path, target: str, labels: Sequence[str | None], *, force: bool) -> None:
    from newfound.tables.cells import is_missing, text_of
    from newfound.tables.files.writing import write_file

    before = file.cells(target)
    if file.format in ("Parquet", "Feather") and any(labels):  # of which a column has one type
        before = [None if is_missing(cell) else text_of(cell) for cell in before]
    cells = [cell if label is None else label for cell, label in zip(before, labels, strict=True)]
    with new_file(path, force=force) as fresh:
        write_file(file, fresh, target, cells, compress=path.suffix.lower() == ".gz")


def _conclude(
    model: BaseDiscoverer, file: TableFile, labels: Sequence[str | None], n_free: int, path: Path, output: Output
) -> None:
    from collections import Counter

    from newfound.runs.names import class_names

    novel = set(class_names(model)[len(model.known_classes_) :])
    counts = Counter(label for label in labels if label is not None)
    n_left = n_free - counts.total()
    output.say(
        f"{counted(file.n_rows, 'row')}: {file.n_rows - n_free:,} had a label, {counts.total():,} got one, "
        f"{n_left:,} stay unlabelled."
    )
    if counts:
        output.table(
            ("class", "", "new rows"),
            [(name, "was novel" if name in novel else "known", f"{n:,}") for name, n in counts.most_common()],
            numbers=("new rows",),
        )
    output.say(f"Written to {path}")
    output.finish(
        {
            "rows": file.n_rows,
            "labelled_before": file.n_rows - n_free,
            "new_labels": dict(counts.most_common()),
            "unlabelled": n_left,
            "file": str(path),
        }
    )
