"""From a registry entry to a loaded benchmark."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.datasets.dataset import Dataset
from newfound.datasets.files import find_file
from newfound.datasets.registry import BENCHMARKS, Benchmark
from newfound.datasets.splits import split_rows
from newfound.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import pandas as pd

    from newfound.tables.schema import Kind

__all__ = ["load", "load_benchmark", "names"]

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


def load(name: str) -> Dataset:
    """Load a benchmark: its rows, the labels that may be seen, and the truth to score with.

    "digits" comes with scikit-learn and needs nothing else. The others are read from the folder named by the
    environment variable ``NEWFOUND_DATA``, else from newfound's cache folder, and verified by their checksums.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        For an unknown name, and for a file that is missing or is not the expected one.
    MissingExtraError
        Where pandas and pyarrow are needed and not installed.

    Examples
    --------
    >>> load("digits")
    Dataset 'digits' (demo)
      columns: 64 (64 numeric, 0 categorical)
      train:   1,257 rows, 630 labelled, 627 unlabelled
      test:    540 rows, 271 known, 269 novel
      known:   5 classes: 0, 1, 2, 3, 4
      novel:   5 classes: 5, 6, 7, 8, 9
    """
    if name not in BENCHMARKS:
        near = difflib.get_close_matches(str(name), BENCHMARKS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"Got name={name!r}, but expected one of {', '.join(BENCHMARKS)}.{hint}")
    return load_benchmark(BENCHMARKS[name])


def load_benchmark(benchmark: Benchmark) -> Dataset:
    """Load a benchmark from its description; :func:`load` for those in the registry.

    Parameters
    ----------
    benchmark : Benchmark

    Returns
    -------
    Dataset
    """
    raw = _read(benchmark)
    train, test = split_rows(benchmark, raw.target, raw.split)
    truth = raw.target[train]
    return Dataset(
        benchmark=benchmark,
        X_train=_take(raw.features, train),
        y_train=_hide(truth, benchmark.novel),
        X_test=_take(raw.features, test),
        y_test=raw.target[test],
        y_train_truth=truth,
        known_classes=np.array(sorted(benchmark.known), dtype=truth.dtype),
        novel_classes=np.array(sorted(benchmark.novel), dtype=truth.dtype),
        kinds=_kinds(raw.features, benchmark),
    )


def _read(benchmark: Benchmark) -> RawTable:
    if not benchmark.file:
        return _read_digits()
    if benchmark.file.endswith(".npz"):
        return _read_images(benchmark)
    return _read_parquet(benchmark)


def _read_digits() -> RawTable:
    from sklearn.datasets import load_digits

    digits = load_digits()
    return RawTable(_framed(digits.data, list(digits.feature_names)), digits.target.astype(np.int64))


def _read_images(benchmark: Benchmark) -> RawTable:
    """Read the arrays x_train, y_train, x_test, y_test; pixels 0 to 255 become float32 between 0 and 1."""
    with np.load(find_file(benchmark.file, benchmark.sha256, benchmark=benchmark.name), allow_pickle=False) as arrays:
        images = np.concatenate([arrays["x_train"], arrays["x_test"]])
        parts = [arrays["y_train"], arrays["y_test"]]
    _, height, width = images.shape
    pixels = images.reshape(len(images), height * width).astype(np.float32)
    pixels /= 255
    columns = [f"pixel_{row}_{column}" for row in range(height) for column in range(width)]
    split = np.repeat(["train", "test"], [len(part) for part in parts])
    return RawTable(_framed(pixels, columns), np.concatenate(parts).astype(np.int64), split)


def _read_parquet(benchmark: Benchmark) -> RawTable:
    for package in ("pandas", "pyarrow"):
        if not _installed(package):
            raise MissingExtraError(
                f"Benchmark {benchmark.name!r} is a parquet file, and {package} is not installed to read it; "
                "run: pip install 'newfound[data]'"
            )
    import pandas as pd

    frame = pd.read_parquet(find_file(benchmark.file, benchmark.sha256, benchmark=benchmark.name), engine="pyarrow")
    # the header of the census file ends in a carriage return
    frame.columns = pd.Index([str(column).strip() for column in frame.columns])
    dtype = np.int64 if isinstance(benchmark.known[0], int) else object
    target = frame[benchmark.target].to_numpy(dtype=dtype)
    split = frame[_SPLIT_COLUMN].to_numpy(dtype=object) if _SPLIT_COLUMN in frame else None
    others = {benchmark.target, _SPLIT_COLUMN, *benchmark.not_features}
    features = frame[[column for column in frame.columns if column not in others]]
    return RawTable(features, target, split)


def _installed(package: str) -> bool:
    try:
        import_module(package)
    except ImportError:
        return False
    return True


def _framed(values: NDArray[Any], columns: list[str]) -> pd.DataFrame | NDArray[Any]:
    """Name the columns where pandas is there to hold the names."""
    if not _installed("pandas"):
        return values
    import pandas as pd

    return pd.DataFrame(values, columns=pd.Index(columns))


def _take(features: pd.DataFrame | NDArray[Any], rows: NDArray[np.intp]) -> pd.DataFrame | NDArray[Any]:
    return features[rows] if isinstance(features, np.ndarray) else features.iloc[rows].reset_index(drop=True)


def _hide(truth: NDArray[Any], novel: tuple[int, ...] | tuple[str, ...]) -> NDArray[Any]:
    labels = truth.copy()
    labels[np.isin(truth, np.array(novel, dtype=truth.dtype))] = None if truth.dtype == object else -1
    return labels


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
