"""What a streamed fit costs against the number of rows, columns, classes and workers: processor time and memory.

Run ``python -m newfound_lab.runner.scaling --out costs.jsonl --picture docs/images/scale.png``. Every measurement has a
process of its own; those that are in the file already are not made again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

import newfound as nf
from newfound.learning.checkpoints import Checkpoints
from newfound.learning.peers import PeerGroup
from newfound.scale.exchange import Processes
from newfound.scale.training import Encoding, Lesson, Run, encode, train_peer
from newfound.tables import TableEncoder
from newfound.tables.streams import Summary, TableStream, open_stream, summarise
from newfound_lab.datasets.large import N_CLASSES, N_COLUMNS, TARGET, LargeTable, write_large_table
from newfound_lab.pictures.curves import Curve, CurvePanel, write_curves
from newfound_lab.runner.streaming import peak_mebibytes


@dataclass(frozen=True)
class Size:
    """What a fit is measured for; with workers, batches of all of them are averaged in each step."""

    rows: int = 50_000
    columns: int = N_COLUMNS
    classes: int = N_CLASSES
    workers: int = 0  # 0 is a plain fit


_CURVES: dict[str, list[Size]] = {
    "rows": [Size(rows=n) for n in (25_000, 50_000, 100_000, 200_000)],
    "columns": [Size(columns=n) for n in (10, 20, 40, 80)],
    "classes": [Size(classes=n) for n in (6, 12, 24, 48)],
    "workers": [Size(workers=n) for n in (1, 2, 4)],
}


_DRAWN = ("CPU, µs a row", "peak memory, MiB")


class _LocalProcesses(Run):
    """Processes of this machine that train as those of Ray Train do, without what starting Ray costs."""

    def summarise(self, stream: TableStream, encoder: TableEncoder) -> Summary:
        return summarise(stream, encoder)

    def _shares(self, encoding: Encoding) -> list[list[Any]]:
        parts = [encode(encoding, piece, self.n_peers)[1:] for piece in encoding.summary.stream.pieces()]
        return [list(of_peer) for of_peer in zip(*parts, strict=True)]

    def _train_on_workers(self, lesson: Lesson, shares: list[list[Any]]) -> dict[str, Any]:
        context = multiprocessing.get_context("spawn")
        ends: Any = context.SimpleQueue()
        place = str(lesson.checkpoints.folder / "meeting")
        processes = [
            context.Process(target=_train, args=(rank, self.n_workers, place, lesson, shares[rank], ends))
            for rank in range(self.n_workers)
        ]
        for process in processes:
            process.start()
        results = [ends.get() for _ in processes]
        for process in processes:
            process.join()
        first: dict[str, Any] = next(result for result in results if result["rank"] == 0)
        first["cpu"] = [result["cpu"] for result in results]
        first["peak"] = [result["peak"] for result in results]
        _LocalProcesses.last = first
        return first

    last: dict[str, Any]


def _train(rank: int, n_workers: int, place: str, lesson: Lesson, share: list[Any], ends: Any) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=n_workers)
    cpu = time.process_time()
    group = PeerGroup([rank], n_workers, Processes())
    [result] = group.run(lambda peer: train_peer(peer, lesson, share, torch.device("cpu")))
    ends.put({**result, "rank": rank, "cpu": time.process_time() - cpu, "peak": peak_mebibytes()})
    dist.destroy_process_group()


def measure(size: Size) -> dict[str, Any]:
    """Fit one epoch of each stage, and return what it took."""
    table = LargeTable.draw(size.columns, size.classes)
    model = nf.TabularNCD(table.n_novel, epochs=1, pretrain_epochs=1, random_state=0)
    with TemporaryDirectory() as folder:
        rows = write_large_table(Path(folder), size.rows, table=table)
        if size.workers:
            return _measure_workers(model, rows, size, Path(folder) / "kept")
        before, start = peak_mebibytes(), time.process_time()
        with open_stream(rows, TARGET) as stream:
            summary = summarise(stream, TableEncoder())
            read = time.process_time()
            encoder = summary.fit_encoder(TableEncoder())
            fitted = time.process_time()
            for _ in summary.encoded(encoder, np.empty(0, dtype=np.int64)):
                pass
            encoded = time.process_time()
        model.fit(rows, TARGET)
        end = time.process_time()
    seconds = {"read": read - start, "encode": encoded - fitted, "fit": end - encoded}
    return {"cpu": seconds, "peak": peak_mebibytes(), "before": before, "encoded": model.encoder_.layout_.n_columns}


def _measure_workers(model: nf.TabularNCD, rows: Path, size: Size, kept: Path) -> dict[str, Any]:
    run = _LocalProcesses(None, size.workers, size.workers, False, 0)
    with open_stream(rows, TARGET) as stream:
        summary = run.summarise(stream, TableEncoder())
        model._fit_stream(summary, True, Checkpoints(kept), run.train)
    last = _LocalProcesses.last
    n_numbers = sum(array.size for array in last["parameters"].values())
    return {"cpu": {"train": last["cpu"]}, "peak": max(last["peak"]), "parameters": n_numbers}


def draw(lines: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw processor time and memory against each size."""
    known = {_size_of(line): line for line in lines}
    panels = []
    for what in _DRAWN:
        for name, sizes in _CURVES.items():
            measured = [size for size in sizes if size in known]
            x = np.array([getattr(size, name) / (1_000 if name == "rows" else 1) for size in measured])
            y = np.array([_figure(known[size], what) for size in measured])
            title = "rows, thousands" if name == "rows" else name
            curve = Curve(what, x, y, np.zeros_like(y))
            panels.append(CurvePanel(title, "", "", [curve], log=True, limits=(0, 1.25 * float(y.max(initial=1.0)))))
    write_curves([path], panels, _DRAWN, title="What one epoch of each stage costs", columns=4)


def _figure(line: dict[str, Any], what: str) -> float:
    return float(line["peak"]) if what == _DRAWN[1] else 1e6 * _seconds(line) / line["rows"]


def _size_of(line: dict[str, Any]) -> Size:
    return Size(**{name: line[name] for name in asdict(Size())})


def _seconds(line: dict[str, Any]) -> float:
    cpu = line["cpu"]
    return float(sum(cpu["train"])) if "train" in cpu else float(cpu["fit"])


def main(arguments: list[str] | None = None) -> None:
    """Measure what is missing, print it, and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="a file of JSON lines that measurements are added to")
    parser.add_argument("--picture", type=Path, help="a picture of all measurements to draw")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        warnings.simplefilter("ignore")
        size = Size(**json.loads(options.one))
        print(json.dumps({**asdict(size), **measure(size)}), flush=True)
        return
    kept = options.out.read_text().splitlines() if options.out and options.out.exists() else []
    lines = [json.loads(line) for line in kept]
    done = [_size_of(line) for line in lines]
    for size in dict.fromkeys(size for sizes in _CURVES.values() for size in sizes):
        if size in done:
            continue
        command = [sys.executable, "-P", "-m", "newfound_lab.runner.scaling", "--one", json.dumps(asdict(size))]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(found, end="", flush=True)
        lines.append(json.loads(found))
        if options.out:
            with options.out.open("a") as file:
                file.write(found)
    if options.picture:
        draw(lines, options.picture)


if __name__ == "__main__":
    main()
