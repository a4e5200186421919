"""Measure what is missing from the results, and nothing twice."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from newfound.errors import InputError
from newfound_lab.runner.progress import RunProgress, TimeLeft, name_of
from newfound_lab.runner.results import ResultFile
from newfound_lab.runner.workers import Outcome, outcome_of, outcomes, outcomes_in
from newfound_lab.suites.mixed import MIXED_EXPERIMENTS
from newfound_lab.suites.trials import Trial, key_of

__all__ = ["FAILURES_FILE", "Failure", "RunSummary", "run"]

FAILURES_FILE = "failures.log"

Pack = tuple[Trial, ...]
Earlier = Mapping[str, Mapping[str, Any]]
Measure = Callable[[Pack, str, Path | None, Earlier], list[dict[str, Any]]]


@dataclass(frozen=True)
class Failure:
    """A pack that has no result.

    Attributes
    ----------
    name : str
        What was to be measured.
    n_trials : int
        How many of its trials have none.
    error : str
        Why not, in one line.
    users_mistake : bool
        Whether the message says what to do; otherwise newfound is to blame, or the machine.
    """

    name: str
    n_trials: int
    error: str
    users_mistake: bool


@dataclass
class RunSummary:
    """What a run has done.

    Attributes
    ----------
    n_planned, n_before, n_measured : int
        Trials asked for, those that had a result before, and those measured now.
    failures : list of Failure
    interrupted : bool
        Whether Ctrl-C ended it.
    log : Path or None
        Where the tracebacks of failures are.
    """

    n_planned: int
    n_before: int
    n_measured: int = 0
    failures: list[Failure] = field(default_factory=list)
    interrupted: bool = False
    log: Path | None = None


def run(
    trials: Iterable[Trial],
    results: ResultFile,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    device: str = "auto",
    data_dir: Path | None = None,
    measure: Measure | None = None,
    progress: RunProgress | None = None,
) -> RunSummary:
    """Measure the trials that have no result, and write each pack of them as soon as it is done.

    Parameters
    ----------
    trials : iterable of Trial
        What to measure.
    results : ResultFile
        Decides what is missing, and is written to.
    jobs : int
        1 measures in this process; more in so many processes of one thread each. This process alone writes.
    executor : Executor, optional
        Where to measure instead, such as a cluster (`newfound.scale.RayExecutor`); `jobs` is then how many packs that
        measures at a time, for the time left.
    device : str
        Where to measure: "auto", "cpu" or "cuda".
    data_dir : Path or None
        Folder with the benchmarks' files.
    measure : function, optional
        In place of :func:`newfound_lab.runner.measure.measure`.
    progress : RunProgress, optional
        Shows how far the run is; silent by default.

    Returns
    -------
    RunSummary
        Failures and Ctrl-C are told there; what was measured before them is written.

    Raises
    ------
    InputError
        For a wrong ``jobs`` and for data that is not there, before anything is measured; for results that cannot be
        written, at any time.
    """
    if jobs < 1:
        raise InputError(f"Got jobs={jobs}, but expected a whole number of at least 1.")
    planned = {trial.key: trial for trial in trials}
    with results.writing():
        done = results.keys
        missing = {key: trial for key, trial in planned.items() if key not in done}
        summary = RunSummary(len(planned), len(planned) - len(missing))
        if missing:
            _check_data(missing.values(), data_dir)
            from newfound_lab.runner import measure as measuring  # torch; not needed where all is done

            call = _Call(measure or measuring.measure, device, data_dir)
            # Packs are those of a first run: what is fitted beside a trial changes its last digits. Of a pack of which
            # some lines are there already, only the others are written.
            packs = [
                one for one in measuring.pack(list(planned.values())) if any(trial.key in missing for trial in one)
            ]
            if jobs > 1:
                # the longest first: a long one begun last would leave the other processes idle at the end. With one
                # process the order of the plan stays, which completes one experiment after the other.
                packs.sort(key=measuring.weight, reverse=True)
            _run_packs(
                packs,
                call,
                measuring.weight,
                min(jobs, len(packs)),
                executor,
                results,
                summary,
                progress or RunProgress(),
            )
    if summary.interrupted:
        # Ctrl-C may have come between writing and counting
        summary.n_measured = len(planned.keys() & ResultFile(results.folder).keys) - summary.n_before
    return summary


def _run_packs(
    packs: list[Pack],
    call: _Call,
    weight: Callable[[Pack], float],
    jobs: int,
    executor: Executor | None,
    results: ResultFile,
    summary: RunSummary,
    progress: RunProgress,
) -> None:
    """Measure packs, write their lines and fill in the summary."""
    left = TimeLeft([(_kind_of(pack), weight(pack)) for pack in packs], jobs)
    ended = _ended(packs, call, jobs, executor, results)
    progress.start(summary.n_before, summary.n_planned, left)
    try:
        with closing(ended):
            for pack, outcome in ended:
                n_missing = len({trial.key for trial in pack} - results.keys)
                outcome = _written(outcome, results)
                if outcome.error:
                    summary.failures.append(
                        Failure(name_of(pack), n_missing, outcome.error, users_mistake=outcome.users_mistake)
                    )
                    summary.log = _log(pack, outcome, results.folder) or summary.log
                else:
                    summary.n_measured += n_missing
                left.ended(_kind_of(pack), weight(pack), outcome.seconds)
                progress.ended(pack, outcome, summary.n_before + summary.n_measured)
    except KeyboardInterrupt:
        summary.interrupted = True
    finally:
        progress.stop()


@dataclass(frozen=True)
class _Call:
    """Measures a pack; here or in another process."""

    measure: Measure
    device: str
    data_dir: Path | None
    earlier: Earlier = field(default_factory=dict)

    def __call__(self, pack: Pack) -> list[dict[str, Any]]:
        lines = self.measure(pack, self.device, self.data_dir, self.earlier)
        if [key_of(line) for line in lines] != [trial.key for trial in pack]:
            raise RuntimeError("The lines are not those of the trials, so they would be measured again and again.")
        return lines


def _ended(
    packs: list[Pack], call: _Call, jobs: int, executor: Executor | None, results: ResultFile
) -> Generator[tuple[Pack, Outcome], None, None]:
    """Measure packs; those that build on results of others after all others have ended, and been written."""
    needed = [{one.key for trial in pack if (one := trial.builds_on)} for pack in packs]
    for later in (False, True):
        stage = [pack for pack, keys in zip(packs, needed, strict=True) if bool(keys) == later]
        wanted = {key for keys in needed for key in keys} if later else set()
        informed = replace(call, earlier={key: line for key, line in results.by_key.items() if key in wanted})
        if executor is not None:
            yield from outcomes_in(executor, informed, stage)
        elif jobs > 1:
            yield from outcomes(informed, stage, jobs)
        else:
            yield from ((pack, outcome_of(informed, pack)) for pack in stage)


def _kind_of(pack: Pack) -> str:
    """Name what packs have in common whose costs compare well."""
    return f"{pack[0].dataset}, {pack[0].method}"


def _written(outcome: Outcome, results: ResultFile) -> Outcome:
    """Append the lines of a pack that has ended well; it has failed after all where they are not JSON."""
    if outcome.error:
        return outcome
    try:
        done = results.keys
        results.append([line for line in outcome.value if key_of(line) not in done])
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        return Outcome(
            error=f"The results cannot be written as JSON: {error}",
            trace=traceback.format_exc(),
            seconds=outcome.seconds,
        )
    return outcome


def _log(pack: Pack, outcome: Outcome, folder: Path) -> Path | None:
    """Keep the traceback of a failure; returns where, or None if there is none or it cannot be kept."""
    if not outcome.trace:
        return None
    path = folder / FAILURES_FILE
    with suppress(OSError), path.open("a", encoding="utf-8") as stream:
        stream.write(f"{datetime.now().isoformat(timespec='seconds')}  {name_of(pack)}\n{outcome.trace}\n")
        return path
    return None


def _check_data(trials: Iterable[Trial], data_dir: Path | None) -> None:
    """Load every benchmark once, or download it, so that data which is missing costs no time later."""
    from newfound_lab import datasets
    from newfound_lab.datasets.development import table_file

    names = {trial.dataset: trial.experiment in MIXED_EXPERIMENTS for trial in trials}
    for name, is_mixed in names.items():
        if is_mixed:
            table_file(name, data_dir)
        elif not datasets.load(name, data_dir).scoreable:
            raise InputError(
                f"Of benchmark {name!r} only a sample is here, on which no score means anything. Get the official "
                "file, or leave the benchmark out of --datasets."
            )
