"""Measure how fast rows are predicted: ``python -m newfound_lab.runner.predicting``.

A TabularNCD learns from the first rows of covertype in one epoch, since predictions take as long after many. It then
predicts the whole table from a data frame, and single rows; the same model, exported to ONNX, is run by
onnxruntime where that is installed.
``--before src`` adds the sources of another version of newfound, given by their folder, in turn with the present ones.
Everything is measured in processes of its own. Another program on the same machine changes the seconds of the clock,
and hardly those of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import newfound as nf
from newfound.extras import is_installed, load_extra
from newfound_lab.datasets.lookup import find_table
from newfound_lab.datasets.registry import BENCHMARKS

_N_TAUGHT = 11_340  # rows that the paper trains on
_PREPARED = """
import hashlib, json, os, statistics, sys, time, warnings
warnings.simplefilter("ignore")
model_path, table_path, n_threads, way = sys.argv[1:]
os.environ["OMP_NUM_THREADS"] = n_threads
import numpy, pandas, torch
import newfound as nf
model, table = nf.load(model_path), pandas.read_parquet(table_path)
row = table.iloc[[len(table) // 2]]
if way == "onnxruntime":
    import onnxruntime
    from newfound.export import onnx_inputs
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(n_threads)
    nf.export_onnx(model, model_path + ".onnx")
    run = onnxruntime.InferenceSession(model_path + ".onnx", options, providers=["CPUExecutionProvider"]).run
    many, one = (onnx_inputs(model, some) for some in (table, row))
    starts = range(0, len(table), 8192)
    parts = [{name: values[start : start + 8192] for name, values in many.items()} for start in starts]
    predict_all = lambda: numpy.concatenate([run(["label"], part)[0] for part in parts])
    predict_one = lambda: run(["label"], one)
else:
    predict_all = lambda: model.predict(table)
    predict_one = lambda: model.predict(row)

def timed(work, times):
    work()
    clocks, processors = [], []
    for _ in range(times):
        clock, processor = time.perf_counter(), time.process_time()
        result = work()
        clocks.append(time.perf_counter() - clock)
        processors.append(time.process_time() - processor)
    return {"clock": statistics.median(clocks), "processor": statistics.median(processors)}, result

many, labels = timed(predict_all, 3)
one, _ = timed(predict_one, 200)
print(json.dumps({"many": many, "one": one, "digest": hashlib.sha256(labels.tobytes()).hexdigest()}))
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="folder with the sources of another version")
    parser.add_argument("--threads", type=int, default=2, help="threads that may be used")
    parser.add_argument("--repeats", type=int, default=3, help="processes for each way, in turn")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        model, table = Path(folder) / "model.newfound", Path(folder) / "table.parquet"
        n_rows, n_columns = write_model_and_table(model, table)
        print(f"covertype, {n_rows:,} rows of {n_columns} columns, TabularNCD, {given.threads} threads")
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        compare(model, table, n_rows, before=given.before, threads=given.threads, repeats=given.repeats)


def write_model_and_table(model: Path, table: Path) -> tuple[int, int]:
    """Fit a model to the first rows of covertype, and write both; returns the numbers of rows and columns."""
    pandas = load_extra("pandas", "The benchmark")
    path, benchmark = find_table(BENCHMARKS["forest"])
    frame = pandas.read_parquet(path)
    X = frame.drop(columns=[name for name in (benchmark.target, "split") if name in frame])
    y = frame[benchmark.target].to_numpy()[:_N_TAUGHT]
    discoverer = nf.TabularNCD(len(benchmark.novel), epochs=1, pretrain_epochs=1, device="cpu", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is found does not matter here
        discoverer.fit(X.iloc[:_N_TAUGHT], np.where(np.isin(y, benchmark.known), y, -1))
    nf.save(discoverer, model)
    X.to_parquet(table)
    return len(X), len(X.columns)


def compare(model: Path, table: Path, n_rows: int, *, before: Path | None, threads: int, repeats: int) -> None:
    """Predict in every way, in turn, and print a line for each."""
    ways: dict[str, Path | None] = {"now": None}
    if is_installed("onnx") and is_installed("onnxruntime"):
        ways["onnxruntime"] = None
    if before is not None:
        ways["before"] = before
    found: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    for _ in range(repeats):  # in turn, so that a busy moment of the machine meets all of them
        for way, sources in ways.items():
            found[way].append(measure(model, table, way, threads=threads, sources=sources))
    columns = ("rows a second", "processor, us a row", "one row, ms", "processor, ms")
    print(f"  {'':12}" + "".join(f"{name:>21}" for name in columns))
    for way, results in found.items():
        many, one = ({of: _median(results, what, of) for of in ("clock", "processor")} for what in ("many", "one"))
        figures = [f"{n_rows / many['clock']:,.0f}", f"{1e6 * many['processor'] / n_rows:.2f}"]
        figures += [f"{1e3 * one[of]:.2f}" for of in ("clock", "processor")]
        print(f"  {way:12}" + "".join(f"{figure:>21}" for figure in figures))
    digests = {one["digest"] for some in found.values() for one in some}
    print(f"  {'the same labels' if len(digests) == 1 else 'OTHER LABELS'}")


def measure(model: Path, table: Path, way: str, *, threads: int, sources: Path | None = None) -> dict[str, Any]:
    """Predict in one way, in a process of its own; returns seconds by clock and processor, and a digest of labels."""
    environment = dict(os.environ)
    if sources is not None:
        environment["PYTHONPATH"] = str(sources.resolve())
    done = subprocess.run(
        [sys.executable, "-P", "-c", _PREPARED, str(model), str(table), str(threads), way],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def _median(results: Sequence[dict[str, Any]], what: str, of: str) -> float:
    return statistics.median(float(result[what][of]) for result in results)


if __name__ == "__main__":
    main()
