"""Measure the training of TabularNCD on a GPU, beside the least that its steps can take.

``python -m newfound_lab.runner.gpu write TABLES.npz`` encodes the rows of the benchmarks, which needs pandas.
``python -m newfound_lab.runner.gpu measure TABLES.npz OUT.jsonl`` trains ten members for the paper's epochs on each, on
a machine that needs torch, numpy, scipy and scikit-learn alone. The first training of a process is not counted.

The least time of a step is that of its bytes at the measured speed of a copy, or that of its products at the measured
speed of one large product, whichever is longer. Bytes: weights are read in both directions, their gradients, moments
and updates are read and written once for each optimiser, and what a layer makes is written and read once.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from numpy.typing import NDArray

from newfound import TabularNCD
from newfound.learning import residence
from newfound.learning.batches import MixedBatches, rows_in_batch
from newfound.learning.members import MemberSettings
from newfound.learning.pretraining import PretrainingSettings
from newfound.learning.replay import Replayed
from newfound.learning.tabular_ncd import TabularNCDTrainer
from newfound.metrics import novel_scores
from newfound.nn import layers
from newfound.tables.layout import Layout
from newfound.tables.task import DiscoveryTask
from newfound_lab.paper.published import SETTINGS

TABLES = ("pendigits", "letter", "satimage", "human", "forest", "mnist")
_N_MEMBERS = 10
_NUMBER = 4  # bytes


class Table(NamedTuple):
    """A benchmark's training rows with the true classes of the unlabelled ones, and its novel test rows with theirs."""

    name: str
    task: DiscoveryTask
    truth: NDArray[Any]
    test_rows: NDArray[Any]
    test_truth: NDArray[Any]


def write_tables(path: Path, names: Sequence[str]) -> None:
    """Encode the rows of the benchmarks as their discoverers do."""
    from newfound.tables.labels import read_labels
    from newfound_lab.datasets import load

    arrays: dict[str, NDArray[Any]] = {}
    for name in names:
        data = load(name)
        encoder = data.encoder()
        rows = encoder.fit_transform(data.X_train)
        arrays[f"{name}/rows"] = rows.astype(np.float32)
        arrays[f"{name}/codes"] = read_labels(data.y_train, len(rows)).codes
        arrays[f"{name}/truth"] = np.unique(data.y_train_truth[data.train_novel], return_inverse=True)[1]
        arrays[f"{name}/test_rows"] = encoder.transform(data.X_test)[data.test_novel].astype(np.float32)
        arrays[f"{name}/test_truth"] = np.unique(data.y_test[data.test_novel], return_inverse=True)[1]
        arrays[f"{name}/groups"], arrays[f"{name}/categorical"] = encoder.layout_.groups, encoder.layout_.categorical
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def read_tables(path: Path, names: Sequence[str]) -> Iterator[Table]:
    """Read what `write_tables` wrote."""
    with np.load(path) as stored:
        for name in names:
            parts = ("rows", "codes", "truth", "groups", "categorical", "test_rows", "test_truth")
            rows, codes, truth, groups, categorical, *test = (stored[f"{name}/{part}"] for part in parts)
            layout = Layout(tuple(f"x{i}" for i in range(len(groups))), groups, categorical)
            task = DiscoveryTask(rows.astype(np.float64), codes, int(codes.max()) + 1, len(np.unique(truth)), layout)
            yield Table(name, task, truth, *test)


class Machine(NamedTuple):
    """Bytes a second that a copy moves, read and written, and multiplications and additions a second."""

    bytes: float
    flops: float


def measure_machine(device: torch.device) -> Machine:
    """Measure a large copy and a large product of TF32 precision."""
    here, there = torch.rand(2, 1 << 29, device=device)
    matrix = torch.rand(8192, 8192, device=device)
    torch.set_float32_matmul_precision("high")
    copy = _seconds(lambda: there.copy_(here), device)
    product = _seconds(lambda: matrix @ matrix, device)
    return Machine(2 * here.numel() * _NUMBER / copy, 2 * 8192**3 / product)


def _seconds(work: Any, device: torch.device) -> float:
    """Mean seconds of ten calls after three others."""
    for number in range(13):
        if number == 3:
            torch.cuda.synchronize(device)
            start = time.perf_counter()
        work()
    torch.cuda.synchronize(device)
    return (time.perf_counter() - start) / 10


class Stage(NamedTuple):
    """A stage of the training: steps of an epoch, and the least that one of them moves and computes."""

    n_steps: int
    bytes: float
    flops: float

    def floor(self, machine: Machine) -> float:
        """Least seconds of a step."""
        return max(self.bytes / machine.bytes, self.flops / machine.flops)


def stages_of(task: DiscoveryTask, batch_size: int) -> dict[str, Stage]:
    """Count what the steps of TabularNCD do."""
    n, d = task.rows.shape
    width = TabularNCDTrainer(MemberSettings(({},)), torch.device("cpu")).default_layers(d)[0]
    encoder = [d, width, width]
    settings = PretrainingSettings()
    b = rows_in_batch(n, settings.batch_size)
    codes = torch.from_numpy(task.codes)
    batches = MixedBatches((codes >= 0).nonzero()[:, 0], (codes < 0).nonzero()[:, 0], batch_size)
    both, unlabelled = 2 * (batches.n_labelled + batches.n_unlabelled), 2 * batches.n_unlabelled
    pretraining = _work([*encoder, 2 * d], b)
    joint = [_work([*encoder, task.n_known + 1], both), _work([*encoder, task.n_novel], unlabelled)]
    pairs = unlabelled**2 / 4
    # Similarities are made, compared and turned into pseudo labels; the loss makes pairs once and reads them once.
    of_pairs = (5 * pairs * _NUMBER, 2 * pairs * (width + 3 * task.n_novel))
    joint.append((_N_MEMBERS * of_pairs[0], _N_MEMBERS * of_pairs[1]))
    return {
        "pretraining": Stage(n // b, *pretraining),
        "joint training": Stage(batches.n_steps, sum(moved for moved, _ in joint), sum(done for _, done in joint)),
    }


def _work(widths: Sequence[int], n_rows: int) -> tuple[float, float]:
    """Bytes and operations of one update of dense layers with these widths, all members together."""
    weights = sum(a * b for a, b in itertools.pairwise(widths))
    activations = n_rows * sum(widths)
    # Weights: read forward, backward and by the update, written; gradient written and read; two moments read, written.
    moved = 10 * weights + 4 * activations
    return _N_MEMBERS * moved * _NUMBER, _N_MEMBERS * 6.0 * n_rows * weights


def train(table: Table, device: torch.device, seed: int) -> dict[str, Any]:
    """Train the members once; returns seconds of the training and of a step of each stage, and ACC."""
    settings = SETTINGS[table.name]
    model = TabularNCD(table.task.n_novel, n_members=_N_MEMBERS, device=device.type, **settings)
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    start = time.perf_counter()
    trained = model._trainer(model._member_settings()).train(table.task, np.random.RandomState(seed))
    torch.cuda.synchronize(device)
    seconds = time.perf_counter() - start
    scores = novel_scores(table.truth, trained.found)
    of_members = trained.state.member_proba(table.test_rows.astype(np.float64))[1]
    test_acc = [novel_scores(table.test_truth, of_one.argmax(axis=1))["acc"] for of_one in of_members]
    vote = novel_scores(table.test_truth, of_members.mean(axis=0).argmax(axis=1))
    by_stage: dict[str, list[float]] = {}
    before = 0.0
    for epoch in trained.history:
        by_stage.setdefault(epoch["stage"], []).append(epoch["seconds"] - before)
        before = epoch["seconds"]
    return {
        "fit_seconds": round(seconds, 3),
        "training_seconds": round(before, 3),
        "epoch_seconds": {stage: statistics.median(seconds) for stage, seconds in by_stage.items()},
        "acc": round(scores["acc"], 4),
        "bacc": round(scores["bacc"], 4),
        "test_acc": round(vote["acc"], 4),
        "member_test_acc": round(statistics.fmean(test_acc), 4),
        "member_test_acc_sd": round(statistics.stdev(test_acc), 4),
        "memory_mib": round(torch.cuda.max_memory_allocated(device) / 2**20),
    }


@dataclass(frozen=True)
class Ways:
    """How to train; anything but the defaults is there to be compared with.

    Attributes
    ----------
    replayed : bool
        Whether steps are replayed as CUDA graphs, and not taken kernel by kernel.
    precise : bool
        Whether all products have single precision.
    brief : bool
        Whether large products take factors in bf16.
    on_host : bool
        Whether the table stays in the memory of the host.
    """

    replayed: bool = True
    precise: bool = False
    brief: bool = True
    on_host: bool = False

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Train in these ways."""
        torch.set_float32_matmul_precision("highest" if self.precise else "high")
        with ExitStack() as stack:
            if not self.replayed:
                stack.enter_context(
                    patch.object(Replayed, "__call__", lambda replayed, *inputs: replayed._update(*inputs))
                )
            if self.precise:
                stack.enter_context(patch.object(torch, "set_float32_matmul_precision", lambda _: None))
            if self.precise or not self.brief:
                stack.enter_context(patch.object(layers, "takes_brief_factors", lambda *_: False))
            if self.on_host:
                stack.enter_context(patch.object(residence, "_SHARE", 0.0))
            yield


def measure(
    path: Path, names: Sequence[str], device: torch.device, ways: Ways, seeds: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Train on each table; a line for each and each seed, after one that tells what the machine can do."""
    machine = measure_machine(device)
    yield {
        "device": torch.cuda.get_device_name(device),
        "copy_tb_s": round(machine.bytes / 1e12, 2),
        "tf32_tflop_s": round(machine.flops / 1e12),
    }
    with ways.taken():
        for number, table in enumerate(read_tables(path, names)):
            if number == 0:  # libraries load their kernels
                train(table, device, 1)
            for seed in seeds:
                line = train(table, device, seed)
                epoch_seconds = line.pop("epoch_seconds")
                for stage, counted in stages_of(table.task, TabularNCD().batch_size).items():
                    step, floor = epoch_seconds[stage] / counted.n_steps, counted.floor(machine)
                    line[stage] = {
                        "steps": counted.n_steps,
                        "step_us": round(1e6 * step),
                        "floor_us": round(1e6 * floor, 1),
                        "over_floor": round(step / floor, 1),
                    }
                yield {"table": table.name, "seed": seed, **asdict(ways), **line}


def main(given: Sequence[str] | None = None) -> None:
    """Write tables, or measure on them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("write", "measure"))
    parser.add_argument("tables", type=Path)
    parser.add_argument("out", type=Path, nargs="?", help="lines are added to this file")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--kernel-by-kernel", action="store_true", help="without CUDA graphs, to compare")
    parser.add_argument("--precise", action="store_true", help="single precision instead of bf16 and TF32, to compare")
    parser.add_argument("--without-bf16", action="store_true", help="TF32 for large products as well, to compare")
    parser.add_argument("--on-host", action="store_true", help="as a table that the GPU has no room for, to compare")
    options = parser.parse_args(given)
    if options.what == "write":
        write_tables(options.tables, options.only)
        return
    ways = Ways(
        replayed=not options.kernel_by_kernel,
        precise=options.precise,
        brief=not (options.precise or options.without_bf16),
        on_host=options.on_host,
    )
    lines = measure(options.tables, options.only, torch.device("cuda"), ways, options.seeds)
    for line in lines:
        print(json.dumps(line), flush=True)  # noqa: T201
        if options.out is not None:
            with options.out.open("a") as file:
                print(json.dumps(line), file=file)


if __name__ == "__main__":
    main()
