from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound.datasets import Dataset, download, load, names
from newfound.errors import InputError, MissingExtraError


def equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


def test_digits_needs_nothing_else() -> None:
    digits = load("digits")
    assert digits.X_train.shape == (1257, 64)
    assert digits.X_test.shape == (540, 64)
    assert digits.known_classes.tolist() == [0, 1, 2, 3, 4]
    assert digits.novel_classes.tolist() == [5, 6, 7, 8, 9]


def test_digits_rows_are_scikit_learns_stratified_split() -> None:
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    digits = load("digits")
    assert equal(digits.X_train, X_train)
    assert equal(digits.X_test, X_test)
    assert equal(digits.y_train_truth, y_train)
    assert equal(digits.y_test, y_test)


def test_digits_without_pandas_is_an_array_with_the_same_values(uninstall: Callable[[str], None]) -> None:
    pd = pytest.importorskip("pandas")
    framed = load("digits")
    assert isinstance(framed.X_train, pd.DataFrame)
    assert framed.X_train.index.equals(pd.RangeIndex(1257))
    assert list(framed.kinds) == list(framed.X_train.columns)
    uninstall("pandas")
    uninstall("pyarrow")
    plain = load("digits")
    assert isinstance(plain.X_train, np.ndarray)
    assert equal(plain.X_train, framed.X_train)
    assert equal(plain.y_train, framed.y_train)
    assert list(plain.kinds) == [f"x{i}" for i in range(64)]
    assert set(plain.kinds.values()) == {"numeric"}


def test_loading_again_gives_fresh_arrays() -> None:
    first = load("digits")
    first.y_train[:] = 0
    first.y_test[:] = 0
    assert equal(np.unique(load("digits").y_train), [-1, 0, 1, 2, 3, 4])
    assert load("digits").y_test.any()


def test_repr_says_columns_rows_and_classes() -> None:
    text = repr(load("digits"))
    assert "64 (64 numeric, 0 categorical)" in text
    assert "1,257 rows, 630 labelled, 627 unlabelled" in text
    assert "540 rows, 271 known, 269 novel" in text
    assert "5 classes: 5, 6, 7, 8, 9" in text


def test_encoder_of_digits_keeps_every_column() -> None:
    digits = load("digits")
    encoder = digits.encoder()
    Z = encoder.fit_transform(digits.X_train)
    assert Z.shape == (1257, 64)
    assert np.allclose(Z.mean(axis=0), 0)
    assert set(np.round(Z.std(axis=0), 6)) <= {0.0, 1.0}
    assert digits.encoder() is not encoder


# ---- benchmarks: handed over to the laboratory


@pytest.fixture
def without_laboratory(uninstall: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "newfound_lab"]:
        monkeypatch.delitem(sys.modules, module)
    uninstall("newfound_lab")


@pytest.mark.usefixtures("without_laboratory")
def test_without_the_laboratory_there_are_digits_and_a_hint() -> None:
    assert names() == ("digits",)
    assert len(load("digits").y_train) == 1257
    assert download("digits") == ()
    for call in (load, download):
        with pytest.raises(MissingExtraError, match=r"Got name='pendigits', .*pip install newfound-lab.*\./laboratory"):
            call("pendigits")


def test_with_the_laboratory_its_benchmarks_are_there(tmp_path: Path) -> None:
    pytest.importorskip("newfound_lab")
    assert names()[:3] == ("digits", "mnist", "forest")
    with pytest.raises(InputError, match="Did you mean 'pendigits'"):
        load("pendigit")
    with pytest.raises(InputError, match="Did you mean 'pendigits'"):
        download("pendigit")
    with pytest.raises(InputError, match=r"needs the file letter\.parquet, .*download=False"):
        load("letter", tmp_path, download=False)


@pytest.mark.skipif(not os.environ.get("NEWFOUND_DATA"), reason="NEWFOUND_DATA names no folder with benchmark files")
def test_a_benchmark_is_a_dataset() -> None:
    pytest.importorskip("newfound_lab")
    data = load("pendigits")
    assert isinstance(data, Dataset)
    assert (len(data.y_train), len(data.y_test)) == (7494, 3498)
    assert data.resplit(1).novel_classes.tolist() == [1, 5, 6, 7, 8]


def test_a_laboratory_that_lacks_something_says_what(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(name: str) -> None:
        raise ModuleNotFoundError("No module named 'something'", name="something")

    monkeypatch.setattr("newfound.laboratory.import_module", lacking)
    with pytest.raises(ModuleNotFoundError, match="something"):
        names()
