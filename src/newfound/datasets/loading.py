"""Loading a dataset by its name: digits here, benchmarks by the laboratory."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from newfound.datasets.dataset import Dataset
from newfound.datasets.splits import hide, stratified_split, take_rows
from newfound.errors import MissingExtraError
from newfound.laboratory import INSTALL_LABORATORY, find_laboratory

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["digits_table", "download", "framed", "load", "names"]

DIGITS = "digits"
KNOWN_DIGITS, NOVEL_DIGITS = (0, 1, 2, 3, 4), (5, 6, 7, 8, 9)


def names() -> tuple[str, ...]:
    """Names of the datasets that :func:`load` knows: "digits", and with the laboratory installed its benchmarks.

    Examples
    --------
    >>> names()[0]
    'digits'
    """
    laboratory = find_laboratory("datasets")
    return (DIGITS,) if laboratory is None else tuple(laboratory.names())


def load(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    *,
    download: bool = True,
    progress: bool | None = None,
) -> Dataset:
    """Load a dataset: its rows, the labels that may be seen, and the truth to score with.

    "digits" comes with scikit-learn and needs nothing else. The benchmarks, such as "pendigits", are read by the
    laboratory, a package of its own (newfound-lab). It looks for them in the data folder, then in newfound's cache
    folder, and then downloads them from their official address into the cache. Prepared files and official ones, as
    they were downloaded by other means, are accepted in both folders, and verified.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    data_dir : str or path, optional
        The data folder. Where None, the environment variable ``NEWFOUND_DATA`` names it.
    download : bool
        False never uses the network.
    progress : bool, optional
        Whether a download shows a progress bar. Where None, if the standard error stream is a terminal.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        For an unknown name, and for a file that is missing, cannot be downloaded or is not the expected one.
    MissingExtraError
        For another name than "digits" where the laboratory, or what it reads tables with, is not installed.

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
    if name == DIGITS:
        return _load_digits()
    return cast(Dataset, _laboratory(name).load(name, data_dir, download=download, progress=progress))


def download(
    name: str, data_dir: str | os.PathLike[str] | None = None, *, progress: bool | None = None
) -> tuple[Path, ...]:
    """Download the official files of a benchmark, so that :func:`load` finds them later without a network.

    Files that are there already are verified and kept.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    data_dir : str or path, optional
        The folder to put them in; where None, newfound's cache folder.
    progress : bool, optional
        Whether to show a progress bar. Where None, if the standard error stream is a terminal.

    Returns
    -------
    tuple of Path
        The official files; empty for "digits", which needs none.

    Raises
    ------
    InputError
        For an unknown name, one without an official address, a file that has changed since its download, and a
        download that fails.
    MissingExtraError
        For another name than "digits" where the laboratory is not installed.
    """
    if name == DIGITS:
        return ()
    return cast("tuple[Path, ...]", _laboratory(name).download(name, data_dir, progress=progress))


def _laboratory(name: str) -> ModuleType:
    laboratory = find_laboratory("datasets")
    if laboratory is None:
        raise MissingExtraError(
            f"Got name={name!r}, but newfound by itself has {DIGITS!r} only. The benchmarks come with its laboratory, "
            f"which is not installed; run: {INSTALL_LABORATORY}"
        )
    return laboratory


def digits_table() -> tuple[pd.DataFrame | NDArray[Any], NDArray[np.int64]]:
    """Scikit-learn's table of digits: features of shape (1797, 64), and the class of every row."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    return framed(digits.data, list(digits.feature_names)), digits.target.astype(np.int64)


def _load_digits() -> Dataset:
    features, target = digits_table()
    train, test = stratified_split(np.arange(len(target)), target, seed=0)
    columns = [f"x{i}" for i in range(features.shape[1])] if isinstance(features, np.ndarray) else features.columns
    return Dataset(
        name=DIGITS,
        regime="demo",
        X_train=take_rows(features, train),
        y_train=hide(target[train], NOVEL_DIGITS),
        X_test=take_rows(features, test),
        y_test=target[test],
        y_train_truth=target[train],
        known_classes=np.array(KNOWN_DIGITS, dtype=np.int64),
        novel_classes=np.array(NOVEL_DIGITS, dtype=np.int64),
        kinds=dict.fromkeys(map(str, columns), "numeric"),
    )


def framed(values: NDArray[Any], columns: list[str]) -> pd.DataFrame | NDArray[Any]:
    """Name the columns where pandas is there to hold the names."""
    try:
        import pandas as pd
    except ImportError:
        return values
    return pd.DataFrame(values, columns=pd.Index(columns))
