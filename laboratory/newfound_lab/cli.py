"""`newfound-lab`: measure discoverers on benchmarks, and show the results beside the paper's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.app import HELP
from newfound.errors import InputError
from newfound_lab.benchmark.commands import benchmark
from newfound_lab.pretrain.commands import pretrain
from newfound_lab.research.commands import research

if TYPE_CHECKING:
    from newfound_lab.datasets import Benchmark
    from newfound_lab.runner.results import ResultFile
    from newfound_lab.runner.runner import RunSummary
    from newfound_lab.suites.trials import Trial

# Plain help and plain tracebacks, as of `newfound`: the decorated ones import rich.
app = typer.Typer(
    name="newfound-lab",
    help="Measure discoverers on benchmarks, and compare with the paper.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=HELP,
)

SuiteOption = Annotated[
    str,
    typer.Option(
        "--suite", help="What to measure: paper, extra, all, label-free, open-world or mixed; see `newfound-lab list`."
    ),
]
DatasetsOption = Annotated[
    list[str] | None, typer.Option("--datasets", metavar="NAMES", help="Only these benchmarks, e.g. letter,satimage.")
]
MethodsOption = Annotated[
    list[str] | None, typer.Option("--methods", metavar="NAMES", help="Only these methods, e.g. tabular_ncd,kmeans.")
]
ExperimentsOption = Annotated[
    list[str] | None, typer.Option("--experiments", metavar="NAMES", help="Only these experiments, e.g. main,ablation.")
]
SeedsOption = Annotated[
    int,
    typer.Option(
        "--seeds",
        help="How many seeds, from 0 on; sweeps, label_free and open_world have at most 3; in mixed, class splits.",
    ),
]
OutOption = Annotated[
    Path, typer.Option("--out", help="Folder of the results: results.jsonl, and other .jsonl files beside it.")
]
DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", exists=True, file_okay=False, help="Folder with the benchmarks' files; by default NEWFOUND_DATA."
    ),
]

DEFAULT_OUT = Path("newfound-bench")
_MOST_MISSING = 15  # lines of what is missing, so that the table above them stays in sight
app.add_typer(benchmark, name="benchmark")
app.add_typer(research, name="research")
app.add_typer(pretrain, name="pretrain")


def main() -> None:
    """Run the command line and leave with its exit code, which means the same as that of `newfound`."""
    from newfound.cli import start
    from newfound.cli.app import run

    start(partial(run, commands=app, name="newfound-lab"))


@app.command("run")
def run_bench(
    suite: SuiteOption = "paper",
    datasets: DatasetsOption = None,
    methods: MethodsOption = None,
    experiments: ExperimentsOption = None,
    seeds: SeedsOption = 10,
    jobs: Annotated[int, typer.Option("--jobs", help="How many processes measure at a time.")] = 1,
    ray: Annotated[
        str | None, typer.Option("--ray", help="Measure on the Ray cluster at this address, such as auto, instead.")
    ] = None,
    out: OutOption = DEFAULT_OUT,
    device: Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")] = "auto",
    data_dir: DataDirOption = None,
) -> None:
    """Measure what is not measured yet.

    Each result is written at once. If a run stops for any reason, the same command continues it.
    """
    trials = _planned(suite, datasets, methods, experiments, seeds)
    if jobs < 1:
        raise InputError(f"Got --jobs {jobs}, but expected a whole number of at least 1.")
    from newfound.discoverers.parameters import pick_device
    from newfound_lab.runner.progress import progress_for_terminal  # after these: it takes seconds to import torch
    from newfound_lab.runner.runner import run

    pick_device(device)  # a device that is not there is a mistake
    results = _results(out)
    done = results.keys
    n_done = sum(trial.key in done for trial in trials)
    typer.echo(f"{len(trials)} trials, {n_done} of them done, {len(trials) - n_done} to measure.")
    settings: dict[str, Any] = {"device": device, "data_dir": data_dir, "progress": progress_for_terminal()}
    if ray is None:
        summary = run(trials, results, jobs=jobs, **settings)
    else:
        from newfound.scale import RayExecutor

        with RayExecutor(ray) as machines:
            summary = run(trials, results, jobs=machines.n_workers, executor=machines, **settings)
    _tell(summary, results)
    if code := _exit_code(summary):
        raise typer.Exit(code)


@app.command("status")
def show_status(
    suite: SuiteOption = "paper",
    datasets: DatasetsOption = None,
    methods: MethodsOption = None,
    experiments: ExperimentsOption = None,
    seeds: SeedsOption = 10,
    out: OutOption = DEFAULT_OUT,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Show how much of each experiment is measured."""
    status = _status(_planned(suite, datasets, methods, experiments, seeds), _results(out))
    if as_json:
        typer.echo(json.dumps(status, indent=2))
    else:
        _print_status(status)


@app.command("list")
def show_list(data_dir: DataDirOption = None) -> None:
    """Show the suites, experiments, methods and benchmarks there are."""
    from newfound_lab.datasets.files import data_folders
    from newfound_lab.datasets.registry import BENCHMARKS
    from newfound_lab.suites.experiments import METHOD_NAMES, SUITES, experiments_of
    from newfound_lab.suites.mixed import MIXED_METHODS

    data_folders(data_dir)  # a folder that is not there is a mistake, and not merely without data
    _print_columns(
        [
            *([f"suite {name}", ", ".join(members)] for name, members in SUITES.items()),
            ["experiments", ", ".join(experiments_of("all"))],
            *([f"  of {suite}", ", ".join(experiments_of(suite))] for suite in ("label-free", "open-world", "mixed")),
            ["methods", ", ".join(METHOD_NAMES)],
            ["  of mixed", ", ".join(MIXED_METHODS)],
        ]
    )
    typer.echo()
    heading = ["benchmark", "rows", "columns", "known", "novel", "data here", "regime", "licence of the data"]
    _print_columns([heading, *(_facts(benchmark, data_dir) for benchmark in BENCHMARKS.values())])


@app.command("tables")
def make_tables(
    out: OutOption = DEFAULT_OUT,
    to: Annotated[
        Path | None, typer.Option(help="Folder of the tables; by default `tables` in that of the results.")
    ] = None,
) -> None:
    """Write the paper's tables, our figures beside its own.

    Each is written as markdown, LaTeX and HTML; index.html has all of them.
    """
    from newfound_lab.pages.tables import write_tables

    files = write_tables(_measured(out), to or out / "tables")
    typer.echo(f"{len(files)} files; all tables on one page: {files[-1]}")


@app.command("figures")
def make_figures(
    out: OutOption = DEFAULT_OUT,
    to: Annotated[
        Path | None, typer.Option(help="Folder of the figures; by default `figures` in that of the results.")
    ] = None,
) -> None:
    """Draw the paper's figures from the results, as PNG and SVG."""
    from newfound_lab.pages.figures import write_figures

    folder = to or out / "figures"
    figures = write_figures(_measured(out), folder)
    typer.echo(f"Figures in {folder}, each as PNG and SVG: {', '.join(figures) or 'none; no result is shown in one'}")


@app.command("page")
def make_page(
    template: Annotated[Path, typer.Argument(help="Markdown with placeholders such as {{table:main}}.")],
    page: Annotated[Path, typer.Argument(help="The page to write; its figures go to images/PAGE beside it.")],
    out: OutOption = DEFAULT_OUT,
) -> None:
    """Fill the tables, figures and values of a page from the results.

    Placeholders are {{table:NAME}} and {{figure:NAME}}, named like the files that `tables` and `figures` write;
    {{value:EXPERIMENT/DATASET/METHOD/VARIANT/PROTOCOL/METRIC}} for a mean over seeds, as in
    {{value:main/letter/kmeans/default/inductive/acc}}, and {{paper:...}} for the paper's figure; {{value±:...}} and
    {{paper±:...}} with the standard deviation; {{facts:versions}} and {{facts:devices}}. Of the suite label-free:
    {{label_free:DATASET/METHOD/K/CLASS_SPLIT/METRIC}}, as in {{label_free:letter/auto/given/0/acc}}, and
    {{n_classes:DATASET/CRITERION/METRIC}}, as in {{n_classes:all/combined/within_1}}. Of the suite open-world:
    {{open_world:DATASET/METHOD/METRIC}}, as in {{open_world:letter/auto/all_acc}}. Of the suite mixed:
    {{mixed:SETTING/METHOD/METRIC}}, as in {{mixed:half/routed/all_acc}}.
    """
    from newfound.writing import replacing
    from newfound_lab.pages.figures import write_figures
    from newfound_lab.pages.page import figures_in, fill

    if template.resolve() == page.resolve():
        raise InputError(f"Got {page} as template and as page, but expected two files; the template would be lost.")
    try:
        text = template.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot read the template {template}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"Cannot read the template {template}: it is not text in UTF-8.") from None
    lines = _measured(out)
    images = f"images/{page.stem}"
    fill(text, lines, {}, images)  # mistakes in the template show before the figures are drawn, which takes a while
    figures = write_figures(lines, page.parent / images, figures_in(text))
    filled, absent = fill(text, lines, figures, images)
    try:
        with replacing(page) as fresh:
            fresh.write_text(filled, encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot write {page}: {error.strerror}. Choose another place.") from None
    if absent:
        typer.echo(f"Not measured, so the page says so: {', '.join(absent)}", err=True)
    typer.echo(f"{page}, with its figures in {page.parent / images}")


def _results(out: Path) -> ResultFile:
    """Read the results in a folder, and tell what was noticed."""
    from newfound_lab.runner.results import ResultFile

    results = ResultFile(out)
    for note in results.notes:
        typer.echo(note, err=True)
    return results


def _measured(out: Path) -> list[dict[str, Any]]:
    """Lines of the results in a folder; an InputError where there are none."""
    lines = _results(out).lines
    if not lines:
        raise InputError(f"There are no results in {out}; measure first with `newfound-lab run --out {out}`.")
    return lines


# ---- what is asked for


def _planned(
    suite: str,
    datasets: list[str] | None,
    methods: list[str] | None,
    experiments: list[str] | None,
    seeds: int,
) -> list[Trial]:
    from newfound_lab.suites.experiments import plan

    return plan(
        suite, datasets=_names(datasets), methods=_names(methods), experiments=_names(experiments), n_seeds=seeds
    )


def _names(given: list[str] | None) -> list[str] | None:
    """Read "a,b" and a repeated option alike; None where the option was not given."""
    if not given:
        return None
    return list(dict.fromkeys(name.strip() for text in given for name in text.split(",") if name.strip()))


# ---- what is printed


def _facts(benchmark: Benchmark, data_dir: Path | None) -> list[str]:
    """Make a row of `newfound-lab list`: size of the official table, classes, and what of it is here."""
    from newfound_lab.datasets.lookup import find_table

    here = "yes"
    if benchmark.file:
        try:
            _, benchmark = find_table(benchmark, data_dir, download=False)
            here = "yes" if benchmark.scoreable else "sample"
        except InputError:
            here = "no"
    source = benchmark.source
    size = ["-", "-"] if source is None else [f"{source.rows:,}", str(source.columns)]
    classes = [str(len(benchmark.known)), str(len(benchmark.novel))]
    return [benchmark.name, *size, *classes, here, benchmark.regime, "-" if source is None else source.licence]


def _tell(summary: RunSummary, results: ResultFile) -> None:
    """Say what a run has done, and what to do next."""
    n_done = summary.n_before + summary.n_measured
    names: dict[str, list[str]] = {}
    for failure in summary.failures:
        names.setdefault(failure.error, []).append(failure.name)
    for error, (first, *others) in names.items():  # one cause often fails many
        typer.echo(f"Failed: {first}{f' and {len(others)} more' if others else ''}: {error}", err=True)
    if summary.log is not None:
        typer.echo(f"The tracebacks are in {summary.log}", err=True)
    failed = sum(failure.n_trials for failure in summary.failures)
    counts = f"{summary.n_measured} measured now, {summary.n_before} before" + (f", {failed} failed" if failed else "")
    typer.echo(f"{n_done} of {summary.n_planned} trials are done ({counts}), in {results.path}")
    if summary.interrupted:
        typer.echo("Interrupted; the same command continues.", err=True)
    elif failed:
        typer.echo("The same command tries again what failed.", err=True)
    else:
        typer.echo(f"Next: newfound-lab tables --out {results.folder}")


def _exit_code(summary: RunSummary) -> int:
    if summary.interrupted:
        return 130
    if any(not failure.users_mistake for failure in summary.failures):
        return 1
    return 2 if summary.failures else 0


def _status(trials: Sequence[Trial], results: ResultFile) -> dict[str, Any]:
    """Count what is done of each experiment and benchmark, and list what is not."""
    done = results.keys
    missing = [trial for trial in trials if trial.key not in done]
    planned, lacking = (Counter((trial.experiment, trial.dataset) for trial in some) for some in (trials, missing))
    experiments: dict[str, dict[str, dict[str, int]]] = {}
    for (experiment, dataset), n in planned.items():
        counts = {"planned": n, "done": n - lacking[experiment, dataset]}
        experiments.setdefault(experiment, {})[dataset] = counts
    return {
        "folder": str(results.folder),
        "planned": len(trials),
        "done": len(trials) - len(missing),
        "experiments": experiments,
        "missing": [asdict(trial) for trial in missing],
        "others": len(done - {trial.key for trial in trials}),
        "notes": results.notes,
    }


def _print_status(status: dict[str, Any]) -> None:
    experiments = status["experiments"]
    datasets = list(dict.fromkeys(dataset for counts in experiments.values() for dataset in counts))
    rows = [["", *datasets]]
    for experiment, counts in experiments.items():
        cells = (counts.get(dataset) for dataset in datasets)
        rows.append([experiment, *(f"{cell['done']}/{cell['planned']}" if cell else "-" for cell in cells)])
    _print_columns(rows)
    if status["missing"]:
        typer.echo("\nMissing:")
        names = ("experiment", "dataset", "method", "variant", "protocol")
        groups = Counter(tuple(trial[name] for name in names) for trial in status["missing"])
        shown = list(groups.items())[:_MOST_MISSING]
        _print_columns([["  " + group[0], *group[1:], str(n)] for group, n in shown])
        if len(groups) > len(shown):
            typer.echo(f"  and {len(groups) - len(shown)} more; --json lists all")
    others = f" {status['others']} more are not of this selection." if status["others"] else ""
    typer.echo(f"\n{status['done']} of {status['planned']} trials are done, in {status['folder']}.{others}")


def _print_columns(rows: Iterable[Sequence[str]]) -> None:
    """Print cells below one another; the first row may be a heading."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
