"""`newfound explain`: say what each novel class is, in the words of the table."""

from __future__ import annotations

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
    SeedOption,
    SheetOption,
    TableArgument,
)
from newfound.cli.output import Output
from newfound.cli.reading import Format, given_options, load_model, read_columns, read_table_file
from newfound.cli.writing import check_new, new_file
from newfound.markup import document


def explain(
    model: ModelArgument,
    table: TableArgument,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the explanation as a page as well.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write the whole report, with the names the classes have now."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="Column of the classes, for the report.")
    ] = None,
    seed: SeedOption = 0,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    decimal: DecimalOption = None,
    sheet: SheetOption = None,
    max_memory: MaxMemoryOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what each novel class is, in the words of the table.

    For each: rules with their precision and coverage, what shifts most against the other rows, typical and borderline
    rows, the nearest known class, and reasons for doubt. The rows of a class are all that the model predicts to be of
    it, with a label or without. `discover` and the report count a row with a label to the class of its label, so their
    numbers may be smaller:

        newfound explain newfound-attacks/model.newfound attacks.csv
    """
    output = Output(as_json)
    for path, option in ((html, "--html"), (report, "--report")):
        if path is not None:
            check_new(path, force=force, option=option)
    found = load_model(model, output)
    form = Format(delimiter, encoding, decimal, sheet, max_memory)
    file = read_table_file(table, form, output)
    columns = read_columns(file, output)
    labels = None
    if target is not None:
        from newfound.tables.files import read_target

        labels = read_target(file, target).labels
    import newfound
    from newfound.discoverers.reading import Reading

    with output.busy("Explaining"), output.speaking_of(table, target):
        reading = Reading.of(found, columns)
        explanation = newfound.explain(found, reading, random_state=seed)
    output.say(*str(explanation).split("\n"))
    if explanation.classes:
        output.say("Rows are counted from 0: row 0 is the first below the heading.")
    if html is not None:
        with new_file(html, force=force, option="--html") as fresh:
            page = document(f"Novel classes in {table.name}", explanation._repr_html_())
            fresh.write_text(page, encoding="utf-8", errors="replace")
        output.say(f"Written to {html}")
    if report is not None:
        with output.busy("Writing the report"), output.speaking_of(table, target):
            from newfound.reporting import Report, report_facts

            where = {"path": str(table), "target": target, "model": str(model)}
            source = {**where, "options": given_options(form), "is_training": False}
            title = f"Novel classes in {table.name}"
            Report(report_facts(found, reading, labels, title=title, source=source)).save(report)
        output.say(f"Report: {report}")
    output.finish(explanation.to_dict())
