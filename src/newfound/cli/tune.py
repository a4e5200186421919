"""`newfound tune`: find the settings of a method that find hidden classes best."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from newfound.cli.methods import check_method, check_novel_classes
from newfound.cli.options import (
    DecimalOption,
    DelimiterOption,
    DeviceOption,
    EncodingOption,
    ForceOption,
    IgnoreOption,
    JsonOption,
    KindOption,
    MaxMemoryOption,
    NovelClassesOption,
    SeedOption,
    SheetOption,
    TableArgument,
    TargetOption,
    UnlabelledOption,
)
from newfound.cli.output import Output
from newfound.cli.reading import Format, read_task
from newfound.cli.writing import check_new, new_file, write_json
from newfound.counting import counted
from newfound.errors import InputError, TrainingInterrupted
from newfound.registry import registered
from newfound.runs.building import build

_SHOWN = 5
_NOT_TUNED = {"auto", "in_context"}


def tune(
    table: TableArgument,
    target: TargetOption,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help=f"One of {', '.join(sorted({*registered()} - _NOT_TUNED))}.",
        ),
    ] = "tabular_ncd",
    novel_classes: NovelClassesOption = "auto",
    trials: Annotated[int, typer.Option("--trials", min=1, help="Settings to try, earlier ones included.")] = 50,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", metavar="SECONDS", help="After which no more fits are begun.")
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option("--max-rows", metavar="N", help="Score settings on a sample of so many rows.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Settings to write; tuned-METHOD.json by default."),
    ] = None,
    seed: SeedOption = 0,
    unlabelled: UnlabelledOption = None,
    ignore: IgnoreOption = None,
    kind: KindOption = None,
    device: DeviceOption = "auto",
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    decimal: DecimalOption = None,
    sheet: SheetOption = None,
    max_memory: MaxMemoryOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Search for the settings of a method that suit a table.

    Known classes are hidden in turn, and settings are scored by how well these are found again; no label of a novel
    class is needed, but three known classes are. Trials are kept: the same command continues a search. Then:

        newfound discover TABLE --target COLUMN --settings tuned-tabular_ncd.json
    """
    output = Output(as_json)
    if check_method(method) in _NOT_TUNED:
        raise InputError(
            f"Got --method {method}, which has nothing to tune: it makes its choices itself. Tune another method."
        )
    n_novel = check_novel_classes(novel_classes)
    path = Path(f"tuned-{method}.json") if out is None else out
    check_new(path, force=force)
    form = Format(delimiter, encoding, decimal, sheet, max_memory)
    task = read_task(table, target, form, output, unlabelled=unlabelled, ignore=ignore, kind=kind, method="auto")
    import newfound
    from newfound.tables import TableEncoder

    encoder = TableEncoder(kinds=task.kinds) if task.kinds else None
    try:
        with output.busy("Tuning"), output.speaking_of(table, target):
            result = newfound.tune(
                build(method, n_novel, {}, encoder=encoder, random_state=seed, device=device),
                task.table,
                task.target.labels,
                n_trials=trials,
                time_limit=time_limit,
                max_rows=max_rows,
                random_state=seed,
                verbose=int(output.shows_progress),
            )
    except (KeyboardInterrupt, TrainingInterrupted):
        output.note("interrupted; trials that ended are kept, and the same command continues.")
        raise
    facts = {
        "method": method,
        "settings": result.best_params,
        "score": result.best_score,
        "score_as_given": result.default_score,
        "novel_classes": result.n_novel_classes,
        "trials": len(result.trials),
    }
    with new_file(path, force=force) as fresh:
        write_json(fresh, facts)
    _print(result, output)
    given = {
        "--settings": path,
        "--novel-classes": None if n_novel == "auto" else n_novel,
        "--unlabelled": unlabelled,
        "--ignore": ignore,
        "--kind": kind,
        "--delimiter": delimiter,
        "--encoding": encoding,
        "--decimal": decimal,
        "--sheet": sheet,
    }
    output.say(f"Written to {path}; use it: {_command('discover', table, target, given)}")
    output.finish({**facts, "file": str(path), "kept_in": result.storage})


def _print(result: Any, output: Output) -> None:
    best = sorted((trial for trial in result.trials if trial["state"] == "complete"), key=lambda trial: -trial["score"])
    output.say(f"{counted(len(result.trials), 'trial')}; the best, and the method as it is (trial 0):")
    shown = [*best[:_SHOWN], *(trial for trial in best[_SHOWN:] if trial["number"] == 0)]
    trials = [f"trial {trial['number']}" for trial in shown]
    settings = [
        (name.removeprefix("encoder__"), *(_short(trial[name]) for trial in shown)) for name in result.best_params
    ]
    output.table(("", *trials), [("score", *(f"{trial['score']:.3f}" for trial in shown)), *settings], numbers=trials)
    if len(result.trials) == 1:
        output.say("No other settings were tried.")
    elif result.best_score > result.default_score:
        output.say(f"Hidden classes are found with {result.best_score:.3f} instead of {result.default_score:.3f}.")
    else:
        output.say("Nothing is clearly better than the method as it is.")


def _command(name: str, table: Path, target: str, options: Mapping[str, Any]) -> str:
    """Write a command, with the options that are not None; those with a list are repeated."""
    words = ["newfound", name, str(table), "--target", target]
    for option, value in options.items():
        values = value if isinstance(value, list) else [] if value is None else [value]
        words += [word for value in values for word in (option, str(value))]
    return shlex.join(words)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
