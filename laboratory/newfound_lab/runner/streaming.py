"""What a fit on a stream costs: time and memory against the number of rows, and accuracy beside a fit in memory.

Run ``python -m newfound_lab.runner.streaming --rows 1000000``; the disk has to have room for about 600 bytes a row.
``--auto`` fits an AutoDiscoverer instead of a TabularNCD; ``--labelled 0.5`` hides half of the labels of known classes,
so that known and novel rows are mixed.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import pyarrow.parquet as pq

import newfound as nf
from newfound_lab.datasets.large import N_CLASSES, N_NOVEL, TARGET, TRUTH, LargeTable, write_large_table

_N_TEST = 200_000


def peak_mebibytes() -> float:
    """Return the most memory that the process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def accuracy(predicted: Path, truth: Path) -> tuple[float, float]:
    """Return the share of known rows that are predicted rightly, and the accuracy of the novel ones when matched."""
    found, true = (pq.read_table(path)[name].to_numpy() for path, name in ((predicted, "class"), (truth, TRUTH)))
    known = np.isin(true, [f"class {c}" for c in range(N_CLASSES - N_NOVEL)])
    novel = nf.metrics.novel_scores(true[~known], found[~known])["acc"]
    return float((found[known] == true[known]).mean()), novel


def measure(
    folder: Path,
    n_rows: int,
    model: nf.TabularNCD | nf.AutoDiscoverer,
    *,
    in_memory: bool,
    labelled: float,
    predict_all: bool,
) -> None:
    """Print what a fit and the prediction of other rows take, and where asked for that of the rows of the fit."""
    rows, test = folder / f"{n_rows}-{labelled}", folder / "test"
    if not rows.exists():
        write_large_table(rows, n_rows, table=replace(LargeTable.draw(), labelled=labelled))
    if not test.exists():
        write_large_table(test, _N_TEST, seed=1)
    before, begin, cpu = peak_mebibytes(), time.perf_counter(), time.process_time()
    if in_memory:
        table = pq.read_table(rows / "rows")
        model.fit(table.drop_columns([TARGET]), table[TARGET])
    else:
        model.fit(rows / "rows", TARGET)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    fitted = peak_mebibytes()
    predicting = seconds_of_prediction(model, test / "rows", folder / "found.parquet")
    known, novel = accuracy(folder / "found.parquet", test / "truth")
    how = "in memory" if in_memory else "streamed"
    if hasattr(model, "known_share_"):
        print(f"unlabelled rows are {model.unlabelled_}, known share {model.known_share_!r}")
    print(
        f"{type(model).__name__}, {n_rows:>11,} rows {how:>9}: "
        f"fit {seconds:.0f} s ({cpu:.0f} s of CPU, {1e6 * cpu / n_rows:.1f} us a row), "
        f"peak {fitted:.0f} MiB ({before:.0f} before), {_N_TEST / predicting:,.0f} rows a second predicted, "
        f"{model.n_novel_classes_} novel classes, "
        f"{100 * known:.1f} % of known and {100 * novel:.1f} % of novel rows right",
        flush=True,
    )
    if predict_all:
        predicting = seconds_of_prediction(model, rows / "rows", folder / "all.parquet")
        print(
            f"{n_rows:,} rows predicted: {predicting:.0f} s, {n_rows / predicting:,.0f} rows a second, "
            f"peak {peak_mebibytes():.0f} MiB",
            flush=True,
        )


def seconds_of_prediction(model: nf.TabularNCD | nf.AutoDiscoverer, rows: Path, found: Path) -> float:
    """Predict rows of files into another file."""
    begin = time.perf_counter()
    nf.predict_parquet(model, rows, found)
    return time.perf_counter() - begin


def main(arguments: list[str] | None = None) -> None:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--in-memory", action="store_true", help="fit the table as a whole, to compare with")
    parser.add_argument("--auto", action="store_true", help="fit an AutoDiscoverer")
    parser.add_argument("--labelled", type=float, default=1.0, help="share of the rows of known classes with a label")
    parser.add_argument("--predict-all", action="store_true", help="predict the rows of the fit as well")
    parser.add_argument("--folder", type=Path, help="where tables are kept; a temporary folder by default")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    model: nf.TabularNCD | nf.AutoDiscoverer = nf.AutoDiscoverer(random_state=0)
    if not options.auto:
        unlabelled: Literal["novel", "auto"] = "novel" if options.labelled == 1 else "auto"
        epochs = {"epochs": options.epochs, "pretrain_epochs": options.epochs}
        model = nf.TabularNCD(N_NOVEL, unlabelled=unlabelled, **epochs, random_state=0)
    with TemporaryDirectory() as temporary:
        measure(
            options.folder or Path(temporary),
            options.rows,
            model,
            in_memory=options.in_memory,
            labelled=options.labelled,
            predict_all=options.predict_all,
        )


if __name__ == "__main__":
    main()
