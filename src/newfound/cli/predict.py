"""`newfound predict`: give each row of a table a known or a novel class."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

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
)
from newfound.cli.output import Output, percent
from newfound.cli.reading import Format, load_model, read_columns, read_table_file, stem_of
from newfound.cli.writing import new_files, writing_to
from newfound.counting import counted
from newfound.errors import InputError
from newfound.runs.labels_file import write_labels


def predict(
    model: ModelArgument,
    table: TableArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="CSV to write; TABLE-labels.csv by default, - prints it."),
    ] = None,
    abstain: Annotated[
        float | None,
        typer.Option("--abstain", metavar="P", help="Leave the class empty where its probability is below P, 0 to 1."),
    ] = None,
    only_novel: Annotated[
        bool, typer.Option("--only-novel", help="The rows are known to be of no known class: choose among novel ones.")
    ] = False,
    names: NamesOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    decimal: DecimalOption = None,
    sheet: SheetOption = None,
    max_memory: MaxMemoryOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Give each row of a table a known or a novel class.

    The table needs the columns that the model learned from, in any order; others are passed on. Writes the rows in
    order, with class, probability and is_novel:

        newfound predict newfound-attacks/model.newfound tomorrow.csv
    """
    output = Output(as_json)
    path = Path(f"{stem_of(table)}-labels.csv") if out is None else out
    printed = str(path) == "-"
    if printed and as_json:
        raise InputError("Got --out - and --json, which both print to standard output; choose one of them.")
    if abstain is not None and not 0 <= abstain <= 1:
        raise InputError(f"Got --abstain {abstain:g}, but expected a probability from 0 to 1, such as 0.8.")
    # held from the beginning, so that of two runs that would write the same file one ends at once
    with nullcontext([None]) if printed else new_files({"--out": path}, force=force) as (fresh,):
        found = load_model(model, output)
        form = Format(delimiter, encoding, decimal, sheet, max_memory)
        file = read_table_file(table, form, output, aloud=True)
        columns = read_columns(file, output)
        from newfound.runs.labelling import Naming, label_rows

        naming = Naming.chosen(names)
        with output.busy("Predicting"), output.speaking_of(table):
            labelling = label_rows(found, columns, abstain=abstain, only_novel=only_novel)
        beside = labelling.columns(file, output.note, naming=naming)
        if fresh is None:
            write_labels(sys.stdout, file, beside)
            sys.stdout.flush()  # while an error can still be told
            return
        with writing_to(path):
            write_labels(fresh, file, beside)
    classes, unsure = labelling.counts(), int(labelling.unsure.sum())
    n_novel = int(labelling.is_novel.sum())
    output.say(f"{counted(file.n_rows, 'row')}, {n_novel:,} of them of novel classes:")
    output.table(
        ("class", "", "rows", "share", "probability"),
        [
            (
                record["name"],
                "novel" if record["is_novel"] else "known",
                f"{record['rows']:,}",
                percent(record["share"]),
                f"{record['probability']:.2f}",
            )
            for record in sorted(classes, key=lambda record: -int(record["rows"]))
            if record["rows"]
        ],
        numbers=("rows", "share", "probability"),
    )
    if abstain is not None:
        output.say(f"{counted(unsure, 'row')} without a class, since none had a probability of {abstain:g}.")
    output.say(f"Written to {path}")
    output.finish(
        {"rows": file.n_rows, "novel_rows": n_novel, "unsure_rows": unsure, "classes": classes, "file": str(path)}
    )
