"""`newfound evaluate`: score a model on a table whose classes are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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
from newfound.cli.output import Output, percent
from newfound.cli.reading import Format, load_model, read_columns, read_table_file
from newfound.counting import counted
from newfound.errors import InputError

_SCORES = ("acc", "bacc", "nmi", "ari")
_TOTALS = ("true class", "rows")
_MOST_TOLD = 4


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
    each is paired with at most one true class, such that most rows are right; the pairs are printed, and what became of
    the rows of each true class. Rows without a class are left out:

        newfound evaluate model.newfound test.csv --target attack
    """
    output = Output(as_json)
    found = load_model(model, output)
    file = read_table_file(table, Format(delimiter, encoding, decimal, sheet, max_memory), output)
    from newfound.discoverers.reading import Reading
    from newfound.metrics import match_novel_classes, open_world_scores
    from newfound.runs.labelling import label_rows
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
    known = predicted.classes[: predicted.n_known]
    scores = open_world_scores(
        y_true, predicted.names, known, novelty=novelty, told_novel=None if told is None else told.names
    )
    matching = match_novel_classes(y_true, predicted.names, known)
    confusion = Confusion.of(y_true.tolist(), predicted.names, predicted.classes)
    _print(scores, output)
    _print_matching(matching, confusion, output)
    _print_confusion(confusion, output)
    output.finish(
        {"table": str(table), "target": target, **scores, "matching": matching, "confusion": confusion._asdict()}
    )


class Confusion(NamedTuple):
    """How many rows of each true class got each class.

    Attributes
    ----------
    true : list of str
        True classes: known ones in the order of the model, then the others.
    found : list of str
        Classes that some row got, in the order of the model.
    rows : list of list of int
        One list for each true class.
    """

    true: list[str]
    found: list[str]
    rows: list[list[int]]

    @classmethod
    def of(cls, y_true: Sequence[str], y_pred: Sequence[str], classes: Sequence[str]) -> Confusion:
        """Count the rows; `classes` are those of the model, in its order."""
        counts = Counter(zip(y_true, y_pred, strict=True))
        there, got = ({pair[side] for pair in counts} for side in (0, 1))
        true = [name for name in classes if name in there] + sorted(there - set(classes))
        found = [name for name in classes if name in got]
        return cls(true, found, [[counts[truth, other] for other in found] for truth in true])


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
        [(name, f"{scores['rows']:,}", *(f"{100 * scores[score]:.1f}" for score in _SCORES)) for name, scores in shown],
        numbers=("rows", *(name.upper() for name in _SCORES)),
    )
    output.say("In percent, higher is better.")
    if scores["auroc"] is not None:
        output.say(f"Known against novel rows, told apart by the novelty score: AUROC {100 * scores['auroc']:.1f}")


def _print_matching(matching: Mapping[str, str | None], confusion: Confusion, output: Output) -> None:
    """Print the true class that each found novel class stands for, and how much of both they share."""
    output.say("")
    if not matching:
        return
    lines = []
    for name in (name for name in confusion.found if name in matching):
        partner, column = matching[name], confusion.found.index(name)
        n_found = sum(row[column] for row in confusion.rows)
        if partner is None:
            lines.append((name, "none", f"{n_found:,}", "-", "-"))
            continue
        row = confusion.rows[confusion.true.index(partner)]
        shared = row[column]
        lines.append((name, partner, f"{n_found:,}", percent(shared / n_found), percent(shared / sum(row))))
    output.say("Novel classes, and the true classes they are paired with:")
    numbers = ("rows", "precision", "recall")
    output.table(("found class", "true class", *numbers), lines, numbers=numbers)


def _print_confusion(confusion: Confusion, output: Output) -> None:
    """Print how many rows of each true class got each class; where these have no room side by side, the largest."""
    output.say("Rows of each true class, by the class they got:")
    lines: list[tuple[str, ...]] = [
        (name, f"{sum(row):,}", *(f"{n:,}" if n else "." for n in row))
        for name, row in zip(confusion.true, confusion.rows, strict=True)
    ]
    headings = (*_TOTALS, *confusion.found)
    if len(set(headings)) == len(headings) and output.has_room(headings, lines):
        output.table(headings, lines, numbers=headings[1:])
        return
    lines = []
    for name, row in zip(confusion.true, confusion.rows, strict=True):
        most = sorted(zip(row, confusion.found, strict=True), key=lambda cell: -cell[0])
        told = [f"{other} {n:,}" for n, other in most if n]
        more = f" and {counted(len(told) - _MOST_TOLD, 'more class', 'more classes')}" if len(told) > _MOST_TOLD else ""
        lines.append((name, f"{sum(row):,}", f"{', '.join(told[:_MOST_TOLD])}{more}"))
    output.table((*_TOTALS, "got"), lines, numbers=("rows",))
