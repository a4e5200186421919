"""Discoverers that find what they are told to, at once, and remember what they were shown."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from newfound.errors import InputError
from newfound.selection.space import Choice, Real, Space
from newfound.tables import as_table

N_EACH = 20
TRUTH = np.repeat(np.arange(8), N_EACH)  # five known and three novel classes
LABELS = np.where(TRUTH < 5, TRUTH, -1)
# The first column gives the class away to `Fake`; the second says in which order rows are taken wrongly.
TABLE = np.column_stack([TRUTH, np.random.default_rng(0).permutation(len(TRUTH)) / len(TRUTH)]).astype(float)


class Fake(BaseEstimator):
    """Finds the share ``quality`` of all rows right, and throws the others together.

    ``act`` says what happens in fits after the first ``after`` ones: "fail", "always fail", "interrupt" or "die".
    """

    fits: list[dict[str, Any]] = []  # noqa: RUF012

    def __init__(
        self,
        n_novel_classes: Any = 3,
        *,
        quality: float = 0.5,
        mode: str = "a",
        act: Any = None,
        after: int = 0,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_novel_classes = n_novel_classes
        self.quality = quality
        self.mode = mode
        self.act = act
        self.after = after
        self.random_state = random_state
        self.verbose = verbose

    def search_space(self) -> dict[str, Space]:
        return {"quality": Real(0.0, 1.0), "mode": Choice(["a", "b"])}

    def fit(self, X: Any, y: Any) -> Fake:
        columns = as_table(X).columns
        Fake.fits.append({"classes": columns["x0"], "y": np.asarray(y), **self.get_params()})
        if self.act and len(Fake.fits) > self.after:
            if self.act == "fail" and self.quality != 0.5:
                raise InputError("Training diverged.")
            if self.act == "always fail":
                raise InputError("Nothing works.")
            if self.act == "interrupt":
                raise KeyboardInterrupt
            if self.act == "die":
                os._exit(9)
        return self

    def predict_novel(self, X: Any) -> NDArray[np.int64]:
        columns = as_table(X).columns
        found: NDArray[np.int64] = np.where(columns["x1"] < self.quality, columns["x0"], 0).astype(np.int64)
        return found
