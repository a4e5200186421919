"""Measure how fast CSV is read: ``python -m newfound_lab.runner.reading``.

Made-up files of 20 MB are read by `newfound.read_table`, by the reader that needs no pyarrow, and by pyarrow alone,
each in a process of its own. ``--before src`` adds the sources of another version of newfound, given by their folder.
Seconds are those of the processor, which another program on the same machine changes little; memory is what reading
adds to what was there after the imports. Tables are compared by their content.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_PREPARED = """
import hashlib, json, sys, time, warnings
from pathlib import Path
warnings.simplefilter("ignore")
import numpy, pandas, pyarrow, pyarrow.compute, pyarrow.csv
from newfound.tables.files import read_file, reading
path = Path(sys.argv[1])

def peak():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

def digest(table):
    columns = {name: [str(values.dtype), values.tolist()] for name, values in table.columns.items()}
    return hashlib.sha256(repr(columns).encode()).hexdigest()

before, start = peak(), time.process_time()
"""
_DONE = """
seconds, memory = time.process_time() - start, peak() - before
print(json.dumps({"seconds": seconds, "memory": memory, "digest": digest(table) if table else None}))
"""
_WAYS = {
    "before": "table = read_file(path).table()",
    "without pyarrow": "reading.FAST_FROM = sys.maxsize; table = read_file(path).table()",
    "read_table": "table = reading.read_table(path)",
    "pyarrow alone": (
        "table = None; pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True))"
    ),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files, read each in every way, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=20.0, help="size of each file")
    parser.add_argument("--before", type=Path, help="folder with the sources of another version")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("mixed", "quoted", "numbers"):
            path = Path(folder) / f"{kind}.csv"
            write_table(path, kind, int(given.megabytes * 1e6))
            print(f"\n{kind}, {path.stat().st_size / 1e6:.1f} MB")
            compare(path, given.before)


def compare(path: Path, before: Path | None) -> None:
    """Read a file in every way, and print a line for each."""
    tables = set()
    for way in _WAYS:
        if way != "before" or before is not None:
            found = measure(path, way, before if way == "before" else None)
            tables |= {found["digest"]} - {None}
            print(f"  {way:16}{found['seconds']:8.2f} s{found['memory']:8.0f} MiB")
    print(f"  {'the same table' if len(tables) == 1 else 'DIFFERENT TABLES'}")


def measure(path: Path, way: str, sources: Path | None = None) -> dict[str, Any]:
    """Read a file in one way, in a process of its own; returns seconds, memory and a digest of the table."""
    environment = dict(os.environ)
    if sources is not None:
        environment["PYTHONPATH"] = str(sources.resolve())
    done = subprocess.run(
        [sys.executable, "-P", "-c", _PREPARED + _WAYS[way] + _DONE, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def write_table(path: Path, kind: str, n_bytes: int) -> None:
    """Write a made-up table of about a size: "mixed" columns, the same "quoted", or "numbers" alone."""
    rng = np.random.default_rng(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL if kind == "quoted" else csv.QUOTE_MINIMAL)
        heading = [f"x{j}" for j in range(30)] if kind == "numbers" else list(_mixed(rng, 1))
        writer.writerow(heading)
        while file.tell() < n_bytes:
            if kind == "numbers":
                writer.writerows(rng.normal(size=(1000, 30)).round(6).tolist())
            else:
                writer.writerows(zip(*_mixed(rng, 1000).values(), strict=True))


def _mixed(rng: np.random.Generator, n: int) -> dict[str, Iterable[str]]:
    """Columns of numbers, words, dates, booleans and missing cells, `n` of each."""

    def some(*words: str) -> list[str]:
        return [words[place] for place in rng.integers(0, len(words), n)]

    def gaps(cells: list[str], mark: str) -> list[str]:
        return [mark if gap else cell for cell, gap in zip(cells, rng.random(n) < 0.05, strict=True)]

    numbers = rng.normal(size=(5, n))
    moments = np.datetime64("2015-01-01T00:00:00") + rng.integers(0, 10**8, n)
    return {
        "exact": map(repr, numbers[0].tolist()),
        "rounded": [f"{number:.4f}" for number in numbers[1]],
        "gaps": gaps([f"{number:.3f}" for number in numbers[2]], "NA"),
        "empty": gaps([f"{number:.6g}" for number in numbers[3]], ""),
        "small": [f"{number:.2e}" for number in numbers[4]],
        "count": map(str, rng.integers(0, 10**6, n).tolist()),
        "age": map(str, rng.integers(0, 90, n).tolist()),
        "word": some(*(f"word{i}" for i in range(200))),
        "city": gaps(some("Lima", "New York", "São Paulo", "Zürich"), "?"),
        "note": some("a, b", 'she said "no"', "plain", "two\nlines"),
        "day": moments.astype("M8[D]").astype(str).tolist(),
        "moment": [moment.replace("T", " ") for moment in moments.astype(str).tolist()],
        "flag": some("true", "false"),
        "animal": some("ant", "bee", "cat", ""),
    }


if __name__ == "__main__":
    main()
