"""Small tables in the schema of the prepared files, and the official files that hold them, in their makers' formats."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from laboratory.tests.datasets.conftest import zipped
from newfound_lab.datasets import columns
from newfound_lab.datasets.registry import BENCHMARKS, Benchmark, FirstRowsSplit, IndexSplit, SizedSplit
from newfound_lab.datasets.sources import SOURCES

CENSUS = ["caseid", "dAge", "iSex", "iRemplpar", "iYearsch", "dYrsserv"]
# names occur several times in the original too
HUMAN = ["tBodyAcc-mean()-X", "fBodyAcc-bandsEnergy()-1,8", "tBodyAcc-std()-X", *["fBodyAcc-bandsEnergy()-1,8"] * 2]
HUMAN_UNIQUE = [*HUMAN[:3], "fBodyAcc-bandsEnergy()-1,8#2", "fBodyAcc-bandsEnergy()-1,8#3"]
ACTIVITIES = ["WALKING", "WALKING_UPSTAIRS", "WALKING_DOWNSTAIRS", "SITTING", "STANDING", "LAYING"]


# --- tables -----------------------------------------------------------------------------------------------------------


def small_table(name: str) -> pd.DataFrame:
    """A random table of 12 rows a class in the schema of the prepared file, its test rows after its training rows."""
    rng = np.random.default_rng(sum(map(ord, name)))
    benchmark = BENCHMARKS[name]
    target = rng.permutation(np.repeat(list(benchmark.known + benchmark.novel), 12))
    n = len(target)
    frame = pd.DataFrame(_features(name, rng, n, target))
    frame["target"] = target.astype(str) if isinstance(benchmark.known[0], str) else target.astype(np.int8)
    if name in ("human", "satimage", "pendigits", "optdigits", "adult_education"):
        frame["split"] = np.where(np.arange(n) < 0.6 * n, "train", "test")
    if name == "forest":
        frame["split"] = "train"
    return frame


def _features(name: str, rng: np.random.Generator, n: int, target: Any) -> dict[str, Any]:
    def small(names: Any, high: int = 100) -> dict[str, Any]:
        return {column: rng.integers(0, high, n).astype(np.int8) for column in names}

    match name:
        case "letter":
            return small(columns.LETTER, 16)
        case "pendigits":
            return small(columns.PENDIGITS, 101)
        case "optdigits":
            return small(columns.OPTDIGITS, 17)
        case "satimage":
            # the first columns do not fit into a byte
            wide = {column: np.r_[150, rng.integers(40, 150, n - 1)].astype(np.int16) for column in columns.SATIMAGE}
            return wide | small(columns.SATIMAGE[4:])
        case "forest":
            return {"Elevation": np.r_[3000, rng.integers(1859, 3858, n - 1)].astype(np.int16)} | small(
                columns.COVERTYPE[1:], 2
            )
        case "census":
            ids = {"caseid": np.arange(100_000, 100_000 + n, dtype=np.int32)}
            wide = {"iRemplpar": np.r_[223, rng.integers(0, 224, n - 1)].astype(np.int16)}
            return small(CENSUS) | ids | wide | {"iYearsch": target.astype(np.int8)}
        case "human":
            numbers = {column: rng.uniform(-1, 1, n).round(7) for column in HUMAN_UNIQUE}
            return numbers | {"subject": rng.integers(1, 31, n).astype(np.int8)}
        case "adult_education":
            table = {column: _words(rng, n, missing=column == "occupation") for column in columns.ADULT}
            table |= small(columns.ADULT_NUMBERS, 90)
            table["fnlwgt"] = rng.integers(40_000, 400_000, n).astype(np.int32)
            table["income"] = np.where(rng.random(n) < 0.5, "<=50K", ">50K")
            return table | {"education": target}
        case "soybean":
            return {
                column: np.where(rng.random(n) < 0.2, None, rng.choice(categories.split(), n))
                for column, categories in columns.SOYBEAN.items()
            }
        case "dermatology":
            ages = rng.integers(0, 80, n).astype(float)
            ages[3] = np.nan
            return {grade: rng.integers(0, 4, n).astype(str) for grade in columns.DERMATOLOGY_GRADES} | {"Age": ages}
    raise AssertionError(name)


def _words(rng: np.random.Generator, n: int, *, missing: bool) -> Any:
    words = rng.choice(["Private", "State-gov", "Self-emp"], n).astype(object)
    return np.where(rng.random(n) < 0.3, None, words) if missing else words


def small_images() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(10), 6)).astype(np.uint8)
    images = rng.integers(0, 256, (60, 28, 28), dtype=np.uint8)
    return {"x_train": images[:40], "y_train": labels[:40], "x_test": images[40:], "y_test": labels[40:]}


# --- official files ---------------------------------------------------------------------------------------------------


def official_files(name: str, table: Any) -> dict[str, bytes]:
    """The official files that hold a table: name and content of each."""
    if name == "mnist":
        contents = [gzip.compress(idx(table[key])) for key in ("x_train", "y_train", "x_test", "y_test")]
        return dict(zip(SOURCES[name].files, contents, strict=True))
    return {SOURCES[name].files[0]: zipped({"Index": b"Index of the files\n", **_WRITERS[name](table)})}


def idx(array: Any) -> bytes:
    lengths = b"".join(length.to_bytes(4, "big") for length in array.shape)
    return bytes([0, 0, 8, array.ndim]) + lengths + array.tobytes()


def _lines(frame: pd.DataFrame, cell: Callable[[Any], str] = str, separator: str = ",") -> bytes:
    rows = frame.astype(object).where(frame.notna(), "?").to_numpy()
    return "".join(separator.join(cell(value) for value in row) + "\n" for row in rows).encode()


def _part(frame: pd.DataFrame, part: str) -> pd.DataFrame:
    return frame[frame["split"] == part].drop(columns="split")


def _letter(frame: pd.DataFrame) -> dict[str, bytes]:
    return {"letter-recognition.data": _lines(frame[["target", *columns.LETTER]]), "letter-recognition.names": b"1."}


def _pendigits(frame: pd.DataFrame) -> dict[str, bytes]:
    ends = {"pendigits.tra": "train", "pendigits.tes": "test"}
    return {name: _lines(_part(frame, part), "{:>3}".format) for name, part in ends.items()} | {
        "pendigits-orig.tra.Z": b"\x1f\x9d"
    }


def _satimage(frame: pd.DataFrame) -> dict[str, bytes]:
    return {
        name: _lines(_part(frame, part), separator=" ")
        for name, part in {"sat.trn": "train", "sat.tst": "test"}.items()
    }


def _optdigits(frame: pd.DataFrame) -> dict[str, bytes]:
    return {f"optdigits.{part[:3]}": _lines(_part(frame, part)) for part in ("train", "test")}


def _covertype(frame: pd.DataFrame) -> dict[str, bytes]:
    content = frame.drop(columns="split").to_csv(index=False, header=False).encode()
    return {"covtype.info": b"The Forest CoverType dataset", "covtype.data.gz": gzip.compress(content, 1)}


def _census(frame: pd.DataFrame) -> dict[str, bytes]:
    # the header alone ends in a carriage return
    raw = frame.drop(columns="target")
    return {"USCensus1990.data.txt": ",".join(map(str.strip, raw.columns)).encode() + b"\r\n" + _lines(raw)}


def _human(frame: pd.DataFrame) -> dict[str, bytes]:
    inner = {
        "UCI HAR Dataset/activity_labels.txt": "".join(f"{i} {a}\n" for i, a in enumerate(ACTIVITIES, 1)).encode(),
        "UCI HAR Dataset/features.txt": "".join(f"{i} {f}\n" for i, f in enumerate(HUMAN, 1)).encode(),
        "__MACOSX/UCI HAR Dataset/._features.txt": b"\x00\x05",
        "__MACOSX/UCI HAR Dataset/features.txt": b"\x00\x05",
    }
    for part in ("train", "test"):
        rows = _part(frame, part)
        folder = f"UCI HAR Dataset/{part}"
        inner[f"{folder}/Inertial Signals/total_acc_x_{part}.txt"] = b"not this one"
        inner[f"{folder}/X_{part}.txt"] = _lines(rows[HUMAN_UNIQUE], "{: .7e}".format, separator=" ").replace(
            b"e-0", b"e-00"
        )
        inner[f"{folder}/subject_{part}.txt"] = _lines(rows[["subject"]])
        inner[f"{folder}/y_{part}.txt"] = _lines(rows[["target"]], lambda activity: str(ACTIVITIES.index(activity) + 1))
    return {"UCI HAR Dataset.names": b"names", "UCI HAR Dataset.zip": zipped(inner)}


def _adult(frame: pd.DataFrame) -> dict[str, bytes]:
    train, test = (_lines(_part(frame, part)[list(columns.ADULT)], separator=", ") for part in ("train", "test"))
    return {
        "adult.data": train + b"\n",
        "adult.test": b"|1x3 Cross validator\n" + test.replace(b"0K\n", b"0K.\n") + b"\n",
        "old.adult.names": b"names",
    }


def _soybean(frame: pd.DataFrame) -> dict[str, bytes]:
    coded = frame[["target", *columns.SOYBEAN]].copy()
    for column, categories in columns.SOYBEAN.items():
        coded[column] = coded[column].map({word: str(i) for i, word in enumerate(categories.split())})
    cut = len(coded) * 307 // 683
    return {"soybean-large.data": _lines(coded[:cut]), "soybean-large.test": _lines(coded[cut:])}


def _dermatology(frame: pd.DataFrame) -> dict[str, bytes]:
    return {"dermatology.data": _lines(frame, lambda value: f"{value:.0f}" if isinstance(value, float) else str(value))}


_WRITERS: dict[str, Callable[[pd.DataFrame], dict[str, bytes]]] = {
    "adult_education": _adult,
    "census": _census,
    "dermatology": _dermatology,
    "forest": _covertype,
    "human": _human,
    "letter": _letter,
    "optdigits": _optdigits,
    "pendigits": _pendigits,
    "satimage": _satimage,
    "soybean": _soybean,
}


# --- benchmarks on them -----------------------------------------------------------------------------------------------


def small_benchmark(name: str, table: Any, address: str = "http://127.0.0.1:9") -> Benchmark:
    """The benchmark on a small table, with its official files at an address."""
    benchmark, source = BENCHMARKS[name], SOURCES[name]
    if name == "mnist":
        labels = np.concatenate([table["y_train"], table["y_test"]]).tolist()
        n_columns = 784
    else:
        labels = table["target"].tolist()
        n_columns = sum(column not in ("target", "split") for column in table)
    source = replace(
        source,
        addresses=tuple(f"{address}/{file}" for file in source.files),
        rows=len(labels),
        columns=n_columns,
        class_counts=dict(Counter(labels)),
    )
    split = benchmark.split
    if isinstance(split, IndexSplit):
        split = replace(split, instead=SizedSplit(len(labels) * 7 // 10, len(labels) * 3 // 10))
    if isinstance(split, FirstRowsSplit):
        split = FirstRowsSplit(len(labels) // 2, len(labels) // 3)
    return replace(benchmark, source=source, split=split)
