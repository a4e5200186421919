"""Readers of the official files, in the formats in which their makers left them.

Every reader gives the table of the prepared file: the same columns and types, the same order of rows, the class in
``target`` and, where the makers divided the table, "train" or "test" in ``split``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError
from newfound_lab.datasets import columns
from newfound_lab.datasets.archives import DAMAGED, Archive, open_archive, open_gzip
from newfound_lab.datasets.files import one_line
from newfound_lab.datasets.sources import Source

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_frame", "read_images"]

_CHUNK = 200_000


def read_frame(source: Source, paths: Sequence[Path]) -> pd.DataFrame:
    """Read the table of a zip file.

    Parameters
    ----------
    source : Source
        What the files are and what must be in them.
    paths : sequence of Path
        One for each of ``source.files``.

    Returns
    -------
    DataFrame of shape (rows, columns and target, maybe split)

    Raises
    ------
    InputError
        If it is damaged, in another format, or another table than expected.
    """
    (path,) = paths
    try:
        with open_archive(path, source.largest_mib << 20) as archive:
            frame = _READERS[source.format](archive)
    except (*DAMAGED, ValueError) as error:
        raise InputError(_damaged(source, path, error)) from error
    n_columns = sum(column not in ("target", "split") for column in frame.columns)
    _check(source, path, len(frame), n_columns, frame["target"].tolist())
    return frame


def read_images(source: Source, paths: Sequence[Path]) -> dict[str, NDArray[np.uint8]]:
    """Read MNIST's four files of images and labels; parameters and errors as for :func:`read_frame`.

    Returns
    -------
    dict
        x_train, x_test of shape (n, height, width) and y_train, y_test of shape (n,).
    """
    arrays: dict[str, NDArray[np.uint8]] = {}
    for name, n_axes, path in zip(("x_train", "y_train", "x_test", "y_test"), (3, 1, 3, 1), paths, strict=True):
        try:
            with open_gzip(path, source.largest_mib << 20) as stream:
                arrays[name] = _idx(stream.read(), n_axes)
        except (*DAMAGED, ValueError) as error:
            raise InputError(_damaged(source, path, error)) from error
    folder, (_, *size) = paths[0].parent, arrays["x_train"].shape
    if any(len(arrays[f"x_{part}"]) != len(arrays[f"y_{part}"]) for part in ("train", "test")):
        raise InputError(_damaged(source, folder, ValueError("there are not as many images as labels")))
    if [*arrays["x_test"].shape[1:]] != size:
        raise InputError(_damaged(source, folder, ValueError("the images to train and to test on differ in size")))
    labels = [*arrays["y_train"].tolist(), *arrays["y_test"].tolist()]
    _check(source, folder, len(labels), int(np.prod(size)), labels)
    return arrays


def _number(count: int | None) -> str:
    return "some" if count is None else f"{count:,}"


def _damaged(source: Source, path: Path, error: Exception) -> str:
    return (
        f"{path} is damaged or not the official file: {one_line(error)}. Delete it, and get it from {source.address}."
    )


def _check(source: Source, path: Path, n_rows: int, n_columns: int, target: Iterable[Any]) -> None:
    """Raise one InputError with everything in which the table is not the expected one."""
    counts, wrong = Counter(target), []
    if n_rows != source.rows:
        wrong.append(f"{n_rows:,} rows instead of {source.rows:,}")
    if n_columns != source.columns:
        wrong.append(f"{n_columns:,} columns instead of {source.columns:,}")
    expected: dict[Any, int | None] = {**source.class_counts}
    for label in sorted({*counts, *expected}, key=str):
        n_expected = expected.get(label, 0)
        if counts[label] != n_expected and not (n_expected is None and counts[label]):
            wrong.append(f"{counts[label]:,} rows of class {label!r} instead of {_number(n_expected)}")
    if wrong:
        listed = ", ".join(wrong[:4]) + (f", and {len(wrong) - 4} more differences" if len(wrong) > 4 else "")
        raise InputError(
            f"{path} does not hold the expected table: {listed}. Scores on another table would not compare; delete it, "
            f"and get it from {source.address}."
        )


# --- formats ----------------------------------------------------------------------------------------------------------


def _letter(archive: Archive) -> pd.DataFrame:
    cells = _cells(archive.open("letter-recognition.data"), ("target", *columns.LETTER))
    return _whole(cells[[*columns.LETTER, "target"]], columns.LETTER)


def _pendigits(archive: Archive) -> pd.DataFrame:
    names = (*columns.PENDIGITS, "target")
    return _whole(_parts(archive, "pendigits.tra", "pendigits.tes", names), names)


def _satimage(archive: Archive) -> pd.DataFrame:
    names = (*columns.SATIMAGE, "target")
    return _whole(_parts(archive, "sat.trn", "sat.tst", names, separator=r"\s+"), names)


def _optdigits(archive: Archive) -> pd.DataFrame:
    names = (*columns.OPTDIGITS, "target")
    frame = _whole(_parts(archive, "optdigits.tra", "optdigits.tes", names), names)
    return frame.assign(target=frame["target"].astype(str))


def _covertype(archive: Archive) -> pd.DataFrame:
    frame = _whole(_cells(archive.open("covtype.data"), (*columns.COVERTYPE, "target")))
    # the makers' own parts: 11,340 rows to train on, 3,780 to validate, and the rest
    rows = np.arange(len(frame))
    return frame.assign(split=np.select([rows < 11_340, rows < 15_120], ["train", "valid"], "test"))


def _human(archive: Archive) -> pd.DataFrame:
    import pandas as pd

    archive.enter("UCI HAR Dataset.zip")
    features = _unique(name for _, name in _numbered(archive.read("features.txt")))
    activities = dict(_numbered(archive.read("activity_labels.txt")))
    parts = []
    for part in ("train", "test"):
        values = np.loadtxt(archive.open(f"{part}/X_{part}.txt"), ndmin=2)
        if not np.isfinite(values).all():
            raise ValueError(f"X_{part}.txt has cells that are not finite numbers")
        frame = _name(pd.DataFrame(values), features)
        subjects, codes = (archive.read(f"{part}/{name}_{part}.txt").split() for name in ("subject", "y"))
        if not len(subjects) == len(codes) == len(frame):
            raise ValueError(f"the files of the part {part!r} do not have as many rows as each other")
        if unknown := {*codes} - {*activities}:
            raise ValueError(f"y_{part}.txt has the unknown activity {min(unknown)}")
        added = pd.DataFrame({"subject": subjects, "target": [activities[code] for code in codes], "split": part})
        parts.append(pd.concat([frame, _whole(added, ["subject"])], axis=1))
    return pd.concat(parts, ignore_index=True)


def _census(archive: Archive) -> pd.DataFrame:
    import pandas as pd

    stream = archive.open("USCensus1990.data.txt")
    names = [name.strip() for name in stream.readline().decode("utf-8").split(",")]
    if "iYearsch" not in names:
        raise ValueError("its header has no column iYearsch")
    # in pieces, since the smallest types need an eighth of what is read first
    with pd.read_csv(stream, header=None, chunksize=_CHUNK) as chunks:
        frame = pd.concat([_whole(chunk) for chunk in chunks], ignore_index=True)
    frame = _name(frame, names)
    return frame.assign(target=frame["iYearsch"])


def _adult(archive: Archive) -> pd.DataFrame:
    # the first line of adult.test is a remark, and its labels end in a full stop
    frame = _parts(archive, "adult.data", "adult.test", columns.ADULT, comment="|", text=True)
    frame["income"] = frame["income"].str.removesuffix(".")
    frame.insert(len(columns.ADULT), "target", frame["education"])
    return _whole(frame, columns.ADULT_NUMBERS)


def _soybean(archive: Archive) -> pd.DataFrame:
    names = ("target", *columns.SOYBEAN)
    frame = _parts(archive, "soybean-large.data", "soybean-large.test", names, text=True).drop(columns="split")
    for column, categories in columns.SOYBEAN.items():
        meaning = {str(code): category for code, category in enumerate(categories.split())}
        if unknown := {*frame[column].dropna()} - {*meaning}:
            raise ValueError(f"column {column} has the unknown code {min(unknown)!r}")
        frame[column] = frame[column].map(meaning)
    return frame[[*columns.SOYBEAN, "target"]]


def _dermatology(archive: Archive) -> pd.DataFrame:
    names = (*columns.DERMATOLOGY_GRADES, "Age", "target")
    frame = _cells(archive.open("dermatology.data"), names, text=True)
    return frame.assign(Age=frame["Age"].astype(np.float64))


_READERS: dict[str, Callable[[Archive], pd.DataFrame]] = {
    "adult": _adult,
    "census": _census,
    "covertype": _covertype,
    "dermatology": _dermatology,
    "human": _human,
    "letter": _letter,
    "optdigits": _optdigits,
    "pendigits": _pendigits,
    "satimage": _satimage,
    "soybean": _soybean,
}


def _idx(content: bytes, n_axes: int) -> NDArray[np.uint8]:
    """Read MNIST's own format: zero, zero, 8 (bytes), the number of axes, their lengths, the bytes."""
    start = 4 + 4 * n_axes
    if content[:4] != bytes([0, 0, 8, n_axes]) or len(content) < start:
        raise ValueError(f"it is not an idx file of bytes with {n_axes} axes")
    shape = tuple(np.frombuffer(content, ">u4", n_axes, offset=4).tolist())
    values = np.frombuffer(content, np.uint8, offset=start)
    if values.size != int(np.prod(shape, dtype=object)):
        raise ValueError(f"it has {values.size:,} values, but its header says {' x '.join(map(str, shape))}")
    return values.reshape(shape)


def _cells(
    stream: IO[bytes], names: Sequence[str], *, separator: str = ",", comment: str | None = None, text: bool = False
) -> pd.DataFrame:
    """Read lines of cells, numbers where all of a column are, or all as text; "?" is missing."""
    import pandas as pd

    frame = pd.read_csv(
        stream,
        sep=separator,
        header=None,
        comment=comment,
        dtype=str if text else None,
        skipinitialspace=True,
        na_values=["?"],
        keep_default_na=False,
    )
    if text and (frame == "").to_numpy().any():
        raise ValueError("some of its lines have fewer cells than others")
    return _name(frame, names)


def _name(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    if frame.shape[1] != len(names):
        raise ValueError(f"its lines have {frame.shape[1]} cells instead of {len(names)}")
    return frame.set_axis(list(names), axis=1)


def _parts(archive: Archive, train: str, test: str, names: Sequence[str], **how: Any) -> pd.DataFrame:
    import pandas as pd

    files = {"train": train, "test": test}
    parts = [_cells(archive.open(file), names, **how).assign(split=part) for part, file in files.items()]
    return pd.concat(parts, ignore_index=True)


def _whole(frame: pd.DataFrame, names: Iterable[str] | None = None) -> pd.DataFrame:
    """Give whole numbers the smallest integer type that holds their column."""
    import pandas as pd

    frame = frame.copy()
    for column in frame.columns if names is None else names:
        try:
            numbers = pd.to_numeric(frame[column], downcast="integer")
        except (TypeError, ValueError):
            numbers = frame[column]
        if numbers.dtype.kind != "i":
            raise ValueError(f"column {str(column).strip()} has cells that are not whole numbers")
        frame[column] = numbers
    return frame


def _numbered(text: str) -> Iterator[tuple[str, str]]:
    """Read lines of a number and a name."""
    for line in filter(None, map(str.strip, text.splitlines())):
        number, name = line.split(maxsplit=1)
        yield number, name


def _unique(names: Iterable[str]) -> list[str]:
    """Make names unique: "a", "a", "b" become "a", "a#2", "b"."""
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return unique
