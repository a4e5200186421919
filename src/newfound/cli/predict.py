"""`newfound predict`: give each row of a table a known or a novel class."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

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
    StreamOption,
    TableArgument,
)
from newfound.cli.output import Output, percent
from newfound.cli.reading import Format, load_model, read_columns, read_table_file, stem_of
from newfound.cli.tasks import is_streamed, open_table, proposing_stream
from newfound.cli.writing import new_files, writing_to
from newfound.counting import counted
from newfound.errors import InputError
from newfound.runs.labels_file import write_labels

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer
    from newfound.runs.labelling import Naming, Tally


_BINARY = (".parquet", ".pq", ".feather", ".arrow", ".xlsx", ".gz")  # endings of what is no CSV


def predict(
    model: ModelArgument,
    table: TableArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="CSV to write, or Parquet where that is read piece by piece; TABLE-labels.csv or TABLE-labels.parquet "
            "by default, - prints CSV.",
        ),
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
    stream: StreamOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Give each row of a table a known or a novel class.

    The table needs the columns that the model learned from, in any order; others are passed on. Writes the rows in
    order, with class, probability and is_novel:

        newfound predict newfound-attacks/model.newfound tomorrow.csv

    Parquet may be larger than memory: a folder of files, or a pattern in quotes, is read piece by piece, and the rows
    are written as Parquet.
    """
    output = Output(as_json)
    streamed = stream or is_streamed(table)
    path = Path(f"{stem_of(table)}-labels.{'parquet' if streamed else 'csv'}") if out is None else out
    printed = str(path) == "-"
    if printed and as_json:
        raise InputError("Got --out - and --json, which both print to standard output; choose one of them.")
    if streamed and path.suffix.lower() != ".parquet":
        raise InputError(
            f"Got --out {path}, but the rows of a table that is read piece by piece are written as Parquet; name a "
            "file with the ending .parquet."
        )
    if not streamed and path.suffix.lower() in _BINARY:
        more = ", or add --stream to have Parquet read and written" if table.suffix.lower() == ".parquet" else ""
        raise InputError(f"Got --out {path}, but the rows are written as CSV; name a file with the ending .csv{more}.")
    if abstain is not None and not 0 <= abstain <= 1:
        raise InputError(f"Got --abstain {abstain:g}, but expected a probability from 0 to 1, such as 0.8.")
    # held from the beginning, so that of two runs that would write the same file one ends at once
    with nullcontext([None]) if printed else new_files({"--out": path}, force=force) as (fresh,):
        found = load_model(model, output)
        from newfound.runs.labelling import Naming

        how = _How(Naming.chosen(names), abstain, only_novel)
        if streamed and fresh is not None:
            tally = _predict_stream(found, table, path, fresh, how, output)
        else:
            form = Format(delimiter, encoding, decimal, sheet, max_memory)
            tally = _predict_whole(found, table, form, path, fresh, how, output)
    if not printed:
        _conclude(tally, path, abstain, output)


class _How(NamedTuple):
    """How rows are to be predicted: see the options of the same names."""

    naming: Naming
    abstain: float | None
    only_novel: bool


def _predict_whole(
    model: BaseDiscoverer, table: Path, form: Format, path: Path, fresh: Path | None, how: _How, output: Output
) -> Tally:
    """Predict a table in memory; without a fresh place, print it."""
    from newfound.runs.labelling import label_rows

    with proposing_stream(table):
        file = read_table_file(table, form, output, aloud=True)
        columns = read_columns(file, output)
    with output.busy("Predicting"), output.speaking_of(table):
        labelling = label_rows(model, columns, abstain=how.abstain, only_novel=how.only_novel)
    beside = labelling.columns(file, output.note, naming=how.naming)
    if fresh is None:
        write_labels(sys.stdout, file, beside)
        sys.stdout.flush()  # while an error can still be told
    else:
        with writing_to(path):
            write_labels(fresh, file, beside)
    return labelling.tally()


def _predict_stream(model: BaseDiscoverer, table: Path, path: Path, fresh: Path, how: _How, output: Output) -> Tally:
    """Predict a table that is read piece by piece."""
    from newfound.runs.labelling import COLUMNS, DOUBT, names_beside
    from newfound.runs.streams import label_stream
    from newfound.tables.streams import refuse_to_overwrite

    stream = open_table(table, output)
    with output.busy("Predicting"), output.speaking_of(table, path="--out"), writing_to(path):
        refuse_to_overwrite(stream, path)
        names = names_beside(stream.column_names(), [name for name in COLUMNS if name != DOUBT], output.note)
        return label_stream(model, stream, fresh, names=names, note=output.note, **how._asdict()).tally


def _conclude(tally: Tally, path: Path, abstain: float | None, output: Output) -> None:
    """Say how many rows each class has."""
    classes = tally.counts()
    output.say(f"{counted(tally.n_rows, 'row')}, {tally.n_novel:,} of them of novel classes:")
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
        output.say(f"{counted(tally.n_unsure, 'row')} without a class, since none had a probability of {abstain:g}.")
    output.say(f"Written to {path}")
    output.finish(
        {
            "rows": tally.n_rows,
            "novel_rows": tally.n_novel,
            "unsure_rows": tally.n_unsure,
            "classes": classes,
            "file": str(path),
        }
    )
