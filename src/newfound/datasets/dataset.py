"""A table whose classes are known or novel, with rows to discover on and rows to score on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from newfound.counting import counted
from newfound.datasets.splits import hide, split_classes

if TYPE_CHECKING:
    import pandas as pd

    from newfound.tables.encoder import CategoricalScaling, TableEncoder
    from newfound.tables.scaling import NumericScaling
    from newfound.tables.schema import Kind

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows to discover on and rows to score on.

    Attributes
    ----------
    name : str
        What it was loaded as.
    regime : str
        In a few words, how its classes and rows were chosen: "demo", "generated", "class split 3".
    X_train, X_test : pandas.DataFrame or ndarray of shape (n_train, d), (n_test, d)
        Features as in the raw table. Rows are those of the known and the novel classes.
    y_train : ndarray of shape (n_train,)
        The label where the class is known; where it is novel, -1 (integer classes) or None (string classes).
    y_train_truth : ndarray of shape (n_train,)
        The class of every training row. For evaluation only: never pass it to ``fit``.
    y_test : ndarray of shape (n_test,)
        The class of every test row, known or novel. For evaluation only.
    known_classes, novel_classes : ndarray of shape (n_known,), (n_novel,)
        Sorted; int64, or object for strings.
    kinds : dict of str to {"numeric", "categorical", "boolean", "date"}
        Kind of every column, for ``TableEncoder``. Columns of an ndarray are called "x0", "x1", and so on.
    numeric_scaling, categorical_scaling : str
        How ``TableEncoder`` prepares its columns.
    """

    name: str
    regime: str
    X_train: pd.DataFrame | NDArray[Any]
    y_train: NDArray[Any]
    X_test: pd.DataFrame | NDArray[Any]
    y_test: NDArray[Any]
    y_train_truth: NDArray[Any]
    known_classes: NDArray[Any]
    novel_classes: NDArray[Any]
    kinds: dict[str, Kind]
    numeric_scaling: NumericScaling = "standard"
    categorical_scaling: CategoricalScaling = "none"

    @property
    def train_novel(self) -> NDArray[np.bool_]:
        """Unlabelled training rows: those of novel classes; shape (n_train,)."""
        return np.isin(self.y_train_truth, self.novel_classes)

    @property
    def test_novel(self) -> NDArray[np.bool_]:
        """Test rows of novel classes, on which the paper scores; shape (n_test,)."""
        return np.isin(self.y_test, self.novel_classes)

    def encoder(self) -> TableEncoder:
        """Return a new, unfitted ``TableEncoder`` with the dataset's own preparation of its columns."""
        from newfound.tables.encoder import TableEncoder

        return TableEncoder(
            kinds=self.kinds, numeric_scaling=self.numeric_scaling, categorical_scaling=self.categorical_scaling
        )

    def resplit(self, number: int) -> Self:
        """Return the same rows with other known and novel classes, as many of each.

        One choice of classes may flatter a method. Rows that train and rows that test stay the same.

        Parameters
        ----------
        number : int
            0 returns the dataset's own classes. Every other number stands for a draw of its own, the same at all
            times and unlike those of smaller numbers.

        Returns
        -------
        Dataset
            With regime "class split ``number``".

        Raises
        ------
        InputError
            For a number below 0, or above what there are ways to choose the known classes.

        Examples
        --------
        >>> from newfound import datasets
        >>> datasets.load("digits").resplit(1).novel_classes
        array([1, 2, 3, 5, 7])
        """
        known, novel = split_classes(self.name, self.known_classes.tolist(), self.novel_classes.tolist(), number)
        if number == 0:
            return self
        dtype = self.y_train_truth.dtype
        return replace(
            self,
            regime=f"class split {number}",
            y_train=hide(self.y_train_truth, novel),
            known_classes=np.array(known, dtype=dtype),
            novel_classes=np.array(novel, dtype=dtype),
        )

    def __repr__(self) -> str:
        n_dates = sum(kind == "date" for kind in self.kinds.values())
        n_categorical = sum(kind in ("categorical", "boolean") for kind in self.kinds.values())
        n_numeric = len(self.kinds) - n_categorical - n_dates
        kinds = f"{n_numeric} numeric, {n_categorical} categorical" + (f", {n_dates} of dates" if n_dates else "")
        n_unlabelled, n_test_novel = int(self.train_novel.sum()), int(self.test_novel.sum())
        n_labelled, n_test_known = len(self.y_train) - n_unlabelled, len(self.y_test) - n_test_novel
        lines = [
            f"Dataset {self.name!r} ({self.regime})",
            f"  columns: {len(self.kinds)} ({kinds})",
            f"  train:   {counted(len(self.y_train), 'row')}, {n_labelled:,} labelled, {n_unlabelled:,} unlabelled",
            f"  test:    {counted(len(self.y_test), 'row')}, {n_test_known:,} known, {n_test_novel:,} novel",
            f"  known:   {_listed(self.known_classes)}",
            f"  novel:   {_listed(self.novel_classes)}",
        ]
        return "\n".join(lines)


def _listed(classes: NDArray[Any]) -> str:
    return f"{counted(len(classes), 'class', 'classes')}: {', '.join(str(label) for label in classes)}"
