"""`newfound evaluate`: score a model on a table whose classes are known."""

from __future__ import annotations

from typing import Any

from newfound.cli.options import (
    DecimalOption,
    DelimiterOption,
    EncodingOption,
    JsonOption,
    MaxMemoryOption,
    ModelArgument,
    SheetOption,
    TableArgument,
    TargetOption,
    UnlabelledOption,
)
from newfound.cli.output import Output, counted
from newfound.cli.reading import Format, load_model, read_columns, read_table_file
from newfound.errors import InputError

_SCORES = ("acc", "bacc", "nmi", "ari")


def evaluate(
    model: ModelArgument,
    table: TableArgument,
    target: TargetOption,
    unlabelled: UnlabelledOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    decimal: DecimalOption = None,
    sheet: SheetOption = None,
    max_memory: MaxMemoryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score a model on a table whose classes are known.

    Rows of a class that the model knows count as right if they get its name. Novel classes have names of their own, so
    each is paired with at most one true class, such that most rows are right. Rows without a class are left out:

        newfound evaluate model.newfound test.csv --target attack
    """
    output = Output(as_json)
    found = load_model(model, output)
    file = read_table_file(table, Format(delimiter, encoding, decimal, sheet, max_memory), output)
    from newfound.cli.labelling import label_rows
    from newfound.discoverers.reading import Reading
    from newfound.metrics import open_world_scores
    from newfound.tables.files import read_target

    truth = read_target(file, target, unlabelled)
    output.note(*truth.notes)
    rows = (~truth.unlabelled).nonzero()[0]
    if not len(rows):
        raise InputError(
            f"No row of {table} has a class in {target!r}, so nothing can be scored; name another --target."
        )
    if len(rows) < file.n_rows:
        output.note(f"{counted(file.n_rows - len(rows), 'row')} without a class in {target!r} left out.")
    columns = read_columns(file, output).take(rows)
    y_true = truth.labels[rows].astype(str)
    with output.busy("Predicting"), output.speaking_of(table):
        reading = Reading.of(found, columns)
        predicted = label_rows(found, reading)
        told = label_rows(found, reading, only_novel=True) if found.n_novel_classes_ else None
        novelty = found.novelty_score(reading)
    scores = open_world_scores(
        y_true,
        predicted.names,
        predicted.classes[: predicted.n_known],
        novelty=novelty,
        told_novel=None if told is None else told.names,
    )
    _print(scores, output)
    output.finish({"table": str(table), "target": target, **scores})


def _print(scores: dict[str, Any], output: Output) -> None:
    names = {
        "known": "known classes",
        "novel": "novel classes",
        "all": "all",
        "told_novel": "novel, if told that they are",
    }
    shown = [(name, scores[key]) for key, name in names.items() if scores.get(key) is not None]
    output.table(
        ("rows of", "rows", *(name.upper() for name in _SCORES)),
        [(name, f"{one['rows']:,}", *(f"{100 * one[score]:.1f}" for score in _SCORES)) for name, one in shown],
        numbers=("rows", *(name.upper() for name in _SCORES)),
    )
    output.say("In percent, higher is better.")
    if scores["auroc"] is not None:
        output.say(f"Known against novel rows, told apart by the novelty score: AUROC {100 * scores['auroc']:.1f}")
