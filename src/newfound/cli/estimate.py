"""`newfound estimate`: how many novel classes there are."""

from __future__ import annotations

from typing import Annotated

import typer

from newfound.cli.options import (
    DecimalOption,
    DelimiterOption,
    EncodingOption,
    IgnoreOption,
    JsonOption,
    KindOption,
    MaxMemoryOption,
    SeedOption,
    SheetOption,
    TableArgument,
    TargetOption,
    UnlabelledOption,
)
from newfound.cli.output import Output, percent
from newfound.cli.reading import Format, read_task
from newfound.counting import counted

_BAR = 30
_LEAST_SHOWN = 0.005


def estimate(
    table: TableArgument,
    target: TargetOption,
    max_classes: Annotated[
        int | None,
        typer.Option("--max-classes", min=1, help="The largest number to consider, 40 unless told."),
    ] = None,
    seed: SeedOption = 0,
    unlabelled: UnlabelledOption = None,
    ignore: IgnoreOption = None,
    kind: KindOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    decimal: DecimalOption = None,
    sheet: SheetOption = None,
    max_memory: MaxMemoryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate how many novel classes a table has.

    The unlabelled rows are taken to be of novel classes. The estimate is the middle of the probabilities, so that fewer
    and more are about as likely; another number may be the most probable. Discovers nothing, and writes no file:

        newfound estimate attacks.csv --target attack
    """
    output = Output(as_json)
    form = Format(delimiter, encoding, decimal, sheet, max_memory)
    # no labels at all are no reason to refuse: the unlabelled rows can be counted all the same
    task = read_task(table, target, form, output, unlabelled=unlabelled, ignore=ignore, kind=kind, method="kmeans")
    from newfound import estimate_n_novel_classes
    from newfound.tables import TableEncoder

    with output.busy("Counting the novel classes"), output.speaking_of(table, target):
        found = estimate_n_novel_classes(
            task.table,
            task.target.labels,
            max_classes=max_classes,
            encoder=TableEncoder(kinds=task.kinds) if task.kinds else None,
            random_state=seed,
        )
    low, high = found.interval
    range_ = "" if low == high else f", probably {low} to {high}"
    n_rows = counted(int(task.target.unlabelled.sum()), "unlabelled row")
    output.say(f"{counted(found.n_classes, 'novel class', 'novel classes')} in {n_rows}{range_}.")
    if not task.target.unlabelled.all():
        output.say("All unlabelled rows are taken for novel here; discover first sets aside those of known classes.")
    curve = [{"n_classes": point["k"], "probability": point["combined"]} for point in found.curve]
    output.table(
        ("novel classes", "probability", ""),
        [
            (point["n_classes"], percent(point["probability"]), "#" * round(_BAR * point["probability"]))
            for point in curve
            if point["probability"] >= _LEAST_SHOWN
        ],
        numbers=("novel classes", "probability"),
    )
    for doubt in found.doubts:
        output.say(f"Doubt: {doubt}.")
    doubts = list(found.doubts)
    output.finish({"n_classes": found.n_classes, "interval": [low, high], "curve": curve, "doubts": doubts})
