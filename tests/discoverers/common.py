"""Discoverers that train in a moment, tables small enough for them, and the checks that all of them share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import newfound as nf

# After so few epochs a network may leave a novel class empty and say so; two known classes are few for AutoDiscoverer.
FEW_EPOCHS, FEW_KNOWN = "ignore:.*have no rows", "ignore:The evidence for these novel classes is weak"
SMALL = [pytest.mark.filterwarnings(FEW_EPOCHS), pytest.mark.filterwarnings(FEW_KNOWN)]
"""Marks of modules in which small discoverers warn, and are right."""

N_EACH = 15
N_CLASSES = 4
TRUTH = np.repeat(np.arange(N_CLASSES), N_EACH)
NOVEL = TRUTH >= 2
CENTRES = np.array([[0, 0], [6, 0], [0, 6], [6, 6]], dtype=float)


def tabular_ncd(**changes: Any) -> nf.TabularNCD:
    """A TabularNCD of few epochs, with settings of its own so that better defaults leave the tests as they are."""
    settings = {"n_novel_classes": 2, "hidden_layers": [16, 16], "epochs": 20, "pretrain_epochs": 1, "random_state": 0}
    settings |= {"top_k": None, "w1": 0.8, "w2": 0.8, "lr_classification": 0.01, "lr_clustering": 0.005}
    settings |= {"k_neighbors": 10, "dropout": 0.1, "activation": "relu"}
    return nf.TabularNCD(**{**settings, **changes})


def classifier_projection(**changes: Any) -> nf.ClassifierProjection:
    """A ClassifierProjection of few epochs."""
    settings = {"n_novel_classes": 2, "hidden_layers": [16, 16], "epochs": 8, "n_init": 1, "random_state": 0}
    return nf.ClassifierProjection(**{**settings, "learning_rate": 0.01, "dropout": 0.2, **changes})


def pbn(**changes: Any) -> nf.PBN:
    """A PBN of few epochs."""
    settings = {"n_novel_classes": 2, "hidden_layers": [16, 16], "epochs": 8, "n_init": 1, "random_state": 0}
    return nf.PBN(**{**settings, "w": 0.2, "learning_rate": 0.01, "dropout": 0.1, **changes})


def auto(**changes: Any) -> nf.AutoDiscoverer:
    """An AutoDiscoverer that takes all unlabelled rows for novel as the others do."""
    settings = {"n_novel_classes": 2, "device": "cpu", "random_state": 0}
    return nf.AutoDiscoverer(**{**settings, "unlabelled": "novel", **changes})


def in_context(**changes: Any) -> nf.InContextDiscoverer:
    """An InContextDiscoverer that looks once, and takes all unlabelled rows for novel as the others do."""
    settings = {"n_novel_classes": 2, "n_views": 1, "device": "cpu", "random_state": 0}
    return nf.InContextDiscoverer(**{**settings, "unlabelled": "novel", **changes})


def whitened_kmeans(**changes: Any) -> nf.WhitenedKMeans:
    """A WhitenedKMeans of one start."""
    return nf.WhitenedKMeans(**{"n_novel_classes": 2, "ridge": 0.5, "n_init": 1, "random_state": 0, **changes})


def ncd_kmeans(**changes: Any) -> nf.NCDKMeans:
    """An NCDKMeans of two starts."""
    return nf.NCDKMeans(**{"n_novel_classes": 2, "n_init": 2, "random_state": 0, **changes})


def ncd_spectral(**changes: Any) -> nf.NCDSpectral:
    """An NCDSpectral of few neighbours."""
    settings = {"n_novel_classes": 2, "n_neighbors": 8, "n_init": 2, "random_state": 0}
    return nf.NCDSpectral(**{**settings, "n_components": None, "regularisation": 0.01, **changes})


def kmeans(**changes: Any) -> nf.KMeansDiscoverer:
    """A KMeansDiscoverer of one start."""
    return nf.KMeansDiscoverer(**{"n_novel_classes": 2, "n_init": 1, "random_state": 0, **changes})


def spectral(**changes: Any) -> nf.SpectralDiscoverer:
    """A SpectralDiscoverer."""
    return nf.SpectralDiscoverer(**{"n_novel_classes": 2, "n_neighbors": 5, "random_state": 0, **changes})


Maker = Callable[..., Any]
PACKED: tuple[Maker, ...] = (tabular_ncd, classifier_projection, pbn)
WITHOUT_TRAINING: tuple[Maker, ...] = (auto, in_context, whitened_kmeans, ncd_kmeans, ncd_spectral)
WITHOUT_LABELS: tuple[Maker, ...] = (kmeans, spectral)
DISCOVERERS: tuple[Maker, ...] = PACKED + WITHOUT_TRAINING + WITHOUT_LABELS
CLASSES = tuple(type(make()) for make in DISCOVERERS)

PLAIN: Maker = ncd_kmeans
"""The quickest that needs labels: what the base class does for all of them is tested in full on this one."""
KINDS: tuple[Maker, ...] = (PLAIN, ncd_spectral, tabular_ncd, auto)
"""One of each kind: with centroids, with neighbours, a pack of networks, and the in-context network."""


def numbers(seed: int = 0) -> np.ndarray:
    """Four round groups of rows, two known and two novel; shape (60, 2)."""
    return CENTRES[TRUTH] + np.random.default_rng(seed).normal(0, 0.4, (len(TRUTH), 2))


def frame(seed: int = 0) -> pd.DataFrame:
    """The same groups as a table of mixed columns with missing cells; 60 rows."""
    rng = np.random.default_rng(seed)
    width, height = numbers(seed).T
    width[3] = np.nan
    colour = np.array(["red", "green", "blue"], dtype=object)[rng.integers(3, size=len(TRUTH))]
    colour[5] = None
    return pd.DataFrame({"width": width, "height": height, "colour": colour, "round": rng.random(len(TRUTH)) < 0.5})


def as_format(table: pd.DataFrame, to: str) -> Any:
    """The same table in another library's type."""
    columns = {name: [None if pd.isna(cell) else cell for cell in table[name]] for name in table}
    if to == "pandas":
        return table
    if to == "polars":
        return pl.DataFrame(columns)
    if to == "pyarrow":
        return pa.table(columns)
    assert to == "numpy"
    return table.to_numpy(dtype=object)


def integer_labels() -> np.ndarray:
    """Labels of the known classes, -1 for the rows of the novel ones."""
    return np.where(NOVEL, -1, TRUTH)


def beneath_a_mask() -> Any:
    """The same labels, with the novel classes where a leak would find them: in the data beneath a mask."""
    return np.ma.MaskedArray(TRUTH.copy(), mask=NOVEL)


@dataclass(frozen=True)
class LabelType:
    """A type of `y`: the labels themselves, and what comes back for them."""

    name: str
    y: Any
    known: list[Any]
    novel: list[Any]
    kind: str


def _masked(known: list[Any], mark: Any) -> list[Any]:
    return [mark if novel else known[code] for code, novel in zip(TRUTH, NOVEL, strict=True)]


_STRINGS = _masked(["ant", "bee"], None)
_OPTIONAL = _masked([5, 9], None)

LABEL_TYPES = (
    LabelType("int -1", np.array(_masked([5, 9], -1)), [5, 9], [10, 11], "i"),
    LabelType("int list", _masked([5, 9], -1), [5, 9], [10, 11], "i"),
    LabelType("int None", _OPTIONAL, [5, 9], [10, 11], "i"),
    LabelType("int32", np.array(_masked([5, 9], -1), dtype=np.int32), [5, 9], [10, 11], "i"),
    LabelType("strings None", np.array(_STRINGS, dtype=object), ["ant", "bee"], ["novel_0", "novel_1"], "O"),
    LabelType("strings NaN", _masked(["ant", "bee"], np.nan), ["ant", "bee"], ["novel_0", "novel_1"], "O"),
    LabelType("strings -1", _masked(["ant", "bee"], -1), ["ant", "bee"], ["novel_0", "novel_1"], "O"),
    LabelType("novel_0 is known", _masked(["ant", "novel_0"], None), ["ant", "novel_0"], ["novel_1", "novel_2"], "O"),
    LabelType("booleans", _masked([False, True], None), [False, True], [2, 3], "i"),
    LabelType("whole floats", np.array(_masked([5.0, 9.0], np.nan)), [5.0, 9.0], [10.0, 11.0], "f"),
    LabelType("pandas categorical", pd.Series(_STRINGS, dtype="category"), ["ant", "bee"], ["novel_0", "novel_1"], "O"),
    LabelType("pandas Categorical", pd.Categorical(_OPTIONAL), [5, 9], [10, 11], "i"),
    LabelType("pandas Int64", pd.Series(_OPTIONAL, dtype="Int64"), [5, 9], [10, 11], "i"),
    LabelType("pandas boolean", pd.Series(_masked([False, True], None), dtype="boolean"), [0, 1], [2, 3], "i"),
    LabelType("pandas string", pd.Series(_STRINGS, dtype="string"), ["ant", "bee"], ["novel_0", "novel_1"], "O"),
    LabelType("pandas object", pd.Series(_STRINGS, dtype=object), ["ant", "bee"], ["novel_0", "novel_1"], "O"),
    LabelType("polars strings", pl.Series(_STRINGS), ["ant", "bee"], ["novel_0", "novel_1"], "O"),
    LabelType("polars ints", pl.Series(_OPTIONAL), [5, 9], [10, 11], "i"),
    LabelType("pyarrow strings", pa.array(_STRINGS), ["ant", "bee"], ["novel_0", "novel_1"], "O"),
    LabelType("pyarrow chunks", pa.chunked_array([_OPTIONAL[:20], _OPTIONAL[20:]]), [5, 9], [10, 11], "i"),
)
