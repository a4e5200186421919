"""Measure what is missing from the results, and nothing twice."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from newfound.benchmark.progress import Progress, TimeLeft, name_of
from newfound.benchmark.results import ResultFile
from newfound.benchmark.trials import Trial, key_of
from newfound.benchmark.workers import Outcome, outcome_of, outcomes
from newfound.errors import InputError

__all__ = ["FAILURES_FILE", "Failure", "Summary", "run"]

FAILURES_FILE = "failures.log"

Pack = tuple[Trial, ...]
Measure = Callable[[Pack, str, Path | None], list[dict[str, Any]]]


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
class Summary:
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
    device: str = "auto",
    data_dir: Path | None = None,
    measure: Measure | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Measure the trials that have no result, and write each pack of them as soon as it is done.

    Parameters
    ----------
    trials : iterable of Trial
        What to measure.
    results : ResultFile
        Decides what is missing, and is written to.
    jobs : int
        1 measures in this process; more in so many processes of one thread each. This process alone writes.
    device : str
        Where to measure: "auto", "cpu" or "cuda".
    data_dir : Path or None
        Folder with the benchmarks' files.
    measure : function, optional
        In place of :func:`newfound.benchmark.measure.measure`.
    progress : Progress, optional
        Shows how far the run is; silent by default.

    Returns
    -------
    Summary
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
        summary = Summary(len(planned), len(planned) - len(missing))
        if missing:
            _check_data(missing.values(), data_dir)
            from newfound.benchmark import measure as measuring  # torch; not needed where all is done

            call = partial(_lines_of, measure=measure or measuring.measure, device=device, data_dir=data_dir)
            # Packs are those of a first run: what is fitted beside a trial changes its last digits. Of a pack of which
            # some lines are there already, only the others are written.
            packs = [
                one for one in measuring.pack(list(planned.values())) if any(trial.key in missing for trial in one)
            ]
            if jobs > 1:
                # the longest first: a long one begun last would leave the other processes idle at the end. With one
                # process the order of the plan stays, which completes one experiment after the other.
                packs.sort(key=measuring.weight, reverse=True)
            _run_packs(packs, call, measuring.weight, min(jobs, len(packs)), results, summary, progress or Progress())
    if summary.interrupted:
        # Ctrl-C may have come between writing and counting
        summary.n_measured = len(planned.keys() & ResultFile(results.folder).keys) - summary.n_before
    return summary


def _run_packs(
    packs: list[Pack],
    call: Callable[[Pack], list[dict[str, Any]]],
    weight: Callable[[Pack], float],
    jobs: int,
    results: ResultFile,
    summary: Summary,
    progress: Progress,
) -> None:
    """Measure packs, write their lines and fill in the summary."""
    left = TimeLeft([(_kind_of(pack), weight(pack)) for pack in packs], jobs)
    ended = outcomes(call, packs, jobs) if jobs > 1 else ((pack, outcome_of(call, pack)) for pack in packs)
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


def _kind_of(pack: Pack) -> str:
    """Name what packs have in common whose costs compare well."""
    return f"{pack[0].dataset}, {pack[0].method}"


def _lines_of(pack: Pack, measure: Measure, device: str, data_dir: Path | None) -> list[dict[str, Any]]:
    """Measure a pack; here or in another process."""
    lines = measure(pack, device, data_dir)
    if [key_of(line) for line in lines] != [trial.key for trial in pack]:
        raise RuntimeError("The lines are not those of the trials, so they would be measured again and again.")
    return lines


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
    from newfound import datasets

    for name in dict.fromkeys(trial.dataset for trial in trials):
        if not datasets.load(name, data_dir).scoreable:
            raise InputError(
                f"Of benchmark {name!r} only a sample is here, on which no score means anything. Get the official "
                "file, or leave the benchmark out of --datasets."
            )
