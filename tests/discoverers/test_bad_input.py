"""Bad input gives an InputError that names the cure, and leaves a fitted discoverer as it was."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from newfound import InputError, TableEncoder
from tests.discoverers.common import (
    DISCOVERERS,
    PACKED,
    PLAIN,
    TRUTH,
    WITHOUT_TRAINING,
    Maker,
    auto,
    classifier_projection,
    frame,
    in_context,
    integer_labels,
    kmeans,
    ncd_kmeans,
    ncd_spectral,
    numbers,
    pbn,
    spectral,
    tabular_ncd,
    whitened_kmeans,
)

pytestmark = pytest.mark.filterwarnings("ignore:The evidence for these novel classes is weak")

N = len(TRUTH)
every = pytest.mark.parametrize("make", DISCOVERERS)
METHODS = ("predict", "predict_novel", "predict_proba", "transform")


@pytest.fixture(scope="module")
def fitted() -> dict[Maker, Any]:
    return {make: make().fit(frame(), integer_labels()) for make in DISCOVERERS}


class Unchanged:
    """Asserts that a block raises InputError with telling words and leaves the discoverer as it was."""

    def __init__(self, model: Any, words: str) -> None:
        self.model = copy.deepcopy(model)
        self._raises = pytest.raises(InputError, match=words)
        self._before = {name: id(value) for name, value in vars(self.model).items()}
        self._proba = self.model.predict_proba(frame(1))
        self._labels = self.model.labels_.copy()

    def __enter__(self) -> Any:
        self._raises.__enter__()
        return self.model

    def __exit__(self, *error: Any) -> bool:
        caught = self._raises.__exit__(*error)
        assert {name: id(value) for name, value in vars(self.model).items()} == self._before
        assert_array_equal(self.model.labels_, self._labels)
        assert_array_equal(self.model.predict_proba(frame(1)), self._proba)
        return bool(caught)


def nested(kind: str) -> Any:
    """A table with a column of lists or structs."""
    cells: list[Any] = [[1, 2]] * N if kind == "lists" else [{"a": 1}] * N
    return {"numbers": numbers()[:, 0], "deep": cells}


@dataclass(frozen=True)
class Bad:
    """An input that cannot be used, and words that its message must hold: the trouble, then the cure."""

    name: str
    words: str
    make_X: Callable[[], Any] = frame
    make_y: Callable[[], Any] = integer_labels


def with_infinity() -> pd.DataFrame:
    table = frame()
    table.loc[4, "height"] = np.inf
    table.loc[5, "width"] = -np.inf
    return table


BAD_TABLES = (
    Bad("infinite", r"infinite values in columns 'width', 'height'.*finite numbers or missing values", with_infinity),
    Bad(
        "duplicate names",
        r"duplicate column names: column 'width'.*Give every column a name of its own",
        lambda: pd.DataFrame(numbers(), columns=["width", "width"]),
    ),
    Bad("lists", r"nested cells.*'deep'.*Split it into columns", lambda: pd.DataFrame(nested("lists"))),
    Bad("structs", r"nested cells.*'deep'.*Split it into columns", lambda: pl.DataFrame(nested("structs"))),
    Bad("arrow lists", r"nested cells.*'deep'.*Split it into columns", lambda: pa.table(nested("lists"))),
    Bad("complex", r"Complex data not supported.*real and imaginary parts as columns", lambda: numbers() + 1j),
    Bad(
        "complex cells",
        r"Complex data not supported: column 'wave'.*drop the column",
        lambda: frame().assign(wave=pd.Series([1 + 2j] * N, dtype=object)),
    ),
    Bad("sparse", r"sparse matrix.*toarray\(\)", lambda: scipy.sparse.csr_matrix(numbers())),
    Bad("sparse array", r"sparse matrix.*toarray\(\)", lambda: scipy.sparse.coo_array(numbers())),
    Bad("no rows", r"0 sample\(s\).*at least one row", lambda: frame().iloc[:0], list),
    Bad("no columns", r"0 feature\(s\).*at least one column", lambda: np.empty((N, 0))),
    Bad("vector", r"Expected 2D array, got 1D array.*Reshape your data", lambda: numbers()[:, 0]),
    Bad("series", r"Expected 2D array, got 1D array.*Reshape your data", lambda: frame()["width"]),
    Bad("cube", r"dim 3, but expected 2.*one column a feature", lambda: numbers()[None]),
    Bad("lazy", r"lazy frame.*collect\(\)", lambda: pl.DataFrame(numbers()).lazy()),
    Bad("nothing", r"Expected 2D array.*DataFrame", lambda: None),
)
A_FILE = Bad("text", r"name of a file, .table.csv.*read the table first.*DataFrame", lambda: "table.csv")

BAD_FITS = (
    Bad(
        "short y",
        rf"y has {N - 1} labels but X has {N} rows; pass one label a row",
        make_y=lambda: integer_labels()[1:],
    ),
    *BAD_TABLES,
    Bad("text", r"name of the column of the labels.*read the table first", lambda: "table.csv"),
    Bad("infinite numpy", r"infinite values in column 'x1'.*finite", lambda: np.c_[TRUTH, np.full(N, np.inf)]),
    Bad("long y", rf"y has {N + 1} labels but X has {N} rows", make_y=lambda: [*integer_labels(), -1]),
    Bad("2-d y", r"y should be a 1d array.*pass one label a row", make_y=lambda: np.zeros((N, 2), dtype=int)),
    Bad("continuous y", r"continuous.*Turn the labels into integers", make_y=lambda: np.linspace(0, 1, N)),
    Bad("infinite y", r"infinite labels.*Turn the labels into", make_y=lambda: np.where(TRUTH, np.inf, 1.0)),
    Bad("mixed y", r"mixes labels.*Turn the labels into", make_y=lambda: [*["a"] * 30, *[1] * 30]),
    Bad("complex y", r"Unknown label type.*Turn the labels into", make_y=lambda: TRUTH + 1j),
    Bad("text as y", r"y must be a list, an array or a column", make_y=lambda: "labels"),
    Bad(
        "huge labels", r"no room.*smaller labels, or strings", make_y=lambda: np.where(TRUTH > 1, -1, 2**63 - 1 - TRUTH)
    ),
    Bad("1 row", r"1 sample.*at least 2 rows.*pass more rows", lambda: frame().iloc[:1], lambda: [0]),
    Bad(
        "no usable column",
        r"no usable column: ignored column 'same' \(every cell is '1'\).*Add columns that vary",
        lambda: pd.DataFrame({"same": [1] * N, "empty": [None] * N, "key": [f"row {i}" for i in range(N)]}),
    ),
)


def in_full_on_one(cases: Sequence[Any], n_others: int, makers: Sequence[Maker] = DISCOVERERS) -> list[tuple[Any, ...]]:
    """Every case for the quickest discoverer, and the first ones for the others: the base class refuses for all."""
    return [(make, case) for make in makers for case in (cases if make is PLAIN else cases[:n_others])]


@pytest.mark.parametrize(
    ("make", "bad"),
    in_full_on_one(BAD_FITS, 2),
    ids=lambda value: value.name if isinstance(value, Bad) else value.__name__,
)
def test_fit(make: Maker, bad: Bad, fitted: dict[Maker, Any]) -> None:
    with Unchanged(fitted[make], bad.words) as model:
        model.fit(bad.make_X(), bad.make_y())
    with pytest.raises(InputError, match=bad.words):
        make().fit(bad.make_X(), bad.make_y())


@pytest.mark.parametrize("bad", [*BAD_TABLES, A_FILE], ids=lambda bad: bad.name)
def test_tables_at_predict(bad: Bad, fitted: dict[Maker, Any]) -> None:
    with pytest.raises(InputError, match=bad.words):
        fitted[PLAIN].predict(bad.make_X())


@pytest.mark.parametrize(
    ("make", "y"),
    in_full_on_one([None, np.full(N, -1), [None] * N, [np.nan] * N], 2, PACKED + WITHOUT_TRAINING),
)
def test_no_labelled_rows(make: Maker, y: Any, fitted: dict[Maker, Any]) -> None:
    words = r"(no labelled rows|target y is None)\. Pass the known classes in y.*KMeansDiscoverer or SpectralDiscoverer"
    with Unchanged(fitted[make], words) as model:
        model.fit(frame(), y)


@every
def test_more_novel_classes_than_unlabelled_rows(make: Maker, fitted: dict[Maker, Any]) -> None:
    y = TRUTH.copy()
    y[:3] = -1
    model = copy.deepcopy(fitted[make]).set_params(n_novel_classes=4)
    words = r"n_novel_classes=4, but there are only 3 unlabelled rows.*fewer novel classes, or 'auto'"
    with Unchanged(model, words) as unchanged:
        unchanged.fit(frame(), y)


@pytest.mark.parametrize(("make", "n_novel_classes"), in_full_on_one([0, -3, 2.5, True, "many", None, [2], np.nan], 1))
def test_n_novel_classes(make: Maker, n_novel_classes: Any, fitted: dict[Maker, Any]) -> None:
    model = copy.deepcopy(fitted[make]).set_params(n_novel_classes=n_novel_classes)
    words = r"Got n_novel_classes=.*a whole number of at least 1, or 'auto'"
    with Unchanged(model, words) as unchanged:
        unchanged.fit(frame(), integer_labels())


# ---- columns at predict


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.drop(columns="height"), r"lacks column 'height'.*fill the column with missing values"),
        (lambda table: table.rename(columns={"height": "Heigth"}), r"'height'.*did you mean 'Heigth'\?"),
        (lambda table: table.assign(height="tall"), r"(?s)column 'height'.*'tall'"),
        (lambda table: table.to_numpy()[:, :3], r"X has 3 features, but \w+ is expecting 4.*Pass the columns of fit"),
    ],
    ids=["missing", "renamed", "text", "fewer"],
)
def test_columns_at_predict(change: Callable[[pd.DataFrame], Any], words: str, fitted: dict[Maker, Any]) -> None:
    with Unchanged(fitted[PLAIN], words) as model:
        model.predict(change(frame(1)))


@every
@pytest.mark.parametrize("method", METHODS)
def test_every_method_looks_at_table_and_columns(make: Maker, method: str, fitted: dict[Maker, Any]) -> None:
    with Unchanged(fitted[make], "infinite values in columns 'width', 'height'") as model:
        getattr(model, method)(with_infinity())
    with Unchanged(fitted[make], "lacks column 'height'") as model:
        getattr(model, method)(frame(1).drop(columns="height"))


# ---- before fit


@every
@pytest.mark.parametrize("method", METHODS)
def test_before_fit(make: Maker, method: str) -> None:
    with pytest.raises(InputError, match=r"not fitted yet; call fit\(X, y\) first") as caught:
        getattr(make(), method)(frame())
    assert isinstance(caught.value, NotFittedError)


@pytest.mark.parametrize("make", PACKED)
def test_member_before_fit(make: Maker) -> None:
    with pytest.raises(InputError, match=r"not fitted yet; call fit\(X, y\) first"):
        make().member(0)


@pytest.mark.parametrize(
    ("make", "name"),
    [(tabular_ncd, "network_"), (pbn, "centroids_"), (kmeans, "centroids_"), (ncd_spectral, "centroids_")],
)
def test_what_the_state_holds_before_fit(make: Maker, name: str) -> None:
    assert not hasattr(make(), name)
    with pytest.raises(InputError, match="not fitted yet"):
        getattr(make(), name)


@every
def test_attributes_before_fit(make: Maker) -> None:
    with pytest.raises(InputError, match="not fitted yet"):
        _ = make().n_novel_classes_
    with pytest.raises(NotFittedError):
        make().get_feature_names_out()
    assert not hasattr(make(), "n_novel_classes_")
    assert not hasattr(make(), "classes_")


# ---- parameters

_COMMON: list[tuple[str, Any, str]] = [
    ("encoder", "standard", r"expected None or a TableEncoder"),
    ("encoder", TableEncoder, r"expected None or a TableEncoder"),
    ("encoder", TableEncoder(numeric_scaling="log"), r"numeric_scaling='log', but expected one of"),
    ("encoder", TableEncoder(kinds={"weight": "numeric"}), r"kinds names 'weight', which is not a column"),
    ("random_state", "zero", r"expected None, a RandomState or a whole number"),
    ("random_state", -1, r"expected None, a RandomState or a whole number"),
    ("random_state", True, r"expected None, a RandomState or a whole number"),
    ("random_state", np.random.default_rng(0), r"expected None, a RandomState or a whole number"),
]
_MEMBERS: list[tuple[str, Any, str]] = [
    ("n_members", 0, "whole number of at least 1"),
    ("n_members", 1.5, "whole number of at least 1"),
    ("device", "gpu", "expected 'auto', 'cpu' or 'cuda'"),
    ("device", "meta", "expected 'auto', 'cpu' or 'cuda'"),
    ("device", 1.5, "expected 'auto', 'cpu' or 'cuda'"),
    ("device", "cuda:99", "no such CUDA device here; use device='auto' or 'cpu'"),
    ("verbose", -1, "whole number of at least 0"),
    ("verbose", "yes", "whole number of at least 0"),
]
_NETWORK: list[tuple[str, Any, str]] = [
    ("hidden_layers", [], r"list of layer widths such as \[64, 64\]"),
    ("hidden_layers", 64, r"list of layer widths such as \[64, 64\]"),
    ("hidden_layers", "64", r"list of layer widths such as \[64, 64\]"),
    ("hidden_layers", [16, 0], r"hidden_layers\[1\]=0.*at least 1"),
    ("dropout", 1, "from 0 to below 1"),
    ("dropout", -0.1, "of at least 0 and at most 1"),
    ("epochs", -1, "whole number of at least 0"),
    ("epochs", "many", "whole number of at least 0"),
    ("batch_size", 0, "whole number of at least 1"),
]
BAD_PARAMETERS: list[tuple[Maker, str, Any, str]] = [
    *((make, *case) for make, case in in_full_on_one(_COMMON, 1)),
    *((tabular_ncd, *case) for case in _MEMBERS),
    *((make, *_MEMBERS[0]) for make in (classifier_projection, pbn)),
    *((make, *case) for make in (tabular_ncd, classifier_projection) for case in _NETWORK),
    *((pbn, *case) for case in _NETWORK[:1]),
    (auto, "time_limit", 0, "above 0"),
    (auto, "time_limit", np.inf, "above 0"),
    (auto, "time_limit", "30s", "above 0"),
    (in_context, "n_views", 0, "whole number of at least 1"),
    (in_context, "n_views", "two", "whole number of at least 1"),
    (in_context, *_MEMBERS[2]),
    (tabular_ncd, "top_k", 0, "above 0 and at most 100"),
    (tabular_ncd, "top_k", 101, "above 0 and at most 100"),
    (tabular_ncd, "similarity_threshold", 2, "of at least -1 and at most 1"),
    (tabular_ncd, "w1", 1.1, "of at least 0 and at most 1"),
    (tabular_ncd, "w2", np.nan, "of at least 0 and at most 1"),
    (tabular_ncd, "lr_classification", 0, "above 0"),
    (tabular_ncd, "lr_clustering", np.inf, "above 0"),
    (tabular_ncd, "lr_clustering", True, "above 0"),
    (tabular_ncd, "k_neighbors", 0, "whole number of at least 1"),
    (tabular_ncd, "activation", "gelu", "one of 'relu', 'sigmoid', 'tanh'"),
    (tabular_ncd, "pretrain_epochs", 2.0, "whole number of at least 0"),
    (tabular_ncd, "without", "ssl", "list of some of ssl, ce, bce, mse"),
    (tabular_ncd, "without", ["vime"], "list of some of ssl, ce, bce, mse"),
    (tabular_ncd, "without", [["ssl"]], "list of some of ssl, ce, bce, mse"),
    (tabular_ncd, "without", None, "list of some of ssl, ce, bce, mse"),
    (classifier_projection, "learning_rate", 0, "above 0"),
    (classifier_projection, "n_init", 0, "whole number of at least 1"),
    (classifier_projection, "projection", "middle", "one of 'before', 'after'"),
    (pbn, "w", 1.5, "of at least 0 and at most 1"),
    (pbn, "learning_rate", 0, "above 0"),
    (pbn, "n_init", 0, "whole number of at least 1"),
    (whitened_kmeans, "ridge", -0.1, "of at least 0"),
    (whitened_kmeans, "ridge", np.inf, "of at least 0"),
    (whitened_kmeans, "n_init", 0, "whole number of at least 1"),
    (ncd_kmeans, "n_init", 1.5, "whole number of at least 1"),
    (ncd_spectral, "n_neighbors", 0, "whole number of at least 1"),
    (ncd_spectral, "n_components", 0, "whole number of at least 1"),
    (ncd_spectral, "n_components", "all", "whole number of at least 1"),
    (ncd_spectral, "regularisation", 0, "above 0"),
    (ncd_spectral, "regularisation", np.inf, "above 0"),
    (ncd_spectral, "n_init", 0, "whole number of at least 1"),
    (ncd_spectral, "max_rows", 1, "whole number of at least 2"),
    (kmeans, "n_init", "auto", "whole number of at least 1"),
    (spectral, "n_neighbors", 0, "whole number of at least 1"),
    (spectral, "max_rows", 1, "whole number of at least 2"),
]


@pytest.mark.parametrize(
    ("make", "name"), [(tabular_ncd, "lr_clustering"), (classifier_projection, "learning_rate"), (pbn, "learning_rate")]
)
def test_diverged_training(make: Maker, name: str, fitted: dict[Maker, Any]) -> None:
    model = copy.deepcopy(fitted[make]).set_params(**{name: 1e30})
    with Unchanged(model, r"Training diverged.*Lower the learning rates") as unchanged:
        unchanged.fit(frame(), integer_labels())


@pytest.mark.parametrize(("make", "name", "value", "words"), BAD_PARAMETERS)
def test_parameters(make: Maker, name: str, value: Any, words: str, fitted: dict[Maker, Any]) -> None:
    model = copy.deepcopy(fitted[make]).set_params(**{name: value})
    with pytest.raises(InputError, match=words):
        model.fit(frame(), integer_labels())
    model.set_params(**{name: fitted[make].get_params()[name]})  # device and n_neighbors also matter to predict
    assert_array_equal(model.labels_, fitted[make].labels_)
    assert_array_equal(model.predict_proba(frame(1)), fitted[make].predict_proba(frame(1)))
