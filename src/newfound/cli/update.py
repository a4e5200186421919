"""`newfound update` and `newfound suggest`: the next batch, and which of its rows to label."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.curate import OutOption, place_of
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
    UnlabelledOption,
)
from newfound.cli.output import Output, percent
from newfound.cli.reading import Format, load_model, read_columns, read_table_file, stem_of
from newfound.cli.writing import check_new, new_file, new_files, writing_to
from newfound.counting import counted
from newfound.errors import InputError
from newfound.runs.labels_file import write_labels

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer
    from newfound.tables.files import TableFile

TargetOption = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COLUMN", help="Column with the labels of some rows, where there is one."),
]


def update(
    model: ModelArgument,
    table: TableArgument,
    target: TargetOption = None,
    unlabelled: UnlabelledOption = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="CSV with the class of each row; TABLE-labels.csv by default."),
    ] = None,
    out: OutOption = None,
    names: NamesOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    decimal: DecimalOption = None,
    sheet: SheetOption = None,
    max_memory: MaxMemoryOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Take the next batch: classes stay, new ones are added.

    Rows that fit no class are searched for new ones. Labels in --target may name known, found or further classes.
    Changes MODEL itself with --force, or writes another with --out:

        newfound update newfound-attacks/model.newfound monday.csv --force
    """
    output = Output(as_json)
    path = Path(f"{stem_of(table)}-labels.csv") if labels is None else labels
    place = place_of(model, out, force)
    # held from the beginning: of two runs that would change the same model, one would be lost
    with new_files({"--labels": path, "--out": place}, force=force) as (fresh_labels, fresh_model):
        found = load_model(model, output)
        form = Format(delimiter, encoding, decimal, sheet, max_memory)
        file = read_table_file(table, form, output, aloud=True)
        y = None if target is None else _labels(file, target, unlabelled, found, output)
        columns = read_columns(file, output, [] if target is None else [target])
        from newfound.runs.labelling import Naming, label_batch

        with output.busy("Updating"), output.speaking_of(table):
            told = found.update(columns, y)
            naming = Naming.chosen(names, own=[] if y is None else y)
            beside = label_batch(found, columns, told).columns(file, output.note, naming=naming)
        with writing_to(f"{path} and {place}"):
            from newfound import save

            write_labels(fresh_labels, file, beside)
            save(found, fresh_model)
    _print(told, output)
    output.say(f"Rows with their classes written to {path}")
    output.say(f"Model written to {place}")
    facts = told.to_dict()
    del facts["labels"]
    output.finish({**facts, "labels_file": str(path), "model": str(place)})


def suggest(
    model: ModelArgument,
    table: TableArgument,
    n: Annotated[int, typer.Option("--number", "-n", metavar="N", help="How many rows.")] = 20,
    target: TargetOption = None,
    unlabelled: UnlabelledOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write these rows as CSV, with an empty column label for `update --target`.",
        ),
    ] = None,
    merges: Annotated[bool, typer.Option("--merges", help="Say, too, which novel classes may be one.")] = False,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    decimal: DecimalOption = None,
    sheet: SheetOption = None,
    max_memory: MaxMemoryOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say which rows to label next.

    They are few, from all regions of the table, more where the model is unsure. Rows with a label in --target are left
    out. Row 1 is the first below the heading:

        newfound suggest newfound-attacks/model.newfound attacks.csv -n 20
    """
    output = Output(as_json)
    if n < 1:
        raise InputError(f"Got --number {n}, but expected 1 or more.")
    if out is not None:
        check_new(out, force=force)
    found = load_model(model, output)
    file = read_table_file(table, Format(delimiter, encoding, decimal, sheet, max_memory), output)
    y = None if target is None else _labels(file, target, unlabelled, found, output)
    columns = read_columns(file, output, [] if target is None else [target])
    from newfound import suggest_labels, suggest_merges

    with output.busy("Choosing rows"), output.speaking_of(table, n="--number"):
        chosen = suggest_labels(found, columns, n, y=y)
    output.table(
        ("row", "class", "probability", "reason"),
        [
            (
                f"{suggestion['row'] + 1:,}",
                str(suggestion["class"]),
                f"{suggestion['probability']:.2f}",
                suggestion["reason"],
            )
            for suggestion in chosen.table
        ],
        numbers=("row", "probability"),
    )
    facts: dict[str, Any] = {"rows": [row + 1 for row in chosen]}
    facts["suggestions"] = [{**record, "row": record["row"] + 1} for record in chosen.table]
    if merges:
        pairs = suggest_merges(found)
        output.say(
            "Novel classes that may be one:"
            if any(pair["likely"] for pair in pairs.pairs)
            else "No novel classes look like one."
        )
        for pair in pairs.pairs:
            if pair["likely"]:
                output.say(f"  {pair['first']} and {pair['second']} (overlap {pair['overlap']:.2f})")
        facts["merges"] = pairs.to_dict()
    if out is not None:
        column = _write_rows(out, file, chosen.rows.tolist(), force, output)
        facts["label_column"] = column
        output.say(f"Rows to label written to {out}; labels go into the column {column}")
    output.finish(facts)


def _labels(
    file: TableFile, target: str, unlabelled: list[str] | None, model: BaseDiscoverer, output: Output
) -> list[Any]:
    """Labels in the type of the model's classes, None where a row has none."""
    from newfound.tables.files import read_target

    found = read_target(file, target, unlabelled)
    output.note(*found.notes)
    if model.classes_.dtype.kind == "O":  # text
        return list(found.labels)
    kind = type(model.classes_.tolist()[0])
    try:
        return [None if label is None else kind(label) for label in found.labels]
    except ValueError:
        raise InputError(f"The classes of the model are numbers, but {target!r} holds other labels.") from None


def _print(told: Any, output: Output) -> None:
    n_new = len(told.new_classes)
    found = counted(n_new, "new class", "new classes") if n_new else "no new class"
    output.say(
        f"Batch {told.batch}: {counted(told.n_rows, 'row')}, {found}, {percent(told.share_unexplained)} fit no class:"
    )
    output.table(
        ("class", "", "rows", "share", "moved", "note"),
        [
            (
                str(record["class"]),
                record["kind"],
                f"{record['rows']:,}",
                percent(record["share"]),
                "" if record["distance"] is None else f"{record['distance']:.2f}",
                _note(record),
            )
            for record in told.classes
        ],
        numbers=("rows", "share", "moved"),
    )
    for doubt in told.doubts:
        output.note(doubt)


def _note(record: dict[str, Any]) -> str:
    if record["note"] == "drifts":
        return f"drifts, most in {record['column']}"
    if record["absent"]:
        return f"no rows in {counted(record['absent'], 'batch', 'batches')}"
    return "" if record["nearest"] is None else f"nearest to {record['nearest']}"


def _write_rows(out: Path, file: TableFile, rows: list[int], force: bool, output: Output) -> str:
    """Write rows of a table, with their numbers and a column for labels; returns what that is called."""
    from newfound.runs.labelling import names_beside
    from newfound.tables.files.writing import encoding_of, write_rows

    texts = list(file.text_rows())
    number, label = names_beside(file.names, ("row", "label"), output.note)
    lines = [[number, *file.names, label], *([str(row + 1), *texts[row], ""] for row in rows)]
    with new_file(out, force=force) as fresh, fresh.open("w", encoding=encoding_of(file, ()), newline="") as stream:
        write_rows(stream, lines, file.delimiter)
    return label
