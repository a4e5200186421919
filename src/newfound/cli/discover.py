"""`newfound discover`: find the novel classes of a table."""

from __future__ import annotations

import shlex
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.methods import check_method, check_novel_classes, read_settings
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
    NamesOption,
    NovelClassesOption,
    SeedOption,
    SheetOption,
    StreamOption,
    TableArgument,
    TargetOption,
    UnlabelledOption,
)
from newfound.cli.output import Output, percent
from newfound.cli.reading import Format, read_task, stem_of
from newfound.cli.tasks import Task, WholeTable, is_streamed, proposing_stream, read_stream
from newfound.cli.writing import new_folder, write_json, writing_to
from newfound.counting import counted
from newfound.deadline import Deadline
from newfound.errors import InputError
from newfound.plain import EXACT
from newfound.registry import registered
from newfound.runs.building import build

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer
    from newfound.runs.labelling import Naming

MODEL, REPORT, RUN = "model.newfound", "report.html", "run.json"

_MOST_DOUBTS = 5
# Shares of the time that is left, of a command with a limit; with a report, and without one.
_TIME_TO_FIT, _TIME_TO_FIT_ALONE, _TIME_TO_REPORT = 0.6, 0.8, 0.8
_LEAST_TIME = 0.1  # seconds
_LONG_WORK = 2_000  # rows, from which on the user is told how long it may take


def discover(
    table: TableArgument,
    target: TargetOption,
    novel_classes: NovelClassesOption = "auto",
    method: Annotated[
        str | None,
        typer.Option("--method", "-m", metavar="NAME", help=f"One of {', '.join(registered())}; auto by default."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Folder of the results; newfound-TABLE by default."),
    ] = None,
    seed: SeedOption = 0,
    unlabelled: UnlabelledOption = None,
    rows: Annotated[
        str | None,
        typer.Option(
            "--rows",
            metavar="novel|mixed|auto",
            help="What the unlabelled rows are: all of novel classes, or mixed with rows of known ones; auto finds "
            "out. By default auto for the method auto, and novel for the others.",
        ),
    ] = None,
    ignore: IgnoreOption = None,
    kind: KindOption = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit", metavar="SECONDS", help="For the method auto: how long the whole command may take."
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Whether report.html is made, which takes some seconds.")
    ] = True,
    settings: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE", help="Method and settings that `newfound tune` found.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="DIR",
            help="Save the state of the training to this folder; after a crash, the same command continues from there. "
            "For methods that train networks.",
        ),
    ] = None,
    device: DeviceOption = "auto",
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
    """Find the novel classes of a partly labelled table.

    Rows with a label in the target column are of known classes; rows without one are searched for novel classes. Where
    some of these may be of known classes too, they are told apart first (--rows):

        newfound discover attacks.csv --target attack

    The folder of the results gets labels.csv (the rows in order, with class, probability, is_novel, and doubt where a
    row should be looked at), model.newfound (for `newfound predict`), report.html (open it in a browser) and run.json
    (how it was made). All of them appear together once complete; what is there already is replaced with --force only.

    Parquet may be larger than memory: a folder of files, or a pattern in quotes, is read piece by piece. Then the rows
    are written to labels.parquet, and the report explains the classes from a random sample of them:

        newfound discover 'calls/2026-*.parquet' --target kind --method tabular_ncd
    """
    from datetime import UTC, datetime

    deadline = Deadline.after(time_limit)
    output = Output(as_json)
    used, tuned = _method(method, settings)
    n_novel = check_novel_classes(novel_classes)
    if time_limit is not None and used != "auto":
        raise InputError(f"Got --time-limit {time_limit:g} with --method {used}, but only the method auto has a limit.")
    folder = Path(f"newfound-{stem_of(table)}") if out is None else out
    started, begin = datetime.now(UTC), time.perf_counter()
    # Read before the folder is asked for, so that --force is never the cure for a mistake in the table.
    task: Task
    if stream or is_streamed(table):
        if time_limit is not None:
            raise InputError(
                f"Got --time-limit {time_limit:g} for a table that is read piece by piece, all rows of which are "
                "labelled however long that takes; leave it out."
            )
        task = read_stream(table, target, output, unlabelled=unlabelled, ignore=ignore, kind=kind, method=used)
    else:
        form = Format(delimiter, encoding, decimal, sheet, max_memory)
        with proposing_stream(table):
            task = WholeTable.of(
                read_task(table, target, form, output, unlabelled=unlabelled, ignore=ignore, kind=kind, method=used)
            )
    from newfound.runs.labelling import Naming

    naming = Naming.chosen(names, default=EXACT)
    files = (task.labels_file, MODEL, *([REPORT] if report else []), RUN)
    _refuse_to_replace(task, folder, files)
    with new_folder(folder, files, force=force) as fresh:
        _introduce(task, output)
        to_fit = deadline.part(_TIME_TO_FIT if report else _TIME_TO_FIT_ALONE)
        limit = max(_LEAST_TIME, to_fit.left) if deadline.is_set and (time_limit or 0.0) > 0 else time_limit
        parameters = {"device": device, "time_limit": limit, "unlabelled": rows}
        model = _fit(
            task, output, used, n_novel, tuned, seed=seed, checkpoint=checkpoint, deadline=to_fit, **parameters
        )
        fitted = time.perf_counter()
        with writing_to(folder):
            source = {**task.source(), "target": target, "model": str(folder / MODEL)}
            model = model.set_params(time_limit=time_limit) if deadline.is_set else model  # as it was asked for
            plan = _Plan(used, seed, naming, source, report, deadline)
            facts = _write_results(fresh, task, model, plan, output)
            facts["started"] = started.isoformat(timespec="seconds")
            facts["seconds"] = {"fit": round(fitted - begin, 2), "all": round(time.perf_counter() - begin, 2)}
            write_json(fresh / RUN, {**facts, "notes": output.notes})
    _conclude(facts, task, folder, files, output)
    output.finish({**facts, "files": {name: str(folder / name) for name in files}})


# ---- what is asked for


def _refuse_to_replace(task: Task, folder: Path, files: Collection[str]) -> None:
    """Raise InputError where a result would take the place of a file that is read."""
    for place in (folder / name for name in files):
        with suppress(OSError):  # there is no such file
            if any(place.samefile(file) for file in task.files):
                raise InputError(
                    f"Got --out {folder}, but {place} is a file of the table; name another folder, so that nothing is "
                    "lost."
                )


def _method(method: str | None, settings: Path | None) -> tuple[str, dict[str, Any]]:
    if settings is None:
        return check_method(method or "auto"), {}
    tuned_method, tuned = read_settings(settings)
    if method is not None and check_method(method) != tuned_method:
        raise InputError(
            f"Got --method {method}, but {settings} has settings of {tuned_method}; leave one of the two out."
        )
    return tuned_method, tuned


# ---- what is done


def _fit(
    task: Task,
    output: Output,
    method: str,
    n_novel: int | str,
    tuned: Mapping[str, Any],
    *,
    seed: int,
    checkpoint: Path | None,
    deadline: Deadline,
    **parameters: Any,
) -> BaseDiscoverer:
    from sklearn.utils.validation import has_fit_parameter

    from newfound.tables import TableEncoder

    encoder = TableEncoder(kinds=task.kinds) if task.kinds else None
    verbose = int(output.shows_progress)
    long = " (in all about a minute for 10,000 rows)" if method == "auto" and task.n_rows > _LONG_WORK else ""
    words = output.speaking_of(task.path, task.target, unlabelled="--rows")
    with output.busy(f"Looking for novel classes{long}", deadline), words:
        model = build(method, n_novel, tuned, encoder=encoder, random_state=seed, verbose=verbose, **parameters)
        kept: dict[str, Any] = {}
        if checkpoint is not None:
            if not has_fit_parameter(model, "checkpoint_dir"):
                raise InputError(
                    f"Got --checkpoint {checkpoint} with --method {method}, but only methods that train networks have "
                    "checkpoints; leave --checkpoint out."
                )
            kept["checkpoint_dir"] = checkpoint
        task.fit(model, **kept)
    if verbose and "verbose" in model.get_params(deep=False):
        model.set_params(verbose=0)  # who loads the model may not want to watch it
    return model


@dataclass(frozen=True)
class _Plan:
    """How results are to be written.

    Attributes
    ----------
    method : str
    seed : int
    naming : Naming
        How classes are named in labels.csv.
    source : mapping
        See `newfound.reporting.report_facts`.
    with_report : bool
    deadline : Deadline
        Of the whole command.
    """

    method: str
    seed: int
    naming: Naming
    source: Mapping[str, Any]
    with_report: bool
    deadline: Deadline


def _write_results(fresh: Path, task: Task, model: BaseDiscoverer, plan: _Plan, output: Output) -> dict[str, Any]:
    """Write labels, model and report; returns the facts of the run."""
    import newfound
    from newfound.cli.run_facts import run_facts
    from newfound.reporting import render, report_facts

    newfound.save(model, fresh / MODEL)
    deadline, n_steps = plan.deadline, model.n_novel_classes_ + 4
    words = output.speaking_of(task.path, task.target)
    with output.steps("Explaining the novel classes", n_steps, deadline) as on_step, words:
        on_step("labelling the rows")
        labelled = task.label(model, fresh / task.labels_file, plan.naming, output.note)
        report = report_facts(
            model,
            labelled.reading,
            labelled.labels,
            title=f"Novel classes in {task.path.name}",
            random_state=plan.seed,
            source=plan.source,
            with_map=plan.with_report,
            deadline=deadline.part(_TIME_TO_REPORT),
            on_step=on_step,
        )
        if plan.with_report:
            on_step("writing the report")
            (fresh / REPORT).write_text(render(report), encoding="utf-8", errors="replace")
    return run_facts(task, plan.method, plan.seed, model, labelled, report)


# ---- what is printed


def _introduce(task: Task, output: Output) -> None:
    n_labelled = task.counts.total()
    output.say(
        f"{task.path}: {counted(task.n_rows, 'row')}, {counted(task.n_columns, 'column')}; "
        f"{counted(n_labelled, 'row')} of {counted(len(task.counts), 'known class', 'known classes')}, "
        f"{task.n_rows - n_labelled:,} unlabelled."
    )


def _conclude(facts: Mapping[str, Any], task: Task, folder: Path, files: Collection[str], output: Output) -> None:
    novel, estimate, to_known = (
        facts[name] for name in ("novel_classes", "estimate", "unlabelled_rows_of_known_classes")
    )
    if facts["routing"] is not None:
        from newfound.reporting.wording import routing_in_words, share_in_words

        output.say("", f"{routing_in_words(facts['routing'])}")
        output.say(f"Share of known classes among them: {share_in_words(facts['routing'])}.")
    likely = ""
    if estimate is not None:
        low, high = estimate["interval"]
        likely = " (estimated)" if low == high else f" (estimated; likely {low} to {high})"
    if novel:
        output.say("", f"{counted(len(novel), 'novel class', 'novel classes')}{likely}:")
        agreement = "stability" if any(class_facts["source"] == "bootstraps" for class_facts in novel) else "agreement"
        numbers = ["rows", "share", agreement, "unsure"]
        lines = [
            [f"{class_facts['rows']:,}", percent(class_facts["share"]), *_sureness(class_facts)]
            for class_facts in novel
        ]
        if all(class_facts["agreement"] is None for class_facts in novel):  # a column that would say nothing
            place = numbers.index(agreement)
            for line in (numbers, *lines):
                del line[place]
        rows = [
            (class_facts["name"], *line, _marks(class_facts)) for class_facts, line in zip(novel, lines, strict=True)
        ]
        output.table(("class", *numbers, "what marks it"), rows, numbers=numbers)
        _explain_agreement(novel, agreement, output)
        if facts["explained_rows"] < facts["table"]["rows"]:
            said = f"{agreement.capitalize()}, unsure rows and what marks a class"
            output.say(f"{said} are those of a random sample of {facts['explained_rows']:,} rows.")
    else:
        output.say("", "No novel class.")
    if to_known:
        some = ", ".join(f"{name} ({n:,})" for name, n in list(to_known.items())[:5])
        more = f" and {counted(len(to_known) - 5, 'more class', 'more classes')}" if len(to_known) > 5 else ""
        is_mixed = facts["routing"] is not None and facts["routing"]["unlabelled"] == "mixed"
        n_rows = sum(to_known.values())
        what = ("was given", "were given") if is_mixed else ("looks like", "look like")
        which = "a known class" if len(to_known) == 1 else "known classes"
        output.say(f"Of the unlabelled rows, {n_rows:,} {what[n_rows != 1]} {which}: {some}{more}.")
    _tell_doubts(facts["doubts"], output)
    output.say("", f"Results in {folder}, after {counted(round(facts['seconds']['all']), 'second')}:")
    if REPORT in files:
        output.say(f"  {REPORT:<16}open it in a browser: what each class is, how sure, typical rows")
    n_doubted = facts["doubted_rows"]["any"]
    doubted = f" ({counted(n_doubted, 'row')})" if n_doubted else ""
    output.say(f"  {task.labels_file:<16}the rows in order, with class, probability, is_novel and doubt{doubted}")
    output.say(f"  {MODEL:<16}for other tables: newfound predict {shlex.quote(str(folder / MODEL))} TABLE")
    output.say(f"  {RUN:<16}how it was made")


def _sureness(class_facts: Mapping[str, Any]) -> tuple[str, str]:
    """Say how far a class is agreed on, and of how many of its rows the model is unsure."""
    agreement = class_facts["agreement"]
    return "-" if agreement is None else f"{100 * agreement:.0f} %", percent(class_facts["unsure"])


def _explain_agreement(novel: Sequence[Mapping[str, Any]], name: str, output: Output) -> None:
    from newfound.reporting.doubts import MEANINGS

    for source in dict.fromkeys(class_facts["source"] for class_facts in novel if class_facts["source"] is not None):
        output.say(f"{name.capitalize()}: {MEANINGS[source]}.")


def _tell_doubts(doubts: Sequence[Mapping[str, Any]], output: Output) -> None:
    """Print what the report says before one relies on the result: first of the whole, then of some classes."""
    if not doubts:
        return
    output.say("", "Before you rely on it:")
    for doubt in doubts:
        if doubt["class"] is None:
            output.say(f"- {doubt['doubt']}")
    classes = list(dict.fromkeys(doubt["class"] for doubt in doubts if doubt["class"] is not None))
    for name in classes[:_MOST_DOUBTS]:
        output.say(f"- {name}: {' '.join(doubt['doubt'] for doubt in doubts if doubt['class'] == name)}")
    if len(classes) > _MOST_DOUBTS:
        more = counted(len(classes) - _MOST_DOUBTS, "more class", "more classes")
        output.say(f"- There are doubts about {more}; the report has them.")


def _marks(class_facts: Mapping[str, Any]) -> str:
    """Say what marks a class: its first rule, and how far to trust it."""
    if not class_facts["rule_text"]:
        return "no short rule"
    shares = [("precision", class_facts["rule_precision"]), ("coverage", class_facts["rule_coverage"])]
    said = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares if share is not None)
    return f"{class_facts['rule_text']} ({said})" if said else str(class_facts["rule_text"])
