"""Measure the speed of TabularNCD: ``python -m newfound_lab.runner.speed``.

Times depend on the machine; ratios taken in one run depend on it far less. For the shape of Pendigits: one whole fit
over the same number of bare steps, ten members over one, and each discoverer with one core taken by another process
over the same on an idle machine. Then the cost against the number of rows.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from numpy.typing import NDArray

from newfound import PBN, AutoDiscoverer, TabularNCD
from newfound.errors import TrainingInterrupted
from newfound.learning import tabular_ncd
from newfound.learning.batches import MixedBatches, rows_in_batch
from newfound.learning.machine import prepared_for
from newfound.learning.neighbours import neighbours_within
from newfound.learning.optimisers import adamw
from newfound.learning.pretraining import PretrainingSettings
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedLinear, PackedMLP
from newfound_lab.paper.published import SETTINGS
from newfound_lab.runner.cost import peak_memory

PENDIGITS = {"n_labelled": 3777, "n_unlabelled": 3717, "n_columns": 16, "n_known": 5, "n_novel": 5}


def synthetic_table(
    n_labelled: int, n_unlabelled: int, n_columns: int, n_known: int, n_novel: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Make overlapping Gaussian classes of equal size; returns X of shape (n, n_columns) and y of shape (n,)."""
    rng = np.random.default_rng(0)
    classes = np.concatenate([np.arange(n_labelled) % n_known, n_known + np.arange(n_unlabelled) % n_novel])
    centres = rng.normal(size=(n_known + n_novel, n_columns)).astype(np.float32)
    X = rng.standard_normal((len(classes), n_columns), dtype=np.float32)
    X += centres[classes]
    return X, np.where(classes < n_known, classes, -1)


def time_fit(X: NDArray[np.float32], y: NDArray[np.int64], n_novel: int, **settings: object) -> float:
    """Return the seconds of one fit with the paper's settings for Pendigits."""
    return time_of(TabularNCD(n_novel, random_state=0, **(SETTINGS["pendigits"] | settings)), X, y)


def time_of(model: Any, X: NDArray[np.float32], y: NDArray[np.int64]) -> float:
    """Return the seconds of one fit."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is found does not matter here
        warnings.simplefilter("error", TrainingInterrupted)
        model.fit(X, y, calibrate=False)
    return time.perf_counter() - start


def time_bare_steps(X: NDArray[np.float32], y: NDArray[np.int64], n_novel: int) -> float:
    """Return the seconds of as many steps as one fit has, with nothing in them but forward, backward and update.

    The layers, the numbers of rows, the optimisers and the single thread are those of the fit; the rows are always the
    same and the loss is the sum of the outputs.
    """
    n, d = X.shape
    streams = MemberStreams([0])
    encoder = PackedMLP(1, [d, d, d], dropout=SETTINGS["pendigits"]["dropout"], streams=streams)
    network = DiscoveryNetwork(encoder, 1, d, int(y.max()) + 1, n_novel, streams)
    estimators = torch.nn.ModuleList([PackedLinear(1, d, d, streams), PackedLinear(1, d, d, streams)])
    assert network.clustering is not None
    pretraining = PretrainingSettings()
    b = rows_in_batch(n, pretraining.batch_size)
    codes = torch.from_numpy(y)
    batches = MixedBatches((codes >= 0).nonzero()[:, 0], (codes < 0).nonzero()[:, 0], 512)
    rows = torch.from_numpy(X)[None]
    n_both = 2 * (batches.n_labelled + batches.n_unlabelled)
    stages: list[tuple[int, list[torch.nn.Module], int]] = [
        (pretraining.epochs * (n // b), list(estimators), b),
        (30 * batches.n_steps, [network.classification], n_both),
        (30 * batches.n_steps, [network.clustering], 2 * batches.n_unlabelled),
    ]
    network.train()
    start = time.perf_counter()
    with prepared_for(0, torch.device("cpu")):
        for n_steps, heads, n_rows in stages:
            optimiser = adamw([*encoder.parameters(), *(p for head in heads for p in head.parameters())], 1e-3)
            x = rows[:, :n_rows]
            for _ in range(n_steps):
                latent = encoder(x)
                optimiser.zero_grad()
                torch.stack([head(latent).sum() for head in heads]).sum().backward()
                optimiser.step()
    return time.perf_counter() - start


def ratios(repeats: int) -> None:
    """Print what one fit costs against bare steps, and ten members against one."""
    X, y = synthetic_table(**PENDIGITS)
    n_novel = PENDIGITS["n_novel"]
    measures: dict[str, Callable[[], float]] = {
        "bare steps": lambda: time_bare_steps(X, y, n_novel),
        "one member": lambda: time_fit(X, y, n_novel),
        "ten members": lambda: time_fit(X, y, n_novel, n_members=10),
    }
    times: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(repeats):  # in turn, so that a busy moment of the machine meets all three
        for name, measure in measures.items():
            times[name].append(measure())
    print(f"Pendigits' shape, {torch.get_num_threads()} threads, median of {repeats}:")
    for name, seconds in times.items():
        print(f"  {name:12} {statistics.median(seconds):7.2f} s")
    for label, above, below, wanted in (
        ("(a) one fit / bare steps", "one member", "bare steps", 2.0),
        ("(b) ten members / one", "ten members", "one member", 3.5),
    ):
        pairs = [a / b for a, b in zip(times[above], times[below], strict=True)]
        print(f"  {label:26} {statistics.median(pairs):5.2f}   (at most {wanted})")
    print(f"  (c) peak memory            {peak_memory():5.0f} MiB")


@contextmanager
def one_core_taken() -> Iterator[None]:
    """Let another process compute for as long as this lasts."""
    with subprocess.Popen([sys.executable, "-P", "-c", "while True: pass"]) as other:
        time.sleep(0.2)  # until it has begun
        try:
            yield
        finally:
            other.kill()


def busy(repeats: int) -> None:
    """Print how much longer fits take where another process takes a core."""
    X, y = synthetic_table(**PENDIGITS)
    n_novel = PENDIGITS["n_novel"]
    measures: dict[str, Callable[[], float]] = {
        "TabularNCD": lambda: time_fit(X, y, n_novel),
        "TabularNCD, 10 members": lambda: time_fit(X, y, n_novel, n_members=10),
        "PBN": lambda: time_of(PBN(n_novel, random_state=0), X, y),
        "AutoDiscoverer": lambda: time_of(AutoDiscoverer(n_novel, random_state=0), X, y),
    }
    print("\nOne core taken by another process, median of idle and busy times in turn:")
    print(f"  {'':24} {'idle s':>8} {'busy s':>8} {'ratio':>6}   (at most 2.5)")
    for name, measure in measures.items():
        idle, taken = [], []
        for _ in range(repeats):
            idle.append(measure())
            with one_core_taken():
                taken.append(measure())
        ratio = statistics.median(b / a for a, b in zip(idle, taken, strict=True))
        print(f"  {name:24} {statistics.median(idle):8.2f} {statistics.median(taken):8.2f} {ratio:6.2f}", flush=True)


class TimedSearch:
    """The neighbour search, with a clock and a gauge for the memory that it adds."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.extra_memory = 0.0

    def __call__(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Search, and remember what it took."""
        before, start = peak_memory(reset=True), time.perf_counter()
        found = neighbours_within(*args, **kwargs)
        self.seconds = time.perf_counter() - start
        self.extra_memory = peak_memory() - before
        return found


def growth(sizes: list[int]) -> None:
    """Print the cost of one epoch of each stage against the number of rows, the neighbour search apart."""
    print("\nOne epoch of each stage, 50 columns, half of the rows labelled:")
    print(f"  {'rows':>10} {'fit s':>9} {'search s':>9} {'rest s':>9} {'rest, us a row':>15} {'search adds MiB':>16}")
    for n in sizes:
        X, y = synthetic_table(n // 2, n - n // 2, 50, 10, 10)
        search = TimedSearch()
        with patch.object(tabular_ncd, "neighbours_within", search):
            fit = time_fit(X, y, 10, epochs=1, pretrain_epochs=1)
        rest = fit - search.seconds
        times = f"{fit:9.1f} {search.seconds:9.1f} {rest:9.1f} {1e6 * rest / n:15.1f}"
        print(f"  {n:10,} {times} {search.extra_memory:16.0f}", flush=True)
    print(f"  peak memory {peak_memory():.0f} MiB")


def main(arguments: list[str] | None = None) -> None:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="how often the ratios are taken")
    parser.add_argument("--rows", default="10000,100000,1000000", help="numbers of rows, separated by commas")
    options = parser.parse_args(arguments)
    ratios(options.repeats)
    busy(options.repeats)
    growth([int(n) for n in options.rows.split(",") if n])


if __name__ == "__main__":
    main()
