from __future__ import annotations

import gzip
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from laboratory.tests.datasets.conftest import DATA, needs_data, zipped  # noqa: E402
from laboratory.tests.datasets.official_files import (  # noqa: E402
    idx,
    official_files,
    small_benchmark,
    small_images,
    small_table,
)
from newfound.errors import InputError  # noqa: E402
from newfound_lab.datasets.raw import read_frame, read_images  # noqa: E402
from newfound_lab.datasets.registry import BENCHMARKS  # noqa: E402
from newfound_lab.datasets.sources import SOURCES, Source  # noqa: E402

TABLES = [name for name in SOURCES if name != "mnist"]


def stored(folder: Path, files: dict[str, bytes]) -> list[Path]:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]


def small_source(name: str, table: Any) -> Source:
    source = small_benchmark(name, table).source
    assert source is not None
    return source


@pytest.mark.parametrize("name", TABLES)
def test_table_comes_back_as_it_was_with_its_types_and_order(name: str, tmp_path: Path) -> None:
    table = small_table(name)
    found = read_frame(small_source(name, table), stored(tmp_path, official_files(name, table)))
    pd.testing.assert_frame_equal(found, table, check_exact=True)


def test_images_come_back(tmp_path: Path) -> None:
    images = small_images()
    found = read_images(small_source("mnist", images), stored(tmp_path, official_files("mnist", images)))
    assert list(found) == ["x_train", "y_train", "x_test", "y_test"]
    for name, array in found.items():
        np.testing.assert_array_equal(array, images[name])


def test_covertype_has_its_makers_parts(tmp_path: Path) -> None:
    table = pd.concat([small_table("forest")] * 200, ignore_index=True)
    found = read_frame(small_source("forest", table), stored(tmp_path, official_files("forest", table)))
    assert found["split"].tolist() == ["train"] * 11_340 + ["valid"] * 3_780 + ["test"] * (len(table) - 15_120)


@needs_data
@pytest.mark.parametrize(
    "name", ["letter", "satimage", "pendigits", "optdigits", "adult_education", "soybean", "dermatology"]
)
def test_official_files_give_the_prepared_table(name: str, tmp_path: Path) -> None:
    """With the registry's own expectations: column names, types, order of rows and counts are the prepared file's."""
    prepared = pd.read_parquet(Path(str(DATA)) / BENCHMARKS[name].file)
    found = read_frame(SOURCES[name], stored(tmp_path, official_files(name, prepared)))
    pd.testing.assert_frame_equal(found, prepared, check_exact=True)


@needs_data
def test_official_files_of_covertype_give_the_prepared_columns(tmp_path: Path) -> None:
    prepared = pd.read_parquet(Path(str(DATA)) / "covertype.parquet")[:12_000]
    found = read_frame(small_source("forest", prepared), stored(tmp_path, official_files("forest", prepared)))
    pd.testing.assert_frame_equal(found, prepared, check_exact=True, check_dtype=False)


@needs_data
def test_census_file_gives_the_prepared_sample(tmp_path: Path) -> None:
    prepared = pd.read_parquet(Path(str(DATA)) / "census1990_tiny.parquet")
    prepared.columns = prepared.columns.str.strip()
    source = replace(SOURCES["census"], rows=221)
    found = read_frame(source, stored(tmp_path, official_files("census", prepared)))
    pd.testing.assert_frame_equal(found, prepared, check_exact=True)


@needs_data
@pytest.mark.parametrize("name", ["mnist", "forest", "human"])
def test_expected_counts_are_those_of_the_prepared_file(name: str) -> None:
    path = Path(str(DATA)) / BENCHMARKS[name].file
    if name == "mnist":
        with np.load(path) as arrays:
            target, n_columns = np.concatenate([arrays["y_train"], arrays["y_test"]]), arrays["x_train"][0].size
    else:
        prepared = pd.read_parquet(path)
        target, n_columns = prepared["target"].to_numpy(), prepared.shape[1] - 2
    labels, counts = np.unique(target, return_counts=True)
    source = SOURCES[name]
    assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == source.class_counts
    assert len(target) == source.rows
    assert name == "human" or n_columns == source.columns


# --- what is not as expected ------------------------------------------------------------------------------------------


def refused(source: Source, paths: list[Path]) -> str:
    with pytest.raises(InputError) as caught:
        (read_images if source.format == "mnist" else read_frame)(source, paths)
    message = str(caught.value)
    assert "\n" not in message.strip()
    assert source.address in message
    return message


def test_every_difference_is_in_one_message(tmp_path: Path) -> None:
    table = small_table("letter")
    source = small_source("letter", table)
    paths = stored(tmp_path, official_files("letter", table))
    message = refused(
        replace(source, rows=20_000, columns=17, class_counts={**source.class_counts, "A": 13, "Ä": 1}), paths
    )
    assert f"{paths[0]} does not hold the expected table: " in message
    assert "312 rows instead of 20,000" in message
    assert "16 columns instead of 17" in message
    assert "12 rows of class 'A' instead of 13" in message
    assert "0 rows of class 'Ä' instead of 1" in message


def test_long_lists_of_differences_are_cut(tmp_path: Path) -> None:
    table = small_table("letter")
    source = replace(small_source("letter", table), class_counts={"A": 12})
    message = refused(source, stored(tmp_path, official_files("letter", table)))
    assert message.count("instead of 0") == 4
    assert "and 21 more differences" in message


def test_class_of_unknown_size_must_occur(tmp_path: Path) -> None:
    table = small_table("census")
    paths = stored(tmp_path, official_files("census", table))
    source = replace(small_source("census", table), class_counts=dict.fromkeys(range(18)))
    assert len(read_frame(source, paths)) == len(table)
    assert "0 rows of class 18 instead of some" in refused(
        replace(source, class_counts=dict.fromkeys(range(19))), paths
    )
    assert "12 rows of class 17 instead of 0" in refused(replace(source, class_counts=dict.fromkeys(range(17))), paths)


def changed(name: str, member: str, change: Callable[[bytes], bytes]) -> Callable[[Path], list[Path]]:
    """The official zip file of a small table, with one member changed."""

    def store(folder: Path) -> list[Path]:
        ((file, content),) = official_files(name, small_table(name)).items()
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {inner: archive.read(inner) for inner in archive.namelist()}
        members[member] = change(members[member])
        return stored(folder, {file: zipped(members)})

    return store


@pytest.mark.parametrize(
    ("name", "member", "change", "what"),
    [
        ("letter", "letter-recognition.data", lambda text: text + b"A,1,2\n", "not whole numbers"),
        ("letter", "letter-recognition.data", lambda text: text + b"A" + b",1" * 17 + b"\n", "Expected 17 fields"),
        ("letter", "letter-recognition.data", lambda text: text.replace(b",1", b",1.5", 1), "not whole numbers"),
        ("letter", "letter-recognition.data", lambda text: text.replace(b",1,", b",,", 1), "not whole numbers"),
        ("letter", "letter-recognition.data", lambda text: b"", "No columns"),
        ("letter", "letter-recognition.data", lambda text: b"\xff\xfe" + text, "can't decode"),
        ("pendigits", "pendigits.tra", lambda text: text.replace(b",", b";"), "cells instead of 17"),
        ("soybean", "soybean-large.data", lambda text: text.replace(b",0", b",7", 1), "has the unknown code '7'"),
        ("dermatology", "dermatology.data", lambda text: text + b"1,2\n", "fewer cells"),
        ("dermatology", "dermatology.data", lambda text: text.replace(b",?,", b",old,"), "could not convert"),
        ("adult_education", "adult.test", lambda text: text.replace(b"\n", b"\nx", 2), "not whole numbers"),
        ("census", "USCensus1990.data.txt", lambda text: text.replace(b"iYearsch", b"iOther"), "no column iYearsch"),
        ("census", "USCensus1990.data.txt", lambda text: text.replace(b"caseid,", b""), "6 cells instead of 5"),
        ("census", "USCensus1990.data.txt", lambda text: text.replace(b"\n1", b"\n", 1)[:-3], "not whole numbers"),
        ("forest", "covtype.data.gz", lambda text: text[:-9], "end-of-stream"),
        ("human", "UCI HAR Dataset.zip", lambda text: text[:-30], "not a zip file"),
    ],
)
def test_damaged_members(name: str, member: str, change: Callable[[bytes], bytes], what: str, tmp_path: Path) -> None:
    paths = changed(name, member, change)(tmp_path)
    message = refused(small_source(name, small_table(name)), paths)
    assert f"{paths[0]} is damaged or not the official file: " in message
    assert what in message


@pytest.mark.parametrize(
    ("member", "content", "what"),
    [
        ("train/X_train.txt", b"1 2 3 4 x\n", "could not convert string 'x'"),
        ("train/X_train.txt", b"1 2 3 4 nan\n", "X_train.txt has cells that are not finite numbers"),
        ("train/X_train.txt", b"1 2 3 4\n", "4 cells instead of 5"),
        ("train/subject_train.txt", b"one " * 44, "column subject has cells that are not whole numbers"),
        ("features.txt", b"1 a\n2\n3 c\n4 d\n5 e\n", "not enough values"),
        ("train/y_train.txt", b"1\n2\n", "do not have as many rows"),
        ("test/y_test.txt", None, "y_test.txt has the unknown activity 9"),
    ],
)
def test_damaged_parts_of_human(member: str, content: bytes | None, what: str, tmp_path: Path) -> None:
    def change(inner: bytes) -> bytes:
        with zipfile.ZipFile(io.BytesIO(inner)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = f"UCI HAR Dataset/{member}"
        members[name] = b"9" + members[name][1:] if content is None else content
        return zipped(members)

    paths = changed("human", "UCI HAR Dataset.zip", change)(tmp_path)
    assert what in refused(small_source("human", small_table("human")), paths)


@pytest.mark.parametrize("name", TABLES)
def test_archive_of_something_else(name: str, tmp_path: Path) -> None:
    source = SOURCES[name]
    assert "has no member" in refused(source, stored(tmp_path, {source.files[0]: zipped({"x.txt": b"x"})}))


def test_bomb_in_the_place_of_a_table(tmp_path: Path) -> None:
    source = replace(SOURCES["letter"], largest_mib=1)
    paths = stored(tmp_path, {source.files[0]: zipped({"letter-recognition.data": b"A,1\n" * 1_000_000})})
    assert "unpacks to more than 1 MiB" in refused(source, paths)


@pytest.mark.parametrize(
    ("key", "content", "what"),
    [
        ("x_train", b"plain text", "not a gzipped file|Not a gzipped file"),
        ("x_train", gzip.compress(b"something"), "not an idx file of bytes with 3 axes"),
        ("x_train", gzip.compress(idx(np.zeros((40, 3), np.uint8))), "not an idx file of bytes with 3 axes"),
        ("x_train", gzip.compress(idx(np.zeros((40, 28, 28), np.uint8))[:-1]), "but its header says 40 x 28 x 28"),
        ("y_train", gzip.compress(idx(np.zeros(39, np.uint8))), "not as many images as labels"),
        ("x_test", gzip.compress(idx(np.zeros((20, 14, 14), np.uint8))), "differ in size"),
    ],
    ids=["text", "no idx", "two axes", "cut off", "too few labels", "another size"],  # a gzip file holds the time
)
def test_damaged_images(key: str, content: bytes, what: str, tmp_path: Path) -> None:
    images = small_images()
    files = official_files("mnist", images)
    position = ["x_train", "y_train", "x_test", "y_test"].index(key)
    files[list(files)[position]] = content
    assert re.search(what, refused(small_source("mnist", images), stored(tmp_path, files)))
