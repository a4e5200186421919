"""Stand-ins for measuring, at the top of a light module so that new processes find them quickly."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from newfound.errors import InputError
from newfound_lab.suites.trials import Trial

Pack = tuple[Trial, ...]
Earlier = Mapping[str, Mapping[str, Any]]


def trial(seed: int, method: str = "kmeans", experiment: str = "main") -> Trial:
    return Trial(experiment, "digits", method, "default", "label-free", "inductive", seed, {})


def measure(pack: Pack, device: str, data_dir: Path | None, earlier: Earlier) -> list[dict[str, Any]]:
    """A score that the seed gives, and what was handed over."""
    where = {"device": device, "data_dir": str(data_dir), "pid": os.getpid()}
    return [
        trial.line({"acc": trial.seed / 10, "threads": os.environ.get("OMP_NUM_THREADS")} | where) for trial in pack
    ]


def measure_badly(pack: Pack, device: str, data_dir: Path | None, earlier: Earlier) -> list[dict[str, Any]]:
    """Each method fails in its own way; k-means does not."""
    method = pack[0].method
    if method == "baseline":
        raise ZeroDivisionError("we did not\nthink of this")
    if method == "spectral":
        raise InputError("Got data, but expected\nother; get it.")
    if method == "tabular_ncd":
        if device == "cuda":
            os.kill(os.getpid(), signal.SIGKILL)
        return [trial.line({"acc": float("nan")}) for trial in pack]
    return measure(pack, device, data_dir, earlier)


def measure_other_trials(pack: Pack, device: str, data_dir: Path | None, earlier: Earlier) -> list[dict[str, Any]]:
    return [trial(99).line({"acc": 1.0}) for _ in pack]


def measure_slowly(pack: Pack, device: str, data_dir: Path | None, earlier: Earlier) -> list[dict[str, Any]]:
    """Quick for the first seed, then as good as endless."""
    if pack[0].seed:
        time.sleep(600)
    return measure(pack, device, data_dir, earlier)


def measure_until_it_hangs(pack: Pack, device: str, data_dir: Path | None, earlier: Earlier) -> list[dict[str, Any]]:
    """What is really measured for the first two seeds, then as good as endless."""
    if pack[0].seed > 1:
        time.sleep(600)
    from newfound_lab.runner.measure import measure

    return measure(pack, device, data_dir, earlier)


def measure_with_estimates(pack: Pack, device: str, data_dir: Path | None, earlier: Earlier) -> list[dict[str, Any]]:
    """Estimates of 100 and the class split, which the methods repeat; those of other trials would not be there."""
    wanted = {before.key for trial in pack if (before := trial.builds_on)}
    assert wanted <= set(earlier)
    found = [
        100 + trial.class_split if trial.builds_on is None else earlier[trial.builds_on.key]["n_classes"]
        for trial in pack
    ]
    return [trial.line({"n_classes": k}) for trial, k in zip(pack, found, strict=True)]


def double(number: int) -> int:
    return 2 * number


def exit_at_three(number: int) -> int:
    if number == 3:
        os._exit(7)
    return number


def threads_and_torch(_: int) -> tuple[str | None, bool]:
    """The threads that this process may use, and whether torch was there before."""
    import sys

    return os.environ.get("OMP_NUM_THREADS"), "torch" in sys.modules


def press_ctrl_c(_: int) -> str:
    """As a terminal does, for every process."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.1)
    return "went on"


def say_pid_and_sleep(path: str) -> None:
    """Leave a file named like this process, and work on."""
    (Path(path) / str(os.getpid())).touch()
    time.sleep(600)
