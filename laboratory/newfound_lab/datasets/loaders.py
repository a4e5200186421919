"""From a registry entry to a loaded benchmark."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.datasets.loading import digits_table, framed
from newfound.datasets.splits import hide, take_rows
from newfound.errors import InputError, warn_user
from newfound.extras import load_extra
from newfound_lab.datasets.dataset import BenchmarkDataset
from newfound_lab.datasets.files import Folder, cache_folder, data_folders, is_there
from newfound_lab.datasets.lookup import fetch, find_table
from newfound_lab.datasets.registry import BENCHMARKS, Benchmark, IndexSplit
from newfound_lab.datasets.splits import split_rows
from newfound_lab.datasets.transfer import TransferError

if TYPE_CHECKING:
    import pandas as pd

    from newfound.tables.schema import Kind

__all__ = ["RawTable", "download", "load", "load_benchmark", "names", "split_table"]

# says what a row is for, never what it is: no feature, whichever rule splits the benchmark
_SPLIT_COLUMN = "split"


@dataclass(frozen=True, eq=False)
class RawTable:
    """A whole file: features of shape (n, d), the class of every row and, where the file says so, its part."""

    features: pd.DataFrame | NDArray[Any]
    target: NDArray[Any]
    split: NDArray[Any] | None = None


def names() -> tuple[str, ...]:
    """Names of the benchmarks that :func:`load` knows.

    Examples
    --------
    >>> names()[:3]
    ('digits', 'mnist', 'forest')
    """
    return tuple(BENCHMARKS)


def load(
    name: str, data_dir: Folder | None = None, *, download: bool = True, progress: bool | None = None
) -> BenchmarkDataset:
    """Load a benchmark by its name: what :func:`newfound.datasets.load` hands over to, with the same parameters.

    Raises
    ------
    InputError
        For an unknown name, and for a file that is missing, cannot be downloaded or is not the expected one.
    MissingExtraError
        Where pandas and pyarrow are needed and not installed.
    """
    return load_benchmark(_named(name), data_dir, download=download, progress=progress)


def download(name: str, data_dir: Folder | None = None, *, progress: bool | None = None) -> tuple[Path, ...]:
    """Download the official files of a benchmark: what :func:`newfound.datasets.download` hands over to.

    Raises
    ------
    InputError
        For an unknown name, one without an official address, a file that has changed since its download, and a
        download that fails.
    """
    benchmark = _named(name)
    if not benchmark.file:
        return ()
    if benchmark.source is None:
        raise InputError(
            f"Benchmark {benchmark.name!r} has no official address to download from; put {benchmark.file} into "
            f"{cache_folder()}, or into a folder that data_dir or NEWFOUND_DATA names."
        )
    folder = cache_folder() if data_dir is None else data_folders(data_dir)[0]
    try:
        return fetch(benchmark.source, folder, progress=progress)
    except TransferError as error:
        raise InputError(f"{error}. Put the file, got by other means, into {folder}.") from error


def load_benchmark(
    benchmark: Benchmark, data_dir: Folder | None = None, *, download: bool = True, progress: bool | None = None
) -> BenchmarkDataset:
    """Load a benchmark from its description; :func:`load` for those in the registry.

    Parameters
    ----------
    benchmark : Benchmark
    data_dir, download, progress
        As for :func:`newfound.datasets.load`.

    Returns
    -------
    BenchmarkDataset
    """
    if benchmark.file:
        _ask_for_extra(benchmark)
        path, benchmark = find_table(benchmark, data_dir, download=download, progress=progress)
        raw = _read_images(path) if path.suffix == ".npz" else _read_parquet(path, benchmark)
        benchmark = _with_known_rows(benchmark, data_dir)
    else:
        raw = RawTable(*digits_table())
    return split_table(benchmark, raw, data_dir)


def split_table(benchmark: Benchmark, raw: RawTable, data_dir: Folder | None = None) -> BenchmarkDataset:
    """Split a whole table as its benchmark says, and hide the labels of novel classes.

    Parameters
    ----------
    benchmark : Benchmark
    raw : RawTable
    data_dir : str or path, optional
        The data folder, for a split that is a file of row numbers.

    Returns
    -------
    BenchmarkDataset
    """
    train, test = split_rows(benchmark, raw.target, raw.split, data_dir)
    truth = raw.target[train]
    return BenchmarkDataset(
        name=benchmark.name,
        regime=benchmark.regime,
        benchmark=benchmark,
        X_train=take_rows(raw.features, train),
        y_train=hide(truth, benchmark.novel),
        X_test=take_rows(raw.features, test),
        y_test=raw.target[test],
        y_train_truth=truth,
        known_classes=np.array(sorted(benchmark.known), dtype=truth.dtype),
        novel_classes=np.array(sorted(benchmark.novel), dtype=truth.dtype),
        kinds=_kinds(raw.features, benchmark),
        numeric_scaling=benchmark.numeric_scaling,
        categorical_scaling=benchmark.categorical_scaling,
    )


def _named(name: str) -> Benchmark:
    if not isinstance(name, str) or name not in BENCHMARKS:
        near = difflib.get_close_matches(str(name), BENCHMARKS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"Got name={name!r}, but expected one of {', '.join(BENCHMARKS)}.{hint}")
    return BENCHMARKS[name]


def _ask_for_extra(benchmark: Benchmark) -> None:
    """Before anything is downloaded, see that it could be read."""
    if benchmark.file.endswith(".parquet"):
        for package in ("pandas", "pyarrow"):
            load_extra(package, f"Benchmark {benchmark.name!r}, a parquet file,")


def _with_known_rows(benchmark: Benchmark, data_dir: Folder | None) -> Benchmark:
    """Where the paper's row numbers are missing, take random rows instead, and say so."""
    split = benchmark.split
    if not isinstance(split, IndexSplit) or split.instead is None:
        return benchmark
    folders = data_folders(data_dir)
    if any(is_there(folder / split.file) for folder in folders):
        return benchmark
    warn_user(
        f"The rows that the paper trains and tests on for {benchmark.name!r} are in {split.file}, which is not in "
        f"{' or '.join(str(folder) for folder in folders)}. As many random rows are used instead, so scores do not "
        "compare with the paper's to the last digit."
    )
    return replace(benchmark, split=split.instead, regime="paper, other rows")


def _read_images(path: Path) -> RawTable:
    """Read the arrays x_train, y_train, x_test, y_test; pixels 0 to 255 become float32 between 0 and 1."""
    with np.load(path, allow_pickle=False) as arrays:
        images = np.concatenate([arrays["x_train"], arrays["x_test"]])
        parts = [arrays["y_train"], arrays["y_test"]]
    _, height, width = images.shape
    pixels = images.reshape(len(images), height * width).astype(np.float32)
    pixels /= 255
    columns = [f"pixel_{row}_{column}" for row in range(height) for column in range(width)]
    split = np.repeat(["train", "test"], [len(part) for part in parts])
    return RawTable(framed(pixels, columns), np.concatenate(parts).astype(np.int64), split)


def _read_parquet(path: Path, benchmark: Benchmark) -> RawTable:
    import pandas as pd

    frame = pd.read_parquet(path, engine="pyarrow")
    # the header of the census file ends in a carriage return
    frame.columns = pd.Index([str(column).strip() for column in frame.columns])
    dtype = np.int64 if isinstance(benchmark.known[0], int) else object
    target = frame[benchmark.target].to_numpy(dtype=dtype)
    split = frame[_SPLIT_COLUMN].to_numpy(dtype=object) if _SPLIT_COLUMN in frame else None
    others = {benchmark.target, _SPLIT_COLUMN, *benchmark.not_features}
    features = frame[[column for column in frame.columns if column not in others]]
    return RawTable(features, target, split)


def _kinds(features: pd.DataFrame | NDArray[Any], benchmark: Benchmark) -> dict[str, Kind]:
    if isinstance(features, np.ndarray):
        columns = [f"x{i}" for i in range(features.shape[1])]
    else:
        columns = [str(column) for column in features.columns]
    kinds: dict[str, Kind] = {}
    for column in columns:
        kinds[column] = "categorical" if column in benchmark.categorical else "numeric"
        if column in benchmark.boolean:
            kinds[column] = "boolean"
    return kinds
