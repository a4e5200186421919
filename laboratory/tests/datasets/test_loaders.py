from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laboratory.tests.datasets.conftest import needs_data
from newfound.errors import InputError, MissingExtraError
from newfound_lab.datasets import BenchmarkDataset, load, names
from newfound_lab.datasets.loaders import load_benchmark
from newfound_lab.datasets.registry import BENCHMARKS, Benchmark, ColumnSplit, IndexSplit, RandomSplit

load_once = cache(load)
IN_PAPER = [benchmark for benchmark in BENCHMARKS.values() if benchmark.paper and benchmark.scoreable]


def equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


# --- names ------------------------------------------------------------------------------------------------------------


def test_names_are_those_of_the_registry() -> None:
    assert names() == tuple(BENCHMARKS)
    assert len(names()) == 13


@pytest.mark.parametrize("name", ["pendigit", "", None, 7, ["letter"]])
def test_unknown_name_lists_the_known_ones(name: Any) -> None:
    with pytest.raises(InputError, match=r"expected one of digits, mnist, .*dermatology"):
        load(name)


def test_near_miss_is_named() -> None:
    with pytest.raises(InputError, match="Did you mean 'pendigits'"):
        load("pendigit")


# --- small files made here --------------------------------------------------------------------------------------------


@pytest.fixture
def small(data_folder: Path, sha256: Callable[[Path], str]) -> Benchmark:
    """A parquet file with text, missing cells, columns that are no features, and rows of another class."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = data_folder / "small.parquet"
    pd.DataFrame(
        {
            "id": [10, 11, 12, 13, 14, 15],
            "colour": ["red", None, "blue", "red", "blue", "red"],
            "size\r": [1.0, 2.0, None, 4.0, 5.0, 6.0],
            "target": ["b", "z", "a", "other", "z", "a"],
            "split": ["train", "train", "train", "train", "test", "test"],
        }
    ).to_parquet(path)
    return Benchmark(
        name="small",
        file=path.name,
        sha256=sha256(path),
        known=("b", "a"),
        novel=("z",),
        split=ColumnSplit(),
        regime="extra",
        not_features=("id",),
        categorical=("colour",),
    )


def test_small_table(small: Benchmark) -> None:
    data = load_benchmark(small)
    assert list(data.X_train.columns) == ["colour", "size"]
    assert data.X_train["size"].tolist()[:2] == [1.0, 2.0]
    assert data.X_train.isna().to_numpy().tolist() == [[False, False], [True, False], [False, True]]
    assert data.y_train.dtype == object
    assert data.y_train.tolist() == ["b", None, "a"]
    assert data.y_train_truth.tolist() == ["b", "z", "a"]
    assert data.y_test.tolist() == ["z", "a"]
    assert data.train_novel.tolist() == [False, True, False]
    assert data.test_novel.tolist() == [True, False]
    assert data.known_classes.tolist() == ["a", "b"]
    assert data.novel_classes.tolist() == ["z"]
    assert data.kinds == {"colour": "categorical", "size": "numeric"}
    assert data.scoreable
    assert "1 categorical" in repr(data)


def test_integer_classes_are_hidden_by_minus_one(data_folder: Path, sha256: Callable[[Path], str]) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = data_folder / "whole.parquet"
    pd.DataFrame({"x": range(40), "target": np.tile([4, 9], 20).astype(np.int8)}).to_parquet(path)
    data = load_benchmark(Benchmark("whole", path.name, sha256(path), (9,), (4,), RandomSplit(), "extra"))
    assert data.y_train.dtype == data.y_test.dtype == np.int64
    assert set(data.y_train.tolist()) == {-1, 9}
    assert equal(data.y_train == -1, data.y_train_truth == 4)
    assert equal(data.X_train["x"] % 2, data.y_train_truth == 9)


def test_sample_says_so(small: Benchmark) -> None:
    data = load_benchmark(replace(small, scoreable=False))
    assert not data.scoreable
    assert "no score may be reported" in repr(data)


@pytest.mark.parametrize("with_pandas", [True, False])
def test_small_images(
    with_pandas: bool, data_folder: Path, sha256: Callable[[Path], str], uninstall: Callable[[str], None]
) -> None:
    if with_pandas:
        pytest.importorskip("pandas")
    else:
        uninstall("pandas")
    path = data_folder / "images.npz"
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, size=(7, 2, 3), dtype=np.uint8)
    y = np.array([0, 5, 1, 5, 0, 5, 1], dtype=np.uint8)
    np.savez(path, x_train=images[:4], y_train=y[:4], x_test=images[4:], y_test=y[4:])
    data = load_benchmark(replace(BENCHMARKS["mnist"], file=path.name, sha256=sha256(path), known=(0, 1), novel=(5,)))
    X_train = np.asarray(data.X_train)
    assert X_train.dtype == np.float32
    assert equal(X_train, images[:4].reshape(4, 6).astype(np.float32) / np.float32(255))
    assert equal(data.X_test, images[4:].reshape(3, 6).astype(np.float32) / np.float32(255))
    assert data.y_train.tolist() == [0, -1, 1, -1]
    assert data.y_test.tolist() == [0, 5, 1]
    assert list(data.kinds)[1] == ("pixel_0_1" if with_pandas else "x1")


@pytest.mark.parametrize("name", [benchmark.name for benchmark in BENCHMARKS.values() if benchmark.file])
def test_missing_file(name: str, data_folder: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match=f"needs the file {BENCHMARKS[name].file}, which is not in "):
        load(name, download=False)


@pytest.mark.parametrize("name", ["mnist", "pendigits"])
def test_wrong_file(name: str, data_folder: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    (data_folder / BENCHMARKS[name].file).write_bytes(b"something else")
    with pytest.raises(InputError, match=f"not the file that benchmark '{name}' was defined on"):
        load(name)


def test_missing_file_of_row_numbers(small: Benchmark) -> None:
    with pytest.raises(InputError, match=r"needs the file tabularncd_splits\.npz"):
        load_benchmark(replace(small, split=IndexSplit("tabularncd_splits.npz", "", "train", "test")))


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_missing_extra(package: str, small: Benchmark, uninstall: Callable[[str], None]) -> None:
    uninstall(package)
    with pytest.raises(
        MissingExtraError, match=rf"needs {package}, which is not installed; run: pip install 'newfound\[data\]'"
    ):
        load_benchmark(small)


# --- the benchmarks themselves ----------------------------------------------------------------------------------------


@needs_data
@pytest.mark.parametrize("benchmark", IN_PAPER, ids=lambda b: b.name)
def test_counts_are_the_papers(benchmark: Benchmark) -> None:
    data, paper = load_once(benchmark.name), benchmark.paper
    assert paper is not None
    assert len(data.known_classes) == paper.known_classes
    assert len(data.novel_classes) == paper.novel_classes
    assert (~data.train_novel).sum() == paper.train_labeled
    assert data.train_novel.sum() == paper.train_unlabeled
    assert (~data.test_novel).sum() == paper.test_labeled
    assert data.test_novel.sum() == paper.test_unlabeled
    if benchmark.regime == "paper":
        assert data.X_train.shape[1] == data.X_test.shape[1] == paper.attributes


@needs_data
@pytest.mark.parametrize("name", names())
def test_every_benchmark_is_well_formed(name: str) -> None:
    data, benchmark = load_once(name), BENCHMARKS[name]
    assert isinstance(data, BenchmarkDataset)
    assert len(data.X_train) == len(data.y_train) == len(data.y_train_truth)
    assert len(data.X_test) == len(data.y_test)
    # a class with one or two rows of the census sample falls into one part only
    assert set(data.y_train_truth) <= {*benchmark.known, *benchmark.novel}
    if data.scoreable:
        assert set(data.y_train_truth) == set(data.y_test) == {*benchmark.known, *benchmark.novel}
    visible = ~data.train_novel
    assert equal(data.y_train[visible], data.y_train_truth[visible])
    missing = -1 if data.y_train.dtype == np.int64 else None
    assert all(label == missing for label in data.y_train[data.train_novel])
    assert not {benchmark.target, "split", *benchmark.not_features} & set(data.kinds)
    assert [c for c, kind in data.kinds.items() if kind == "categorical"] == [
        c for c in benchmark.categorical if c not in benchmark.not_features
    ]


@needs_data
@pytest.mark.parametrize(("name", "n_train", "n_test"), [("census", 154, 67), ("nsl_kdd", 30693, 13155)])
def test_random_splits_have_these_rows(name: str, n_train: int, n_test: int) -> None:
    data = load_once(name)
    assert (len(data.y_train), len(data.y_test)) == (n_train, n_test)


@needs_data
def test_nsl_kdd_has_at_most_ten_thousand_rows_of_a_class() -> None:
    data = load_once("nsl_kdd")
    truth, counts = np.unique(np.concatenate([data.y_train_truth, data.y_test]), return_counts=True)
    assert dict(zip(truth, counts, strict=True))["normal"] == counts.max() == 10_000


@needs_data
def test_column_names_have_no_stray_whitespace() -> None:
    columns = list(load_once("census").kinds)
    assert "dYrsserv" in columns
    assert len(columns) == 67


# --- preparation ------------------------------------------------------------------------------------------------------


@needs_data
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("benchmark", IN_PAPER, ids=lambda b: b.name)
def test_encoders_of_the_paper_keep_its_columns(benchmark: Benchmark) -> None:
    data = load_once(benchmark.name)
    Z = data.encoder().fit_transform(data.X_train)
    assert Z.shape == data.X_train.shape
    if benchmark.name == "mnist":
        assert equal(Z, np.asarray(data.X_train, dtype=np.float64))
    else:
        assert np.allclose(Z.mean(axis=0), 0, atol=1e-6)
        assert set(np.round(Z.std(axis=0), 6)) <= {0.0, 1.0}


@needs_data
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["adult_education", "nsl_kdd", "soybean", "dermatology"])
def test_encoders_of_heterogeneous_tables(name: str) -> None:
    data = load_once(name)
    encoder = data.encoder().fit(data.X_train)
    Z = encoder.transform(data.X_test)
    assert np.isfinite(Z).all()
    assert encoder.layout_.n_groups == len(data.kinds)
    assert encoder.layout_.categorical.any()
